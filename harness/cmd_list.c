/* SPDX-License-Identifier: MIT */
/* redrace list: what there is to run. */
#include <argp.h>
#include <stdio.h>

#include "commands.h"
#include "exit_code.h"
#include "strategy.h"

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	bool *markdown = state->input;

	if (key == 'm')
		*markdown = true;
	else if (key == ARGP_KEY_ARG)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': list takes no arguments", text);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "markdown", 'm', NULL, 0, "as the rows of a Markdown table", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.doc = "Lists the strategies: name, documents, what is expected of the count, commands.",
};

void rr_help_list(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace list");
}

static void print_markdown(const struct rr_strategy *strategy)
{
	printf("| [`%s`](scenarios/%s.c) | %s | %s | %s |\n", strategy->name,
	       strategy->name, strategy->summary, strategy->document,
	       rr_expectation(strategy));
}

static void print_line(const struct rr_strategy *strategy)
{
	printf("%-20s %-14s %-44s %s\n", strategy->name, strategy->document,
	       rr_expectation(strategy), strategy->summary);
}

int rr_cmd_list(int argc, char **argv)
{
	bool markdown = false;

	argp_parse(&argp, argc, argv, 0, NULL, &markdown);
	if (!markdown)
		printf("%-20s %-14s %-44s %s\n", "strategy", "document",
		       "expected", "commands");
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (markdown)
			print_markdown(rr_strategies[i]);
		else
			print_line(rr_strategies[i]);
	}
	return rr_finish_output(RR_EXIT_OK);
}
