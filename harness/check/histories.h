/* SPDX-License-Identifier: MIT */
/*
 * The histories of a program as a tree: a node for all that was heard so far, with what
 * the program does then.
 *
 * Of a program that does not read its clock in the course of a step it does not matter
 * when the step comes; of one that does, each time is a history of its own.
 */
#ifndef RR_HISTORIES_H
#define RR_HISTORIES_H

#include "instance.h"

/* Commands of a loop that is recognised as one. */
enum { RR_LOOP_MAX = 8 };

/* An instance that is kept where it stands. */
struct rr_kept {
	struct rr_instance *instance; /* NULL = none */
	uint32_t number;              /* how manieth it was */
	uint64_t used;                /* when it came there, for the one that is there longest */
};

struct rr_history {
	uint32_t parent; /* RR_NO_ID: it has heard nothing */
	struct rr_input input;
	uint8_t lane;      /* that the input came on */
	int64_t passed_ns; /* when it did, since the time was told last */
	size_t client;     /* under whose name it was learned */
	struct rr_run_view view;
	uint8_t repeats[RR_LOOP_MAX + 1]; /* so many steps in a row were those so
					   * many before them */
	struct rr_kept kept;              /* the owner's: one that stands here */
};

/* All zero = empty. */
struct rr_histories {
	uint32_t n;
	struct rr_history **all; /* stay where they are */
	struct rr_intern steps;
	uint32_t *next; /* histories, by the numbers of `steps` */
};

/* The one that comes of an input on a lane; RR_NO_ID = it is not known. */
uint32_t rr_histories_find(const struct rr_histories *histories, uint32_t from,
			   const struct rr_input *input, uint8_t lane, int64_t passed_ns);

/* Adds one, copied, whose `view` says what the program does; how often it does the same
 * in a row (view.polls) is counted. RR_NO_ID: out of memory. */
uint32_t rr_histories_add(struct rr_histories *histories, const struct rr_history *history);

/* The longest at which the program has ended; RR_NO_ID = none. */
uint32_t rr_histories_longest_end(const struct rr_histories *histories);

/* Does not free instances. */
void rr_histories_release(struct rr_histories *histories);

/* Has the program ended there? */
bool rr_history_has_ended(const struct rr_history *history);

/* Does a program do the same, as far as others can notice? */
bool rr_views_are_same(const struct rr_run_view *a, const struct rr_run_view *b);

#endif
