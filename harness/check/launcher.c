/* SPDX-License-Identifier: MIT */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_BYTES = 128 * 1024, WORDS_MAX = 1024, ANSWER_MS = 10000 };

enum message_kind {
	MESSAGE_RUN,     /* to the launcher: words of argv, then environment */
	MESSAGE_KILL,    /* to the launcher: `pid` */
	MESSAGE_STARTED, /* from it, with a file descriptor; error_number */
	MESSAGE_ENDED,   /* from it: `pid`, `status` */
	MESSAGE_KILLED   /* from it: `pid` */
};

struct message {
	enum message_kind kind;
	pid_t pid;
	int status;
	int error_number;
	int n_argv, n_environment;
	size_t length;
	char words[]; /* each with its NUL */
};

/* ---- Inside the launcher: programs ----------------------------------------- */

static _Noreturn void become_program(const struct message *message, int output)
{
	char *words[WORDS_MAX + 1];
	const int input = open("/dev/null", O_RDONLY);
	const char *at = message->words;
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	for (int i = 0; i < message->n_argv; i++, at += strlen(at) + 1)
		words[i] = (char *)at;
	words[message->n_argv] = NULL;
	for (int i = 0; i < message->n_environment; i++, at += strlen(at) + 1)
		putenv((char *)at);
	execvp(words[0], words);
	fprintf(stderr, "cannot run '%s': %s\n", words[0], strerror(errno));
	_exit(127);
}

static void send_with_descriptor(int socket, const struct message *message, int descriptor)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (void *)message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (descriptor >= 0) {
		struct cmsghdr *rights;

		header.msg_control = control;
		header.msg_controllen = sizeof(control);
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
	}
	sendmsg(socket, &header, MSG_NOSIGNAL);
}

static void run_program(int socket, const struct message *message)
{
	struct message answer = { .kind = MESSAGE_STARTED };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		answer.error_number = errno;
		send_with_descriptor(socket, &answer, -1);
		return;
	}
	answer.pid = fork();
	if (answer.pid == 0)
		become_program(message, ends[1]);
	if (answer.pid < 0)
		answer.error_number = errno;
	else
		setpgid(answer.pid, answer.pid);
	send_with_descriptor(socket, &answer, ends[0]);
	close(ends[0]);
	close(ends[1]);
}

/* ---- Inside the launcher: ends ---------------------------------------------- */

static void report_ended(int socket)
{
	struct message message = { .kind = MESSAGE_ENDED };

	while ((message.pid = waitpid(-1, &message.status, WNOHANG)) > 0)
		send_with_descriptor(socket, &message, -1);
}

/* Its group goes; that of a program which has ended may still have members. */
static void kill_program(int socket, pid_t pid)
{
	struct message message = { .kind = MESSAGE_KILLED, .pid = pid };

	kill(-pid, SIGKILL);
	while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
		continue;
	send_with_descriptor(socket, &message, -1);
}

/* Whoever left its group has become a child of the launcher, or has a parent that
 * will die now: once more until nobody is left. */
static void kill_children(void)
{
	char path[64];
	FILE *file;
	int pid;

	do {
		snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
		file = fopen(path, "re");
		while (file && fscanf(file, "%d", &pid) == 1) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
		}
		if (file)
			fclose(file);
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static _Noreturn void launcher_process(int socket)
{
	static union {
		struct message head;
		char bytes[sizeof(struct message) + WORDS_BYTES];
	} message;
	sigset_t children;
	struct pollfd ready[2] = { { .fd = socket, .events = POLLIN } };

	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&children);
	sigprocmask(SIG_SETMASK, &children, NULL);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	ready[1] = (struct pollfd){ .fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK),
				    .events = POLLIN };
	for (;;) {
		struct signalfd_siginfo signal_info;
		ssize_t n;

		poll(ready, 2, -1);
		while (read(ready[1].fd, &signal_info, sizeof(signal_info)) > 0)
			continue;
		report_ended(socket);
		n = recv(socket, &message, sizeof(message), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		if (n > 0 && message.head.kind == MESSAGE_RUN)
			run_program(socket, &message.head);
		else if (n > 0)
			kill_program(socket, message.head.pid);
	}
	kill_children();
	_exit(0);
}

/* ---- Outside ----------------------------------------------------------------- */

bool rr_launcher_start(struct rr_launcher *launcher, struct rr_error *error)
{
	int ends[2];

	*launcher = (struct rr_launcher){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot make a socket: %s",
				    strerror(errno));
	fflush(NULL);
	launcher->pid = fork();
	if (launcher->pid == 0) {
		close(ends[0]);
		launcher_process(ends[1]);
	}
	close(ends[1]);
	launcher->socket = ends[0];
	if (launcher->pid < 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot start a process: %s",
				    strerror(errno));
	return true;
}

