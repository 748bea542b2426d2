/* SPDX-License-Identifier: MIT */
/*
 * The columns: what hazards mean, and how far the search of each cell goes.
 * Bounds are each column's, and what is different for a strategy, which
 * scenarios/expected.c says. They are wide enough for the weakest strategy that fails in the
 * column: a take-over by two, for example, needs three clients.
 */
#include "cell.h"

const struct rr_hazard_text rr_hazard_texts[RR_HAZARDS] = {
	[RR_THREADS] = { "threads", "threads", "The clients are threads of one process." },
	[RR_PROCESSES] = { "processes", "processes",
			   "The clients are processes, so that a mutex of one means nothing to the others." },
	[RR_CRASH] = { "crash", "crash", "A process dies, at any point, and does not come back." },
	[RR_SLOW_WORK] = { "slow-work", "slow work",
			   "The work between reading and writing takes longer than the lease; renewers run meanwhile." },
	[RR_PAUSE] = { "pause", "pause",
		       "A client stops, at any point, for longer than the lease, and its renewer with it." },
	[RR_LOST_REPLY] = { "lost-reply", "lost reply",
			    "A reply is lost after the command was executed, and the caller repeats its whole increment." },
	[RR_RESTART] = { "restart", "restart",
			 "A lock server restarts empty; the data server never does. Only for strategies with lock servers of their own." },
	[RR_SKEW] = { "skew", "clock skew",
		      "Clocks are apart by more than the lease: those of the clients all the time, and a server's jumps forward." },
};

/* ---- Bounds ---------------------------------------------------------------- */

enum {
	LEASE_MS = 10000,
	CLIENTS = 3,
	ROUNDS = 2,
	MOST = 4000000, /* states; a cell that reaches it proves nothing */
	AUDIT = 40,
};

#define MS INT64_C(1000000) /* in nanoseconds */

/* Three clients, and what the table of budgets says, but for what is said here. */
static const struct rr_explore_config columns[RR_HAZARDS] = {
	[RR_PROCESSES] = { .separate = true },
	[RR_SLOW_WORK] = { .increments = 2, .work_ms = LEASE_MS * 5 / 2 },
	[RR_RESTART] = { .n_clients = 2, .lock_servers = 3 },
	[RR_SKEW] = { .skew_ns = (LEASE_MS + 2000) * MS },
};

struct rr_explore_config rr_bounds_of(const struct rr_strategy *strategy, enum rr_hazard hazard)
{
	struct rr_explore_config bounds = columns[hazard];

	bounds.strategy = strategy;
	if (!bounds.n_clients)
		bounds.n_clients = CLIENTS;
	if (!bounds.increments)
		bounds.increments = 1;
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (rr_budget_rows[i].hazards >> hazard & 1)
			bounds.budget.of[i] = rr_budget_rows[i].in_column;
	}
	bounds.rounds = ROUNDS;
	bounds.ttl_ms = LEASE_MS;
	bounds.most = MOST;
	bounds.audit = AUDIT;
	if (hazard >= RR_CRASH)
		bounds.separate = !strategy || strategy->lock.kind != RR_LOCK_MUTEX;
	for (size_t i = 0; strategy && i < RR_SEARCH_BOUNDS_MAX; i++) {
		const struct rr_search_bounds *own = &rr_expected_row(strategy)->bounds[i];

		if (own->hazards >> hazard & 1) {
			if (own->clients)
				bounds.n_clients = own->clients;
			if (own->lock_servers)
				bounds.lock_servers = own->lock_servers;
			if (own->increments)
				bounds.increments = own->increments;
			if (own->crashes)
				bounds.budget.of[RR_CRASHES] = own->crashes;
			if (own->pauses)
				bounds.budget.of[RR_PAUSES] = own->pauses;
			bounds.shows |= own->shows;
		}
	}
	return bounds;
}
