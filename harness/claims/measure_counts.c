/* SPDX-License-Identifier: MIT */
/* Counting loops: which of them lose updates. */
#include "measure_parts.h"

#include "base/text.h"

enum { INCREMENTS = 10000 };

/* Lossy is what is claimed; more than was counted can never be. */
static void expect_loss(struct rr_measuring *measuring,
			const struct rr_measurement *m, long long least)
{
	if (m->extra || m->final_value < least)
		measuring->result->measured = RR_MEASURED_BROKEN;
	else if (m->lost == 0)
		measuring->result->measured = RR_MEASURED_OPEN;
}

static void expect_exact(struct rr_measuring *measuring,
			 const struct rr_measurement *m)
{
	if (m->extra || m->lost || m->overlaps)
		measuring->result->measured = RR_MEASURED_BROKEN;
}

static void say_count(struct rr_measuring *measuring, const char *what,
		      const struct rr_measurement *m)
{
	char value[RR_GROUPED_SIZE];

	rr_measure_say(measuring, "%s%s %s",
		       measuring->result->text[0] ? ", " : "", what,
		       rr_grouped(value, m->final_value));
}

static bool count_lossy(struct rr_measuring *measuring, const char *strategy,
			int threads, int processes, const char *what)
{
	struct rr_measurement m;

	if (!rr_measure_bench(measuring, strategy, threads, processes,
			      INCREMENTS, &m))
		return false;
	expect_loss(measuring, &m, 2);
	say_count(measuring, what, &m);
	return true;
}

static bool count_exact(struct rr_measuring *measuring, const char *strategy,
			int threads, int processes, long increments,
			const char *what)
{
	struct rr_measurement m;

	if (!rr_measure_bench(measuring, strategy, threads, processes,
			      increments, &m))
		return false;
	expect_exact(measuring, &m);
	say_count(measuring, what, &m);
	return true;
}

bool rr_measure_lost_updates(struct rr_measuring *measuring)
{
	return count_lossy(measuring, "none", 2, 1,
			   "two threads, 10,000 increments:");
}

bool rr_measure_incr(struct rr_measuring *measuring)
{
	return count_exact(measuring, "incr", 2, 1, INCREMENTS,
			   "two threads, 10,000 increments:");
}

bool rr_measure_mutex_per_operation(struct rr_measuring *measuring)
{
	return count_lossy(measuring, "local-mutex-per-op", 2, 1,
			   "of 10,000 with a mutex in each operation") &&
	       count_exact(measuring, "local-mutex", 2, 1, INCREMENTS,
			   "around the whole");
}

bool rr_measure_mutex_in_processes(struct rr_measuring *measuring)
{
	return count_lossy(measuring, "local-mutex", 1, 2,
			   "two processes, 10,000 increments:");
}

bool rr_measure_lock_in_redis(struct rr_measuring *measuring)
{
	return count_exact(measuring, "lua-delifequals", 1, 2, 3000,
			   "two processes, 3,000 increments:");
}
