/* SPDX-License-Identifier: MIT */
/*
 * The bounds: first each column's, then what is different for some strategies.
 * They are wide enough for the weakest strategy that fails in the column: a
 * take-over by two, for example, needs three clients.
 */
#include "bounds.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	LEASE_MS = 10000,
	ROUNDS = 2,
	MOST = 4000000, /* states; a cell that reaches it proves nothing */
	AUDIT = 40,
};

#define MS INT64_C(1000000) /* in nanoseconds */

static const struct rr_explore_config columns[RR_HAZARDS] = {
	[RR_THREADS] = { .n_clients = 3 },
	[RR_PROCESSES] = { .n_clients = 3, .separate = true },
	[RR_CRASH] = { .n_clients = 3, .budget = { .crashes = 1 } },
	[RR_SLOW_WORK] = { .n_clients = 3,
			   .increments = 2,
			   .work_ms = LEASE_MS * 5 / 2 },
	[RR_PAUSE] = { .n_clients = 3, .budget = { .pauses = 1 } },
	[RR_LOST_REPLY] = { .n_clients = 3,
			    .budget = { .lost_replies = 1 },
			    .repeats = true },
	[RR_RESTART] = { .n_clients = 2,
			 .lock_servers = 3,
			 .budget = { .restarts = 1 } },
	[RR_SKEW] = { .n_clients = 3,
		      .skew_ns = (LEASE_MS + 2000) * MS,
		      .budget = { .jumps = 1 } },
};

#define ALL_HAZARDS ((1U << RR_HAZARDS) - 1)
#define CRASH (1U << RR_CRASH)
#define SLOW_WORK (1U << RR_SLOW_WORK)
#define PAUSE (1U << RR_PAUSE)

/* Zeroes mean: as in the column. What comes later counts. */
static const struct override {
	const char *strategy;
	unsigned hazards; /* a bit each */
	size_t n_clients, lock_servers;
	long increments;
	int rounds;
	int crashes;
	unsigned shows;
} overrides[] = {
	/* Bringing servers to a state costs most here: each message that wakes a
	 * waiter, and each number of a fence, is another one. */
	{ "fair-queue", CRASH | PAUSE, .n_clients = 2 },
	{ "fair-queue", SLOW_WORK, .n_clients = 2, .increments = 1 },
	{ "fenced", SLOW_WORK, .n_clients = 2, .increments = 1 },
	/* Refused clients count up: there is no end to it. */
	{ "incr-lock", SLOW_WORK, .increments = 1 },
	{ "incr-lock-all", SLOW_WORK, .increments = 1 },
	/* With faults: two majorities of three are as good as of five. */
	{ "redlock", ALL_HAZARDS, .n_clients = 2, .lock_servers = 3,
	  .increments = 1 },
	{ "redlock", 1U << RR_THREADS, .lock_servers = 5 },
	{ "redlock", 1U << RR_PROCESSES, .n_clients = 3 },
	{ "redlock-sequential", ALL_HAZARDS, .n_clients = 2, .lock_servers = 3,
	  .increments = 1 },
	{ "redlock-sequential", 1U << RR_THREADS, .lock_servers = 5 },
	{ "redlock-sequential", 1U << RR_PROCESSES, .n_clients = 3 },
	/* A stalled loser writes an older end over the winner's (GS-4): a dead
	 * lock, two that find it, and one of them again. */
	{ "setnx-getset", PAUSE, .crashes = 1, .shows = RR_BREAKS_LEASE },
	{ "setnx-getset-checked", PAUSE, .crashes = 1,
	  .shows = RR_BREAKS_LEASE },
};

enum { N_OVERRIDES = sizeof(overrides) / sizeof(overrides[0]) };

bool rr_bounds_apply(const struct rr_strategy *strategy, enum rr_hazard hazard)
{
	return hazard != RR_RESTART || strategy->lock_servers > 0;
}

static void put_over(struct rr_explore_config *bounds,
		     const struct override *other)
{
	if (other->n_clients)
		bounds->n_clients = other->n_clients;
	if (other->lock_servers)
		bounds->lock_servers = other->lock_servers;
	if (other->increments)
		bounds->increments = other->increments;
	if (other->rounds)
		bounds->rounds = other->rounds;
	if (other->crashes)
		bounds->budget.crashes = other->crashes;
	bounds->shows |= other->shows;
}

struct rr_explore_config rr_bounds_of(const struct rr_strategy *strategy,
				      enum rr_hazard hazard)
{
	struct rr_explore_config bounds = columns[hazard];

	bounds.strategy = strategy;
	if (!bounds.increments)
		bounds.increments = 1;
	bounds.rounds = ROUNDS;
	bounds.ttl_ms = LEASE_MS;
	bounds.most = MOST;
	bounds.audit = AUDIT;
	if (hazard >= RR_CRASH)
		bounds.separate = !strategy || !strategy->uses_mutex;
	for (size_t i = 0; strategy && i < N_OVERRIDES; i++) {
		if (overrides[i].hazards >> hazard & 1 &&
		    strcmp(overrides[i].strategy, strategy->name) == 0)
			put_over(&bounds, &overrides[i]);
	}
	return bounds;
}

/* ---- As text -------------------------------------------------------------- */

struct list {
	char *text;
	size_t size, used;
};

static void add(struct list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct list *list, const char *format, ...)
{
	va_list arguments;

	if (list->used && list->used < list->size)
		list->used += (size_t)snprintf(list->text + list->used,
					       list->size - list->used, ", ");
	if (list->used >= list->size)
		return;
	va_start(arguments, format);
	list->used += (size_t)vsnprintf(list->text + list->used,
					list->size - list->used, format,
					arguments);
	va_end(arguments);
}

/* "1 crash", "2 crashes"; nothing for 0. */
static void add_number(struct list *list, long n, const char *one,
		       const char *many)
{
	if (n)
		add(list, "%ld %s", n, n == 1 ? one : many);
}

static void add_budget(struct list *list, const struct rr_budget *budget)
{
	add_number(list, budget->crashes, "crash", "crashes");
	add_number(list, budget->expiries, "expired lease", "expired leases");
	add_number(list, budget->pauses, "pause", "pauses");
	add_number(list, budget->lost_replies, "lost reply", "lost replies");
	add_number(list, budget->restarts, "restart", "restarts");
	add_number(list, budget->jumps, "jump of a server's clock",
		   "jumps of a server's clock");
}

const char *rr_bounds_text(const struct rr_explore_config *bounds, char *text,
			   size_t size)
{
	struct list list = { .text = text, .size = size };

	add_number(&list, (long)bounds->n_clients,
		   bounds->separate ? "process" : "thread",
		   bounds->separate ? "processes" : "threads");
	if (bounds->increments > 1)
		add(&list, "%ld increments each", bounds->increments);
	add_number(&list, (long)bounds->lock_servers, "lock server",
		   "lock servers");
	add_budget(&list, &bounds->budget);
	if (bounds->stays_away)
		add(&list, "which stays away for a lease");
	if (bounds->work_ms)
		add(&list, "work of %.1f leases",
		    (double)bounds->work_ms / (double)bounds->ttl_ms);
	if (bounds->skew_ns)
		add(&list, "clients' clocks %ld s apart",
		    (long)(bounds->skew_ns / MS / 1000));
	return text;
}
