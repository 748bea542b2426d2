/* SPDX-License-Identifier: MIT */
/* `redrace play --interactive STRATEGY`: somebody says, key by key, who goes next.
 * What was chosen is kept: to take a choice back, everything before it is done again
 * from the start. */
#ifndef RR_INTERACTIVE_H
#define RR_INTERACTIVE_H

#include "play.h"

/* The whole of it. False: the error. */
bool rr_interactive_run(const struct rr_guided_setup *setup, struct rr_cluster *cluster,
			struct rr_error *error);

#endif
