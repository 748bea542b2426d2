/* SPDX-License-Identifier: MIT */
/*
 * Why a schedule is a finding: sentences that contradict each other, and the anomaly.
 *
 * Clients whose commands depend on each other (compare/dependencies.h) in a circle have no order (as
 * Elle does for transactions: Kingsbury and Alvaro, PVLDB 14(3), 2020).
 */
#ifndef RR_WHY_H
#define RR_WHY_H

#include "explore.h"
#include "graph.h"

/* What is to be explained. */
struct rr_why_question {
	const struct rr_program *program;
	struct rr_contents *contents; /* of the table of the only server */
	const struct rr_actions *actions;
	const size_t *steps;   /* of each action: the number of its step, 0 = none */
	const uint8_t *owners; /* and whose it is (dependencies.h); NULL = its client's */
	uint32_t end;          /* the server's state at their end */
	uint32_t nearest;      /* that of a serial order that is near; RR_NO_ID = none */
	unsigned found;        /* RR_OUTCOME_..., see explore.h */
	const struct rr_locks *locks;
};

struct rr_why {
	char *text; /* a sentence a line, malloc'd; NULL = nothing is known */
	enum rr_anomaly anomaly;
};

/* An error of the table on the way is forgotten: then nothing is known. */
struct rr_why rr_why_find(const struct rr_why_question *question);

/* The smallest spans of commands that leave nothing wrong of a search if each is one step, in a
 * sentence. Only of clients that do the same in all interleavings from the
 * first command of a span to its last,
 * wait for no message and do not block.
 * malloc'd; NULL = there are none, the graph is too large, or time is over. */
struct rr_search;
char *rr_mend_find(struct rr_search *search);

#endif
