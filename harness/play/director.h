/* SPDX-License-Identifier: MIT */
/*
 * The one who says, key by key, who goes next. What was chosen is kept: to take
 * a choice back, everything before it is done again from the start.
 */
#ifndef RR_DIRECTOR_H
#define RR_DIRECTOR_H

#include "rehearsal.h"
#include "terminal.h"

enum { RR_LINE_SIZE = 200 };

enum rr_wish { RR_WISH_ON, RR_WISH_AGAIN, RR_WISH_QUIT };

struct rr_director {
	struct rr_terminal terminal;
	struct rr_move moves[RR_STEPS_MAX];
	size_t n_moves;
	size_t next;    /* of the moves that are done again */
	enum rr_wish wish;
	bool reached;   /* the goal, at any time */
	bool shows_help;
	char message[RR_LINE_SIZE];
};

/* What is there to be seen. `view` is NULL when everything has ended. */
void rr_screen_draw(const struct rr_director *director,
		    struct rr_rehearsal *rehearsal, const struct rr_view *view);

/* What the learner is after, and whether this execution has it. */
const char *rr_goal_text(const struct rr_strategy *strategy);
bool rr_goal_is_reached(const struct rr_rehearsal *rehearsal);

/* Takes keys until something is to happen: true, and what; false when `wish` is
 * something else than to go on. */
bool rr_director_key(struct rr_director *director,
		     struct rr_rehearsal *rehearsal, const struct rr_view *view,
		     struct rr_move *move);

/* The whole of it. Complains by itself. */
enum rr_exit rr_direct(const struct rr_rehearsal_setup *setup,
		       struct rr_cluster *cluster);

#endif
