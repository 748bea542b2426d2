/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process_tree.h"
#include "program_clock.h"

enum {
	CHUNK = 64 * 1024,
	REQUEST_MAX = 64 * 1024 * 1024,
	ARGUMENTS_MAX = 256,
	TEXT_SIZE = 512,
	LOOK_NS = 100 * 1000,       /* between two looks at its threads, or */
	LOOK_PART = 16,             /* a part of the time it has been busy for */
	BUSY_NS = 20 * 1000 * 1000, /* until short waits for it end */
	READS_MAX = 16,             /* of its output at once: it may never end */
};

struct connection {
	int fd; /* -1 = none */
	char *bytes;
	size_t n, capacity;
};

struct rr_process {
	const struct rr_process_plan *plan;
	pid_t pid;
	int output_fd, tcp_fd, unix_fd;
	unsigned port;
	char socket_path[108];
	struct rr_program_clock clock;
	struct connection connections[RR_PROCESS_CONNECTIONS];
	char output[RR_PROCESS_OUTPUT + 1];
	size_t n_output;
	int64_t asked_ns;            /* when it connected or sent something last */
	int64_t busy_ns;             /* since when it computes */
	struct rr_process_look look; /* the last one at its threads */
	bool has_ended;              /* itself: others of its group may go on */
	int status;
};

/* ---- Ports ------------------------------------------------------------------ */

static bool listen_tcp(struct rr_process *process)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);

	process->tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (process->tcp_fd < 0 || bind(process->tcp_fd, (struct sockaddr *)&address, size) != 0 ||
	    listen(process->tcp_fd, 64) != 0 ||
	    getsockname(process->tcp_fd, (struct sockaddr *)&address, &size) != 0)
		return false;
	process->port = ntohs(address.sin_port);
	return true;
}

