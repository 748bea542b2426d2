/* SPDX-License-Identifier: MIT */
/* The reduced search reaches the same final states as all schedules do.
 * RR_ORACLE=N in the environment tries N programs. */
#include "programs.h"

#include <stdlib.h>

enum { PROGRAMS = 200, BREAKING = 60 };

static struct support support;

static uint64_t n_programs(void)
{
	const char *text = getenv("RR_ORACLE");

	return text ? (uint64_t)atoll(text) : PROGRAMS;
}

Test(oracle, reduced_search_reaches_every_final_state, .timeout = 3000)
{
	struct programs *programs = programs_open(&support);
	unsigned long all = 0, reduced = 0;

	for (uint64_t seed = 1; seed <= n_programs(); seed++) {
		programs_make(programs, seed);
		all += programs_run(programs, true, NULL);
		reduced += programs_run(programs, false, NULL);
		cr_assert(programs_agree(programs), "seed %llu",
			  (unsigned long long)seed);
	}
	cr_assert_lt(reduced, all);
	programs_close(programs);
	support_close(&support);
}

/* As if a write did not matter to whoever reads. */
static bool forget_reads(const struct rr_footprint *a,
			 const struct rr_footprint *b)
{
	return !a->all && !b->all && !(a->writes & b->writes);
}

Test(oracle, broken_rule_of_dependence_is_found, .timeout = 300)
{
	struct programs *programs = programs_open(&support);
	int found = 0;

	for (uint64_t seed = 1; seed <= BREAKING; seed++) {
		programs_make(programs, seed);
		programs_run(programs, true, NULL);
		programs_run(programs, false, forget_reads);
		found += !programs_agree(programs);
	}
	cr_assert_gt(found, 0);
	programs_close(programs);
	support_close(&support);
}
