/* SPDX-License-Identifier: MIT */
/* redrace: the races of Redis clients, counted on real servers. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/memory.h"
#include "version.h"

static enum rr_exit run_command(int argc, char **argv, struct rr_error *error)
{
	const struct rr_command *command = rr_command_find(argv[1], error);
	char name[64];

	if (!command)
		return RR_EXIT_OK;
	snprintf(name, sizeof(name), "redrace %s", command->name);
	argv[1] = name;
	return command->run(argc - 1, argv + 1, error);
}

int main(int argc, char **argv)
{
	struct rr_error error = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	json_set_alloc_funcs(rr_malloc, free);

	/* A standard descriptor that was closed must not become a socket or a results
	 * file, into which a message would go. Writing to what replaces it fails. */
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	rr_signals_end_program();
	setvbuf(stdout, NULL, _IOLBF, 0); /* through a pipe, too */
	if (argc < 2) {
		rr_commands_print(stderr);
		return RR_EXIT_USAGE;
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)
		rr_commands_print(stdout);
	else if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)
		printf("redrace %s (%s)\n", RR_VERSION, RR_COMMIT);
	else
		code = run_command(argc, argv, &error);
	/* What does not answer any more may be due to the signal's own work. */
	if (rr_signals_have_come())
		code = rr_exit_worse(code, RR_EXIT_INTERRUPTED);
	else if (error.text[0])
		rr_complain(rr_exit_of(error.kind), "%s", error.text);
	return rr_finish_output(rr_exit_worse(code, rr_exit_of(error.kind)));
}
