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
