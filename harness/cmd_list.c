/* SPDX-License-Identifier: MIT */
/* redrace list: what there is to run. */
#include <argp.h>
#include <stdio.h>

#include "commands.h"
#include "base/option.h"
#include "race/race.h"
#include "strategy.h"

enum { KEY_RACES = 0x100 };

static const char *const formats[] = { "text", "markdown" };

struct list_options {
	bool markdown;
	bool races; /* and nothing else */
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct list_options *options = state->input;

	if (key == 'f')
		options->markdown =
			rr_option_choice(state, "--format", text, formats, 2);
	else if (key == KEY_RACES)
		options->races = true;
	else if (key == ARGP_KEY_ARG)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': list takes no arguments", text);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "format", 'f', "FORMAT", 0,
	  "text (default), or the rows of a markdown table", 0 },
	{ "races", KEY_RACES, NULL, 0, "the races alone", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.doc = "Lists the strategies: name, documents, what is expected of the count, commands; and the races: name, claims, title.",
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

static void list_strategies(bool markdown)
{
	if (!markdown)
		printf("%-20s %-14s %-44s %s\n", "strategy", "document",
		       "expected", "commands");
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (markdown)
			print_markdown(rr_strategies[i]);
		else
			print_line(rr_strategies[i]);
	}
}

enum rr_exit rr_cmd_list(int argc, char **argv, struct rr_error *error)
{
	struct list_options options = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.races)
		list_strategies(options.markdown);
	if (!options.races && !options.markdown)
		putchar('\n');
	if (options.races || !options.markdown)
		rr_library_print(options.markdown, error);
	return RR_EXIT_OK;
}
