/* SPDX-License-Identifier: MIT */
/* All strategies of the table, live. */
#include "scheduled.h"

#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_RUNS = 50 };

static struct scheduled it;

static void share_a_process(struct scheduled *scheduled)
{
	scheduled->program.separate = false;
}

static bool is_exact(const struct rr_strategy *strategy)
{
	return rr_promise(strategy, RR_THREADS) == RR_EXACT;
}

static void assert_run(const struct rr_strategy *strategy, const char *how)
{
	cr_assert_eq(scheduled_view(&it)->n_alive, 0, "%s %s:\n%s", strategy->name, how, it.trace);
	cr_assert_eq(scheduled_ok(&it), 2, "%s %s:\n%s", strategy->name, how, it.trace);
	if (!is_exact(strategy))
		return;
	cr_assert_eq(scheduled_count(&it), 2, "%s %s:\n%s", strategy->name, how, it.trace);
	cr_assert_eq(it.overlaps, 0, "%s %s:\n%s", strategy->name, how, it.trace);
}

static const char *lacking(const struct rr_strategy *strategy)
{
	struct rdl_link *link = rdl_link_new(&it.addresses[0], 2000);
	const char *lacks = strategy->lacks ? strategy->lacks(link, "spare") : NULL;

	rdl_link_free(link);
	return lacks;
}

ParameterizedTestParameters(all_scheduled, runs_to_its_end_in_any_order)
{
	static size_t indices[64];

	for (size_t i = 0; i < rr_n_strategies; i++)
		indices[i] = i;
	return cr_make_param_array(size_t, indices, rr_n_strategies);
}

ParameterizedTest(size_t *index, all_scheduled, runs_to_its_end_in_any_order)
{
	const struct rr_strategy *strategy = rr_strategies[*index];
	struct rr_random random = { 42 };
	const char *lacks;
	size_t last = 0;

	scheduled_open(&it, strategy->name, share_a_process);
	lacks = lacking(strategy);
	if (lacks) {
		scheduled_close(&it);
		cr_skip_test("%s: %s", strategy->name, lacks);
	}
	scheduled_run(&it, scheduled_serial, NULL);
	assert_run(strategy, "one after the other");
	cr_assert_eq(scheduled_count(&it), 2, "%s", strategy->name);
	scheduled_run(&it, scheduled_in_turn, &last);
	assert_run(strategy, "in turn");
	for (int i = 0; i < RANDOM_RUNS; i++) {
		scheduled_run(&it, scheduled_at_random, &random);
		assert_run(strategy, "at random");
	}
	scheduled_close(&it);
}

/* ---- The same again --------------------------------------------------------- */

static char *trace_of(uint64_t seed)
{
	struct rr_random random = { seed };

	scheduled_run(&it, scheduled_at_random, &random);
	return strdup(it.trace);
}

/* A crash in between. */
static void assert_repeatable(const char *strategy)
{
	enum { SEEDS = 5 };
	char *traces[SEEDS];

	scheduled_open(&it, strategy, NULL);
	for (uint64_t i = 0; i < SEEDS; i++)
		traces[i] = trace_of(i);
	for (uint64_t i = SEEDS; i-- > 0;) {
		char *again;

		scheduled_play(&it, i % 2 ? "A !A" : "B !B A");
		again = trace_of(i);
		cr_assert_str_eq(traces[i], again, "%s", strategy);
		free(again);
		free(traces[i]);
	}
	scheduled_close(&it);
}

Test(all_scheduled, same_choices_give_the_same_trace)
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

static void work_alone_for_two_leases(struct scheduled *scheduled)
{
	scheduled->program.n_clients = 1;
	scheduled->counting.hold_us = scheduled->counting.ttl_ms * 1000 * 2;
}

Test(all_scheduled, renewals_are_the_same_again)
{
	char *first;

	scheduled_open(&it, "lua-renewed", work_alone_for_two_leases);
	first = trace_of(1);
	cr_assert_neq(scheduled_line(&it, "A'> EVAL"), -1, "%s", first);
	for (int i = 0; i < 3; i++) {
		scheduled_run(&it, scheduled_serial, NULL);
		cr_assert_str_eq(it.trace, first);
	}
	free(first);
	scheduled_close(&it);
}

/* ---- Would it notice? ------------------------------------------------------- */

static bool is(const struct rdl_word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

/* SET ... NX without NX, and WATCH as PING. */
static uint32_t weaken(void *context, uint32_t number, uint32_t *answer)
{
	struct rr_terms *terms = context;
	struct rdl_command command = terms->command[number].words;
	size_t kept = 0;

	*answer = RR_NO_ID;
	for (size_t i = 0; i < command.n_words; i++) {
		if (!is(&command.words[i], "NX"))
			command.words[kept++] = command.words[i];
	}
	command.n_words = kept;
	if (is(&command.words[0], "WATCH")) {
		command.words[0] = (struct rdl_word){ "PING", 4 };
		command.n_words = 1;
	}
	return rr_terms_command(terms, &command);
}

static void weaken_it(struct scheduled *scheduled)
{
	scheduled->program.mutate = weaken;
	scheduled->program.mutate_context = scheduled->program.terms;
}

static int broken_runs(const char *strategy, void (*change)(struct scheduled *scheduled))
{
	struct rr_random random = { 42 };
	int broken = 0;

	scheduled_open(&it, strategy, change);
	for (int i = 0; i < RANDOM_RUNS; i++) {
		scheduled_run(&it, scheduled_at_random, &random);
		broken += scheduled_count(&it) != scheduled_ok(&it);
	}
	scheduled_close(&it);
	return broken;
}

Test(all_scheduled, planted_fault_shows_in_the_count)
{
	cr_assert_gt(broken_runs("set-nx-ex", weaken_it), 0);
	cr_assert_eq(broken_runs("set-nx-ex", NULL), 0);
	cr_assert_gt(broken_runs("multi-watch", weaken_it), 0);
	cr_assert_eq(broken_runs("multi-watch", NULL), 0);
}
