/* SPDX-License-Identifier: MIT */
/* The program's side of the guardian; its own life is in guardian_process.c. */
#include "guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "guardian_protocol.h"

/* Receives what there is. False: nothing came in that time; or the guardian is gone. */
static bool receive_message(struct rr_guardian *guardian, struct guardian_message *message,
			    int64_t timeout_ms)
{
	struct pollfd ready = { .fd = guardian->socket, .events = POLLIN };

	if (poll(&ready, 1, timeout_ms > 0 ? (int)timeout_ms : 0) != 1)
		return false;
	if (guardian->passed_fd >= 0)
		close(guardian->passed_fd);
	guardian->is_gone = guardian_receive_with(guardian->socket, message, sizeof(*message),
						  &guardian->passed_fd) !=
			    (ssize_t)sizeof(*message);
	guardian->is_late = false;
	if (!guardian->is_gone && message->number == 0 && guardian->n_requests > 0) {
		guardian->guarded[message->index].has_ended = true;
		guardian->guarded[message->index].status = message->status;
	}
	return !guardian->is_gone;
}

/* The answer to the newest request; those that come too late for earlier ones
 * are dropped. False when it does not come in time. */
static bool await_answer(struct rr_guardian *guardian, struct guardian_message *answer)
{
	const int64_t end_ns = rr_clock_ns() + guardian->answer_ms * INT64_C(1000000);

	guardian->is_gone = false;
	for (;;) {
		if (receive_message(guardian, answer, (end_ns - rr_clock_ns()) / 1000000)) {
			if (answer->number == guardian->n_requests)
				return true;
		} else if (guardian->is_gone || rr_clock_ns() >= end_ns) {
			return false;
		}
	}
}

/* One request, one answer; false when the guardian is gone. */
static bool ask_guardian(struct rr_guardian *guardian, struct guardian_request *request,
			 struct guardian_message *answer)
{
	const struct iovec parts[] = { { request, sizeof(*request) },
				       { (void *)request->words, request->size } };
	const struct msghdr header = { .msg_iov = (struct iovec *)parts, .msg_iovlen = 2 };

	request->number = ++guardian->n_requests;
	guardian->is_gone = sendmsg(guardian->socket, &header, MSG_NOSIGNAL) < 0;
	if (!guardian->is_gone && await_answer(guardian, answer))
		return true;
	guardian->is_late = !guardian->is_gone;
	guardian->is_gone = true;
	return false;
}

bool rr_guardian_is_there(const struct rr_guardian *guardian, struct rr_error *error)
{
	if (guardian->is_gone && guardian->is_late)
		return rr_error_set(error, RR_ERROR_REDIS,
				    "the guardian process has not answered for %g s",
				    guardian->answer_ms / 1000.0);
	return !guardian->is_gone ||
	       rr_error_set(error, RR_ERROR_REDIS,
			    "the guardian process, and with it the servers, is gone");
}

/* Asks for something to be done; false, with an error, when it was not. */
static bool demand(struct rr_guardian *guardian, struct guardian_request *request,
		   struct guardian_message *answer, const char *what, struct rr_error *error)
{
	if (!ask_guardian(guardian, request, answer))
		return rr_guardian_is_there(guardian, error);
	switch (answer->error_number) {
	case 0:
		return true;
	case EAGAIN: /* for want of processes, descriptors or memory */
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return rr_error_set(error, RR_ERROR_INTERNAL, "%s: %s", what,
				    strerror(answer->error_number));
	default:
		return rr_error_set(error, RR_ERROR_FILE, "%s: %s", what,
				    strerror(answer->error_number));
	}
}

/* ---- Beginning and end ---------------------------------------------------------- */

/* "$TMPDIR/redrace-XXXXXX", from the root on, for the guardian changes its directory;
 * the sockets inside must fit sun_path. */
