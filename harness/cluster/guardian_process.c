/* SPDX-License-Identifier: MIT */
/* The guardian's own life: see guardian.h for what it is for. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "guardian.h"
#include "guardian_protocol.h"

enum {
	ARGV_MAX = 48,
	PROCESSES_MAX = 64,
	KEY_SETS_MAX = 32,
	DELETE_MS = 2000,
	LOOK_MS = 200,
	DEAF_MS = RR_SIGNAL_END_MS - LOOK_MS,
	INHERITED_MAX = 256, /* descriptors; the program has opened few by then */
	ORPHAN_ROUNDS = 100
};

/* A server, under its number. */
struct guarded {
	bool is_used; /* its directory is there */
	pid_t pid;    /* 0 = has ended */
	int status;
};

struct guardian_state {
	const char *base;
	int socket; /* to the program */
	pid_t program;
	int64_t looked_ns;     /* at whether it hears signals */
	int64_t deaf_since_ns; /* 0 = it always did */
	int n, n_key_sets;
	struct guarded servers[PROCESSES_MAX];
	struct rr_key_set key_sets[KEY_SETS_MAX];
};

/* ---- Directories -------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void rr_guardian_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void server_directory(const struct guardian_state *state, int index, char *path, size_t size)
{
	snprintf(path, size, "%s/%d", state->base, index);
}

/* ---- A program that does not hear ------------------------------------------ */

/* Does a signal wait that asks the process to end? */
static bool is_deaf(pid_t process)
{
	const unsigned long ending = 1UL << (SIGINT - 1) | 1UL << (SIGTERM - 1) |
				     1UL << (SIGHUP - 1);
	unsigned long pending = 0, blocked = 0;
	char path[40], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		sscanf(line, "ShdPnd: %lx", &pending);
		sscanf(line, "SigBlk: %lx", &blocked);
	}
	if (status)
		fclose(status);
	return (pending & blocked & ending) != 0;
}

/* Ends the program some time after a signal that it has not heard at once, though
 * it may have heard it since. */
static void look_after(struct guardian_state *state)
{
	const int64_t now_ns = rr_clock_ns();

	if (now_ns - state->looked_ns < LOOK_MS * INT64_C(1000000))
		return;
	state->looked_ns = now_ns;
	if (!state->deaf_since_ns && is_deaf(state->program))
		state->deaf_since_ns = now_ns;
	if (state->deaf_since_ns && now_ns - state->deaf_since_ns >= DEAF_MS * INT64_C(1000000) &&
	    getppid() == state->program)
		kill(state->program, SIGALRM);
}

/* ---- Starting and ending a server ----------------------------------------- */

