/* SPDX-License-Identifier: MIT */
/* The table of subcommands. */
#include "commands.h"

#include "race/race.h"
#include "strategy.h"

enum { OF_GROUP = 6 };

static const struct group {
	const char *title;
	const struct rr_command *commands[OF_GROUP + 1]; /* NULL after the last one */
} groups[] = {
	{ "Your own program", { &rr_cmd_check, &rr_cmd_init, &rr_cmd_merge } },
	{ "Strategies and races",
	  { &rr_cmd_list, &rr_cmd_play, &rr_cmd_explore, &rr_cmd_matrix, &rr_cmd_claims } },
	{ "The counter at full speed", { &rr_cmd_bench, &rr_cmd_compare } },
	{ "Lessons and pages", { &rr_cmd_demo, &rr_cmd_game, &rr_cmd_report, &rr_cmd_site } },
	{ "Help", { &rr_cmd_doctor, &rr_cmd_help } },
};

enum { N_GROUPS = sizeof(groups) / sizeof(groups[0]) };

const struct rr_command *rr_command_at(size_t index)
{
	for (size_t i = 0; i < N_GROUPS; i++) {
		for (size_t j = 0; groups[i].commands[j]; j++) {
			if (index-- == 0)
				return groups[i].commands[j];
		}
	}
	return NULL;
}

const char *rr_command_name(size_t index)
{
	const struct rr_command *command = rr_command_at(index);

	return command ? command->name : NULL;
}

const struct rr_command *rr_command_find(const char *name, struct rr_error *error)
{
	const char *where = rr_library_has(name) || rr_strategy_find(name) ?
				    "'redrace play' takes it" :
				    "'redrace help' shows them";
	size_t index = 0;

	return rr_take_name("command", name, rr_command_name, where, &index, error) ?
		       rr_command_at(index) :
		       NULL;
}

void rr_commands_print(FILE *out)
{
	fprintf(out, "Usage: redrace COMMAND [OPTION...] [ARGUMENT...]\n\n");
	for (size_t i = 0; i < N_GROUPS; i++) {
		fprintf(out, "%s:\n", groups[i].title);
		for (const struct rr_command *const *at = groups[i].commands; *at; at++)
			fprintf(out, "  %-8s %s\n", (*at)->name, (*at)->summary);
	}
	fprintf(out,
		"\n'redrace help COMMAND' shows the options of one; -V or --version the version.\n"
		"Exit: 0 as expected, 1 correctness violated, 2 inconclusive, 3 slower than\n"
		"allowed, 64 usage, 65 program or file cannot be judged, 69 no Redis,\n"
		"70 internal, 74 cannot write, 77 skipped, 130 interrupted.\n");
}
