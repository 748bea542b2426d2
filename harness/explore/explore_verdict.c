/* SPDX-License-Identifier: MIT */
#include "explore_verdict.h"

/* The columns of the matrix that these bounds touch, as bits. */
static unsigned hazards_of(const struct rr_explore_config *config)
{
	unsigned hazards = 1U << (config->separate ? RR_PROCESSES : RR_THREADS);

	if (config->budget.crashes)
		hazards |= 1U << RR_CRASH;
	if (config->budget.expiries || config->budget.pauses)
		hazards |= 1U << RR_PAUSE;
	if (config->repeats)
		hazards |= 1U << RR_LOST_REPLY;
	if (config->work_ms)
		hazards |= 1U << RR_SLOW_WORK;
	if (config->budget.restarts)
		hazards |= 1U << RR_RESTART;
	if (config->skew_ns || config->budget.jumps)
		hazards |= 1U << RR_SKEW;
	return hazards;
}

/* What the table expects of them all. */
static unsigned expected(const struct rr_strategy *strategy, unsigned hazards)
{
	unsigned breaks = 0;

	for (int i = 0; i < RR_HAZARDS; i++) {
		if (hazards >> i & 1)
			breaks |= strategy->breaks[i];
	}
	return breaks;
}

/* Faults together may break more than each of them, and narrow bounds less. */
enum rr_exit rr_explore_verdict(const struct rr_explore_config *config,
				const struct rr_explore_result *result,
				bool is_safe)
{
	const unsigned hazards = hazards_of(config);
	const unsigned breaks = expected(config->strategy, hazards);
	const unsigned free_of_faults =
		expected(config->strategy,
			 hazards & (1U << RR_THREADS | 1U << RR_PROCESSES));
	const bool loops = result->explored == RR_EXPLORED_ROUNDS &&
			   breaks & RR_LOOPS;

	if (result->failing)
		return breaks & ~(unsigned)RR_LOOPS ? RR_EXIT_OK :
						      RR_EXIT_VIOLATED;
	if (!is_safe)
		return loops ? RR_EXIT_OK : RR_EXIT_INCONCLUSIVE;
	return free_of_faults ? RR_EXIT_VIOLATED : RR_EXIT_OK;
}
