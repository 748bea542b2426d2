/* SPDX-License-Identifier: MIT */
/*
 * redrace-app: an app and its requests as one program that `redrace check` can follow.
 *
 *	redrace-app APP READY JAR [REQUEST...]
 *
 * It starts the app, if there is any ("" = none), and waits until it is up. Then each request is a
 * process of its own, with a connection to Redis on which it tells redrace what happens, in marks
 * (base/marks.h): it may begin when that mark is answered, its answer is written down before the
 * next mark, and when the last mark of all, on one more connection, is answered the app is ended.
 * One whose connection is closed instead does not begin here, but has begun before a crash. An
 * answer is a line that begins with RR_MARK_RECORD, and what the request has printed. JAR is a file
 * of cookies, of which each request gets a copy, at {jar} ("" = none).
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/marks.h"
#include "base/text.h"
#include "party/sockets.h"

/* Of an answer REDRACE keeps all bytes up to ANSWER_MAX, as many as all requests together may have,
 * and a digest of what is behind them. What is written in one piece of PIECE_MAX bytes is never mixed
 * with what others write. */
enum {
	REASON_MAX = 3900,
	PIECE_MAX = 3900,
	ANSWER_MAX = 1024 * 1024,
	POLLS_MAX = 30,
	HOLDERS_MAX = 64,
	APPS_LEAST = 2, /* of --apps, to have several */
	APPS_MOST = 4
};

/* Until the app is looked at for the first time again; then longer and longer. */
#define POLL_NS (10 * INT64_C(1000000))

/* From one look at an app's workers to the next. */
#define WORKERS_NS (150 * INT64_C(1000000))

struct app {
	size_t n_requests;
	unsigned port;
	const char *command, *ready, *jar;
	char *const *requests;
	pid_t pid;                        /* 0 = there is no app */
	int input;                        /* what it reads: the end for writing; -1 = nothing */
	int log;                          /* what it prints */
	int connections[RR_REQUESTS_MAX]; /* to Redis, of each request */
};

/* ---- The system ---------------------------------------------------------------- */

/* A command in which {app} and {jar} are replaced; malloc'd. `jar` NULL: there is none. */
static char *fill_in(const char *command, unsigned port, const char *jar)
{
	static const char app_name[] = "{app}", jar_name[] = "{jar}";
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	while (*command) {
		if (strncmp(command, app_name, strlen(app_name)) == 0) {
			fprintf(file, "http://127.0.0.1:%u", port);
			command += strlen(app_name);
		} else if (jar && strncmp(command, jar_name, strlen(jar_name)) == 0) {
			fputs(jar, file);
			command += strlen(jar_name);
		} else {
			fputc(*command++, file);
		}
	}
	fclose(file);
	return text;
}

/* Runs a command by the shell, with that PORT, which prints to `output`; its exit status, 128 and the
 * number of the signal that ended it. */
static int run_shell(const char *command, unsigned port, int output)
{
	char variable[12];
	int status = 0;
	pid_t pid;

	snprintf(variable, sizeof(variable), "%u", port);
	pid = fork();
	if (pid == 0) {
		setenv("PORT", variable, 1);
		dup2(output, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct holders {
	size_t n;
	pid_t pids[HOLDERS_MAX];
};

static bool is_holder(const struct holders *holders, pid_t pid)
{
	bool is = false;

	for (size_t i = 0; i < holders->n; i++)
		is |= holders->pids[i] == pid;
	return is;
}

static void add_holder(struct holders *holders, pid_t pid)
{
	if (holders->n < HOLDERS_MAX && !is_holder(holders, pid))
		holders->pids[holders->n++] = pid;
}

/* Adds the processes of our group that have a socket open. */
static void add_holders(struct holders *holders, unsigned long inode)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const pid_t pid = atoi(entry->d_name);

		if (pid > 0 && getpgid(pid) == getpgrp() && rr_socket_is_of(inode, pid))
			add_holder(holders, pid);
	}
	if (directory)
		closedir(directory);
}

/* Those that have the port open. */
static struct holders find_holders(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING, .port = port };
	struct holders holders = { .n = 0 };
	struct rr_socket socket;

	while (rr_sockets_next(&sockets, &socket))
		add_holders(&holders, socket.inode);
	return holders;
}

