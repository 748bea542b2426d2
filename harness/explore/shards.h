/* SPDX-License-Identifier: MIT */
/*
 * A search in parts (struct rr_search_config), shared by several jobs. Every
 * job walks the same tree down to where the parts begin, and there asks
 * whether the part is its own. What all of them find together is the same
 * however the parts were shared out.
 */
#ifndef RR_SHARDS_H
#define RR_SHARDS_H

#include <stdatomic.h>

#include "explore.h"

/* Common to all jobs, in memory that they share. */
struct rr_shards {
	atomic_ulong next;      /* the first part that nobody has claimed */
	atomic_ulong schedules; /* run to their end */
	atomic_ulong failing;   /* the first part in which one failed, so far;
				 * ULONG_MAX = none */
	atomic_bool is_over;    /* all jobs are to end */
};

/* One job's. */
struct rr_share {
	struct rr_shards *shards;
	size_t split;            /* 0 = one part, and that is its own */
	unsigned long most_runs; /* gives up after so many; 0 = no limit */
	bool has_claim;
	unsigned long claim;     /* the last one */
	unsigned long n_claimed; /* parts that it came to */
	unsigned long n_parts;   /* that there are, when it saw all */
	unsigned long shortest;  /* where the shortest failing one was found */
	bool gave_up;
};

void rr_shards_init(struct rr_shards *shards);

/* `share`: struct rr_share. Parts come in order. */
bool rr_shards_claim(void *share, unsigned long part);

void rr_shards_note_failure(struct rr_shards *shards, unsigned long part);

/* Of the monotonic clock. */
double rr_explore_seconds(void);

/* Resets the world and starts the servers that the strategy needs. */
enum rr_exit rr_explore_start(struct rr_world *world,
			      const struct rr_explore_config *config,
			      char error[RR_WORLD_ERROR]);

/* As rr_explore(), of one job's share, on servers that were started
 * (explore.c). */
enum rr_exit rr_explore_share(struct rr_world *world,
			      const struct rr_explore_config *config,
			      struct rr_share *share,
			      struct rr_explore_result *result);

#endif
