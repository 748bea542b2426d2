/* SPDX-License-Identifier: MIT */
/* Do the options of a bench go together, and with this machine's limits? */
#ifndef RR_BENCH_CHECKS_H
#define RR_BENCH_CHECKS_H

#include <argp.h>

#include "bench_options.h"

/* Fills in what was left out. Ends the program by argp_failure(), with one
 * line, at the first thing that does not fit. */
void rr_bench_options_check(struct argp_state *state,
			    struct rr_bench_options *options);

#endif
