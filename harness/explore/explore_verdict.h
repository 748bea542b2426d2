/* SPDX-License-Identifier: MIT */
/* What an exploration says about the table of a strategy (strategy.h). */
#ifndef RR_EXPLORE_VERDICT_H
#define RR_EXPLORE_VERDICT_H

#include "explore.h"

/* `is_safe`: all states were seen, none fails, and a mutant does. RR_EXIT_OK: as
 * the table expects; RR_EXIT_VIOLATED: not; RR_EXIT_INCONCLUSIVE: the search was
 * cut. */
enum rr_exit rr_explore_verdict(const struct rr_explore_config *config,
				const struct rr_explore_result *result,
				bool is_safe);

#endif
