/* SPDX-License-Identifier: MIT */
/* What must hold at the end of a run. */
#ifndef RR_INVARIANTS_H
#define RR_INVARIANTS_H

#include "explore.h"
#include "subject.h"

/* Does the run break it? Exclusion only where the strategy promises it. */
bool rr_invariant_breaks(enum rr_invariant invariant,
			 const struct rr_strategy *strategy,
			 const struct rr_subject_result *run,
			 enum rr_run_end end);

#endif
