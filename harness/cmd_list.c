/* SPDX-License-Identifier: MIT */
/* redrace list: what there is to run. */
#include <stdio.h>

#include "commands.h"
#include "base/option.h"
#include "base/text.h"
#include "race/race.h"
#include "strategy.h"

struct list_options {
	enum rr_format format;
	bool races; /* and nothing else */
};

static const struct rr_option options_table[] = {
	{ .name = "races",
	  .help = "list only the races",
	  .at = offsetof(struct list_options, races) },
	{ .common = RR_OPTION_FORMAT,
	  .at = offsetof(struct list_options, format),
	  .formats = RR_ONLY(RR_FORMAT_TEXT) | RR_ONLY(RR_FORMAT_MARKDOWN) },
};

static const struct rr_command_line command_line = {
	.about =
		"Lists the strategies (name, documents, expectation, commands) and the races (name, claims, title).",
	RR_OPTIONS(options_table),
};

static void list_strategies(bool markdown)
{
	if (!markdown)
		printf("%-20s %-13s %s\n    %s\n", "strategy", "document", "expected", "commands");
	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *strategy = rr_strategies[i];

		if (markdown) {
			printf("| [`%s`](../scenarios/%s.c) | %s | %s | %s |\n", strategy->name,
			       strategy->name, strategy->summary, strategy->document,
			       rr_expectation(strategy));
			continue;
		}
		printf("%-20s %-13s %s\n    ", strategy->name, strategy->document,
		       rr_expectation(strategy));
		rr_print_wrapped(stdout, strategy->summary, 4, 4);
	}
}

static enum rr_exit run_list(int argc, char **argv, struct rr_error *error)
{
	struct list_options options = { 0 };
	bool markdown;

	rr_command_line_parse(&command_line, &options, argc, argv);
	markdown = options.format == RR_FORMAT_MARKDOWN;
	if (!options.races)
		list_strategies(markdown);
	if (!options.races && !markdown)
		putchar('\n');
	if (options.races || !markdown)
		rr_library_print(markdown, error);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_list = {
	.name = "list",
	.summary = "list the strategies and the races",
	.line = &command_line,
	.run = run_list,
};
