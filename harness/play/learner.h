/* SPDX-License-Identifier: MIT */
/*
 * Playing with questions: before each step somebody presses Enter, and says
 * before each reply what it will be. Told of the steps by the player.
 */
#ifndef RR_LEARNER_H
#define RR_LEARNER_H

#include "player.h"
#include "base/machine.h"

enum { RR_ANSWER_SIZE = 512 };

struct rr_learner {
	struct rr_signals *signals;
	int in;          /* where answers come from */
	bool is_silent;  /* it has ended: nobody is waited for any more */
	bool has_quit;
	size_t asked;    /* replies that could be predicted */
	size_t answered, right;
	char answer[RR_ANSWER_SIZE]; /* to the last question, "" = none */
	char read[RR_ANSWER_SIZE]; /* what has come, and was not taken yet */
	size_t n_read;
};

/* Asks on stdout, reads from `in`. */
void rr_learner_begin(struct rr_learner *learner, struct rr_signals *signals,
		      int in);

/* For rr_player_play(); `learner` is its context. */
struct rr_audience rr_learner_audience(struct rr_learner *learner);

/* How many were right. */
void rr_learner_score(const struct rr_learner *learner);

/* Is that what came? Quotes, brackets, (integer) and capital letters do not
 * matter, nor what follows in an error. */
bool rr_learner_is_right(const char *answer, const char *reply);

#endif
