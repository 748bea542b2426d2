/* SPDX-License-Identifier: MIT */
/* The columns of the matrix: what they are called, and what they mean. */
#ifndef RR_HAZARDS_H
#define RR_HAZARDS_H

#include "strategy.h"

struct rr_hazard_text {
	const char *name;    /* command line and file names: "slow-work" */
	const char *title;   /* head of the column: "slow work" */
	const char *meaning; /* one sentence for readers */
};

extern const struct rr_hazard_text rr_hazard_texts[RR_HAZARDS];

/* By name; RR_HAZARDS: there is none. */
enum rr_hazard rr_hazard_find(const char *name);

/* What a strategy has broken there, in one sentence: of bit number `bit`. */
const char *rr_invariant_meaning(int bit);

/* "count, exclusion": a set of RR_BREAKS_COUNT and so on; "" = none. */
const char *rr_breaks_text(unsigned breaks, char *text, size_t size);

#endif
