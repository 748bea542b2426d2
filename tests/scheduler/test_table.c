/* SPDX-License-Identifier: MIT */
/* All strategies of the table under a gate. */
#include "gated.h"

#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "../planted.h"

enum { RANDOM_RUNS = 50 };

static struct gated gated;

static void share_a_process(struct rr_subject_config *config)
{
	config->separate = false;
}

static bool is_exact(const struct rr_strategy *strategy)
{
	return rr_promise(strategy, RR_THREADS) == RR_EXACT;
}

static void assert_run(const struct rr_strategy *strategy, const char *how)
{
	cr_assert_eq(gated.result.end, RR_GATE_DONE, "%s %s:\n%s",
		     strategy->name, how, gated.trace);
	cr_assert_eq(gated.result.sum.ok, 2, "%s %s:\n%s", strategy->name, how,
		     gated.trace);
	if (!is_exact(strategy))
		return;
	cr_assert_eq(gated.result.final, 2, "%s %s:\n%s", strategy->name, how,
		     gated.trace);
	cr_assert_eq(gated.result.overlaps, 0, "%s %s:\n%s", strategy->name,
		     how, gated.trace);
}

ParameterizedTestParameters(table, runs_to_its_end_in_any_order)
{
	static size_t indices[64];

	for (size_t i = 0; i < rr_n_strategies; i++)
		indices[i] = i;
	return cr_make_param_array(size_t, indices, rr_n_strategies);
}

ParameterizedTest(size_t *index, table, runs_to_its_end_in_any_order)
{
	const struct rr_strategy *strategy = rr_strategies[*index];
	struct rr_random random = { 42 };
	const char *lacking;

	gated_open(&gated, strategy->name, share_a_process);
	lacking = support_lacks(&gated.support, strategy);
	if (lacking) {
		gated_close(&gated);
		cr_skip_test("%s: %s", strategy->name, lacking);
	}
	gated_run(&gated, rr_choose_serial, NULL);
	assert_run(strategy, "one after the other");
	cr_assert_eq(gated.result.final, 2, "%s", strategy->name);
	gated_run(&gated, rr_choose_in_turn, NULL);
	assert_run(strategy, "in turn");
	for (int i = 0; i < RANDOM_RUNS; i++) {
		gated_run(&gated, rr_choose_at_random, &random);
		assert_run(strategy, "at random");
	}
	gated_close(&gated);
}

/* ---- The same again ------------------------------------------------------- */

static char *trace_of(uint64_t seed)
{
	struct rr_random random = { seed };

	gated_run(&gated, rr_choose_at_random, &random);
	return strdup(gated.trace);
}

/* A crash in between, so that clients have been opened anew. */
static void assert_repeatable(const char *strategy)
{
	enum { SEEDS = 5 };
	char *traces[SEEDS];

	gated_open(&gated, strategy, NULL);
	for (uint64_t i = 0; i < SEEDS; i++)
		traces[i] = trace_of(i);
	for (uint64_t i = SEEDS; i-- > 0;) {
		char *again;

		gated_play(&gated, i % 2 ? "A !A" : "B !B A");
		again = trace_of(i);
		cr_assert_str_eq(traces[i], again, "%s", strategy);
		free(again);
		free(traces[i]);
	}
	gated_close(&gated);
}

Test(table, same_choices_give_the_same_trace)
{
	assert_repeatable("none");
	assert_repeatable("set-nx-ex");
	assert_repeatable("setnx-getset");
	assert_repeatable("lua-pipelined");
	assert_repeatable("lua-renewed");
	assert_repeatable("fair-queue");
	assert_repeatable("multi-watch");
	assert_repeatable("redlock");
}

static void work_alone_for_two_leases(struct rr_subject_config *config)
{
	config->n_clients = 1;
	config->hold_us = config->ttl_ms * 1000 * 2;
}

/* What the renewer's link has found out must not show in the next run. */
Test(table, renewals_are_the_same_again)
{
	char *first;

	gated_open(&gated, "lua-renewed", work_alone_for_two_leases);
	first = trace_of(1);
	cr_assert_neq(gated_line(&gated, "A'> EVAL"), -1, "%s", first);
	for (int i = 0; i < 3; i++) {
		gated_run(&gated, rr_choose_serial, NULL);
		cr_assert_str_eq(gated.trace, first);
	}
	free(first);
	gated_close(&gated);
}

/* ---- Would it notice? ----------------------------------------------------- */

static void drop_nx(struct rr_subject_config *config)
{
	config->planted = &planted_no_nx;
}

static void drop_watch(struct rr_subject_config *config)
{
	config->planted = &planted_no_watch;
}

static int broken_runs(const char *strategy,
		       void (*change)(struct rr_subject_config *config))
{
	struct rr_random random = { 42 };
	int broken = 0;

	gated_open(&gated, strategy, change);
	for (int i = 0; i < RANDOM_RUNS; i++) {
		gated_run(&gated, rr_choose_at_random, &random);
		broken += !rr_subject_is_exact(&gated.result);
	}
	gated_close(&gated);
	return broken;
}

Test(table, planted_fault_shows_in_the_count)
{
	cr_assert_gt(broken_runs("set-nx-ex", drop_nx), 0);
	cr_assert_eq(broken_runs("set-nx-ex", NULL), 0);
	cr_assert_gt(broken_runs("multi-watch", drop_watch), 0);
	cr_assert_eq(broken_runs("multi-watch", NULL), 0);
}
