/* SPDX-License-Identifier: MIT */
/* The invariants that strategies are expected to keep, by name. */
#ifndef RR_INVARIANTS_H
#define RR_INVARIANTS_H

#include "strategy.h"

/* "count", "exclusion", "lease", "ownership", "deadlock", "starvation": of bit
 * number `bit`. */
const char *rr_invariant_name(int bit);

#endif
