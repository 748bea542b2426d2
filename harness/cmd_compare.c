/* SPDX-License-Identifier: MIT */
/* redrace compare: two results directories, with a test and an interval. */
#include <stdio.h>

#include "base/format.h"
#include "base/option.h"
#include "bench/bench.h"
#include "commands.h"

struct options {
	struct rr_compare_options compare;
	enum rr_format format;
};

static bool take_directory(void *into, char *name, struct rr_error *error)
{
	struct rr_compare_options *options = &((struct options *)into)->compare;

	if (options->n_directories == 2)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "'%s': two directories are compared, not more", name);
	options->directories[options->n_directories++] = name;
	return true;
}

static bool check_directories(void *into, struct rr_error *error)
{
	const struct options *options = into;
	const bool is_text = options->format == RR_FORMAT_TEXT;

	if (options->compare.n_directories == (is_text ? 2 : 1))
		return true;
	return rr_error_set(
		error, RR_ERROR_USAGE,
		is_text ? "name two results directories, that from before and that from after" :
			  "--format gobench takes one results directory");
}

static const struct rr_option options_table[] = {
	{ .name = "floor",
	  .argument = "PERCENT",
	  .help = "a smaller difference does not matter, 0 to 100 (5)",
	  .at = offsetof(struct options, compare.floor_pct),
	  .max = 100 },
	{ .name = "anyway",
	  .help = "compare figures although servers, machines or settings differ",
	  .at = offsetof(struct options, compare.anyway) },
	{ .name = "fail-if-slower",
	  .help = "exit with 3 if something has become slower by more than the floor",
	  .at = offsetof(struct options, compare.fail_if_slower) },
	{ .common = RR_OPTION_FORMAT,
	  .help = "text, or gobench for the runs of one directory, to be read by benchstat (text)",
	  .at = offsetof(struct options, format),
	  .formats = RR_ONLY(RR_FORMAT_TEXT) | RR_ONLY(RR_FORMAT_GOBENCH) },
};

static const struct rr_command_line command_line = {
	.about =
		"Compares two results directories of bench: first whether a strategy that was exact counts wrongly now; then increments/s and p99 of each strategy, as the Hodges-Lehmann ratio with its 95 % interval and the two-sided Mann-Whitney test over the repeats. Figures of different servers, machines or settings are not compared.\v"
		"At least four repeats on either side are needed to show a difference. The exit code is 1 if something is wrong now, 3 with --fail-if-slower, and 65 if the environments differ.",
	.arguments = "DIR DIR",
	.missing = "name two results directories, that from before and that from after",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
	.take_argument = take_directory,
	.check = check_directories,
};

static enum rr_exit run_compare(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .compare.floor_pct = 5 };

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (options.format == RR_FORMAT_TEXT)
		return rr_compare(&options.compare, error);
	rr_print_gobench(options.compare.directories[0], error);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_compare = {
	.name = "compare",
	.summary = "compare two results directories: what is wrong now, what is slower",
	.line = &command_line,
	.run = run_compare,
};
