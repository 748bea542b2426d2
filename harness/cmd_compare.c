/* SPDX-License-Identifier: MIT */
/* redrace compare: two results directories, with a test and an interval. */

#include "base/format.h"
#include "base/option.h"
#include "bench/bench.h"
#include "commands.h"

enum { COMPARE_FORMATS = RR_RESULT_FORMATS | RR_ONLY(RR_FORMAT_GOBENCH) };

static bool take_directory(void *into, char *name, struct rr_error *error)
{
	struct rr_compare_options *options = into;

	if (options->n_directories == 2)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "'%s': two directories are compared, not more", name);
	options->directories[options->n_directories++] = name;
	return true;
}

/* Text of Go's benchmarks is of one directory, and is text in files, too. */
static bool check_directories(void *into, struct rr_error *error)
{
	struct rr_compare_options *options = into;
	struct rr_outputs *outputs = &options->outputs;

	if (outputs->printed != RR_FORMAT_GOBENCH)
		return options->n_directories == 2 ||
		       rr_error_set(
			       error, RR_ERROR_USAGE,
			       "name two results directories, that from before and that from after");
	if (options->n_directories != 1)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--format gobench takes one results directory");
	for (size_t i = 0; i < outputs->n; i++) {
		if (outputs->files[i].format != RR_FORMAT_TEXT &&
		    outputs->files[i].format != RR_FORMATS)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "--format gobench: '%s' would be of another format",
					    outputs->files[i].path);
	}
	return true;
}

static const struct rr_option options_table[] = {
	{ .name = "tolerance",
	  .argument = "PERCENT",
	  .help = "a smaller difference does not matter, 0 to 100 (5)",
	  .at = offsetof(struct rr_compare_options, tolerance_pct),
	  .max = 100 },
	{ .name = "anyway",
	  .help = "compare figures although servers, machines or settings differ",
	  .at = offsetof(struct rr_compare_options, anyway) },
	{ .name = "fail-if-slower",
	  .help = "exit with 3 if something has become slower by more than the tolerance",
	  .at = offsetof(struct rr_compare_options, fail_if_slower) },
	{ .common = RR_OPTION_OUTPUT,
	  .at = offsetof(struct rr_compare_options, outputs),
	  .formats = COMPARE_FORMATS },
	{ .common = RR_OPTION_FORMAT,
	  .help = "what is printed (text): %s, the runs of one directory for benchstat",
	  .at = offsetof(struct rr_compare_options, outputs.printed),
	  .formats = COMPARE_FORMATS },
};

static const struct rr_command_line command_line = {
	.about =
		"Compares two results directories of bench: first whether a strategy that was exact counts wrongly now; then increments/s and p99 of each strategy, as the Hodges-Lehmann ratio with its 95 % interval and the two-sided Mann-Whitney test over the repeats. Figures of different servers, machines or settings are not compared.\v"
		"At least four repeats on either side are needed to show a difference. The exit code is 1 if something is wrong now, 3 with --fail-if-slower, and 65 if the environments differ.",
	.arguments = "DIR DIR",
	.examples = "redrace compare before after\n"
		    "redrace compare --fail-if-slower -o report.xml before after\n"
		    "redrace compare --format gobench -o before.txt before",
	.missing = "name two results directories, that from before and that from after",
	RR_OPTIONS(options_table),
	.take_argument = take_directory,
	.check = check_directories,
};

static enum rr_exit run_compare(int argc, char **argv, struct rr_error *error)
{
	struct rr_compare_options options = { .tolerance_pct = 5 };

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (options.outputs.printed != RR_FORMAT_GOBENCH)
		return rr_compare(&options, error);
	rr_write_gobench(&options, error);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_compare = {
	.name = "compare",
	.summary = "compare two results directories: what is wrong now, what is slower",
	.line = &command_line,
	.run = run_compare,
};
