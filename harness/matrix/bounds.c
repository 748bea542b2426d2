/* SPDX-License-Identifier: MIT */
/*
 * The bounds: each column's, and what is different for a strategy, which its own
 * file says. They are wide enough for the weakest strategy that fails in the column: a
 * take-over by two, for example, needs three clients.
 */
#include "bounds.h"

#include <stdarg.h>
#include <stdio.h>

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

bool rr_bounds_apply(const struct rr_strategy *strategy, enum rr_hazard hazard)
{
	return hazard != RR_RESTART || strategy->lock.servers > 0;
}

static void override_bounds(struct rr_explore_config *bounds,
			    const struct rr_search_bounds *other)
{
	if (other->clients)
		bounds->n_clients = other->clients;
	if (other->lock_servers)
		bounds->lock_servers = other->lock_servers;
	if (other->increments)
		bounds->increments = other->increments;
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
		bounds.separate =
			!strategy || strategy->lock.kind != RR_LOCK_MUTEX;
	for (size_t i = 0; strategy && i < RR_SEARCH_BOUNDS_MAX; i++) {
		if (strategy->bounds[i].hazards >> hazard & 1)
			override_bounds(&bounds, &strategy->bounds[i]);
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
