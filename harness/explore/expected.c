/* SPDX-License-Identifier: MIT */
#include "expected.h"

const char *const rr_explored_names[RR_EXPLORED_RANDOM + 1] = {
	[RR_EXPLORED_ALL] = "all",
	[RR_EXPLORED_ROUNDS] = "rounds",
	[RR_EXPLORED_RANDOM_REPLIES] = "random replies",
	[RR_EXPLORED_MOST] = "limit of states",
	[RR_EXPLORED_MEMORY] = "limit of memory",
	[RR_EXPLORED_STOPPED] = "interrupted",
	[RR_EXPLORED_RANDOM] = "random schedules",
};

const char *rr_invariant_name(int bit)
{
	static const char *const names[RR_INVARIANTS] = { "count",     "exclusion", "lease",
							  "ownership", "deadlock",  "starvation" };

	return names[bit];
}

/* The columns of the matrix that these bounds touch, as bits. */
static unsigned hazards_of(const struct rr_explore_config *config)
{
	const struct rr_budget *budget = &config->budget;
	unsigned hazards = 1U << (config->separate ? RR_PROCESSES : RR_THREADS);

	if (budget->crashes)
		hazards |= 1U << RR_CRASH;
	if (budget->expiries || budget->pauses)
		hazards |= 1U << RR_PAUSE;
	if (config->repeats)
		hazards |= 1U << RR_LOST_REPLY;
	if (config->work_ms)
		hazards |= 1U << RR_SLOW_WORK;
	if (budget->restarts)
		hazards |= 1U << RR_RESTART;
	if (config->skew_ns || budget->jumps)
		hazards |= 1U << RR_SKEW;
	return hazards;
}

static unsigned expected_breaks(const struct rr_strategy *strategy, unsigned hazards)
{
	unsigned breaks = 0;

	for (int i = 0; i < RR_HAZARDS; i++) {
		if (hazards >> i & 1)
			breaks |= strategy->breaks[i];
	}
	return breaks;
}

struct rr_expectation rr_expect_search(const struct rr_explore_config *config)
{
	const unsigned hazards = hazards_of(config);
	const unsigned breaks = expected_breaks(config->strategy, hazards);

	return (struct rr_expectation){
		.breaks = (breaks & ~(unsigned)RR_LOOPS) != 0,
		.without_faults =
			expected_breaks(config->strategy,
					hazards & (1U << RR_THREADS | 1U << RR_PROCESSES)) != 0,
		.loops = (breaks & RR_LOOPS) != 0,
	};
}

/* Faults together may break more than each of them, and narrow bounds less. */
enum rr_exit rr_judge_search(const struct rr_expectation *expected, bool is_failing,
			     enum rr_explored explored, bool is_safe)
{
	if (is_failing)
		return expected->breaks ? RR_EXIT_OK : RR_EXIT_VIOLATED;
	if (is_safe)
		return expected->without_faults ? RR_EXIT_VIOLATED : RR_EXIT_OK;
	return explored == RR_EXPLORED_ROUNDS && expected->loops ? RR_EXIT_OK :
								   RR_EXIT_INCONCLUSIVE;
}
