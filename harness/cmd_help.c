/* SPDX-License-Identifier: MIT */
/* redrace help: the subcommands, what each does, and its options. */
#include <stdio.h>

#include "base/option.h"
#include "check/check.h"
#include "commands.h"

enum { WORDS_MAX = 256 };

struct help_options {
	bool manual;
	bool complete, schema;
	size_t n_words;
	char *words[WORDS_MAX];
};

static bool take_help_word(void *into, char *text, struct rr_error *error)
{
	struct help_options *options = into;

	if (options->n_words == WORDS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "too many words");
	options->words[options->n_words++] = text;
	return true;
}

static bool check_help_options(void *into, struct rr_error *error)
{
	const struct help_options *options = into;

	if (options->complete)
		return true;
	if (options->n_words > 1)
		return rr_error_set(error, RR_ERROR_USAGE, "'%s': help takes one command",
				    options->words[1]);
	return !options->manual || options->n_words ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "--man needs a command; that of the whole is redrace(1)");
}

static const struct rr_option options_table[] = {
	{ .name = "man",
	  .help = "print its manual page, as mdoc(7), instead",
	  .at = offsetof(struct help_options, manual) },
	{ .name = "schema",
	  .help = "print the JSON schema of redrace.yaml, which editors read",
	  .at = offsetof(struct help_options, schema) },
	{ .name = "complete",
	  .help = "print what can follow the words of a command line, which stand after --, for the completion of shells",
	  .at = offsetof(struct help_options, complete) },
};

static const struct rr_command_line help_line = {
	.about = "Lists the commands, or shows what one of them does and its options.",
	.arguments = "[COMMAND]",
	.examples = "redrace help bench\n"
		    "redrace help --man bench | man -l -",
	.name_at = rr_command_name,
	RR_OPTIONS(options_table),
	.take_argument = take_help_word,
	.check = check_help_options,
};

static enum rr_exit run_help(int argc, char **argv, struct rr_error *error)
{
	struct help_options options = { .n_words = 0 };
	const struct rr_command *command = NULL;
	struct rr_error unknown = { 0 };
	char program[64];

	rr_command_line_parse(&help_line, &options, argc, argv);
	if (options.n_words && (options.complete || !options.schema))
		command = rr_command_find(options.words[0], options.complete ? &unknown : error);
	if (options.complete && !options.n_words) {
		for (size_t i = 0; rr_command_name(i); i++)
			printf("%s\n", rr_command_name(i));
		printf("-h\n--help\n-V\n--version\n");
	} else if (options.complete) {
		if (command)
			rr_command_line_complete(command->line, options.n_words - 1,
						 options.words + 1, stdout);
	} else if (options.schema) {
		rr_check_write_schema(stdout);
	} else if (!options.n_words) {
		rr_commands_print(stdout);
	} else if (command && options.manual) {
		rr_command_line_manual(command->line, command->name, command->summary, stdout);
	} else if (command) {
		snprintf(program, sizeof(program), "redrace %s", command->name);
		rr_command_line_help(command->line, program, stdout);
	}
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_help = {
	.name = "help",
	.summary = "show what a command does, and its options",
	.line = &help_line,
	.run = run_help,
};
