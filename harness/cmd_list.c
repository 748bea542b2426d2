/* SPDX-License-Identifier: MIT */
/* redrace list: what there is to run. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "base/option.h"
#include "base/text.h"
#include "race/race.h"
#include "expected.h"

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
		"Lists the strategies (name, documents, expectation, commands), the eight of the documents first, and the races (name, claims, title).",
	RR_OPTIONS(options_table),
};

/* In the order in which they are listed. */
static const struct {
	enum rr_group group;
	const char *heading;
	const char *teaches;
} groups[] = {
	{ RR_EIGHT, "The eight of the documents",
	  "The same loop, under each of the ways that the five documents propose." },
	{ RR_BROKEN, "Broken on purpose",
	  "Each has one mistake, which stands in its file after RACE, with the race that shows it." },
	{ RR_REPAIRED, "Repaired",
	  "What the documents do by halves, put right as far as that way goes." },
	{ RR_BEYOND, "Beyond the documents",
	  "What locks of today add: fewer round trips, fencing, fairness, commands of newer servers." },
};

static void list_strategies(bool markdown)
{
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		if (markdown) {
			printf("%s## %s\n\n%s\n\n", g ? "\n" : "", groups[g].heading,
			       groups[g].teaches);
			puts("| name | commands | documents | the count is |\n|---|---|---|---|");
		} else {
			printf("%s%s. ", g ? "\n" : "", groups[g].heading);
			rr_print_wrapped(stdout, groups[g].teaches, strlen(groups[g].heading) + 2,
					 2);
			printf("\n%-20s %-13s %s\n    %s\n", "strategy", "document", "expected",
			       "commands");
		}
		for (size_t i = 0; i < rr_n_strategies; i++) {
			const struct rr_strategy *strategy = rr_strategies[i];

			if (strategy->group != groups[g].group)
				continue;
			if (markdown) {
				printf("| [`%s`](../scenarios/%s.c) | %s | %s | %s |\n",
				       strategy->name, strategy->name, strategy->summary,
				       strategy->document, rr_expectation(strategy));
			} else {
				printf("%-20s %-13s %s\n    ", strategy->name, strategy->document,
				       rr_expectation(strategy));
				rr_print_wrapped(stdout, strategy->summary, 4, 4);
			}
		}
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
