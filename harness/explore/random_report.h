/* SPDX-License-Identifier: MIT */
/* What random schedules have shown, and how likely it was that they would. */
#ifndef RR_RANDOM_REPORT_H
#define RR_RANDOM_REPORT_H

#include "explore.h"

/* "NAME: no failure found in 1,000 random schedules (--seed 7)". */
void rr_random_report_none(const struct rr_explore_config *config,
			   const struct rr_explore_result *result);

/* What the schedules were enough for. */
void rr_random_report_bound(const struct rr_explore_result *result);

#endif
