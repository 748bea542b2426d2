/* SPDX-License-Identifier: MIT */
/* Every strategy of the table, run for real. */
#include "../support.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../planted.h"
#include "bench/measures.h"

/* ---- The table ------------------------------------------------------------- */

static void assert_lock_is_consistent(const struct rr_strategy *s)
{
	const struct rr_lock *lock = &s->lock;
	const bool has_key = lock->kind != RR_LOCK_NONE && lock->kind != RR_LOCK_MUTEX;

	cr_assert(!s->acquire || lock->kind != RR_LOCK_NONE, "%s", s->name);
	cr_assert(s->acquire || !has_key, "%s", s->name);
	cr_assert_eq(lock->kind == RR_LOCK_QUORUM, lock->servers > 0, "%s", s->name);
	cr_assert(has_key || !lock->lease, "%s", s->name);
	cr_assert(lock->lease || !lock->leases_max, "%s", s->name);
	cr_assert(!lock->has_renewer || s->connections, "%s", s->name);
	for (size_t i = 0; i < RR_SEARCH_BOUNDS_MAX; i++)
		cr_assert(rr_expected_row(s)->bounds[i].lock_servers <= lock->servers, "%s",
			  s->name);
}

Test(strategies, table_is_complete_and_consistent)
{
	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *s = rr_strategies[i];
		char path[128];
		FILE *file;

		snprintf(path, sizeof(path), "scenarios/%s.c", s->name);
		file = fopen(path, "re");
		cr_assert_not_null(file, "%s has no %s", s->name, path);
		fclose(file);
		cr_assert_eq(rr_strategy_find(s->name), s);
		cr_assert_not_null(s->summary);
		cr_assert_not_null(s->document);
		cr_assert_not_null(s->increment);
		cr_assert_eq(!s->acquire, !s->release, "%s", s->name);
		assert_lock_is_consistent(s);
		cr_assert_leq(s->wait.min_us, s->wait.max_us, "%s", s->name);
	}
	cr_assert_null(rr_strategy_find("no such strategy"));
}

/* One row each: a second one would never be read, and one that is misspelt neither. */
Test(strategies, each_has_a_row_of_what_is_expected)
{
	cr_assert_eq(rr_n_expected_rows, rr_n_strategies);
	for (size_t i = 0; i < rr_n_strategies; i++)
		cr_assert_str_eq(rr_expected_rows[i].name, rr_strategies[i]->name);
	cr_assert_eq(rr_expected_row(&(struct rr_strategy){ .name = "?" })->breaks[RR_CRASH], 0);
}

/* ---- Counting --------------------------------------------------------------- */

struct counting {
	size_t strategy; /* an index: Criterion moves pointers */
	int threads, processes;
};

ParameterizedTestParameters(strategies, counts_as_promised)
{
	static const struct {
		int threads, processes;
	} settings[] = { { 1, 1 }, { 2, 1 }, { 8, 1 }, { 16, 1 }, { 2, 2 } };
	enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };
	static struct counting cases[SETTINGS * 64];
	size_t n = 0;

	for (size_t i = 0; i < rr_n_strategies; i++) {
		for (size_t j = 0; j < SETTINGS; j++)
			cases[n++] = (struct counting){ i, settings[j].threads,
							settings[j].processes };
	}
	return cr_make_param_array(struct counting, cases, n);
}

/* Lossy ones may lose nothing by chance in so short a run; they must never be
 * called exact, nor exact ones anything else. */
/* No multiple of the threads. */
enum { INCREMENTS = 403 };

