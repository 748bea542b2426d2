/* SPDX-License-Identifier: MIT */
#include "invariants.h"

const char *rr_invariant_name(int bit)
{
	static const char *const names[RR_INVARIANTS] = {
		"count",     "exclusion", "lease",
		"ownership", "deadlock",  "starvation"
	};

	return names[bit];
}

static bool promises_exclusion(const struct rr_strategy *strategy)
{
	return strategy->acquire && !strategy->shares_late;
}

unsigned rr_invariants_broken(const struct rr_strategy *strategy,
			      const struct rr_subject_result *run,
			      enum rr_run_end end)
{
	unsigned broken = 0;

	if (!rr_subject_is_exact(run))
		broken |= RR_BREAKS_COUNT;
	if (promises_exclusion(strategy) && run->overlaps > 0)
		broken |= RR_BREAKS_EXCLUSION;
	if (end == RR_RUN_STUCK)
		broken |= RR_DEADLOCKS;
	if (end == RR_RUN_STARVED)
		broken |= RR_STARVES;
	return broken;
}
