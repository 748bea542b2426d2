/* SPDX-License-Identifier: MIT */
/*
 * Random paths through the product that find rare failures with a known probability,
 * for spaces too large to search: probabilistic concurrency testing (Burckhardt,
 * Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
 *
 * Each client has a random priority, and the highest of those that can go on goes on.
 * At depth - 1 random steps it gets a lower one than all others; so does whoever is
 * refused, for it would ask again for ever. A failure that needs `depth` pairs of
 * steps in a certain order, those of n clients and within the first k steps, is found
 * with a probability of at least 1 / (n k^(depth - 1)).
 *
 * Each fault of the budget comes before a random step of 2 k, so in half of the runs
 * at most: the probability to meet it where it is needed, and to choose it out of the
 * c that are possible, is another 1 / (2 k c).
 *
 * k is counted in a first run, in which the clients take turns: so a run depends on
 * its seed and the bounds alone.
 */
#ifndef RR_WALKS_H
#define RR_WALKS_H

#include "explore.h"
#include "graph.h"

struct rr_walks;
struct rr_schedule;

/* Malloc'd in one piece. */
struct rr_walks *rr_walks_new(struct rr_product *product, const struct rr_random_config *config,
			      unsigned shows);

/* The next way, into `result`. False: all have been, the product has to begin again,
 * or product->error. */
bool rr_walks_next(struct rr_walks *walks, struct rr_explore_result *result);

/* The bit that is worst of a set: what a schedule is shown for. */
static inline unsigned rr_worst_invariant(unsigned breaks, unsigned shows)
{
	if (breaks & shows)
		return breaks & shows;
	return breaks & (~breaks + 1);
}

/* What is known about how likely a failure would have been found. */
struct rr_random_bound rr_walks_bound(const struct rr_walks *walks, unsigned long runs);

/* Of those that failed, the shortest that breaks what is worst, gone again: release the
 * schedule. False: product->error. */
bool rr_walks_shortest(struct rr_walks *walks, struct rr_schedule *schedule);

#endif
