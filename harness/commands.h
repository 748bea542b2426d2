/* SPDX-License-Identifier: MIT */
/*
 * The subcommands. To add one: a file cmd_NAME.c that ends in `rr_cmd_NAME`, a
 * declaration here and a line in the table of commands.c.
 */
#ifndef RR_COMMANDS_H
#define RR_COMMANDS_H

#include <stdio.h>

#include "base/error.h"
#include "base/option.h"

struct rr_command {
	const char *name;
	const char *summary; /* in a line of `redrace help` */
	const struct rr_command_line *line;
	/* argv[0] is "redrace NAME". Returns what the program exits with; an
	 * error that it leaves in `error` is printed by main, which adds its
	 * exit code. */
	enum rr_exit (*run)(int argc, char **argv, struct rr_error *error);
};

/* The table (commands.c), which has groups, by index through all of them. NULL after the last one. */
const char *rr_command_name(size_t index);
const struct rr_command *rr_command_at(size_t index);

/* NULL and the error: there is none of that name. */
const struct rr_command *rr_command_find(const char *name, struct rr_error *error);

/* The table as a user sees it. */
void rr_commands_print(FILE *out);

extern const struct rr_command rr_cmd_help, rr_cmd_list, rr_cmd_bench, rr_cmd_play, rr_cmd_claims,
	rr_cmd_explore, rr_cmd_check, rr_cmd_init, rr_cmd_matrix, rr_cmd_merge, rr_cmd_demo,
	rr_cmd_game, rr_cmd_compare, rr_cmd_report, rr_cmd_site, rr_cmd_doctor;

#endif
