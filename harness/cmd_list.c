/* SPDX-License-Identifier: MIT */
/* redrace list: what there is to run. */
#include <argp.h>
#include <stdio.h>

#include "commands.h"
#include "exit_code.h"
#include "strategy.h"

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_failure(state, RR_EXIT_USAGE, 0, "'%s': list takes no arguments",
		     text);
	return 0;
}

static const struct argp argp = {
	.parser = parse_option,
	.doc = "Lists the strategies: name, documents, what is expected of the count, commands.",
};

void rr_help_list(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace list");
}

int rr_cmd_list(int argc, char **argv)
{
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	printf("%-19s %-14s %-44s %s\n", "strategy", "document", "expected",
	       "commands");
	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *strategy = rr_strategies[i];

		printf("%-19s %-14s %-44s %s\n", strategy->name,
		       strategy->document, rr_expectation(strategy),
		       strategy->summary);
	}
	return rr_finish_output(RR_EXIT_OK);
}
