/* SPDX-License-Identifier: MIT */
/*
 * How many interleavings one schedule stands for: the orders of its moves that
 * keep those in order that depend on each other. Counted over the sets of moves
 * that can have been made at some moment, each of which is a number of moves of
 * every chain; a chain's moves are all in order.
 */
#ifndef RR_INTERLEAVINGS_H
#define RR_INTERLEAVINGS_H

#include "search_inside.h"

/* UNKNOWN: there are too many sets to go through. MANY: so many or more. */
#define RR_INTERLEAVINGS_UNKNOWN UINT64_C(0)
#define RR_INTERLEAVINGS_MANY UINT64_MAX

/* Clients, time, and what befalls servers. */
enum { RR_CHAINS_MAX = RR_GATE_CLIENTS + 17 };

struct rr_ordered_move {
	int chain; /* below RR_CHAINS_MAX */
	struct rr_set before; /* earlier ones that it depends on, and at least
			       * the one before it in its chain */
};

/* What counting needs room for; one thread at a time. NULL: out of memory. */
struct rr_interleavings *rr_interleavings_new(void);
void rr_interleavings_free(struct rr_interleavings *room);

/* Of `n` moves, RR_DEPTH_MAX at most, in one of their orders. Left out are those
 * that end with a move of a chain whose bit is in `never_last`. */
uint64_t rr_interleavings_count(struct rr_interleavings *room,
				const struct rr_ordered_move *moves, size_t n,
				uint64_t never_last);

/* Of the last run, which has come to its end, of a reduced search. */
uint64_t rr_interleavings_of(struct rr_interleavings *room,
			     const struct rr_search *search);

/* The sum; UNKNOWN if one of them is. */
uint64_t rr_interleavings_add(uint64_t a, uint64_t b);

#endif
