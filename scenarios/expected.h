/* SPDX-License-Identifier: MIT */
/*
 * What each strategy is expected to break under each fault, and within which bounds
 * the safety matrix searches for it: one table (expected.c), which the matrix, explore,
 * bench, `list` and the tests compare with.
 */
#ifndef RR_EXPECTED_H
#define RR_EXPECTED_H

#include "strategy.h"

/* What may come between a client and its increment: the columns of the safety
 * matrix. All but the first two come with clients that are processes of their
 * own, or threads of one where the lock is a mutex of the process. */
enum rr_hazard {
	RR_THREADS,    /* other threads of the same process */
	RR_PROCESSES,  /* other processes */
	RR_CRASH,      /* a process dies, at any point */
	RR_SLOW_WORK,  /* the work takes several leases, and renewers run */
	RR_PAUSE,      /* a client sleeps past its lease, its renewer too */
	RR_LOST_REPLY, /* a reply is lost, and the caller repeats its increment */
	RR_RESTART,    /* a lock server comes back empty */
	RR_SKEW,       /* clocks are more than a lease apart */
	RR_HAZARDS
};

enum { RR_ALL_HAZARDS = (1 << RR_HAZARDS) - 1 }; /* as bits */

/* What can go wrong. */
enum {
	RR_BREAKS_COUNT = 1 << 0,     /* the final count is less than the acknowledged
				       * increments, or more than these and the unknown */
	RR_BREAKS_EXCLUSION = 1 << 1, /* two clients are in the critical section */
	RR_BREAKS_LEASE = 1 << 2,     /* and the lease of the first has not expired: it
				       * is not the holder's fault */
	RR_BREAKS_OWNERSHIP = 1 << 3, /* a client other than the holder removed or changed
				       * a lock */
	RR_DEADLOCKS = 1 << 4,        /* no client can make progress */
	RR_STARVES = 1 << 5,          /* clients ask indefinitely, and none gets the lock */
	RR_LOOPS = 1 << 6             /* nothing; but refused clients write, so that the search
				       * is bounded by rounds of them */
};

enum { RR_INVARIANTS = 6 }; /* the first of them */

/* Where the safety matrix searches less, or more, than it does for others under
 * these hazards. Zeroes mean: as for the others. */
struct rr_search_bounds {
	unsigned hazards; /* a bit each, as in 1U << RR_CRASH */
	size_t clients;
	size_t lock_servers;
	long increments; /* of each client */
	int crashes, pauses;
	unsigned shows; /* the counter-example shows this if any does: a set of
			 * RR_BREAKS_ */
};

enum { RR_SEARCH_BOUNDS_MAX = 3 };

/* A row of the table. */
struct rr_expected_row {
	const char *name;            /* of the strategy */
	unsigned breaks[RR_HAZARDS]; /* a set of the above; 0 = it is safe */
	/* Of several that concern a hazard the later ones count. */
	struct rr_search_bounds bounds[RR_SEARCH_BOUNDS_MAX];
};

extern const struct rr_expected_row rr_expected_rows[];
extern const size_t rr_n_expected_rows;

/* Returns the row with the strategy's name. One that is not in the table is expected to be
 * safe, within the bounds of each column. */
const struct rr_expected_row *rr_expected_row(const struct rr_strategy *strategy);

/* ---- In words -------------------------------------------------------------- */

/* What a strategy promises for its count. */
enum rr_promise { RR_LOSSY, RR_EXACT };

enum rr_promise rr_promise(const struct rr_strategy *strategy, enum rr_hazard hazard);

/* Is it safe under every fault but the lost reply? To repeat what may have been
 * done is the caller's doing. */
bool rr_survives_faults(const struct rr_strategy *strategy);

/* "exact", "lossy", "exact within one process, lossy over several" or
 * "exact without faults". */
const char *rr_expectation(const struct rr_strategy *strategy);

#endif
