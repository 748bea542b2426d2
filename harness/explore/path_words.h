/* SPDX-License-Identifier: MIT */
/*
 * A path through the states in words, to be followed again: "A:GET B:GET A:SET B:SET".
 * A word is a transition:
 *
 *	A:GET         A's next command, which is a GET, is executed
 *	A.1:GET       ... on its connection number 1
 *	A:go          it goes on with something else; A.1:go: its thread 1
 *	lose:A:GET    the command is executed, and its reply is lost
 *	drop:A:GET    it never arrives
 *	crash:A  notice:A  pause:A  pause-half:A  half  whole  wait  near ...
 */
#ifndef RR_PATH_WORDS_H
#define RR_PATH_WORDS_H

#include "graph.h"

/* malloc'd; NULL = out of memory. */
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
