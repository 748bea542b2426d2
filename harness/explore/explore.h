/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of a strategy's clients, with faults, on real servers: can
 * it go wrong at all? One call per strategy and bounds.
 */
#ifndef RR_EXPLORE_H
#define RR_EXPLORE_H

#include "exit_code.h"
#include "pct.h"
#include "search.h"
#include "strategy.h"
#include "world.h"

struct rr_crew;

struct rr_explore_config {
	const struct rr_strategy *strategy;
	size_t n_clients;
	long increments;
	bool separate; /* each client is a process of its own */
	bool all;      /* without reduction */
	struct rr_budget budget;
	bool repeats;  /* a caller repeats an increment it does not know about */
	bool stays_away; /* a server that restarts is down for a lease */
	long work_ms;  /* between reading and writing, of the gate's time */
	size_t lock_servers; /* where it has any; 0 = as many as it has */
	int64_t skew_ns; /* each client's clock is so far ahead of the last */
	int rounds;
	long ttl_ms;
	struct rr_pct_config random; /* with `runs`: draws so many instead */
	unsigned long most; /* schedules, 0 = no limit */
	const struct rl_driver *planted; /* a fault, or NULL */
	unsigned shows; /* what the schedule that is shown should break, if any
			 * does; 0 = the worst */
	unsigned first_of; /* ends at the first schedule that breaks one of
			    * these; 0 = does not */
	struct rr_crew *crew; /* shares the work (crew.h); NULL = one job. What
			       * is found is the same, unless `most` or
			       * `progress` ends it */
	/* Told now and then, with about what share of the whole that is, 0 = not
	 * known; false: ends. May be NULL. */
	bool (*progress)(void *context, unsigned long schedules, double share);
	void *context;
};

enum rr_explored {
	RR_EXPLORED_ALL,     /* nothing was cut */
	RR_EXPLORED_ROUNDS,  /* loops were cut after their rounds */
	RR_EXPLORED_MOST,    /* the limit of schedules was reached */
	RR_EXPLORED_STOPPED, /* `progress` said so */
	RR_EXPLORED_RANDOM,  /* all that were to be drawn */
	RR_EXPLORED_FIRST,   /* the first failure was enough */
};

struct rr_explore_result {
	enum rr_explored explored;
	unsigned long schedules; /* run to their end */
	unsigned long blocked;   /* given up: the same as one that was run */
	unsigned long cut;       /* loops were, after their rounds */
	unsigned long commands;  /* of those that were run to their end */
	unsigned long failing;   /* schedules that broke any invariant */
	/* How many these stand for (interleavings.h), 0 = not counted. */
	uint64_t interleavings, failing_interleavings;
	unsigned long broken[RR_INVARIANTS]; /* by the bits of strategy.h */
	unsigned breaks;         /* all bits that any of them broke */
	double seconds;
	struct rr_pct_bound bound; /* of random schedules */
	/* Of those that break what is worst, the count before all else, the
	 * shortest one, by context switches and then moves: what it breaks,
	 * and the transcript without its verdict. NULL = none. */
	unsigned shortest_breaks;
	int switches;
	size_t moves;
	uint64_t seed; /* of random schedules: the one that draws it */
	char *transcript;
	char error[RR_WORLD_ERROR];
};

/* How many servers it takes: the one with the data, and lock servers. */
size_t rr_explore_servers(const struct rr_explore_config *config);

/* Runs them on servers of `world`, which it resets first. RR_EXIT_OK, or what
 * the program should exit with and result->error. Release the result in any
 * case. */
enum rr_exit rr_explore(struct rr_world *world,
			const struct rr_explore_config *config,
			struct rr_explore_result *result);
/* Below 0: of their shortest ones that of `a` is to be shown. `shows`: as in the
 * configuration. */
int rr_explore_compare(const struct rr_explore_result *a,
		       const struct rr_explore_result *b, unsigned shows);

void rr_explore_release(struct rr_explore_result *result);

#endif
