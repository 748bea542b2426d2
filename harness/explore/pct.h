/* SPDX-License-Identifier: MIT */
/*
 * Random schedules that find rare failures with a known probability, for spaces
 * too large to finish: probabilistic concurrency testing (Burckhardt, Kothari,
 * Musuvathi, Nagarakatte, ASPLOS 2010).
 *
 * Each actor has a random priority, and the highest of those that can go on goes
 * on. At depth - 1 random steps it gets a lower one than all others. A failure
 * that needs `depth` pairs of steps in a certain order, those of n actors and
 * within the first k steps, is found with a probability of at least
 * 1 / (n k^(depth - 1)).
 *
 * Each fault of the budget comes before a random step of 2 k, so in half of the
 * runs at most: the probability to meet it where it is needed, and to choose it
 * out of the c that are possible, is another 1 / (2 k c).
 *
 * k is counted in a first run, in which the actors take turns: so a run depends on
 * its seed and the bounds alone.
 */
#ifndef RR_PCT_H
#define RR_PCT_H

#include "search_inside.h"

enum { RR_PCT_DEPTH_MAX = 20 };

struct rr_pct_config {
	unsigned long runs; /* 0 = search instead */
	uint64_t seed;      /* of the first; the next has the next number */
	int depth;          /* 1 to RR_PCT_DEPTH_MAX */
};

struct rr_pct;

/* Its first run is the one that counts the steps. NULL: out of memory. */
struct rr_pct *rr_pct_new(const struct rr_pct_config *config,
			  const struct rr_budget *budget);
void rr_pct_free(struct rr_pct *pct);

/* Which of the node's candidates is to be move number `step` of the run, from
 * 1. */
size_t rr_pct_pick(struct rr_pct *pct, const struct rr_node *node,
		   size_t step);

/* The first run has had so many steps. */
void rr_pct_measured(struct rr_pct *pct, size_t steps);

/* Begins the next run; false: all have been. */
bool rr_pct_next(struct rr_pct *pct);

/* Of the run. */
uint64_t rr_pct_seed(const struct rr_pct *pct);

/* What is known about how likely a failure would have been found. */
struct rr_pct_bound {
	int depth;
	size_t actors, steps; /* n and k */
	double once;          /* of each run, at least */
	double in_all;        /* of `runs` */
};

struct rr_pct_bound rr_pct_bound(const struct rr_pct *pct, unsigned long runs);

#endif
