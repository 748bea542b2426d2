/* SPDX-License-Identifier: MIT */
/* The table of subcommands. */
#include "commands.h"

#include "race/race.h"
#include "strategy.h"

static const struct rr_command *const commands[] = {
	&rr_cmd_list,    &rr_cmd_bench, &rr_cmd_play,   &rr_cmd_explore,
	&rr_cmd_check,   &rr_cmd_init,  &rr_cmd_matrix, &rr_cmd_claims,
	&rr_cmd_report,  &rr_cmd_site,  &rr_cmd_demo,   &rr_cmd_game,
	&rr_cmd_compare, &rr_cmd_merge, &rr_cmd_doctor, &rr_cmd_help,
};

const struct rr_command *rr_command_at(size_t index)
{
	return index < sizeof(commands) / sizeof(commands[0]) ? commands[index] : NULL;
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
		       commands[index] :
		       NULL;
}

void rr_commands_print(FILE *out)
{
	const struct rr_command *command;

	fprintf(out, "Usage: redrace COMMAND [OPTION...] [ARGUMENT...]\n\n");
	for (size_t i = 0; (command = rr_command_at(i)); i++)
		fprintf(out, "  %-8s %s\n", command->name, command->summary);
	fprintf(out,
		"\n'redrace help COMMAND' shows the options of one; -V or --version the version.\n"
		"Exit: 0 as expected, 1 correctness violated, 2 inconclusive, 3 slower than\n"
		"allowed, 64 usage, 65 program or file cannot be judged, 69 no Redis,\n"
		"70 internal, 74 cannot write, 77 skipped, 130 interrupted.\n");
}
