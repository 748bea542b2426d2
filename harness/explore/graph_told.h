/* SPDX-License-Identifier: MIT */
/*
 * What each request of an app is told, by states of the graph: the answer that it has at all
 * ends which can be reached from there. Of a state in which it is answered there is but one,
 * since histories with other answers are other states.
 */
#ifndef RR_GRAPH_TOLD_H
#define RR_GRAPH_TOLD_H

#include "search.h"

struct rr_told {
	size_t n_requests; /* 0 = the clients are no requests */
	long *answers;     /* of each state; what describe_request() is asked for */
};

/* Release it. */
struct rr_told rr_told_of(const struct rr_search *search);
void rr_told_release(struct rr_told *told);

/* -1: it has none, or not the same one at all ends. */
long rr_told_answer(const struct rr_told *told, uint32_t state, size_t request);

#endif
