/* SPDX-License-Identifier: MIT */
/*
 * A schedule: who does what next, in the words of replay/words.h.
 *
 * A client that sleeps or stands still is waited for. Of a client's commands that
 * are on their way the first one that has not been executed is its next step.
 *
 * What is left when nobody says any more who goes next is played client after
 * client. Who waits for a lock asks again and again: after two vain attempts time
 * passes until something else than an attempt can happen (a lease ends, somebody
 * goes on), and if nothing ever does, a second, ten, a hundred, a thousand. Then it
 * says who is left, and stops.
 */
#ifndef RR_SCHEDULE_H
#define RR_SCHEDULE_H

#include "guided.h"

enum { RR_CUES_MAX = 1000, RR_CUE_SIZE = 64 };

struct rr_cue {
	bool is_step;
	int thread;                  /* of a step: its number */
	char command[RR_CUE_SIZE];   /* of a step: "" = any */
	struct rr_decision decision; /* else */
	size_t number;               /* of the word, from 1 */
	char word[RR_CUE_SIZE];      /* as written */
};

struct rr_schedule {
	size_t n_cues, next;
	struct rr_cue cues[RR_CUES_MAX + 2]; /* a word may be two of them */
	bool stops;                          /* at its end; else the rest is played */
	bool is_lenient;                     /* steps that nobody can do are left out */
	struct {
		size_t n_marks; /* at the last look */
		int idle;       /* times that time has passed since then */
		int passes;     /* in all */
		bool has_given_up;
		char note[160];
	} rest;
};

/* False, and which word is wrong, when it is not one for such a setup. */
bool rr_schedule_parse(struct rr_schedule *schedule, const char *text,
		       const struct rr_guided_setup *setup, struct rr_error *error);

#endif
