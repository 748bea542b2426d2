/* SPDX-License-Identifier: MIT */
/*
 * The file of a suite. What is refused says where, in one line; what is accepted has names
 * and command lines.
 */
#include <regex.h>

#include "fuzz.h"
#include "suite/suite.h"

struct taken {
	bool flag;
	long number;
	const char *text;
	int n;
	long whole;
};

static bool take_text(void *into, char *text, struct rr_error *error)
{
	struct taken *taken = into;

	taken->n++;
	return *text != '!' || rr_error_set(error, RR_ERROR_USAGE, "--more: not '%s'", text);
}

static bool take_pair(void *into, char *first, char *second, struct rr_error *error)
{
	demand(*first && *second);
	return take_text(into, first, error);
}

#define AT(field) .at = offsetof(struct taken, field)

/* One of each kind. */
static const struct rr_option rows[] = {
	{ .name = "flag", .help = "a flag", AT(flag) },
	{ .name = "clients", .argument = "N", .help = "a number", .max = 8, AT(number) },
	{ .name = "init", .argument = "FILE", .help = "a text", AT(text) },
	{ .name = "client",
	  .argument = "NAME=COMMAND",
	  .help = "several",
	  .repeats = true,
	  .take = take_text },
	{ .name = "final",
	  .argument = "COMMAND VALUE",
	  .help = "pairs",
	  .repeats = true,
	  .take_pair = take_pair },
	{ .name = "whole", .argument = "N", .help = "no key", .max = 8, AT(whole) },
};

static const struct rr_command_line line = {
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
};

static bool accept_words(void *context, int argc, char **argv, struct rr_error *error)
{
	(void)context;
	demand(argc >= 1 && !argv[argc]);
	for (int i = 0; i < argc; i++)
		demand(argv[i] != NULL);
	return strcmp(argv[argc - 1], "no") != 0 || rr_error_set(error, RR_ERROR_USAGE, "no");
}

static void demand_place(const struct rr_error *error)
{
	regex_t place;

	demand(error->kind == RR_ERROR_DATA);
	demand(regcomp(&place, "^f:[1-9][0-9]*:[1-9][0-9]*: .", REG_EXTENDED | REG_NOSUB) == 0);
	demand(regexec(&place, error->text, 0, NULL, 0) == 0);
	regfree(&place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rr_suite_command command = {
		.line = &line,
		.size = sizeof(struct taken),
		.whole_at = offsetof(struct taken, whole),
		.accept = accept_words,
	};
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct rr_suite suite;

	if (rr_suite_parse(&suite, "f", (const char *)data, size, &command, &error)) {
		demand(suite.n > 0 && !error.kind);
		for (size_t i = 0; i < suite.n; i++)
			demand(suite.checks[i].name && suite.checks[i].line > 0);
	} else {
		demand_place(&error);
	}
	rr_suite_release(&suite);
	return 0;
}
