/* SPDX-License-Identifier: MIT */
/* The tables of options of all commands, beside each other: what has one name means one thing. */
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "base/option.h"
#include "commands.h"

enum { WORDS_SIZE = 400 };

TestSuite(options, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* Where the same name does something else, and why. */
static const struct {
	const char *command, *option, *why;
} exceptions[] = {
	{ "report", "output", "the page is all that it prints" },
	{ "game", "output", "the page is all that it prints" },
	{ "site", "output", "pages are a directory, and nothing is printed" },
};

static bool is_exception(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		if (strcmp(exceptions[i].command, command) == 0 &&
		    strcmp(exceptions[i].option, option) == 0)
			return true;
	}
	return false;
}

/* What it does, without what only this command says of it, behind a comma, a colon or in
 * brackets. */
static void meaning_of(const struct rr_option *option, char words[WORDS_SIZE])
{
	char *help = rr_option_help(option);
	size_t length = strcspn(help, ",:;(");

	while (length > 0 && help[length - 1] == ' ')
		length--;
	snprintf(words, WORDS_SIZE, "%.*s", (int)length, help);
	free(help);
}

/* The next option with a name; false: there is none in any command any more. */
static bool next_option(size_t *command, size_t *index, struct rr_option *option)
{
	for (; rr_command_at(*command); (*command)++, *index = 0) {
		while (rr_option_at(rr_command_at(*command)->line, (*index)++, option)) {
			if (option->name)
				return true;
		}
	}
	return false;
}

static void assert_alike(const char *a_command, const struct rr_option *a, const char *b_command,
			 const struct rr_option *b)
{
	char a_words[WORDS_SIZE], b_words[WORDS_SIZE];

	meaning_of(a, a_words);
	meaning_of(b, b_words);
	cr_expect_eq(a->letter, b->letter, "-%c of %s, -%c of %s: --%s", a->letter, a_command,
		     b->letter, b_command, a->name);
	cr_expect_eq(!a->argument, !b->argument, "--%s of %s and %s", a->name, a_command,
		     b_command);
	if (!is_exception(a_command, a->name) && !is_exception(b_command, b->name))
		cr_expect_str_eq(a_words, b_words, "--%s of %s: '%s', of %s: '%s'", a->name,
				 a_command, a_words, b_command, b_words);
}

Test(options, one_name_means_one_thing)
{
	struct rr_option a, b;
	size_t n = 0;

	for (size_t i = 0, k = 0; next_option(&i, &k, &a);) {
		size_t j = i, l = k;

		while (next_option(&j, &l, &b)) {
			if (strcmp(a.name, b.name) == 0) {
				assert_alike(rr_command_at(i)->name, &a, rr_command_at(j)->name,
					     &b);
				n++;
			} else {
				cr_expect(!a.letter || a.letter != b.letter,
					  "-%c is --%s of %s and --%s of %s", a.letter, a.name,
					  rr_command_at(i)->name, b.name, rr_command_at(j)->name);
			}
		}
	}
	cr_assert_gt(n, 50);
}

/* Whatever a command takes stands in its help, and nothing else does. */
Test(options, formats_stand_in_the_help_as_they_work)
{
	struct rr_option option;
	char list[RR_FORMAT_LIST];

	for (size_t i = 0, k = 0; next_option(&i, &k, &option);) {
		char *help;

		if (!option.formats)
			continue;
		help = rr_option_help(&option);
		for (unsigned format = 0; format < RR_FORMATS; format++) {
			const unsigned only = RR_ONLY(format) & option.formats;

			if (!only)
				continue;
			if (option.common == RR_OPTION_OUTPUT)
				rr_format_suffixes(only, list);
			else
				rr_format_list(only, list);
			list[strcspn(list, " ")] = '\0';
			cr_expect(strstr(help, list), "%s --%s: no '%s' in '%s'",
				  rr_command_at(i)->name, option.name, list, help);
		}
		cr_expect_null(strstr(help, "%s"), "%s", help);
		free(help);
	}
}

/* Each name in the table is one of an option that really differs. */
Test(options, no_exception_is_left_over)
{
	struct rr_option option;
	size_t n = 0;

	for (size_t i = 0, k = 0; next_option(&i, &k, &option);)
		n += is_exception(rr_command_at(i)->name, option.name);
	cr_assert_eq(n, sizeof(exceptions) / sizeof(exceptions[0]));
}

/* A neighbour is not taken for the other. */
Test(options, neighbours_are_told_apart)
{
	cli_assert_one_line("$REDRACE check --client 3 -- true 2>&1", 64, "--clients N");
	cli_assert_one_line("$REDRACE check --app 2 --request true 2>&1", 64, "--apps N");
	cli_assert_one_line("$REDRACE check --clients a=true 2>&1", 64, "--client NAME=COMMAND");
	cli_assert_one_line("$REDRACE check --apps 'node x.js' 2>&1", 64, "--app COMMAND");
	cli_assert_one_line("$REDRACE check --clien 3 -- true 2>&1", 64, "--clien");
}

/* Whoever writes half of a name is told the whole. */
Test(options, the_only_name_that_begins_so_is_suggested)
{
	cli_assert_one_line("$REDRACE matrix --hazard slow none 2>&1", 64, "'slow-work'");
	cli_assert_one_line("$REDRACE demo coun 2>&1", 64, "'counts'");
	cli_assert_one_line("$REDRACE explore fenc 2>&1", 64, "'fenced'");
	cli_assert_one_line("$REDRACE explore redl 2>&1", 64, "'redl'");
}

/* Help is suggested to who means it. */
Test(options, help_is_not_suggested_for_anything_else)
{
	cli_assert_one_line("$REDRACE list --hlep 2>&1", 64, "'--help'");
	cli_assert_one_line("$REDRACE list --keep 2>&1", 64, "'--keep'");
	cli_assert_one_line("$REDRACE list --shell 2>&1", 64, "'--shell'");
	cli_assert_one_line("$REDRACE bench --hold 2>&1", 64, "--hold-us");
}