/* Is it a worker of Node's cluster? Its first process takes the connections and passes them on. */
static bool is_cluster_worker(pid_t pid)
{
	static const char name[] = "NODE_UNIQUE_ID=";
	char path[40], *word = NULL;
	size_t size = 0;
	bool is = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = fopen(path, "re");
	while (file && !is && getdelim(&word, &size, '\0', file) > 0)
		is = strncmp(word, name, strlen(name)) == 0;
	free(word);
	if (file)
		fclose(file);
	return is;
}

/* How many of these children of processes that have the port open belong to a cluster. */
static size_t count_cluster(const struct holders *holders)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while (directory && (entry = readdir(directory))) {
		const pid_t pid = atoi(entry->d_name);

		n += pid > 0 && getpgid(pid) == getpgrp() &&
		     is_holder(holders, rr_process_parent(pid)) && is_cluster_worker(pid);
	}
	if (directory)
		closedir(directory);
	return n;
}

/* How many processes of ours take what comes to the port. Whoever has given a socket to a child leaves it
 * to the child. */
static size_t count_workers(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING, .port = port };
	struct holders workers = { .n = 0 }, all = { .n = 0 };
	struct rr_socket socket;
	size_t n_cluster;

	while (rr_sockets_next(&sockets, &socket)) {
		struct holders holders = { .n = 0 }, parents = { .n = 0 };

		add_holders(&holders, socket.inode);
		for (size_t i = 0; i < holders.n; i++)
			parents.pids[parents.n++] = rr_process_parent(holders.pids[i]);
		for (size_t i = 0; i < holders.n; i++) {
			if (!is_holder(&parents, holders.pids[i]))
				add_holder(&workers, holders.pids[i]);
			add_holder(&all, holders.pids[i]);
		}
	}
	n_cluster = count_cluster(&all);
	return workers.n > n_cluster ? workers.n : n_cluster;
}

/* Another port on which a process of ours listens; 0: there is none. */
static unsigned find_other_port(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING };
	struct rr_socket socket;
	unsigned other = 0;

	while (rr_sockets_next(&sockets, &socket)) {
		struct holders holders = { .n = 0 };

		add_holders(&holders, socket.inode);
		if (!other && socket.local != port && holders.n > 0)
			other = socket.local;
	}
	return other;
}

static FILE *open_children(void)
{
	char path[60];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	return fopen(path, "re");
}

/* Ends all children, and theirs. */
static void end_children(void)
{
	do {
		FILE *file = open_children();
		int child;

		while (file && fscanf(file, "%d", &child) == 1)
			kill(child, SIGKILL);
		if (file)
			fclose(file);
	} while (wait(NULL) > 0 || errno == EINTR);
}

/* ---- Marks ---------------------------------------------------------------------- */

static struct sockaddr_in address_of(unsigned port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				     .sin_port = htons((uint16_t)port) };
}