static bool choose_base(struct rr_guardian *guardian, struct rr_error *error)
{
	const char *set = getenv("TMPDIR");
	const char *tmp = set && *set ? set : "/tmp";
	const size_t most = sizeof(guardian->base) - sizeof("/redrace-XXXXXX");
	char *path = strlen(tmp) <= most ? realpath(tmp, NULL) : NULL;
	const bool is_too_long = path ? strlen(path) > most : strlen(tmp) > most;

	if (!is_too_long && !path)
		return rr_error_set(
			error, RR_ERROR_FILE,
			"cannot use '%s' for temporary files: %s; set TMPDIR to a directory that can be written",
			tmp, strerror(errno));
	snprintf(guardian->base, sizeof(guardian->base), "%s/redrace-XXXXXX", path ? path : "");
	free(path);
	return !is_too_long ||
	       rr_error_set(
		       error, RR_ERROR_FILE,
		       "TMPDIR is too long for a socket's path; set it to a directory of at most %zu bytes",
		       most);
}

bool rr_guardian_start(struct rr_guardian *guardian, struct rr_error *error)
{
	struct guardian_message answer;
	int pair[2];

	*guardian = (struct rr_guardian){
		.socket = -1,
		.passed_fd = -1,
		.answer_ms = RR_GUARDIAN_ANSWER_MS,
	};
	if (!choose_base(guardian, error))
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "socketpair: %s", strerror(errno));
	/* A child that was there before is not ours to kill: it came with an exec. */
	guardian->inherits = waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) !=
				     0 &&
			     prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
	fflush(NULL);
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(pair[0]);
		guardian_process(pair[1], guardian->base);
		_exit(0);
	}
	close(pair[1]);
	if (guardian->pid < 0) {
		close(pair[0]);
		return rr_error_set(error, RR_ERROR_INTERNAL, "fork: %s", strerror(errno));
	}
	guardian->socket = pair[0];

	/* The first that it says is whether it has made the directory. */
	if (!await_answer(guardian, &answer)) {
		rr_error_set(error, RR_ERROR_INTERNAL, "the guardian process does not start");
	} else if (answer.error_number) {
		rr_error_set(
			error, RR_ERROR_FILE,
			"cannot make a directory '%s': %s; set TMPDIR to one that can be written",
			guardian->base, strerror(answer.error_number));
	} else {
		memcpy(guardian->base + strlen(guardian->base) - GUARDIAN_UNIQUE, answer.unique,
		       GUARDIAN_UNIQUE);
		return true;
	}
	rr_guardian_stop(guardian);
	return false;
}

