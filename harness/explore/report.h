/* SPDX-License-Identifier: MIT */
/* What `redrace explore` prints besides its verdict. */
#ifndef RR_EXPLORE_INNER_REPORT_H
#define RR_EXPLORE_INNER_REPORT_H

#include <stdio.h>

#include "base/machine.h"
#include "base/progress.h"
#include "explore.h"

/* "; rests on SET lock:0 TOKEN NX PX 10000: only if it is absent (without it the count is
 * wrong)": of the first one that fails. Nothing if none does. */
void rr_print_noticed_mutant(FILE *out, const struct rr_explore_result *result);

/* "  rests on A, B" and "  not noticed: C": all that were tried. */
void rr_print_all_mutants(FILE *out, const struct rr_explore_result *result);

/* What the search was made of, a line each. */
void rr_print_search_stats(FILE *out, const struct rr_explore_result *result);

/* What random schedules were enough for. */
void rr_print_random_bound(FILE *out, const struct rr_random_bound *bound);

/* Is it as the strategy's table expects? `is_safe`: all states were seen, none fails,
 * and a mutant does. */
enum rr_exit rr_judge_search(const struct rr_explore_config *config,
			     const struct rr_explore_result *result, bool is_safe);

/* A line on stderr that tells how far a search is. And whether Ctrl-C was pressed. */
struct rr_explore_progress {
	struct rr_signals *signals;
	const char *name; /* what is explored */
	const char *unit; /* what is counted: "states" */
	unsigned long n;  /* so many at the last look */
	double looked;    /* seconds; 0 = not yet */
	struct rr_progress line;
};

/* For rr_explore_config, with a struct rr_explore_progress. A search that counts
 * from the beginning again is another one. */
bool rr_explore_progress(void *context, unsigned long n, double share);

#endif