ParameterizedTest(struct counting *c, strategies, counts_as_promised)
{
	const struct rr_strategy *strategy = rr_strategies[c->strategy];
	struct rr_measurement *m;
	struct support support;
	const char *lacking;
	struct rr_run run;

	support_open(&support, 1 + strategy->lock.servers);
	lacking = support_lacks(&support, strategy);
	if (lacking) {
		support_close(&support);
		cr_skip_test("%s: %s", strategy->name, lacking);
	}
	run = support_run(&support, strategy, c->threads, INCREMENTS);
	run.processes = c->processes;
	m = support_measure(&support, &run);
	cr_assert_eq(m->attempted, INCREMENTS, "%s: %lu tried", strategy->name,
		     (unsigned long)m->attempted);
	cr_assert(m->times.min > 0 && m->times.min <= m->times.p50 && m->times.p50 <= m->times.max,
		  "%s", strategy->name);
	if (rr_promise_for(strategy, c->threads, c->processes) == RR_EXACT)
		cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s with %d x %d: %s, final %lld",
			     strategy->name, c->processes, c->threads, m->remark, m->final_value);
	else
		cr_assert(m->verdict == RR_VERDICT_LOSSY || m->verdict == RR_VERDICT_INCONCLUSIVE,
			  "%s with %d x %d: %s", strategy->name, c->processes, c->threads,
			  m->remark);
	free(m);
	support_close(&support);
}

Test(strategies, several_keys_are_counted_together)
{
	struct support support;
	struct rr_measurement *m;
	struct rr_run run;

	support_open(&support, 1);
	run = support_run(&support, rr_strategy_find("lua-delifequals"), 4, 997);
	run.keys = 5;
	m = support_measure(&support, &run);
	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s", m->remark);
	cr_assert_eq(m->final_value, 997);
	free(m);
	support_close(&support);
}

/* ---- Planted bugs: would the count notice? -------------------------------------- */

/* The verdict of a strategy with a planted bug, in a free run. */
static enum rr_verdict verdict_with(const char *name, const struct rdl_driver *driver)
{
	struct support support;
	struct rr_measurement *m;
	enum rr_verdict verdict;
	struct rr_run run;

	support_open(&support, 6);
	run = support_run(&support, rr_strategy_find(name), 4, 4000);
	run.driver = driver;
	m = support_measure(&support, &run);
	verdict = m->verdict;
	free(m);
	support_close(&support);
	return verdict;
}

Test(strategies, planted_nx_dropped_turns_the_verdict)
{
	cr_assert_eq(verdict_with("lua-delifequals", &planted_no_nx), RR_VERDICT_VIOLATED);
	cr_assert_eq(verdict_with("set-nx-ex", &planted_no_nx), RR_VERDICT_VIOLATED);
	cr_assert_eq(verdict_with("get-compare-del", &planted_no_nx), RR_VERDICT_VIOLATED);
	cr_assert_eq(verdict_with("reentrant-naive", &planted_no_nx), RR_VERDICT_VIOLATED);
	cr_assert_eq(verdict_with("redlock", &planted_no_nx), RR_VERDICT_VIOLATED);
}

Test(strategies, planted_watch_dropped_turns_the_verdict)
{
	cr_assert_eq(verdict_with("multi-watch", &planted_no_watch), RR_VERDICT_VIOLATED);
}

Test(strategies, planted_double_count_turns_the_verdict)
{
	cr_assert_eq(verdict_with("incr", &planted_double_incr), RR_VERDICT_VIOLATED);
}

/* How often somebody entered an occupied section, with two processes. */
static uint64_t overlaps_of(const char *name, long hold_us)
{
	struct support support;
	struct rr_measurement *m;
	uint64_t overlaps;
	struct rr_run run;

	support_open(&support, 1);
	run = support_run(&support, rr_strategy_find(name), 2, 500);
	run.processes = 2;
	run.hold_us = hold_us;
	m = support_measure(&support, &run);
	overlaps = m->overlaps;
	free(m);
	support_close(&support);
	return overlaps;
}

Test(strategies, overlaps_are_counted_where_exclusion_fails)
{
	/* A second of each process, of which one may begin late. */
	cr_assert_gt(overlaps_of("local-mutex", 4000), 0);
	cr_assert_eq(overlaps_of("lua-delifequals", 100), 0);
}
