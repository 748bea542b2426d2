/* SPDX-License-Identifier: MIT */
/*
 * Would it be noticed? Before a strategy is called safe, one of its commands is
 * weakened at the seam, and the same search in the same bounds must see that
 * fail.
 */
#ifndef RR_CANARY_H
#define RR_CANARY_H

#include "explore.h"

/* What was weakened when it failed, "SET without NX"; NULL: nothing that was
 * tried failed, or *code is not RR_EXIT_OK. */
const char *rr_canary_seek(struct rr_world *world,
			   const struct rr_explore_config *config,
			   enum rr_exit *code, char error[RR_WORLD_ERROR]);

#endif
