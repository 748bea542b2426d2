/* SPDX-License-Identifier: MIT */
/* What an exploration tells besides its verdict: mutants, and its own figures. */
#ifndef RR_EXPLORE_FIGURES_H
#define RR_EXPLORE_FIGURES_H

#include "explore.h"

/* "  mutants: rests on SET lock:0 TOKEN NX PX 10000: only if it is absent": of the
 * first one that fails. Nothing if none does. */
void rr_explore_print_noticed(const struct rr_explore_result *result);

/* "  rests on A, B" and "  not noticed: C": all that were tried. */
void rr_explore_print_mutants(const struct rr_explore_result *result);

/* What the search was made of, a line each. */
void rr_explore_print_stats(const struct rr_explore_result *result);

#endif
