/* SPDX-License-Identifier: MIT */
/*
 * A schedule: who does what next, in words.
 *
 *	A:SET            client A does its next step, which must be a SET
 *	A:sleep          ... end its sleep; wait, lock, unlock, clock, join
 *	A':EVALSHA       A's renewer; EVAL and EVALSHA are the same here
 *	A                whatever A does next
 *	tick:10s         time passes
 *	crash:A  pause:A:11s  lose-reply:A  restart:n1
 *
 * A client that sleeps or stands still is waited for.
 */
#ifndef RR_SCHEDULE_H
#define RR_SCHEDULE_H

#include "rest.h"

enum { RR_CUES_MAX = 1000, RR_CUE_SIZE = 64 };

struct rr_cue {
	enum rr_move_kind kind;
	int actor; /* of the gate with STEP, else a client */
	int server;
	int64_t ns;
	char command[RR_CUE_SIZE]; /* STEP: "" = any */
	char word[RR_CUE_SIZE];    /* as written */
};

struct rr_schedule {
	size_t n_cues, next;
	struct rr_cue cues[RR_CUES_MAX];
	bool stops; /* at its end; else the rest is played */
	struct rr_rest rest;
};

/* False, and which word is wrong, when it is not one for such a setup. */
bool rr_schedule_parse(struct rr_schedule *schedule, const char *text,
		       const struct rr_rehearsal_setup *setup, char *error,
		       size_t error_size);

/* An rr_ask; `context` is the schedule. A step that a client is not about to
 * make is RR_EXIT_USAGE. */
struct rr_move rr_schedule_ask(void *context, struct rr_rehearsal *rehearsal,
			       const struct rr_view *view);

#endif