/* A connection to Redis; -1: none. */
static int connect_to_redis(void)
{
	const char *port = getenv("REDIS_PORT");
	const struct sockaddr_in address = address_of((unsigned)atoi(port ? port : ""));
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Sends ECHO with a mark. */
static void send_mark(int connection, const char *mark)
{
	dprintf(connection, "*2\r\n$4\r\nECHO\r\n$%zu\r\n%s\r\n", strlen(mark), mark);
}

/* The first character of a line; '\0': the connection is closed. */
static char skip_line(int connection)
{
	char first = '\0', byte = '\0';

	while (byte != '\n' && read(connection, &byte, 1) == 1)
		first = first ? first : byte;
	return byte == '\n' ? first : '\0';
}

/* Waits for a mark's reply, which is the mark, of two lines; where redrace tries which replies matter, it
 * is any. False: the connection is closed. */
static bool await_reply(int connection)
{
	const char first = skip_line(connection);

	return first == '$' ? skip_line(connection) != '\0' : first != '\0';
}

/* ---- What a request says to the app ---------------------------------------------- */

/*
 * It is passed on byte by byte, and so is what is answered, so that the status of a response is
 * known whatever the command prints. A response begins where the app sends something after the
 * request has; a status is read from its first line, and again behind one of 1xx.
 */

/* Of a head that is looked at, as an informational response is. */
enum { CONNECTIONS_MAX = 64, HEAD_MAX = 4096 };

struct connection {
	int request,
		app; /* sockets; -1 = closed, both are when either has nothing more to say to */
	bool request_is_over, app_is_over;
	bool is_in_head; /* of a response, which has not been read as far as its status */
	char head[HEAD_MAX + 1];
	size_t n_head;
};

/* A port of a request's own, from which a thread passes on all bytes to the app and back. */
struct forwarding {
	unsigned port;      /* that requests connect to */
	unsigned app_port;  /* where the app is */
	int listener;       /* of `port` */
	_Atomic int status; /* of the last response by HTTP, but for 1xx; 0 = none */
	size_t n;
	struct connection connections[CONNECTIONS_MAX];
};

/* What the app has sent, of which the status is read. */
static void see_response(struct forwarding *forwarding, struct connection *connection,
			 const char *bytes, size_t n)
{
	const size_t room = HEAD_MAX - connection->n_head, taken = n < room ? n : room;
	int status;
	char *end;

	if (!connection->is_in_head)
		return;
	memcpy(connection->head + connection->n_head, bytes, taken);
	connection->n_head += taken;
	connection->head[connection->n_head] = '\0';
	while (connection->is_in_head) {
		if (sscanf(connection->head, "HTTP/%*[0-9.] %3d", &status) != 1) {
			connection->is_in_head = connection->n_head < HEAD_MAX &&
						 !memchr(connection->head, '\n',
							 connection->n_head);
			return;
		}
		if (status >= 200 || status == 101) {
			atomic_store(&forwarding->status, status);
			connection->is_in_head = false;
			return;
		}
		end = strstr(connection->head, "\r\n\r\n");
		if (!end)
			return;
		connection->n_head -= (size_t)(end + 4 - connection->head);
		memmove(connection->head, end + 4, connection->n_head + 1);
	}
}

/* Nothing is kept back by Nagle's algorithm, neither what is passed on nor what comes: a sender that
 * has not turned it off keeps its next short write back until the one before is acknowledged. All
 * wait then, for 40 ms, and it looks as if nothing were to come. */
static void keep_nothing_back(int socket)
{
	const int yes = 1;

	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
}

static bool send_all(int to, const char *bytes, size_t n)
{
	while (n > 0) {
		const ssize_t sent = send(to, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

static void close_connection(struct connection *connection)
{
	close(connection->request);
	close(connection->app);
	connection->request = connection->app = -1;
}

/* Passes on what has come from one end. That it has said its last is passed on, too; that it has gone
 * away, by closing both. */
static void pass_on(struct forwarding *forwarding, struct connection *connection, bool is_request)
{
	const int from = is_request ? connection->request : connection->app;
	const int to = is_request ? connection->app : connection->request;
	bool *is_over = is_request ? &connection->request_is_over : &connection->app_is_over;
	char bytes[16 * 1024];
	const ssize_t n = recv(from, bytes, sizeof(bytes), 0);

	keep_nothing_back(from); /* the kernel forgets it in time */
	if (n == 0) {
		*is_over = true;
		shutdown(to, SHUT_WR);
	}
	if (is_request && n > 0) {
		connection->is_in_head = true;
		connection->n_head = 0;
	} else if (n > 0) {
		see_response(forwarding, connection, bytes, (size_t)n);
	}
	if (n < 0 || (n > 0 && !send_all(to, bytes, (size_t)n)) ||
	    (connection->request_is_over && connection->app_is_over))
		close_connection(connection);
}

static void accept_connection(struct forwarding *forwarding)
{
	const struct sockaddr_in address = address_of(forwarding->app_port);
	const int request = accept4(forwarding->listener, NULL, NULL, SOCK_CLOEXEC);
	struct connection *connection = forwarding->connections;

	while (connection < forwarding->connections + forwarding->n && connection->request >= 0)
		connection++;
	if (request < 0 || connection == forwarding->connections + CONNECTIONS_MAX) {
		close(request);
		return;
	}
	if (connection == forwarding->connections + forwarding->n)
		forwarding->n++;
	*connection = (struct connection){ .request = request };
	connection->app = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(connection->app, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		close_connection(connection);
		return;
	}
	keep_nothing_back(connection->request);
	keep_nothing_back(connection->app);
}

static void *forward(void *context)
{
	struct forwarding *forwarding = context;

	for (;;) {
		struct pollfd list[2 * CONNECTIONS_MAX + 1];
		const size_t n = forwarding->n;

		list[0] = (struct pollfd){ forwarding->listener, POLLIN, 0 };
		for (size_t i = 0; i < n; i++) {
			const struct connection *it = &forwarding->connections[i];

			list[1 + 2 * i] = (struct pollfd){ it->request_is_over ? -1 : it->request,
							   POLLIN, 0 };
			list[2 + 2 * i] = (struct pollfd){ it->app_is_over ? -1 : it->app, POLLIN,
							   0 };
		}
		if (poll(list, 1 + 2 * n, -1) < 0)
			continue;
		if (list[0].revents)
			accept_connection(forwarding);
		for (size_t i = 0; i < 2 * n; i++) {
			struct connection *it = &forwarding->connections[i / 2];

			if (list[1 + i].revents && it->request >= 0)
				pass_on(forwarding, it, i % 2 == 0);
		}
	}
	return NULL;
}

/* NULL: there is no port to be had, or no app. It ends with the process. */
static const struct forwarding *begin_forwarding(unsigned app_port)
{
	struct forwarding *forwarding = app_port ? calloc(1, sizeof(*forwarding)) : NULL;
	struct sockaddr_in address = address_of(0);
	socklen_t size = sizeof(address);
	pthread_t thread;
	int listener;

	if (!forwarding)
		return NULL;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(listener, CONNECTIONS_MAX) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
		close(listener);
		free(forwarding);
		return NULL;
	}
	forwarding->app_port = app_port;
	forwarding->port = ntohs(address.sin_port);
	forwarding->listener = listener;
	if (pthread_create(&thread, NULL, forward, forwarding) == 0)
		return forwarding;
	close(listener);
	free(forwarding);
	return NULL;
}

/* ---- The app ------------------------------------------------------------------- */

/* Where there are lines for it, it reads them from a pipe, which stays open. */
static void start_app(struct app *app)
{
	int ends[2] = { -1, -1 };
	bool has_lines = false;

	for (size_t i = 0; i < app->n_requests; i++)
		has_lines |= app->requests[i][0] == RR_MARK_LINE;
	if (has_lines && pipe2(ends, O_CLOEXEC) != 0)
		exit(71);
	app->input = ends[1];
	app->log = memfd_create("log", MFD_CLOEXEC);
	app->pid = fork();
	if (app->pid != 0) {
		close(ends[0]);
		return;
	}
	if (ends[0] >= 0)
		dup2(ends[0], STDIN_FILENO);
	dup2(app->log, STDOUT_FILENO);
	dup2(app->log, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", app->command, NULL);
	_exit(127);
}

/* The line of the end of its log that says best why it failed, malloc'd. */
static char *reason_of(const struct app *app)
{
	char printed[REASON_MAX];
	const off_t end = lseek(app->log, 0, SEEK_END);
	const off_t from = end > REASON_MAX - 1 ? end - REASON_MAX + 1 : 0;
	const ssize_t n = pread(app->log, printed, sizeof(printed) - 1, from);

	printed[n > 0 ? n : 0] = '\0';
	return rr_reason_line(printed, n > 0 ? (size_t)n : 0);
}

static void end_failed(void)
{
	end_children();
	exit(RR_APP_FAILED);
}

/* Ends with the one line that redrace prints. */
static void fail(const struct app *app, const char *what, const char *advice)
{
	char *reason = reason_of(app);

	printf("%s%s%.300s%s: %s\n", what, reason[0] ? "; it printed '" : "", reason,
	       reason[0] ? "'" : "", advice);
	free(reason);
	fflush(stdout);
	end_failed();
}

/* What it has left behind is its business, and nobody knows what that waits for. `n_own`: children
 * of ours that are not the app's. */
static void refuse_daemon(int status, size_t n_own)
{
	FILE *file = open_children();
	size_t n = 0;
	int child;

	/* One whose parent has ended is ours. */
	while (file && fscanf(file, "%d", &child) == 1)
		n++;
	if (file)
		fclose(file);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || n <= n_own)
		return;
	puts("the app exited with 0 and goes on in the background: start it in the foreground");
	fflush(stdout);
	end_failed();
}

static bool is_up(const struct app *app)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_LISTENING, .port = app->port };
	struct rr_socket socket;
	char *command;
	int status;

	if (!app->ready[0]) {
		/* Does anybody listen on the port? */
		const bool listens = app->input >= 0 || rr_sockets_next(&sockets, &socket);

		rr_sockets_end(&sockets);
		return listens;
	}
	command = fill_in(app->ready, app->port, NULL);
	status = run_shell(command, app->port, app->log);
	free(command);
	return status == 0;
}

/* Waits for the other workers of an app that starts one after the other (gunicorn sleeps for up to 100 ms
 * after each): while requests are in flight its time stands still, and only the first would be there. */
static void await_workers(const struct app *app)
{
	const struct timespec pause = { 0, WORKERS_NS };
	size_t n = find_holders(app->port).n, n_before = 0;

	while (n > 1 && n != n_before && nanosleep(&pause, NULL) == 0) {
		n_before = n;
		n = find_holders(app->port).n;
	}
}

/* The clock stands still while anybody computes, and goes on when all wait. */
static void await_app(const struct app *app)
{
	int64_t pause_ns = POLL_NS;
	struct timespec pause;
	char text[200];
	unsigned other;
	int status;

	for (int n = 0; n < POLLS_MAX; n++) {
		if (is_up(app)) {
			await_workers(app);
			return;
		}
		if (waitpid(app->pid, &status, WNOHANG) == app->pid) {
			const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

			refuse_daemon(status, 0);
			snprintf(text, sizeof(text),
				 WIFSIGNALED(status) ?
					 "the app was ended by signal %d before it was up" :
					 "the app exited with %d before it was up",
				 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
			fail(app, text,
			     is_good ?
				     "an app listens on $PORT until it is ended" :
				     "start it by hand, with PORT and REDIS_URL set, and see why");
		}
		pause = (struct timespec){ pause_ns / 1000000000, pause_ns % 1000000000 };
		nanosleep(&pause, NULL);
		pause_ns += pause_ns / 4;
	}
	other = find_other_port(app->port);
	if (app->ready[0])
		snprintf(text, sizeof(text), "the command of --ready never exits with 0");
	else if (other)
		snprintf(text, sizeof(text),
			 "the app listens on port %u, and not on PORT, which is %u here", other,
			 app->port);
	else
		snprintf(text, sizeof(text), "the app does not listen on PORT, which is %u here",
			 app->port);
	fail(app, text,
	     app->ready[0] ? "run it by hand, with PORT set, while the app is up" :
	     other ? "let it listen on $PORT: many runs of it are up together, each on a port of its own" :
		     "let it listen on $PORT, or say with --ready when it is up");
}

/* ---- A request ----------------------------------------------------------------- */

/* Writes bytes of an answer in records of one piece each, with what could be taken for a record's
 * mark escaped. */
static void write_pieces(const char *heading, const char *bytes, size_t n)
{
	size_t at = 0;

	do {
		char piece[PIECE_MAX + 100];
		size_t length = (size_t)snprintf(piece, sizeof(piece), "%s", heading);

		for (; at < n && length < PIECE_MAX - 1; at++) {
			const bool escapes = bytes[at] == RR_MARK_RECORD ||
					     bytes[at] == RR_MARK_ESCAPE;

			if (escapes)
				piece[length++] = RR_MARK_ESCAPE;
			piece[length++] = escapes ? bytes[at] ^ RR_MARK_ESCAPED : bytes[at];
		}
		if (write(STDOUT_FILENO, piece, length) != (ssize_t)length)
			_exit(1);
	} while (at < n);
}

/* The command of a request, malloc'd. Its cookies are in a file that no other request and no other run
 * has: what it is given depends on nothing but the setup. */
static char *make_command(const struct app *app, size_t number, unsigned port)
{
	const char *request = app->requests[number - 1], *directory = getenv("TMPDIR");
	char path[PATH_MAX], bytes[16 * 1024];
	int from, to;
	ssize_t n;

	if (!strstr(request, "{jar}"))
		return fill_in(request, port, NULL);
	snprintf(path, sizeof(path), "%s/jar%zu", directory ? directory : "/tmp", number);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	from = app->jar[0] ? open(app->jar, O_RDONLY | O_CLOEXEC) : -1;
	if (to < 0 || (app->jar[0] && from < 0))
		_exit(1);
	while (from >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0) {
		if (write(to, bytes, (size_t)n) != n)
			_exit(1);
	}
	if (from >= 0)
		close(from);
	close(to);
	return fill_in(request, port, path);
}

/* Writes down what came of a request: its status, and what the command has printed. A child that it
 * leaves behind may go on printing, which is not waited for. */
static void write_record(const struct app *app, size_t number)
{
	const struct forwarding *forwarding = begin_forwarding(app->pid ? app->port : 0);
	const unsigned port = forwarding ? forwarding->port : app->port;
	char *command = make_command(app, number, port);
	const int output = memfd_create("answer", MFD_CLOEXEC);
	const int status = run_shell(command, port, output);
	const off_t end = lseek(output, 0, SEEK_END);
	const size_t length = end > 0 ? (size_t)end : 0;
	const char *bytes = length ? mmap(NULL, length, PROT_READ, MAP_SHARED, output, 0) : "";
	char heading[100], line[120];

	free(command);
	if (bytes == MAP_FAILED)
		_exit(1);
	snprintf(heading, sizeof(heading), "%c%zu %d %d\n", RR_MARK_RECORD, number, status,
		 forwarding ? atomic_load(&forwarding->status) : 0);
	write_pieces(heading, bytes, length < ANSWER_MAX ? length : ANSWER_MAX);
	if (length > ANSWER_MAX) {
		const size_t n_more = length - ANSWER_MAX;
		const int n = snprintf(line, sizeof(line),
				       "\n[%zu more bytes, digest %016" PRIx64 "%016" PRIx64 "]\n",
				       n_more, rr_bytes_digest(0, bytes + ANSWER_MAX, n_more),
				       rr_bytes_digest(1, bytes + ANSWER_MAX, n_more));

		write_pieces(heading, line, (size_t)n);
	}
	close(output);
}

/* Which of several workers takes a request would be up to the kernel, or to a process of the app. */
static void refuse_workers(const struct app *app, size_t n)
{
	/* As many as there are requests for, and as the option takes. */
	size_t n_apps = app->n_requests > APPS_LEAST ? app->n_requests : APPS_LEAST;

	n_apps = n_apps < APPS_MOST ? n_apps : APPS_MOST;
	n_apps = n_apps < n ? n_apps : n;
	printf("%zu processes of the app take requests at one port, and redrace cannot choose which of them gets one: start a single worker in the app (gunicorn -w 1), and add --apps %zu (in a suite apps: %zu)\n",
	       n, n_apps, n_apps);
	fflush(stdout);
	end_failed();
}

static void be_request(const struct app *app, size_t number)
{
	const int connection = app->connections[number - 1];
	const char *request = app->requests[number - 1];
	size_t n_workers;
	char text[64];

	if (!await_reply(connection))
		_exit(1);
	/* All of them are there when a request begins: the app was at rest. */
	n_workers = app->pid ? count_workers(app->port) : 0;
	if (n_workers > 1)
		refuse_workers(app, n_workers);
	if (request[0] == RR_MARK_LINE) {
		/* Of an app that has ended nobody reads it. Written down is that there is no answer. */
		signal(SIGPIPE, SIG_IGN);
		dprintf(app->input, "%s\n", request + 1);
		snprintf(text, sizeof(text), "%c%zu 0 0\n", RR_MARK_RECORD, number);
		if (write(STDOUT_FILENO, text, strlen(text)) < 0)
			_exit(1);
	} else {
		write_record(app, number);
	}
	snprintf(text, sizeof(text), RR_MARK_ANSWER "%zu", number);
	send_mark(connection, text);
	await_reply(connection);
	_exit(0);
}

/* ---- All of them --------------------------------------------------------------- */

/* An app that ends while others ask it is no refusal, whatever they make of it. */
static void note_end_of_app(const struct app *app, int status)
{
	char *reason = reason_of(app), record[400];
	const int length = snprintf(
		record, sizeof(record), "%c0 %d\n%.300s", RR_MARK_RECORD,
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), reason);

	free(reason);
	if (write(STDOUT_FILENO, record, (size_t)length) < 0)
		exit(1);
}

/* Until so many processes of ours have ended. Others that end meanwhile belong to the app. */
static void await_children(const struct app *app, pid_t *pids, size_t n)
{
	size_t n_left = n;
	int status;

	while (n_left > 0) {
		const pid_t pid = wait(&status);
		size_t i = 0;

		if (pid == app->pid) {
			refuse_daemon(status, n_left);
			note_end_of_app(app, status);
		}
		while (i < n && pids[i] != pid)
			i++;
		if (i == n)
			continue;
		pids[i] = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) == RR_APP_FAILED)
			end_failed();
		n_left--;
	}
	if (app->pid && waitpid(app->pid, &status, WNOHANG) == app->pid)
		note_end_of_app(app, status);
}

