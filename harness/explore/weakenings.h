/* SPDX-License-Identifier: MIT */
/*
 * Ways to weaken a strategy at the seam: one of its commands asks for less, or is
 * left out. Faults to be planted (gate.h); no `context` is used.
 */
#ifndef RR_WEAKENINGS_H
#define RR_WEAKENINGS_H

#include "driver.h"
#include "explore.h"

enum { RR_WEAKENINGS = 9 };

struct rr_weakening {
	const char *name; /* "SET without NX" */
	struct rl_driver_ops ops;
	/* Could it show in these bounds? NULL = in any. */
	bool (*matters)(const struct rr_explore_config *config);
};

/* In the order in which they are to be tried. */
extern const struct rr_weakening rr_weakenings[RR_WEAKENINGS];

#endif
