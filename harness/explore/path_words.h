/* SPDX-License-Identifier: MIT */
/* A path through the states in the words of scheduler/words.h, to be followed again:
 * "A:GET B:GET A:SET B:SET". */
#ifndef RR_PATH_WORDS_H
#define RR_PATH_WORDS_H

#include "graph.h"

struct rr_word_names rr_product_names(const struct rr_product *product);

/* A transition from a state. */
struct rr_word rr_product_word(const struct rr_product *product, const uint32_t *key,
			       struct rr_transition transition);

/* malloc'd. */
char *rr_path_words(const struct rr_graph *graph, const struct rr_path *path);

/*
 * Follows such words from the beginning; when they end, the first transition of each
 * state, until all have ended. The actions go to *actions (release actions->all), the
 * last state to `end`, the invariants that are broken on the way to *broken. False: the error, RR_ERROR_DATA if the clients cannot go that
 * way.
 */
bool rr_product_follow(struct rr_product *product, const char *words, struct rr_actions *actions,
		       rr_state_key end, unsigned *broken, struct rr_error *error);

#endif