void rr_guardian_stop(struct rr_guardian *guardian)
{
	int status = 0;

	if (guardian->socket < 0)
		return;
	close(guardian->socket);
	if (guardian->passed_fd >= 0)
		close(guardian->passed_fd);
	guardian->socket = guardian->passed_fd = -1;
	for (int i = 0; i < 1000; i++) {
		if (waitpid(guardian->pid, &status, WNOHANG) != 0)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	/* Killed, it could not clean up after itself. */
	if (WIFSIGNALED(status)) {
		if (guardian->inherits)
			guardian_end_children();
		rr_guardian_remove_tree(guardian->base);
	}
}

/* ---- Requests -------------------------------------------------------------------- */

bool rr_guardian_prepare(struct rr_guardian *guardian, struct rr_guarded *process,
			 struct rr_error *error)
{
	struct guardian_request request = { .kind = GUARDIAN_PREPARE };
	struct guardian_message answer;

	if (!demand(guardian, &request, &answer, "a directory for a server", error))
		return false;
	*process = (struct rr_guarded){ .index = answer.index, .watch_fd = -1 };
	guardian->guarded[answer.index].has_ended = true; /* nothing runs yet */
	snprintf(process->directory, sizeof(process->directory), "%s/%d", guardian->base,
		 answer.index);
	return true;
}

static int write_words(FILE *out, const char *const words[])
{
	int n = 0;

	for (; words && words[n]; n++)
		fwrite(words[n], 1, strlen(words[n]) + 1, out);
	return n;
}

bool rr_guardian_run(struct rr_guardian *guardian, struct rr_guarded *process,
		     const char *const argv[], const char *const environment[], int cpu,
		     struct rr_error *error)
{
	char *words;
	struct guardian_request request = { .kind = GUARDIAN_SPAWN,
					    .index = process->index,
					    .cpu = cpu,
					    .runs_here = process->runs_here,
					    .is_watched = process->is_watched,
					    .watches_files = process->watches_files,
					    .is_bound = process->bound_from != NULL };
	struct guardian_message answer = { .bind_error = 0 };
	FILE *file = rr_open_memory(&words, &request.size);
	char what[400];
	bool good;

	snprintf(what, sizeof(what), "cannot run '%.300s'", argv[0]);
	request.n_argv = write_words(file, argv);
	request.n_environment = write_words(file, environment);
	if (process->bound_from)
		write_words(file,
			    (const char *const[]){ process->bound_from, process->bound_at, NULL });
	fclose(file);
	request.words = words;
	if (request.n_argv > GUARDIAN_WORDS || request.size > GUARDIAN_WORDS_SIZE)
		good = rr_error_set(error, RR_ERROR_FILE, "%s: %s", what, strerror(E2BIG));
	else
		good = demand(guardian, &request, &answer, what, error);
	free(words);
	if (!good && answer.bind_error) {
		error->kind = RR_ERROR_NONE;
		rr_error_set(error, RR_ERROR_INTERNAL,
			     "--fresh: a program cannot be given a directory of its own here (%s): "
			     "in a container, permit mount namespaces (docker run --cap-add "
			     "SYS_ADMIN), or leave --fresh out",
			     strerror(answer.bind_error));
	}
	process->pid = good ? answer.pid : 0;
	if (good && process->is_watched) {
		process->watch_fd = guardian->passed_fd;
		process->watch_error = answer.watch_error;
		process->address_error = answer.address_error;
		guardian->passed_fd = -1;
	}
	guardian->guarded[process->index].pid = process->pid;
	guardian->guarded[process->index].has_ended = !good;
	return good;
}

bool rr_guardian_has_said_end(struct rr_guardian *guardian, const struct rr_guarded *process,
			      int *status)
{
	struct guardian_message message;

	while (receive_message(guardian, &message, 0))
		continue;
	*status = guardian->guarded[process->index].status;
	return guardian->guarded[process->index].has_ended;
}

bool rr_guardian_has_ended(struct rr_guardian *guardian, const struct rr_guarded *process,
			   int *status)
{
	struct guardian_request request = { .kind = GUARDIAN_PING };
	struct guardian_message answer;

	return ask_guardian(guardian, &request, &answer) &&
	       rr_guardian_has_said_end(guardian, process, status);
}

bool rr_guardian_has_group(const struct rr_guardian *guardian, pid_t group)
{
	int i = 0;

	while (i < RR_GUARDED_MAX && guardian->guarded[i].pid != group)
		i++;
	return i < RR_GUARDED_MAX;
}

bool rr_guardian_signal(struct rr_guardian *guardian, const struct rr_guarded *process, int number)
{
	struct guardian_request request = { .kind = GUARDIAN_SIGNAL,
					    .index = process->index,
					    .signal = number };
	struct guardian_message answer;

	return ask_guardian(guardian, &request, &answer) && answer.error_number == 0;
}

bool rr_guardian_kill(struct rr_guardian *guardian, const struct rr_guarded *process)
{
	struct guardian_request request = { .kind = GUARDIAN_KILL, .index = process->index };
	struct guardian_message answer;

	guardian->guarded[process->index].pid = 0;
	return ask_guardian(guardian, &request, &answer);
}

bool rr_guardian_own_keys(struct rr_guardian *guardian, const struct rr_key_set *keys,
			  struct rr_error *error)
{
	struct guardian_request request = { .kind = GUARDIAN_OWN_KEYS, .keys = *keys };
	struct guardian_message answer;

	return demand(guardian, &request, &answer, "keys to be deleted", error);
}