static bool listen_unix(struct rr_process *process)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%u.sock",
				    process->plan->directory, process->port);

	if (length < 0 || (size_t)length >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(process->socket_path, address.sun_path, sizeof(process->socket_path));
	unlink(process->socket_path);
	process->unix_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return process->unix_fd >= 0 &&
	       bind(process->unix_fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       listen(process->unix_fd, 64) == 0;
}

/* ---- The command line --------------------------------------------------------- */

/* What stands for our port in an argument; NULL: nothing that we know. */
static const char *placeholder(const struct rr_process *process, const char *at,
			       char value[TEXT_SIZE], size_t *length)
{
	static const char *const names[] = { "{url}", "{host}", "{port}", "{socket}" };
	size_t i = 0;

	while (i < 4 && strncmp(at, names[i], strlen(names[i])) != 0)
		i++;
	if (i == 4)
		return NULL;
	*length = strlen(names[i]);
	if (i == 0)
		snprintf(value, TEXT_SIZE, "redis://127.0.0.1:%u", process->port);
	else if (i == 2)
		snprintf(value, TEXT_SIZE, "%u", process->port);
	else
		snprintf(value, TEXT_SIZE, "%s", i == 1 ? "127.0.0.1" : process->socket_path);
	return value;
}

/* An argument with its placeholders replaced; malloc'd, NULL = out of memory. */
static char *fill_in(const struct rr_process *process, const char *argument)
{
	char *text = NULL, value[TEXT_SIZE];
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	while (*argument) {
		size_t length = 1;
		const char *found = placeholder(process, argument, value, &length);

		if (found)
			fputs(found, file);
		else
			fputc(*argument, file);
		argument += length;
	}
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

static bool launch(struct rr_process *process, struct rr_error *error)
{
	const struct rr_process_plan *plan = process->plan;
	char *argv[ARGUMENTS_MAX + 1] = { NULL };
	char words[8][TEXT_SIZE];
	const char *environment[9] = { words[0], words[1], words[2], words[3], words[4], words[5] };
	size_t n = 0;
	bool good = true;

	snprintf(words[0], TEXT_SIZE, "REDIS_URL=redis://127.0.0.1:%u", process->port);
	snprintf(words[1], TEXT_SIZE, "REDIS_HOST=127.0.0.1");
	snprintf(words[2], TEXT_SIZE, "REDIS_PORT=%u", process->port);
	snprintf(words[3], TEXT_SIZE, "REDIS_SOCKET=%s", process->socket_path);
	snprintf(words[4], TEXT_SIZE, "REDRACE_CLIENT=%s", plan->name);
	/* Which way round a set of strings is walked through shall be the same. */
	snprintf(words[5], TEXT_SIZE, "PYTHONHASHSEED=0");
	if (plan->preload) {
		snprintf(words[6], TEXT_SIZE, "LD_PRELOAD=%s", plan->preload);
		snprintf(words[7], TEXT_SIZE, RR_PROGRAM_PAGE_VARIABLE "=%s", process->clock.path);
		environment[6] = words[6];
		environment[7] = words[7];
	}
	for (; plan->argv[n] && n < ARGUMENTS_MAX && good; n++) {
		argv[n] = fill_in(process, plan->argv[n]);
		good = argv[n] != NULL;
	}
	if (!good)
		rr_error_no_memory(error);
	else
		good = rr_launcher_run(plan->launcher, (const char *const *)argv, environment,
				       &process->pid, &process->output_fd, error);
	while (n-- > 0)
		free(argv[n]);
	return good;
}

/* ---- Making and freeing --------------------------------------------------------- */

struct rr_process *rr_process_start(const struct rr_process_plan *plan, struct rr_error *error)
{
	struct rr_process *process = calloc(1, sizeof(*process));

	if (!process) {
		rr_error_no_memory(error);
		return NULL;
	}
	process->plan = plan;
	process->output_fd = process->tcp_fd = process->unix_fd = -1;
	for (int i = 0; i < RR_PROCESS_CONNECTIONS; i++)
		process->connections[i].fd = -1;
	if (!listen_tcp(process) || !listen_unix(process) ||
	    (plan->preload && !rr_program_clock_open(&process->clock, plan->directory,
						     process->port, plan->start_ns))) {
		rr_error_set(error, RR_ERROR_INTERNAL, "cannot open a port for the program: %s",
			     strerror(errno));
		rr_process_free(process);
		return NULL;
	}
	if (launch(process, error)) {
		fcntl(process->output_fd, F_SETFL, O_NONBLOCK);
		return process;
	}
	rr_process_free(process);
	return NULL;
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void rr_process_free(struct rr_process *process)
{
	if (!process)
		return;
	if (process->pid > 0)
		rr_launcher_kill(process->plan->launcher, process->pid);
	for (int i = 0; i < RR_PROCESS_CONNECTIONS; i++) {
		close_descriptor(&process->connections[i].fd);
		free(process->connections[i].bytes);
	}
	close_descriptor(&process->output_fd);
	close_descriptor(&process->tcp_fd);
	close_descriptor(&process->unix_fd);
	if (process->socket_path[0])
		unlink(process->socket_path);
	rr_program_clock_close(&process->clock);
	free(process);
}

/* ---- What it sends ---------------------------------------------------------------- */

static void read_output(struct rr_process *process)
{
	char bytes[4096];
	ssize_t n = 1;

	for (int i = 0; i < READS_MAX && n > 0; i++) {
		const size_t room = RR_PROCESS_OUTPUT - process->n_output;
		size_t kept;

		n = read(process->output_fd, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		kept = (size_t)n < room ? (size_t)n : room;
		memcpy(process->output + process->n_output, bytes, kept);
		process->n_output += kept;
	}
	if (n == 0)
		close_descriptor(&process->output_fd);
}

static bool accept_connections(struct rr_process *process, int listener, struct rr_error *error)
{
	const int yes = 1;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		int i = 0;

		while (i < RR_PROCESS_CONNECTIONS && process->connections[i].fd >= 0)
			i++;
		if (i == RR_PROCESS_CONNECTIONS) {
			close(fd);
			return rr_error_set(error, RR_ERROR_DATA,
					    "client %s opened more than %d connections",
					    process->plan->name, RR_PROCESS_CONNECTIONS);
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		process->connections[i].fd = fd;
		process->connections[i].n = 0;
		process->asked_ns = rr_clock_ns();
	}
	return true;
}

static bool complain_of(const struct rr_process *process, enum rr_resp_result result,
			struct rr_error *error)
{
	return rr_error_set(
		error, RR_ERROR_DATA,
		result == RR_RESP_TOO_LONG ?
			"client %s sent a command of more than %d words" :
			"client %s sent something that is no request of Redis's protocol (TLS?), and no command of up to %d words",
		process->plan->name, RL_WORDS_MAX);
}

/* All whole requests that have come on a connection. */
static bool take_requests(struct rr_process *process, int number, struct rr_error *error)
{
	const struct rr_process_plan *plan = process->plan;
	struct connection *connection = &process->connections[number];
	size_t at = 0, used;

	for (;;) {
		struct rl_command command;
		const enum rr_resp_result result =
			rr_resp_parse(connection->bytes + at, connection->n - at, &command, &used);

		if (result == RR_RESP_PARTIAL)
			break;
		if (result == RR_RESP_MALFORMED || result == RR_RESP_TOO_LONG)
			return complain_of(process, result, error);
		if (result == RR_RESP_COMPLETE &&
		    !plan->on_request(plan->context, process, number, &command))
			return false;
		if (connection->fd < 0)
			return true;
		at += used;
	}
	memmove(connection->bytes, connection->bytes + at, connection->n - at);
	connection->n -= at;
	return true;
}

static bool make_room(struct connection *connection)
{
	char *bytes;

	if (connection->capacity - connection->n >= CHUNK)
		return true;
	bytes = realloc(connection->bytes, connection->n + 2 * CHUNK);
	if (!bytes)
		return false;
	connection->bytes = bytes;
	connection->capacity = connection->n + 2 * CHUNK;
	return true;
}

/* A program that has not turned Nagle's algorithm off sleeps while its kernel keeps the
 * next short write back, until the one before is acknowledged. */
static void acknowledge(int fd)
{
	const int yes = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
}

/* Reads all that has come, and passes it on. */
static bool read_requests(struct rr_process *process, int number, struct rr_error *error)
{
	struct connection *connection = &process->connections[number];
	ssize_t n = 0;

	for (;;) {
		if (!make_room(connection))
			return rr_error_no_memory(error);
		n = read(connection->fd, connection->bytes + connection->n, CHUNK);
		if (n <= 0)
			break;
		connection->n += (size_t)n;
		process->asked_ns = rr_clock_ns();
		if (connection->n > REQUEST_MAX)
			return complain_of(process, RR_RESP_MALFORMED, error);
		if (!take_requests(process, number, error))
			return false;
		if (connection->fd < 0)
			return true;
	}
	if (n < 0 && errno == EAGAIN) {
		acknowledge(connection->fd);
		return true;
	}
	close_descriptor(&connection->fd);
	process->plan->on_close(process->plan->context, process, number);
	return true;
}

/* ---- Whether it waits ---------------------------------------------------------------- */

static size_t list_descriptors(const struct rr_process *process, struct pollfd *list)
{
	size_t n = 0;

	for (int i = 0; i < RR_PROCESS_CONNECTIONS; i++)
		list[n++] = (struct pollfd){ process->connections[i].fd, POLLIN, 0 };
	list[n++] = (struct pollfd){ process->tcp_fd, POLLIN, 0 };
	list[n++] = (struct pollfd){ process->unix_fd, POLLIN, 0 };
	list[n++] = (struct pollfd){ process->output_fd, POLLIN, 0 };
	list[n++] = (struct pollfd){ process->plan->launcher->socket, POLLIN, 0 };
	return n;
}

/* Deals with what has come, waiting for it so long. -1: the error; else how many
 * things have come. */
static int take_events(struct rr_process *process, int64_t timeout_ns, struct rr_error *error)
{
	struct pollfd list[RR_PROCESS_CONNECTIONS + 4];
	const size_t n = list_descriptors(process, list);
	const struct timespec timeout = { 0, timeout_ns };
	const int n_ready = ppoll(list, n, &timeout, NULL);

	if (n_ready <= 0)
		return 0;
	if ((list[n - 4].revents && !accept_connections(process, process->tcp_fd, error)) ||
	    (list[n - 3].revents && !accept_connections(process, process->unix_fd, error)))
		return -1;
	if (list[n - 2].revents)
		read_output(process);
	for (int i = 0; i < RR_PROCESS_CONNECTIONS; i++) {
		if (list[i].revents && !read_requests(process, i, error))
			return -1;
	}
	return n_ready;
}

/* Has it ended, and whatever it left in the background? */
static bool note_end(struct rr_process *process)
{
	/* What the launcher says of others has to be read too. */
	process->has_ended |= rr_launcher_has_ended(process->plan->launcher, process->pid,
						    &process->status);
	return process->has_ended && kill(-process->pid, 0) != 0;
}

/* What it has sent and printed last. */
static bool take_rest(struct rr_process *process, struct rr_error *error)
{
	int n;

	while ((n = take_events(process, 0, error)) > 0)
		note_end(process);
	return n == 0;
}

/* Whoever left the process group does not end with it, and goes on unseen. */
static enum rr_process_end end_process(struct rr_process *process, struct rr_error *error)
{
	if (!take_rest(process, error))
		return RR_PROCESS_FAILED;
	if (!rr_process_tree_has_strays(process->plan->launcher, process->port))
		return RR_PROCESS_ENDED;
	rr_error_set(
		error, RR_ERROR_DATA,
		"client %s left a process running in a group of its own (setsid, a daemon), which cannot be followed",
		process->plan->name);
	return RR_PROCESS_FAILED;
}

static struct rr_process_look look_at_all(const struct rr_process *process)
{
	const struct rr_process_tree tree = {
		.pid = process->pid,
		.launcher = process->plan->launcher->pid,
		.has_ended = process->has_ended,
		.clock = &process->clock,
	};

	return rr_process_tree_look(&tree);
}

/* Does all of it sleep, since before what has come was taken? For that, two looks in a
 * row have to see the same, and nobody may have been on his way before them: he looks
 * like a sleeper until he notices that he was woken. */
static bool is_quiet(struct rr_process *process, bool has_come)
{
	const struct rr_process_look before = process->look;
	const bool is_waking = rr_program_clock_is_waking(&process->clock);

	process->look = look_at_all(process);
	process->look.sleeps &= !is_waking;
	if (process->look.sleeps || has_come)
		process->busy_ns = rr_clock_ns();
	return !has_come && before.sleeps && process->look.sleeps &&
	       before.stamp == process->look.stamp;
}

/* Who has computed for long goes on for long: he is looked at less often. */
static int64_t until_look(const struct rr_process *process)
{
	const int64_t part_ns = (rr_clock_ns() - process->busy_ns) / LOOK_PART;

	return part_ns > LOOK_NS ? part_ns : LOOK_NS;
}

static void end_waits_of_busy(struct rr_process *process)
{
	if (rr_clock_ns() - process->busy_ns < BUSY_NS)
		return;
	rr_program_clock_wake_busy(&process->clock);
	process->busy_ns = rr_clock_ns();
}

static bool is_called_off(const struct rr_process *process, struct rr_error *error)
{
	struct rr_signals *signals = process->plan->signals;
	const int64_t until_ns = process->plan->until_ns;
	bool is_over = until_ns != 0 && rr_clock_ns() > until_ns;

	if (signals) {
		rr_signals_wait(signals, 0);
		is_over |= signals->interrupted;
	}
	if (is_over)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
	return is_over;
}

enum rr_process_end rr_process_wait(struct rr_process *process, struct rr_error *error)
{
	const int64_t limit_ns = process->plan->patience_ms * INT64_C(1000000);

	process->asked_ns = process->busy_ns = rr_clock_ns();
	process->look.sleeps = false;
	for (;;) {
		const int n = take_events(process, until_look(process), error);

		if (n < 0 || is_called_off(process, error))
			return RR_PROCESS_FAILED;
		if (note_end(process))
			return end_process(process, error);
		if (!is_quiet(process, n > 0)) {
			end_waits_of_busy(process);
		} else if (process->plan->owes(process->plan->context)) {
			return RR_PROCESS_STOPPED;
		} else if (rr_program_clock_wake(&process->clock)) {
			process->look.sleeps = false;
		}
		if (rr_clock_ns() - process->asked_ns > limit_ns)
			return RR_PROCESS_HANGS;
	}
}

/* ---- Its clock ------------------------------------------------------------------------ */

struct rr_program_clock *rr_process_clock(struct rr_process *process)
{
	return &process->clock;
}

/* ---- What it hears ------------------------------------------------------------------ */

/* Waits until all of it is written, or the program does not take it. */
static void write_all(struct connection *connection, const char *bytes, size_t n)
{
	struct pollfd ready = { connection->fd, POLLOUT, 0 };

	while (n > 0) {
		const ssize_t written = send(connection->fd, bytes, n, MSG_NOSIGNAL);

		if (written < 0 && errno != EAGAIN)
			return;
		if (written < 0 && poll(&ready, 1, 1000) <= 0)
			return;
		if (written > 0) {
			bytes += written;
			n -= (size_t)written;
		}
	}
}

void rr_process_reply(struct rr_process *process, int connection, const struct rl_reply *reply)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	if (!file)
		return;
	rr_resp_write(file, reply);
	rr_program_clock_hear(&process->clock);
	if (fclose(file) == 0 && process->connections[connection].fd >= 0)
		write_all(&process->connections[connection], text, length);
	free(text);
}

void rr_process_cut(struct rr_process *process, int connection)
{
	rr_program_clock_hear(&process->clock);
	close_descriptor(&process->connections[connection].fd);
}

const char *rr_process_output(const struct rr_process *process)
{
	return process->output;
}

int rr_process_status(const struct rr_process *process)
{
	return process->status;
}
