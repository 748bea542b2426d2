/* SPDX-License-Identifier: MIT */
/* redrace: the races of Redis clients, counted on real servers. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/error.h"
#include "base/text.h"
#include "version.h"

struct command {
	const char *name;
	const char *summary;
	enum rr_exit (*run)(int argc, char **argv, struct rr_error *error);
	void (*help)(void);
};

static const struct command commands[] = {
	{ "list", "the strategies, and the races",
	  rr_cmd_list, rr_help_list },
	{ "bench", "the counting loop under each strategy, checked and timed",
	  rr_cmd_bench, rr_help_bench },
	{ "play", "one race, step by step, drawn", rr_cmd_play, rr_help_play },
	{ "claims", "what the documents claim, each checked by its races",
	  rr_cmd_claims, rr_help_claims },
	{ "explore", "every interleaving of a strategy, with faults",
	  rr_cmd_explore, rr_help_explore },
	{ "matrix", "the safety matrix: every strategy under every hazard",
	  rr_cmd_matrix, rr_help_matrix },
	{ "demo", "one minute of lost updates, live", rr_cmd_demo,
	  rr_help_demo },
	{ "floor", "how near each strategy comes to what the machine allows",
	  rr_cmd_floor, rr_help_floor },
	{ "peers", "our locks beside redis-py, redis-semaphore, node-redlock",
	  rr_cmd_peers, rr_help_peers },
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_overview(FILE *file)
{
	fprintf(file, "Usage: redrace COMMAND [OPTION...] [ARGUMENT...]\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(file, "  %-8s %s\n", commands[i].name,
			commands[i].summary);
	fprintf(file, "  %-8s what a command does and its options\n",
		"help");
	fprintf(file,
		"\nExit: 0 as expected, 1 correctness violated, 2 inconclusive, 64 usage,\n"
		"69 no Redis, 70 internal, 74 cannot write, 77 skipped, 130 interrupted.\n");
}

static const struct command *find_command(const char *name,
					  struct rr_error *error)
{
	const char *names[N_COMMANDS], *nearest;

	for (size_t i = 0; i < N_COMMANDS; i++) {
		names[i] = commands[i].name;
		if (strcmp(name, names[i]) == 0)
			return &commands[i];
	}
	nearest = rr_nearest(name, names, N_COMMANDS);
	if (nearest)
		rr_error_set(error, RR_ERROR_USAGE,
			     "no command '%s'; did you mean '%s'?", name,
			     nearest);
	else
		rr_error_set(error, RR_ERROR_USAGE,
			     "no command '%s'; 'redrace help' shows them",
			     name);
	return NULL;
}

static void print_help(const char *name, struct rr_error *error)
{
	const struct command *command =
		name ? find_command(name, error) : NULL;

	if (command)
		command->help();
	else if (!name)
		print_overview(stdout);
}

static enum rr_exit run_command(int argc, char **argv, struct rr_error *error)
{
	const struct command *command = find_command(argv[1], error);
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
