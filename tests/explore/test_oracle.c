/* SPDX-License-Identifier: MIT */
/* The reduced search reaches the same final states as all schedules do.
 * RR_ORACLE=N in the environment tries N programs. */
#include "programs.h"

#include <criterion/parameterized.h>
#include <stdlib.h>

enum { PROGRAMS = 2000, SHARDS = 8 };

static struct support support;

static uint64_t n_programs(void)
{
	const char *text = getenv("RR_ORACLE");

	return text ? (uint64_t)atoll(text) : PROGRAMS;
}

static void compare(struct programs *programs, uint64_t seed,
		    struct programs_run *all, struct programs_run *reduced)
{
	programs_make(programs, seed);
	programs_run(programs, all);
	programs_run(programs, reduced);
	if (!programs_agree(programs))
		cr_assert_fail("seed %llu:%s", (unsigned long long)seed,
			       programs_text(programs));
}

/* Each shard has a share of the seeds, and a server. */
ParameterizedTestParameters(oracle, reduced_search_reaches_every_final_state)
{
	static int shards[SHARDS];

	for (int i = 0; i < SHARDS; i++)
		shards[i] = i;
	return cr_make_param_array(int, shards, SHARDS);
}

ParameterizedTest(const int *shard, oracle,
		  reduced_search_reaches_every_final_state, .timeout = 3000)
{
	struct programs *programs = programs_open(&support);
	struct programs_run all = { .all = true }, reduced = { .all = false };

	for (uint64_t i = (uint64_t)*shard; i < n_programs(); i += SHARDS)
		compare(programs, i + 1, &all, &reduced);
	cr_assert_lt(reduced.schedules, all.schedules, "shard %d", *shard);
	cr_assert_gt(all.stuck, 0, "shard %d", *shard);
	cr_log_info("shard %d: %lu schedules, %lu stuck; reduced %lu, blocked %lu",
		    *shard, all.schedules, all.stuck, reduced.schedules,
		    reduced.blocked);
	programs_close(programs);
	support_close(&support);
}

/* For fewer programs, since a fault may come at every node. */
static const struct rr_budget faults[] = {
	{ .crashes = 1 },
	{ .lost_replies = 1 },
	{ .expiries = 1 },
	{ .pauses = 1 },
};

enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

ParameterizedTestParameters(oracle, faults_do_not_matter_to_the_reduction)
{
	static int numbers[FAULTS];

	for (int i = 0; i < FAULTS; i++)
		numbers[i] = i;
	return cr_make_param_array(int, numbers, FAULTS);
}

ParameterizedTest(const int *number, oracle,
		  faults_do_not_matter_to_the_reduction, .timeout = 3000)
{
	struct programs *programs = programs_open(&support);
	struct programs_run all = { .all = true, .budget = faults[*number] };
	struct programs_run reduced = { .budget = faults[*number] };

	for (uint64_t i = 0; i < n_programs() / 80; i++)
		compare(programs, i + 1, &all, &reduced);
	cr_log_info("fault %d: %lu schedules; reduced %lu, blocked %lu",
		    *number, all.schedules, reduced.schedules, reduced.blocked);
	cr_assert_lt(reduced.schedules, all.schedules, "fault %d", *number);
	programs_close(programs);
	support_close(&support);
}
