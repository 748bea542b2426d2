/* SPDX-License-Identifier: MIT */
#include "invariants.h"

const char *rr_invariant_name(enum rr_invariant invariant)
{
	static const char *const names[RR_INVARIANTS] = {
		"count", "exclusion", "progress"
	};

	return names[invariant];
}

static bool promises_exclusion(const struct rr_strategy *strategy)
{
	return strategy->acquire && !strategy->shares_late;
}

bool rr_invariant_breaks(enum rr_invariant invariant,
			 const struct rr_strategy *strategy,
			 const struct rr_subject_result *run,
			 enum rr_run_end end)
{
	switch (invariant) {
	case RR_KEEPS_COUNT:
		return !rr_subject_is_exact(run);
	case RR_KEEPS_EXCLUSION:
		return promises_exclusion(strategy) && run->overlaps > 0;
	default:
		return end == RR_RUN_STUCK;
	}
}
