/* SPDX-License-Identifier: MIT */
/* The program's side of the guardian; its own life is in guardian_process.c. */
#include "guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "guardian_protocol.h"

/* The answer to the newest request; those that come too late for earlier ones
 * are dropped. False when it does not come in time. */
static bool await_answer(const struct rr_guardian *guardian, struct guardian_answer *answer)
{
	const int64_t end_ns = rr_clock_ns() + guardian->answer_ms * INT64_C(1000000);
	struct pollfd fd = { .fd = guardian->socket, .events = POLLIN };

	for (;;) {
		const int64_t left_ms = (end_ns - rr_clock_ns()) / 1000000;
		const int n = poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1 ||
		    recv(guardian->socket, answer, sizeof(*answer), 0) != (ssize_t)sizeof(*answer))
			return false;
		if (answer->number == guardian->n_requests)
			return true;
	}
}

/* One request, one answer; false when the guardian is gone. */
static bool ask_guardian(struct rr_guardian *guardian, struct guardian_request *request,
			 struct guardian_answer *answer)
{
	request->number = ++guardian->n_requests;
	guardian->is_gone = send(guardian->socket, request, sizeof(*request), MSG_NOSIGNAL) !=
				    (ssize_t)sizeof(*request) ||
			    !await_answer(guardian, answer);
	return !guardian->is_gone;
}

bool rr_guardian_is_there(const struct rr_guardian *guardian, struct rr_error *error)
{
	return !guardian->is_gone ||
	       rr_error_set(error, RR_ERROR_REDIS,
			    "the guardian process, and with it the servers, is gone");
}

/* Is it for want of processes, descriptors or memory? */
static enum rr_error_kind kind_of(int error_number)
{
	return error_number == EAGAIN || error_number == ENOMEM || error_number == EMFILE ||
			       error_number == ENFILE ?
		       RR_ERROR_INTERNAL :
		       RR_ERROR_FILE;
}

/* Asks for something to be done; false, with an error, when it was not. */
static bool demand(struct rr_guardian *guardian, struct guardian_request *request,
		   struct guardian_answer *answer, const char *what, struct rr_error *error)
{
	if (!ask_guardian(guardian, request, answer))
		return rr_guardian_is_there(guardian, error);
	if (answer->error_number)
		return rr_error_set(error, kind_of(answer->error_number), "%s: %s", what,
				    strerror(answer->error_number));
	return true;
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

/* Forks the guardian and keeps our end of a socket to it. */
static bool fork_guardian(struct rr_guardian *guardian, struct rr_error *error)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "socketpair: %s", strerror(errno));
	fflush(NULL);
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(pair[0]);
		guardian_process(pair[1], guardian->base);
		_exit(0);
	}
	close(pair[1]);
	guardian->socket = pair[0];
	if (guardian->pid > 0)
		return true;
	close(pair[0]);
	guardian->socket = -1;
	return rr_error_set(error, RR_ERROR_INTERNAL, "fork: %s", strerror(errno));
}

/* The directory that the guardian has made. */
static bool take_base(struct rr_guardian *guardian, struct rr_error *error)
{
	struct guardian_answer answer;

	if (!await_answer(guardian, &answer))
		return rr_error_set(error, RR_ERROR_INTERNAL,
				    "the guardian process does not start");
	if (answer.error_number)
		return rr_error_set(
			error, RR_ERROR_FILE,
			"cannot make a directory '%s': %s; set TMPDIR to one that can be written",
			guardian->base, strerror(answer.error_number));
	memcpy(guardian->base + strlen(guardian->base) - GUARDIAN_UNIQUE, answer.unique,
	       GUARDIAN_UNIQUE);
	return true;
}

bool rr_guardian_start(struct rr_guardian *guardian, struct rr_error *error)
{
	*guardian = (struct rr_guardian){
		.socket = -1,
		.answer_ms = RR_GUARDIAN_ANSWER_MS,
	};
	if (!choose_base(guardian, error) || !fork_guardian(guardian, error))
		return false;
	if (take_base(guardian, error))
		return true;
	rr_guardian_stop(guardian);
	return false;
}

void rr_guardian_stop(struct rr_guardian *guardian)
{
	int status = 0;

	if (guardian->socket < 0)
		return;
	close(guardian->socket);
	guardian->socket = -1;
	for (int i = 0; i < 1000; i++) {
		if (waitpid(guardian->pid, &status, WNOHANG) != 0)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	/* Killed, it could not clean up after itself. */
	if (WIFSIGNALED(status))
		rr_guardian_remove_tree(guardian->base);
}

/* ---- Requests -------------------------------------------------------------------- */

bool rr_guardian_prepare(struct rr_guardian *guardian, struct rr_process *process,
			 struct rr_error *error)
{
	struct guardian_request request = { .kind = GUARDIAN_PREPARE };
	struct guardian_answer answer;

	if (!demand(guardian, &request, &answer, "a directory for a server", error))
		return false;
	process->index = answer.index;
	process->pid = 0;
	snprintf(process->directory, sizeof(process->directory), "%s/%d", guardian->base,
		 answer.index);
	return true;
}

/* Adds words to a request; how many, or -1 when there is no room. */
static int pack(struct guardian_request *request, size_t *used, const char *const words[])
{
	int n = 0;

	for (; words && words[n]; n++) {
		const size_t size = strlen(words[n]) + 1;

		if (*used + size > sizeof(request->words))
			return -1;
		memcpy(request->words + *used, words[n], size);
		*used += size;
	}
	return n;
}

bool rr_guardian_run(struct rr_guardian *guardian, struct rr_process *process,
		     const char *const argv[], const char *const environment[], int cpu,
		     struct rr_error *error)
{
	struct guardian_request request = { .kind = GUARDIAN_SPAWN,
					    .index = process->index,
					    .cpu = cpu };
	struct guardian_answer answer;
	size_t used = 0;

	request.n_argv = pack(&request, &used, argv);
	request.n_environment = pack(&request, &used, environment);
	if (request.n_argv < 0 || request.n_environment < 0)
		return rr_error_set(error, RR_ERROR_FILE, "%s: %s", argv[0], strerror(E2BIG));
	if (!demand(guardian, &request, &answer, argv[0], error))
		return false;
	process->pid = answer.pid;
	return true;
}

bool rr_guardian_has_ended(struct rr_guardian *guardian, const struct rr_process *process,
			   int *status)
{
	struct guardian_request request = { .kind = GUARDIAN_STATUS, .index = process->index };
	struct guardian_answer answer;

	if (!ask_guardian(guardian, &request, &answer))
		return false;
	*status = answer.status;
	return answer.pid == 0;
}

bool rr_guardian_signal(struct rr_guardian *guardian, const struct rr_process *process, int number)
{
	struct guardian_request request = { .kind = GUARDIAN_SIGNAL,
					    .index = process->index,
					    .signal = number };
	struct guardian_answer answer;

	return ask_guardian(guardian, &request, &answer) && answer.error_number == 0;
}

bool rr_guardian_kill(struct rr_guardian *guardian, const struct rr_process *process)
{
	struct guardian_request request = { .kind = GUARDIAN_KILL, .index = process->index };
	struct guardian_answer answer;

	return ask_guardian(guardian, &request, &answer);
}

bool rr_guardian_own_keys(struct rr_guardian *guardian, const struct rr_key_set *keys,
			  struct rr_error *error)
{
	struct guardian_request request = { .kind = GUARDIAN_OWN_KEYS, .keys = *keys };
	struct guardian_answer answer;

	return demand(guardian, &request, &answer, "keys to be deleted", error);
}
