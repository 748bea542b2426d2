/* SPDX-License-Identifier: MIT */
/* redrace init: a first suite of checks. */
#include <stdio.h>

#include "base/option.h"
#include "commands.h"
#include "suite/suite.h"

static const struct rr_command_line command_line = {
	.about =
		"Writes a first " RR_SUITE_FILE
		" into this directory, with comments that explain what to put where; redrace check runs it."
		"\vIt asks nothing, looks which kind of project this is (package.json, pyproject.toml, composer.json, Gemfile, go.mod, Procfile), and never replaces a file.",
	.examples = "redrace init",
};

static enum rr_exit run_init(int argc, char **argv, struct rr_error *error)
{
	struct {
		char nothing;
	} options = { 0 };

	rr_command_line_parse(&command_line, &options, argc, argv);
	rr_suite_begin(RR_SUITE_FILE, stdout, error);
	return RR_EXIT_OK;
}

const struct rr_command rr_cmd_init = {
	.name = "init",
	.summary = "write a first " RR_SUITE_FILE ", a suite of checks of your own programs",
	.line = &command_line,
	.run = run_init,
};
