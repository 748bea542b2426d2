/* SPDX-License-Identifier: MIT */
/*
 * What each request of an app is told, by states of the graph: the answer that it has at all
 * ends which can be reached from there. Of a state in which it is answered there is but one,
 * since histories with other answers are other states.
 */
#ifndef RR_GRAPH_ANSWERS_H
#define RR_GRAPH_ANSWERS_H

#include "search.h"

struct rr_graph_answers {
	size_t n_requests; /* 0 = the clients are no requests */
	long *of;          /* of each state; what describe_request() is asked for */
};

/* Release it. */
struct rr_graph_answers rr_graph_answers_of(const struct rr_search *search);
void rr_graph_answers_release(struct rr_graph_answers *answers);

/* -1: it has none, or not the same one at all ends. */
long rr_graph_answers_get(const struct rr_graph_answers *answers, uint32_t state, size_t request);

#endif
