/* SPDX-License-Identifier: MIT */
/* A crew's inside, for the files that make it up. */
#ifndef RR_CREW_INSIDE_H
#define RR_CREW_INSIDE_H

#include <sys/types.h>

#include "crew.h"
#include "shards.h"

/* What a job has found, as it says so itself. */
struct rr_finding {
	enum rr_exit code;
	struct rr_share share;
	struct rr_explore_result result; /* its transcript comes after it */
	size_t length;                   /* of that, 0 = none */
};

/* A job that works, from outside. */
struct rr_hand {
	pid_t pid;
	int pipe; /* -1 = it has said all */
	size_t n_said, room;
	char *said;
	int status; /* as of wait(2) */
};

/* ---- hand.c ---- */

/* Forks a job that does `work` and says what it has found. False: no process.
 * End it by rr_hand_join(). */
bool rr_hand_start(struct rr_hand *hand,
		   void (*work)(void *context, struct rr_finding *finding),
		   void *context);

/* Hears all of them for so long, or until one has something to say. False: none
 * has anything to say any more. */
bool rr_hands_hear(struct rr_hand *hands, size_t n, int timeout_ms);

void rr_hand_kill(const struct rr_hand *hand);

/* When it has said all: waits for its end. Its finding, the transcript being the
 * caller's; false: it has come to none. */
bool rr_hand_join(struct rr_hand *hand, struct rr_finding *finding);

/* ---- findings.c ---- */

/* Adds what a job has found to `sum`, and takes its transcript. */
void rr_findings_add(struct rr_finding *sum, struct rr_finding *other,
		     unsigned shows);

#endif
