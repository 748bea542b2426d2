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

#include "guardian_protocol.h"

static bool fail(char *error, size_t error_size, const char *what, int number)
{
	snprintf(error, error_size, "%s: %s", what, strerror(number));
	return false;
}

/* One question, one answer; false when the guardian is gone. */
static bool ask(struct rr_guardian *guardian,
		const struct guardian_request *request,
		struct guardian_answer *answer)
{
	struct pollfd fd = { .fd = guardian->socket, .events = POLLIN };

	if (send(guardian->socket, request, sizeof(*request), MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(*request))
		return false;
	if (poll(&fd, 1, GUARDIAN_ANSWER_MS) != 1)
		return false;
	return recv(guardian->socket, answer, sizeof(*answer), 0) ==
	       (ssize_t)sizeof(*answer);
}

/* "$TMPDIR/redrace-XXXXXX"; the sockets inside must fit sun_path. */
static bool choose_base(struct rr_guardian *guardian, char *error,
			size_t error_size)
{
	const char *tmp = getenv("TMPDIR");
	const int length = snprintf(guardian->base, sizeof(guardian->base),
				    "%s/redrace-XXXXXX",
				    tmp && *tmp ? tmp : "/tmp");

	if (length < (int)sizeof(guardian->base))
		return true;
	snprintf(error, error_size,
		 "TMPDIR is too long for a socket's path; set it to a directory of fewer than %zu bytes",
		 sizeof(guardian->base) - strlen("/redrace-XXXXXX"));
	return false;
}

bool rr_guardian_start(struct rr_guardian *guardian, char *error,
		       size_t error_size)
{
	int pair[2];

	guardian->socket = -1;
	if (!choose_base(guardian, error, error_size))
		return false;
	if (!mkdtemp(guardian->base)) {
		snprintf(error, error_size,
			 "cannot make a directory '%s': %s; set TMPDIR to one that can be written",
			 guardian->base, strerror(errno));
		return false;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		rmdir(guardian->base);
		return fail(error, error_size, "socketpair", errno);
	}
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
	rmdir(guardian->base);
	return fail(error, error_size, "fork", errno);
}

/* Asks for something to be done; false, with a message, when it was not. */
static bool demand(struct rr_guardian *guardian,
		   const struct guardian_request *request,
		   struct guardian_answer *answer, const char *what,
		   char *error, size_t error_size)
{
	if (!ask(guardian, request, answer))
		return fail(error, error_size, "the guardian process is gone",
			    ESRCH);
	if (answer->error_number)
		return fail(error, error_size, what, answer->error_number);
	return true;
}

bool rr_guardian_prepare(struct rr_guardian *guardian, struct rr_ward *ward,
			 char *error, size_t error_size)
{
	const struct guardian_request request = { .kind = GUARDIAN_PREPARE };
	struct guardian_answer answer;

	if (!demand(guardian, &request, &answer, "a directory for a server",
		    error, error_size))
		return false;
	ward->index = answer.index;
	ward->pid = 0;
	snprintf(ward->directory, sizeof(ward->directory), "%s/%d",
		 guardian->base, answer.index);
	return true;
}

/* Adds words to a request; how many, or -1 when there is no room. */
static int pack(struct guardian_request *request, size_t *used,
		const char *const words[])
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

bool rr_guardian_run(struct rr_guardian *guardian, struct rr_ward *ward,
		     const char *const argv[], const char *const environment[],
		     int cpu, char *error, size_t error_size)
{
	struct guardian_request request = { .kind = GUARDIAN_SPAWN,
					    .index = ward->index,
					    .cpu = cpu };
	struct guardian_answer answer;
	size_t used = 0;

	request.n_argv = pack(&request, &used, argv);
	request.n_environment = pack(&request, &used, environment);
	if (request.n_argv < 0 || request.n_environment < 0)
		return fail(error, error_size, argv[0], E2BIG);
	if (!demand(guardian, &request, &answer, argv[0], error, error_size))
		return false;
	ward->pid = answer.pid;
	return true;
}

bool rr_guardian_spawn(struct rr_guardian *guardian, struct rr_ward *ward,
		       const char *const argv[], int cpu, char *error,
		       size_t error_size)
{
	if (!rr_guardian_prepare(guardian, ward, error, error_size))
		return false;
	if (rr_guardian_run(guardian, ward, argv, NULL, cpu, error, error_size))
		return true;
	rr_guardian_kill(guardian, ward);
	return false;
}

bool rr_guardian_has_ended(struct rr_guardian *guardian,
			   const struct rr_ward *ward, int *status)
{
	const struct guardian_request request = { .kind = GUARDIAN_STATUS,
						  .index = ward->index };
	struct guardian_answer answer;

	if (!ask(guardian, &request, &answer))
		return false;
	*status = answer.status;
	return answer.pid == 0;
}

bool rr_guardian_signal(struct rr_guardian *guardian,
			const struct rr_ward *ward, int number)
{
	const struct guardian_request request = { .kind = GUARDIAN_SIGNAL,
						  .index = ward->index,
						  .signal = number };
	struct guardian_answer answer;

	return ask(guardian, &request, &answer) && answer.error_number == 0;
}

bool rr_guardian_kill(struct rr_guardian *guardian, const struct rr_ward *ward)
{
	const struct guardian_request request = { .kind = GUARDIAN_KILL,
						  .index = ward->index };
	struct guardian_answer answer;

	return ask(guardian, &request, &answer);
}

bool rr_guardian_own_keys(struct rr_guardian *guardian,
			  const struct rr_key_set *keys)
{
	const struct guardian_request request = { .kind = GUARDIAN_OWN_KEYS,
						  .keys = *keys };
	struct guardian_answer answer;

	return ask(guardian, &request, &answer) && answer.error_number == 0;
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
	if (WIFSIGNALED(status)) /* it could not clean up after itself */
		guardian_remove_tree(guardian->base);
}