static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: becomes the server, or writes errno to `failed`. */
static void become_server(const struct guardian_request *request, const char *path, int failed)
{
	char *argv[ARGV_MAX + 1] = { NULL };
	char *word = (char *)request->words;
	int log;

	for (int i = 0; i < request->n_argv && i < ARGV_MAX; i++) {
		argv[i] = word;
		word += strlen(word) + 1;
	}
	for (int i = 0; i < request->n_environment; i++) {
		putenv(word);
		word += strlen(word) + 1;
	}
	reset_signals();
	setpgid(0, 0); /* not setsid(): a session is a scheduling group */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rr_placement_pin(request->cpu);
	log = open("/dev/null", O_RDONLY);
	dup2(log, STDIN_FILENO);
	if (chdir(path) == 0) {
		log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execvp(argv[0], argv);
	}
	if (write(failed, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

/* Until the child has become the server or has said why not: 0, or the errno. It may
 * have been stopped before: then it is waited for as long as the program is there. */
static int await_server(struct guardian_state *state, int failed, pid_t pid)
{
	struct pollfd ready[] = {
		{ .fd = failed, .events = POLLIN },
		{ .fd = state->socket },
	};
	int number = 0;

	do {
		poll(ready, 2, LOOK_MS);
		look_after(state);
	} while (!ready[0].revents && !ready[1].revents);
	if (ready[0].revents && read(failed, &number, sizeof(number)) > 0)
		waitpid(pid, NULL, 0);
	return number;
}

/* Forks the server; 0, or the errno of what failed. */
static int fork_server(struct guardian_state *state, const struct guardian_request *request,
		       const char *path, pid_t *pid)
{
	int failed[2], number = 0;

	if (pipe2(failed, O_CLOEXEC) != 0)
		return errno;
	*pid = fork();
	if (*pid == 0)
		become_server(request, path, failed[1]);
	if (*pid < 0)
		number = errno;
	close(failed[1]);
	if (*pid > 0)
		number = await_server(state, failed[0], *pid);
	close(failed[0]);
	return number;
}

/* A server's directory, under the first number that is free. */
static void prepare_directory(struct guardian_state *state, struct guardian_answer *answer)
{
	char path[96];
	int i = 0;

	while (i < state->n && state->servers[i].is_used)
		i++;
	if (i == PROCESSES_MAX) {
		answer->error_number = EAGAIN;
		return;
	}
	server_directory(state, i, path, sizeof(path));
	if (mkdir(path, 0700) != 0) {
		answer->error_number = errno;
		return;
	}
	state->servers[i] = (struct guarded){ .is_used = true };
	if (i == state->n)
		state->n++;
	answer->index = i;
}

static void spawn_server(struct guardian_state *state, const struct guardian_request *request,
			 struct guardian_answer *answer)
{
	struct guarded *server = &state->servers[request->index];
	char path[96];

	if (server->pid) {
		answer->error_number = EBUSY;
		return;
	}
	server_directory(state, request->index, path, sizeof(path));
	answer->error_number = fork_server(state, request, path, &answer->pid);
	if (!answer->error_number)
		server->pid = answer->pid;
}

static void end_process(struct guarded *server)
{
	if (!server->pid)
		return;
	kill(-server->pid, SIGKILL); /* whatever it started, too */
	kill(server->pid, SIGKILL);
	waitpid(server->pid, &server->status, 0);
	server->pid = 0;
}

static void end_server(struct guardian_state *state, int index)
{
	char path[96];

	end_process(&state->servers[index]);
	state->servers[index].is_used = false;
	server_directory(state, index, path, sizeof(path));
	rr_guardian_remove_tree(path);
}

/* Not reaped yet, so its number is nobody else's. */
static void signal_server(struct guarded *server, int number, struct guardian_answer *answer)
{
	if (!server->pid) {
		answer->error_number = ESRCH;
	} else if (number == SIGKILL) {
		end_process(server);
	} else {
		kill(server->pid, number);
		if (number == SIGSTOP &&
		    waitpid(server->pid, &server->status, WUNTRACED) == server->pid &&
		    !WIFSTOPPED(server->status))
			server->pid = 0;
	}
}

static void reap_servers(struct guardian_state *state)
{
	for (int i = 0; i < state->n; i++) {
		struct guarded *server = &state->servers[i];

		if (server->pid && waitpid(server->pid, &server->status, WNOHANG) == server->pid)
			server->pid = 0;
	}
}

/* ---- Requests ------------------------------------------------------------ */

static void own_keys(struct guardian_state *state, const struct guardian_request *request,
		     struct guardian_answer *answer)
{
	if (state->n_key_sets == KEY_SETS_MAX)
		answer->error_number = EAGAIN;
	else
		state->key_sets[state->n_key_sets++] = request->keys;
}

static void tell_status(const struct guarded *server, struct guardian_answer *answer)
{
	answer->pid = server->pid;
	answer->status = server->status;
}

/* What is asked of a server that there is. */
static void serve_server(struct guardian_state *state, const struct guardian_request *request,
			 struct guardian_answer *answer)
{
	struct guarded *server = &state->servers[request->index];

	reap_servers(state);
	switch (request->kind) {
	case GUARDIAN_SPAWN:
		spawn_server(state, request, answer);
		break;
	case GUARDIAN_STATUS:
		tell_status(server, answer);
		break;
	case GUARDIAN_SIGNAL:
		signal_server(server, request->signal, answer);
		break;
	default:
		end_server(state, request->index);
	}
}

static struct guardian_answer answer_to(struct guardian_state *state,
					const struct guardian_request *request)
{
	struct guardian_answer answer = { .number = request->number, .index = request->index };

	if (request->kind == GUARDIAN_PREPARE)
		prepare_directory(state, &answer);
	else if (request->kind == GUARDIAN_OWN_KEYS)
		own_keys(state, request, &answer);
	else if (request->index < 0 || request->index >= state->n ||
		 !state->servers[request->index].is_used)
		answer.error_number = ESRCH;
	else
		serve_server(state, request, &answer);
	return answer;
}

/* ---- Life and end ------------------------------------------------------- */

static void delete_keys(const struct rr_key_set *keys)
{
	struct rl_link *link = rl_link_new(&keys->address, DELETE_MS);

	if (link)
		rr_keys_delete(link, keys->prefix, keys->n_keys);
	rl_link_free(link);
}

/* Kills what became our child because its parent has ended, such as a server
 * that made a daemon of itself. */
static void end_orphans(void)
{
	for (int round = 0; round < ORPHAN_ROUNDS; round++) {
		FILE *children = fopen("/proc/thread-self/children", "re");
		int pid;

		if (!children)
			return;
		while (fscanf(children, "%d", &pid) == 1)
			kill(pid, SIGKILL);
		fclose(children);
		if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
			return;
	}
}

static void clean_up(struct guardian_state *state)
{
	for (int i = 0; i < state->n; i++) {
		if (state->servers[i].is_used)
			end_server(state, i);
	}
	end_orphans();
	rr_guardian_remove_tree(state->base);
	for (int i = 0; i < state->n_key_sets; i++)
		delete_keys(&state->key_sets[i]);
}

/* What the program had open: where few files may be, it would be missed when the
 * directories are removed. */
static void close_others(int socket)
{
	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++) {
		if (fd != socket)
			close(fd);
	}
}

/* Out of the program's reach: group, signals, terminal and pipes. */
static void detach(int socket)
{
	const int unwanted[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				 SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU };
	int null;

	close_others(socket);
	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		signal(unwanted[i], SIG_IGN);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	if (chdir("/") != 0)
		return;
}

/* The first word to the program. False: there is no directory, or no program. */
static bool announce(int socket, char *base)
{
	struct guardian_answer answer = { .number = 0 };
	const char *made = mkdtemp(base);

	if (made)
		memcpy(answer.unique, base + strlen(base) - GUARDIAN_UNIQUE, GUARDIAN_UNIQUE);
	else
		answer.error_number = errno;
	send(socket, &answer, sizeof(answer), MSG_NOSIGNAL);
	return made != NULL;
}

/* ---- The program's requests, one after another ------------------------------ */

/* Until the program asks for something. False: it is gone. */
static bool await_request(struct guardian_state *state)
{
	struct pollfd ready = { .fd = state->socket, .events = POLLIN };
	int n;

	do {
		n = poll(&ready, 1, LOOK_MS);
		look_after(state);
	} while (n == 0 || (n < 0 && errno == EINTR));
	return n > 0;
}

void guardian_process(int socket, char *base)
{
	struct guardian_state state = { .base = base, .socket = socket, .program = getppid() };
	struct guardian_request request;

	detach(socket);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!announce(socket, base))
		return;
	while (await_request(&state) &&
	       recv(socket, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		const struct guardian_answer answer = answer_to(&state, &request);

		if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	clean_up(&state);
}
