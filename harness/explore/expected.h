/* SPDX-License-Identifier: MIT */
/* What a search came to, compared with what the strategy's table expects. */
#ifndef RR_EXPECTED_H
#define RR_EXPECTED_H

#include "explore.h"

/* Within the bounds of a search. */
struct rr_expectation {
	bool breaks;         /* something, under the faults that there are */
	bool without_faults; /* something, even if none of them happens */
	bool loops;          /* refused clients go on for ever */
};

struct rr_expectation rr_expect_search(const struct rr_explore_config *config);

/* `is_safe`: all states were seen, none fails, and a mutant does. */
enum rr_exit rr_judge_search(const struct rr_expectation *expected, bool is_failing,
			     enum rr_explored explored, bool is_safe);

/* How far it went, for other programs: "all", "rounds", ... */
extern const char *const rr_explored_names[RR_EXPLORED_RANDOM + 1];

#endif
