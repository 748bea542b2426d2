/* SPDX-License-Identifier: MIT */
#include "option.h"

#include <string.h>

#include "exit_code.h"
#include "text.h"

enum { NAMES_MAX = 64 };

long rr_option_number(struct argp_state *state, const char *option,
		      const char *text, long min, long max)
{
	long value;

	if (!rr_parse_number(text, min, max, &value))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "%s: '%s' is not a whole number from %ld to %ld",
			     option, text, min, max);
	return value;
}

int rr_option_choice(struct argp_state *state, const char *option,
		     const char *text, const char *const names[], int n)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
	}
	argp_failure(state, RR_EXIT_USAGE, 0,
		     "%s: '%s' is not one of its values: see --help", option,
		     text);
	return 0;
}

const struct rr_strategy *rr_option_strategy(struct argp_state *state,
					     const char *name)
{
	const struct rr_strategy *strategy = rr_strategy_find(name);
	const char *names[NAMES_MAX], *nearest;
	size_t n = 0;

	for (; n < rr_n_strategies && n < NAMES_MAX; n++)
		names[n] = rr_strategies[n]->name;
	nearest = rr_nearest(name, names, n);
	if (!strategy && nearest)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "no strategy '%s'; did you mean '%s'?", name,
			     nearest);
	if (!strategy)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "no strategy '%s'; 'redrace list' shows them",
			     name);
	return strategy;
}
