/* SPDX-License-Identifier: MIT */
/* One job of a crew: a process that says by a pipe what it has found. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew_inside.h"

enum { CHUNK = 1 << 16 };

/* ---- The process ---------------------------------------------------------- */

static bool say(int pipe, const void *words, size_t length)
{
	const char *from = words;

	while (length > 0) {
		const ssize_t n = write(pipe, from, length);

		if (n <= 0)
			return false;
		from += n;
		length -= (size_t)n;
	}
	return true;
}

static _Noreturn void live(pid_t program, int pipe,
			   void (*work)(void *context,
					struct rr_finding *finding),
			   void *context)
{
	struct rr_finding finding = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != program)
		_exit(RR_EXIT_INTERNAL);
	work(context, &finding);
	finding.length = finding.result.transcript ?
				 strlen(finding.result.transcript) :
				 0;
	if (!say(pipe, &finding, sizeof(finding)) ||
	    !say(pipe, finding.result.transcript, finding.length))
		_exit(RR_EXIT_INTERNAL);
	_exit(RR_EXIT_OK);
}

bool rr_hand_start(struct rr_hand *hand,
		   void (*work)(void *context, struct rr_finding *finding),
		   void *context)
{
	const pid_t program = getpid();
	int ends[2];

	*hand = (struct rr_hand){ .pipe = -1 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fflush(NULL);
	hand->pid = fork();
	if (hand->pid == 0)
		live(program, ends[1], work, context);
	close(ends[1]);
	if (hand->pid < 0)
		close(ends[0]);
	else
		hand->pipe = ends[0];
	return hand->pid > 0;
}

/* ---- Seen from outside ---------------------------------------------------- */

static bool make_room(struct rr_hand *hand)
{
	char *said;

	if (hand->room - hand->n_said >= CHUNK)
		return true;
	said = realloc(hand->said, hand->n_said + CHUNK);
	if (!said)
		return false;
	hand->said = said;
	hand->room = hand->n_said + CHUNK;
	return true;
}

static void hear(struct rr_hand *hand)
{
	const ssize_t n = make_room(hand) ? read(hand->pipe,
						 hand->said + hand->n_said,
						 hand->room - hand->n_said) :
					    0;

	if (n > 0) {
		hand->n_said += (size_t)n;
		return;
	}
	close(hand->pipe);
	hand->pipe = -1;
}

bool rr_hands_hear(struct rr_hand *hands, size_t n, int timeout_ms)
{
	struct pollfd ready[RR_CREW_MAX];
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		ready[i] = (struct pollfd){ .fd = hands[i].pipe,
					    .events = POLLIN };
		any = any || hands[i].pipe >= 0;
	}
	if (!any || poll(ready, n, timeout_ms) < 1)
		return any;
	for (size_t i = 0; i < n; i++) {
		if (ready[i].revents)
			hear(&hands[i]);
	}
	return true;
}

void rr_hand_kill(const struct rr_hand *hand)
{
	if (hand->pipe >= 0)
		kill(hand->pid, SIGKILL);
}

/* The transcript is its last part. */
static bool understand(const struct rr_hand *hand, struct rr_finding *finding)
{
	if (hand->n_said < sizeof(*finding))
		return false;
	memcpy(finding, hand->said, sizeof(*finding));
	finding->result.transcript = NULL;
	if (hand->n_said != sizeof(*finding) + finding->length)
		return false;
	if (finding->length == 0)
		return true;
	finding->result.transcript =
		strndup(hand->said + sizeof(*finding), finding->length);
	return finding->result.transcript;
}

bool rr_hand_join(struct rr_hand *hand, struct rr_finding *finding)
{
	bool is_whole;

	*finding = (struct rr_finding){ 0 };
	waitpid(hand->pid, &hand->status, 0);
	is_whole = understand(hand, finding);
	free(hand->said);
	hand->said = NULL;
	return is_whole;
}
