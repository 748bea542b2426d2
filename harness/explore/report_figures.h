/* SPDX-License-Identifier: MIT */
/* Of what a search found out, what is printed below its verdict: mutants, figures, chances. */
#ifndef RR_REPORT_FIGURES_H
#define RR_REPORT_FIGURES_H

#include "explore.h"

/* "; rests on SET lock:0 1 NX (without it the count is wrong)": of the first mutant that
 * fails, if there is one. */
void rr_print_noticed_mutant(FILE *out, const struct rr_explore_result *result);

/* A line of those that fail, and one of those that do not. */
void rr_print_all_mutants(FILE *out, const struct rr_explore_result *result);

/* States, questions, bytes and seconds, a line each. */
void rr_print_search_stats(FILE *out, const struct rr_explore_result *result);

/* How likely random schedules are to show a failure. */
void rr_print_random_bound(FILE *out, const struct rr_random_bound *bound);

#endif
