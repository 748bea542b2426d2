/* SPDX-License-Identifier: MIT */
/* What the tables leave out does not matter: exploring with them reaches the same
 * ends, by as many interleavings, as exploring all histories one by one. RR_ORACLE=N in the
 * environment tries N programs, RR_ORACLE_FROM the seed of the first, and RR_ORACLE_OUT=FILE gets a
 * line of JSON for each, for `make verdicts`. */
#include "base/progress.h"
#include "programs.h"

#include <criterion/parameterized.h>
#include <stdlib.h>

enum {
	PROGRAMS = 400, /* each wrong rule of test_oracle_planted.c is seen among as many */
	SHARDS = 8,
	REDUCED_SHARE = 2, /* one in so many is searched without what is not noticed, too */
	CHECKED = 8,       /* one in so many is played for real, too */
	FAULTY_SHARE = 12, /* and has faults */
	STEPS = 12,
	FAULTY_STEPS = 4
};

static struct stage stage;

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? (uint64_t)atoll(text) : otherwise;
}

static void compare(struct programs *programs, const char *name, uint64_t seed, size_t steps,
		    struct programs_run *tree, struct programs_run *merged)
{
	const char *out = getenv("RR_ORACLE_OUT");
	char why[200], id[80];
	bool is_right;

	programs_make(programs, seed, steps);
	programs_run(programs, tree);
	cr_expect_not(tree->was_noticed, "seed %llu, one by one: %s:%s", (unsigned long long)seed,
		      stage.error.text, programs_text(programs));
	merged->checks = seed % CHECKED == 0;
	programs_run(programs, merged);
	cr_expect_not(merged->was_noticed, "seed %llu: %s:%s", (unsigned long long)seed,
		      stage.error.text, programs_text(programs));
	is_right = !tree->was_noticed && !merged->was_noticed;
	if (is_right && !programs_agree(programs, why, sizeof(why))) {
		is_right = false;
		cr_expect_fail("seed %llu: %s:%s", (unsigned long long)seed, why,
			       programs_text(programs));
	}
	snprintf(id, sizeof(id), "oracle/%s/%llu", name, (unsigned long long)seed);
	if (out)
		programs_write(programs, out, id, is_right);
}

/* There was something to leave out, and not much was too large. */
static void assert_worthwhile(const struct programs_run *tree, const struct programs_run *merged)
{
	cr_log_info("%lu programs: %lu states one by one, %lu merged, %lu interleavings, "
		    "%lu stuck, %lu too large",
		    tree->programs, tree->states, merged->states, tree->interleavings, tree->stuck,
		    tree->too_large);
	cr_assert_lt(merged->states, tree->states);
	cr_assert_lt(20 * tree->too_large, tree->programs);
}

/* Of those that were asked for by number: `make oracle`, which takes minutes. */
static void show_programs(struct rr_progress *progress, uint64_t n)
{
	const uint64_t asked = number_of("RR_ORACLE", 0);

	if (progress->begun == 0)
		rr_progress_begin(progress);
	if (asked && rr_progress_is_due(progress))
		rr_progress_show(progress, rr_progress_left(progress, (double)n / (double)asked),
				 "oracle: about %.0f %% of %lu programs",
				 100 * (double)n / (double)asked, (unsigned long)asked);
}

/* ---- Without faults -------------------------------------------------------- */

/* Each shard has a share of the seeds, and a server. */
ParameterizedTestParameters(oracle, tables_leave_out_nothing_that_matters)
{
	static int shards[SHARDS];

	for (int i = 0; i < SHARDS; i++)
		shards[i] = i;
	return cr_make_param_array(int, shards, SHARDS);
}

ParameterizedTest(const int *shard, oracle, tables_leave_out_nothing_that_matters, .timeout = 3000)
{
	const uint64_t from = number_of("RR_ORACLE_FROM", 1);
	struct programs *programs = programs_open(&stage);
	struct programs_run tree = { .is_tree = true }, merged = { 0 };
	struct rr_progress progress = { 0 };

	for (uint64_t i = (uint64_t)*shard; i < number_of("RR_ORACLE", PROGRAMS); i += SHARDS) {
		if (*shard == 0)
			show_programs(&progress, i);
		compare(programs, "tables", from + i, STEPS, &tree, &merged);
	}
	rr_progress_end(&progress);
	assert_worthwhile(&tree, &merged);
	programs_close(programs);
	stage_close(&stage);
}

/* What is done at once, because only its client can notice it, leaves the same ends. */
Test(oracle, nobody_notices_commands_on_keys_of_one_client, .timeout = 3000)
{
	const uint64_t from = number_of("RR_ORACLE_FROM", 1);
	struct programs *programs = programs_open(&stage);
	struct programs_run all = { 0 }, reduced = { .is_reduced = true };

	for (uint64_t i = 0; i < number_of("RR_ORACLE", PROGRAMS) / REDUCED_SHARE; i++)
		compare(programs, "own-keys", from + i, STEPS, &all, &reduced);
	assert_worthwhile(&all, &reduced);
	programs_close(programs);
	stage_close(&stage);
}

/* ---- With faults ----------------------------------------------------------- */

/* For fewer programs, since a fault may come at every state. */
static const struct {
	const char *name;
	struct rr_budget budget;
} faults[] = {
	{ "crash", { .of = { [RR_CRASHES] = 1 } } },
	{ "lost-reply", { .of = { [RR_LOST_REPLIES] = 1 } } },
	{ "expiry", { .of = { [RR_EXPIRIES] = 1 } } },
	{ "pause", { .of = { [RR_PAUSES] = 1 } } },
	{ "jump", { .of = { [RR_JUMPS] = 1 } } },
	{ "late", { .of = { [RR_CRASHES] = 1, [RR_LATE_COMMANDS] = 1 } } },
};

enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

ParameterizedTestParameters(oracle, faults_do_not_matter_to_the_tables)
{
	static int numbers[FAULTS];

	for (int i = 0; i < FAULTS; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, FAULTS);
}

ParameterizedTest(const int *number, oracle, faults_do_not_matter_to_the_tables, .timeout = 3000)
{
	const uint64_t from = number_of("RR_ORACLE_FROM", 1);
	struct programs *programs = programs_open(&stage);
	struct programs_run tree = { .is_tree = true, .budget = faults[*number].budget };
	struct programs_run merged = { .budget = faults[*number].budget };

	for (uint64_t i = 0; i < number_of("RR_ORACLE", PROGRAMS) / FAULTY_SHARE; i++)
		compare(programs, faults[*number].name, from + i, FAULTY_STEPS, &tree, &merged);
	assert_worthwhile(&tree, &merged);
	programs_close(programs);
	stage_close(&stage);
}
