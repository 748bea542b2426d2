/* SPDX-License-Identifier: MIT */
/* redrace bench: the counting loop, under each strategy. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/secret.h"
#include "bench/bench.h"
#include "commands.h"

static enum rr_exit run_bench_command(int argc, char **argv, struct rr_error *error)
{
	/* The command line again, passwords left out. */
	char *command_line = NULL;
	FILE *file = rr_open_text(&command_line);

	for (int i = 0; i < argc; i++) {
		char *word = rr_secrets_hide(argv[i]);

		fprintf(file, "%s%s", i ? " " : "", word);
		free(word);
	}
	fclose(file);
	struct rr_bench_options options = rr_bench_defaults();
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&rr_bench_command_line, &options, argc, argv);
	if (rr_session_open(&session, error))
		code = rr_bench(&options, &session, command_line, error);
	rr_session_close(&session);
	free(command_line);
	return code;
}

const struct rr_command rr_cmd_bench = {
	.name = "bench",
	.summary = "count under each strategy, check the result and measure",
	.line = &rr_bench_command_line,
	.run = run_bench_command,
};
