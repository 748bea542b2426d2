/* SPDX-License-Identifier: MIT */
/* What options of several subcommands take. A mistake ends the program by
 * argp_failure(): RR_EXIT_USAGE after one line. */
#ifndef RR_OPTION_H
#define RR_OPTION_H

#include <argp.h>

#include "strategy.h"

/* A whole number from `min` to `max`; `option` is its name, "--threads". */
long rr_option_number(struct argp_state *state, const char *option,
		      const char *text, long min, long max);

/* The index of `text` among the `n` names of an option's values. */
int rr_option_choice(struct argp_state *state, const char *option,
		     const char *text, const char *const names[], int n);

/* A strategy by its name; for a misspelt one the nearest is suggested. */
const struct rr_strategy *rr_option_strategy(struct argp_state *state,
					     const char *name);

#endif
