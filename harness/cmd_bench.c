/* SPDX-License-Identifier: MIT */
/* redrace bench: the counting loop, under each strategy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "commands.h"

/* Appends one server of a list, or any other word: what stands between :// and
 * the last @ is a secret. */
static void print_without_secret(FILE *file, const char *piece, size_t length)
{
	const char *secret = memmem(piece, length, "://", 3);
	const char *at = memrchr(piece, '@', length);

	if (secret && at && secret < at)
		fprintf(file, "%.*s***%.*s", (int)(secret + 3 - piece), piece,
			(int)(piece + length - at), at);
	else
		fprintf(file, "%.*s", (int)length, piece);
}

/* The command line again, passwords left out. The caller frees it. */
static char *describe_command(int argc, char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (int i = 0; file && i < argc; i++) {
		const char *word = argv[i];

		fputs(i ? " " : "", file);
		while (*word) {
			const size_t length = strcspn(word, ",");

			print_without_secret(file, word, length);
			word += length;
			if (*word)
				fputc(*word++, file);
		}
	}
	if (file)
		fclose(file);
	return text;
}

static enum rr_exit run_bench_command(int argc, char **argv,
				      struct rr_error *error)
{
	char *command_line = describe_command(argc, argv);
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
