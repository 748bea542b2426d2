/* SPDX-License-Identifier: MIT */
/* redrace: the races of Redis clients, counted on real servers. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/error.h"
#include "version.h"

static const struct rr_command *const commands[] = {
	&rr_cmd_list,    &rr_cmd_bench,  &rr_cmd_play,  &rr_cmd_claims,
	&rr_cmd_explore, &rr_cmd_check, &rr_cmd_matrix, &rr_cmd_demo,
	&rr_cmd_floor,   &rr_cmd_peers,
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_overview(FILE *file)
{
	fprintf(file, "Usage: redrace COMMAND [OPTION...] [ARGUMENT...]\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(file, "  %-8s %s\n", commands[i]->name,
			commands[i]->summary);
	fprintf(file, "  %-8s what a command does and its options\n",
		"help");
	fprintf(file,
		"\nExit: 0 as expected, 1 correctness violated, 2 inconclusive, 64 usage,\n"
		"69 no Redis, 70 internal, 74 cannot write, 77 skipped, 130 interrupted.\n");
}

static const char *command_name(size_t index)
{
	return index < N_COMMANDS ? commands[index]->name : NULL;
}

static const struct rr_command *find_command(const char *name,
					     struct rr_error *error)
{
	size_t index = 0;

	return rr_take_name("command", name, command_name,
			    "'redrace help' shows them", &index, error) ?
		       commands[index] :
		       NULL;
}

static void print_help(const char *name, struct rr_error *error)
{
	const struct rr_command *command =
		name ? find_command(name, error) : NULL;

	if (command)
		rr_command_line_help(command->line, command->name);
	else if (!name)
		print_overview(stdout);
}

static enum rr_exit run_command(int argc, char **argv, struct rr_error *error)
{
	const struct rr_command *command = find_command(argv[1], error);
	char name[64];

	if (!command)
		return RR_EXIT_OK;
	snprintf(name, sizeof(name), "redrace %s", command->name);
	argv[1] = name;
	return command->run(argc - 1, argv + 1, error);
}

/* A standard descriptor that was closed must not become a socket or a results
 * file, into which a message would go. Writing to what replaces it fails. */
static void occupy_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct rr_error error = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	occupy_standard_descriptors();
	if (argc < 2) {
		print_overview(stderr);
		return RR_EXIT_USAGE;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
		print_help(argv[2], &error);
	else if (strcmp(argv[1], "--version") == 0)
		printf("redrace %s (%s)\n", RR_VERSION, RR_COMMIT);
	else
		code = run_command(argc, argv, &error);
	if (error.text[0])
		rr_complain(rr_exit_of(error.kind), "%s", error.text);
	return rr_finish_output(rr_exit_worse(code, rr_exit_of(error.kind)));
}