void rr_launcher_stop(struct rr_launcher *launcher)
{
	/* Processes that were forked since may hold the socket too. */
	if (launcher->socket >= 0) {
		shutdown(launcher->socket, SHUT_RDWR);
		close(launcher->socket);
	}
	while (launcher->pid > 0 && waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	*launcher = (struct rr_launcher){ .socket = -1 };
}

static void note_ended(struct rr_launcher *launcher, const struct message *message)
{
	/* The oldest is of no interest any more to anybody. */
	if (launcher->n_ended == RR_LAUNCHED_MAX) {
		memmove(launcher->ended, launcher->ended + 1,
			--launcher->n_ended * sizeof(launcher->ended[0]));
	}
	launcher->ended[launcher->n_ended++] = (struct rr_launched){ message->pid,
								     message->status };
}

/* The next message of the launcher; what has ended is noted on the way. *descriptor
 * gets the one that comes with it. False: there is none. */
static bool receive_message(struct rr_launcher *launcher, struct message *message, int timeout_ms,
			    int *descriptor)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct pollfd ready = { .fd = launcher->socket, .events = POLLIN };
	struct iovec part = { message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	const struct cmsghdr *rights;

	if (poll(&ready, 1, timeout_ms) <= 0 ||
	    recvmsg(launcher->socket, &header, MSG_CMSG_CLOEXEC) <= 0)
		return false;
	rights = CMSG_FIRSTHDR(&header);
	if (rights && descriptor)
		memcpy(descriptor, CMSG_DATA(rights), sizeof(int));
	if (message->kind == MESSAGE_ENDED)
		note_ended(launcher, message);
	return true;
}

static bool await_message(struct rr_launcher *launcher, enum message_kind kind,
			  struct message *message, int *descriptor)
{
	do {
		if (!receive_message(launcher, message, ANSWER_MS, descriptor))
			return false;
	} while (message->kind != kind);
	return true;
}

static bool add_words(struct message *message, const char *const words[], int *n)
{
	for (*n = 0; words[*n]; ++*n) {
		const size_t size = strlen(words[*n]) + 1;

		if (message->length + size > WORDS_BYTES || *n == WORDS_MAX)
			return false;
		memcpy(message->words + message->length, words[*n], size);
		message->length += size;
	}
	return true;
}

static void note_group(struct rr_launcher *launcher, pid_t group)
{
	if (launcher->n_groups < RR_LAUNCHED_MAX)
		launcher->groups[launcher->n_groups++] = group;
}

static void forget_group(struct rr_launcher *launcher, pid_t group)
{
	size_t n = 0;

	for (size_t i = 0; i < launcher->n_groups; i++) {
		if (launcher->groups[i] != group)
			launcher->groups[n++] = launcher->groups[i];
	}
	launcher->n_groups = n;
}

bool rr_launcher_has_group(const struct rr_launcher *launcher, pid_t group)
{
	size_t i = 0;

	while (i < launcher->n_groups && launcher->groups[i] != group)
		i++;
	return i < launcher->n_groups;
}

bool rr_launcher_run(struct rr_launcher *launcher, const char *const argv[],
		     const char *const environment[], pid_t *pid, int *output,
		     struct rr_error *error)
{
	struct message *message = calloc(1, sizeof(*message) + WORDS_BYTES);
	struct message answer = { .pid = 0 };
	bool sent;

	if (!message)
		return rr_error_no_memory(error);
	message->kind = MESSAGE_RUN;
	if (!add_words(message, argv, &message->n_argv) ||
	    !add_words(message, environment, &message->n_environment)) {
		free(message);
		return rr_error_set(error, RR_ERROR_USAGE,
				    "the command line of '%.100s' is too long", argv[0]);
	}
	*output = -1;
	sent = send(launcher->socket, message, sizeof(*message) + message->length, MSG_NOSIGNAL) >
		       0 &&
	       await_message(launcher, MESSAGE_STARTED, &answer, output);
	free(message);
	if (!sent || answer.pid <= 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot start '%.100s': %s", argv[0],
				    sent ? strerror(answer.error_number) :
					   "the launcher does not answer");
	*pid = answer.pid;
	note_group(launcher, answer.pid);
	return true;
}

bool rr_launcher_has_ended(struct rr_launcher *launcher, pid_t pid, int *status)
{
	struct message message;

	while (receive_message(launcher, &message, 0, NULL))
		continue;
	for (size_t i = 0; i < launcher->n_ended; i++) {
		if (launcher->ended[i].pid != pid)
			continue;
		*status = launcher->ended[i].status;
		memmove(launcher->ended + i, launcher->ended + i + 1,
			(--launcher->n_ended - i) * sizeof(launcher->ended[0]));
		return true;
	}
	return false;
}

void rr_launcher_kill(struct rr_launcher *launcher, pid_t pid)
{
	const struct message request = { .kind = MESSAGE_KILL, .pid = pid };
	struct message message;
	int status;

	if (send(launcher->socket, &request, sizeof(request), MSG_NOSIGNAL) > 0)
		await_message(launcher, MESSAGE_KILLED, &message, NULL);
	rr_launcher_has_ended(launcher, pid, &status);
	forget_group(launcher, pid);
}