int main(int argc, char **argv)
{
	const char *port = getenv("PORT");
	struct app app = { .n_requests = argc > 4 ? (size_t)argc - 4 : 0 };
	pid_t requests[RR_REQUESTS_MAX], end;
	int connection;

	if (argc < 4 || app.n_requests > RR_REQUESTS_MAX)
		return 64;
	app.port = (unsigned)strtoul(port ? port : "", NULL, 10);
	app.command = argv[1];
	app.ready = argv[2];
	app.jar = argv[3];
	app.requests = argv + 4;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (app.command[0]) {
		start_app(&app);
		await_app(&app);
	}
	/* Connections are opened one after the other, so that their order is always the same. */
	for (size_t i = 0; i < app.n_requests; i++) {
		char mark[64];

		app.connections[i] = connect_to_redis();
		snprintf(mark, sizeof(mark), RR_MARK_REQUEST "%zu", i + 1);
		send_mark(app.connections[i], mark);
	}
	for (size_t i = 0; i < app.n_requests; i++) {
		requests[i] = fork();
		if (requests[i] == 0)
			be_request(&app, i + 1);
	}
	await_children(&app, requests, app.n_requests);
	/* The end has a connection of its own: that of a request is closed if it does not come to
	 * this app. */
	connection = connect_to_redis();
	send_mark(connection, RR_MARK_END);
	end = fork();
	if (end == 0) {
		await_reply(connection);
		_exit(0);
	}
	await_children(&app, &end, 1);
	end_children();
	return 0;
}
