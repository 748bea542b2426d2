/* SPDX-License-Identifier: MIT */
/* redrace merge: the results of all shards of a run as those of the whole. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/option.h"
#include "base/shard.h"
#include "base/text.h"
#include "commands.h"

struct merge_options {
	const char **paths;
	size_t n_paths;
	struct rr_outputs outputs;
};

/* ---- Options ----------------------------------------------------------- */

static bool take_shard_file(void *into, char *path, struct rr_error *error)
{
	struct merge_options *options = into;

	(void)error;
	options->paths = rr_realloc(options->paths, options->n_paths + 1, sizeof(*options->paths));
	options->paths[options->n_paths++] = path;
	return true;
}

#define AT(field) offsetof(struct merge_options, field)

static const struct rr_option options_table[] = {
	{ .help = "Output" },
	{ .common = RR_OPTION_OUTPUT, .at = AT(outputs), .formats = RR_RESULT_FORMATS },
	{ .common = RR_OPTION_FORMAT, .at = AT(outputs.printed), .formats = RR_RESULT_FORMATS },
};

static const struct rr_command_line command_line = {
	.about =
		"Puts the results of all shards of a run (--shard I/N of matrix, claims and check) together, and exits as the whole run would have."
		"\vFILES are what the shards have written with -o FILE.json. "
		"A shard that is missing, there twice or of another run is refused.",
	.arguments = "FILE...",
	.missing = "merge what? name the files that the shards have written",
	.examples = "redrace matrix --shard 1/2 -o 1.json\n"
		    "redrace matrix --shard 2/2 -o 2.json\n"
		    "redrace merge 1.json 2.json",
	RR_OPTIONS(options_table),
	.take_argument = take_shard_file,
};

/* ---- Output ------------------------------------------------------------ */

static void print_merged(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	const struct rr_cases *cases = what;

	(void)format;
	(void)error;
	for (size_t i = 0; i < cases->n; i++) {
		const struct rr_case *one = &cases->cases[i];

		rr_print_sentence(out, 0, 13, "%-12s %s %s: %s",
				  rr_case_verdict_names[one->verdict], one->suite, one->name,
				  one->message);
	}
	fprintf(out, "\n%s, %zu shards: ", cases->command,
		json_array_size(json_object_get(cases->properties, "shards")));
	rr_cases_summarise(cases, out);
	fputc('\n', out);
}

/* ---- The whole --------------------------------------------------------- */

static enum rr_exit run_merge(int argc, char **argv, struct rr_error *error)
{
	struct merge_options options = { 0 };
	enum rr_exit code = RR_EXIT_OK;
	struct rr_cases whole;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (rr_shards_merge(options.paths, options.n_paths, &whole, &code, error)) {
		rr_cases_publish(&whole, &options.outputs, print_merged, &whole, error);
		rr_cases_release(&whole);
	}
	free(options.paths);
	return code;
}

const struct rr_command rr_cmd_merge = {
	.name = "merge",
	.summary = "put the results of shards together",
	.line = &command_line,
	.run = run_merge,
};
