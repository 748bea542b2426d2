/* SPDX-License-Identifier: MIT */
/* What a schedule broke of what strategies are expected to keep. */
#ifndef RR_INVARIANTS_H
#define RR_INVARIANTS_H

#include "search.h"
#include "strategy.h"
#include "subject.h"

/* "count", "exclusion", "lease", "ownership", "deadlock", "starvation": of bit
 * number `bit`. */
const char *rr_invariant_name(int bit);

/* A set of RR_BREAKS_COUNT and so on. */
unsigned rr_invariants_broken(const struct rr_strategy *strategy,
			      const struct rr_subject_result *run,
			      enum rr_run_end end);

#endif
