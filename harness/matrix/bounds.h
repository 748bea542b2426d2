/* SPDX-License-Identifier: MIT */
/* How far the search of each cell goes. */
#ifndef RR_BOUNDS_H
#define RR_BOUNDS_H

#include "explore/explore.h"

/* Does the hazard concern the strategy at all? */
bool rr_bounds_apply(const struct rr_strategy *strategy,
		     enum rr_hazard hazard);

/* Of one cell, ready for rr_explore(). NULL: the column's, of which a strategy's
 * may differ. */
struct rr_explore_config rr_bounds_of(const struct rr_strategy *strategy,
				      enum rr_hazard hazard);

/* "3 processes, 1 crash". */
const char *rr_bounds_text(const struct rr_explore_config *bounds, char *text,
			   size_t size);

#endif
