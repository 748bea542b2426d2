/* SPDX-License-Identifier: MIT */
/* One language in all subcommands: what their tables of options, help pages,
 * manual pages and completions say. */
#include "../cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

TestSuite(help, .init = cli_setup, .fini = cli_teardown);

enum { ROWS_MAX = 400 };

/* The options of all subcommands. */
struct row {
	const char *command;
	struct rr_option option;
};

static size_t collect_rows(struct row rows[ROWS_MAX])
{
	const struct rr_command *command;
	size_t n = 0;

	for (size_t i = 0; (command = rr_command_at(i)); i++) {
		size_t j = 0;

		for (; n < ROWS_MAX && rr_option_at(command->line, j, &rows[n].option); j++)
			rows[n++].command = command->name;
		cr_assert_leq(j, RR_OPTIONS_MAX);
	}
	cr_assert(n > 60 && n < ROWS_MAX);
	return n;
}

static bool is_path(const char *argument)
{
	return strstr(argument, "FILE") || strstr(argument, "DIR");
}

/* One file, or one in one of several formats: both are paths. */
static bool is_of_one_kind(enum rr_option_kind a, enum rr_option_kind b)
{
	return a == b || (a == RR_TAKES_FILE && b == RR_TAKES_OUTPUT) ||
	       (a == RR_TAKES_OUTPUT && b == RR_TAKES_FILE);
}

/* A file in one command may be a folder in another. */
static void assert_same(const struct row *a, const struct row *b)
{
	const char *left = a->option.argument, *right = b->option.argument;
	const char *name = a->option.name;

	cr_assert((a->option.common != RR_OPTION_OWN && b->option.common == a->option.common) ||
			  (a->option.row_at && b->option.row_at),
		  "--%s of %s and %s is not a common option", name, a->command, b->command);
	cr_assert_eq(a->option.letter, b->option.letter);
	cr_assert_eq(!left, !right);
	cr_assert(!left || strcmp(left, right) == 0 || (is_path(left) && is_path(right)),
		  "--%s: %s in %s, %s in %s", name, left, a->command, right, b->command);
	cr_assert(is_of_one_kind(a->option.kind, b->option.kind) || a->option.take ||
			  b->option.take,
		  "--%s is of another kind in %s than in %s", name, a->command, b->command);
}

Test(help, option_is_the_same_in_all_subcommands)
{
	static struct row rows[ROWS_MAX];
	const size_t n = collect_rows(rows);

	for (size_t i = 0; i < n; i++) {
		const struct rr_option *a = &rows[i].option;

		for (size_t j = 0; j < i && a->name; j++) {
			const struct rr_option *b = &rows[j].option;

			if (b->name && strcmp(a->name, b->name) == 0)
				assert_same(&rows[i], &rows[j]);
			else
				cr_assert(!b->name || !a->letter || a->letter != b->letter,
					  "-%c is --%s and --%s", a->letter, a->name, b->name);
		}
	}
}

Test(help, every_option_is_explained)
{
	static struct row rows[ROWS_MAX];
	const size_t n = collect_rows(rows);

	for (size_t i = 0; i < n; i++) {
		const struct rr_option *option = &rows[i].option;

		cr_assert(option->help && option->help[0], "--%s of %s", option->name,
			  rows[i].command);
		cr_assert(!option->name || (option->letter != 'h' && option->letter != 'V' &&
					    strcmp(option->name, "help") != 0 &&
					    strcmp(option->name, "version") != 0));
		cr_assert_neq(option->help[strlen(option->help) - 1], '.',
			      "'%s' ends in a full stop", option->help);
	}
}

/* Headlines: first, then options, never two of them in a row. */
Test(help, tables_with_headlines_begin_with_one)
{
	const struct rr_command *command;

	for (size_t i = 0; (command = rr_command_at(i)); i++) {
		struct rr_option option;
		bool was_headline = false;

		for (size_t j = 0; rr_option_at(command->line, j, &option); j++) {
			cr_assert(!was_headline || option.name, "%s", command->name);
			was_headline = !option.name;
		}
		cr_assert_not(was_headline, "%s", command->name);
	}
}

Test(help, h_and_V_are_everywhere)
{
	const struct rr_command *command;
	char line[200];

	for (size_t i = 0; (command = rr_command_at(i)); i++) {
		snprintf(
			line, sizeof(line),
			"$REDRACE help %s >$HERE/a && $REDRACE %s -h >$HERE/b && $REDRACE %s --help >$HERE/c && cmp $HERE/a $HERE/b && cmp $HERE/a $HERE/c",
			command->name, command->name, command->name);
		cr_assert_eq(cli_run(line), 0, "%s: %s", line, cli_output);
		snprintf(
			line, sizeof(line),
			"$REDRACE -V >$HERE/a && $REDRACE %s -V | cmp $HERE/a && $REDRACE %s --version | cmp $HERE/a",
			command->name, command->name);
		cr_assert_eq(cli_run(line), 0, "%s: %s", line, cli_output);
	}
	cr_assert_eq(
		cli_run("$REDRACE help >$HERE/a && $REDRACE -h | cmp $HERE/a && $REDRACE --help | cmp $HERE/a"),
		0);
	cr_assert_eq(cli_run("$REDRACE bench --help 2>&1 >/dev/full"), RR_EXIT_FILE, "%s",
		     cli_output);
}

Test(help, near_miss_is_suggested)
{
	static const struct {
		const char *arguments, *name;
	} misses[] = {
		{ "mtarix", "did you mean 'matrix'?" },
		{ "lost-update", "'redrace play' takes it" },
		{ "help set-nx-ex", "'redrace play'" },
		{ "play incr-loses", "'incr-loses-nothing'" },
		{ "bench none --treads 2", "'--threads'" },
		{ "bench none --re 2", "--re" },
		{ "bench none --xyzzyxyzzy", "'--xyzzyxyzzy'" },
		{ "bench none -x", "'-x'" },
		{ "bench none --all-strategies=5", "--all-strategies" },
		{ "bench none --threads", "--threads" },
		{ "play lost-updat", "'lost-update'" },
		{ "play set-nx-x", "'set-nx-ex'" },
		{ "play xyzzyxyzzyxyzzy", "'xyzzyxyzzyxyzzy'" },
		{ "matrix --hazard puase", "'pause'" },
		{ "claims --only TL-7", "'--only'" },
		{ "claims TL-77", "'TL-7'" },
		{ "explore multi-wach", "'multi-watch'" },
		{ "matrix --hazard haste", "'haste'" },
		{ "bench none --json", "'--json'" },
		{ "bench none --treads=2", "'--threads'" },
		{ "claims --output --nosuchoption", "--output=--nosuchoption" },
		{ "claims -o --nosuchoption", "--nosuchoption" },
		{ "play nofile.race", "'nofile.race'" },
		{ "help bnech", "'bench'" },
		{ "help bench play", "help" },
	};
	char command[200];

	for (size_t i = 0; i < sizeof(misses) / sizeof(misses[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE %s 2>&1", misses[i].arguments);
		cli_assert_one_line(command, RR_EXIT_USAGE, misses[i].name);
	}
}

/* A page of the terminal, with examples; every line of it is an option of the table. */
Test(help, short_help_fits_a_page)
{
	const struct rr_command *command;
	char line[300];

	cr_assert_eq(
		cli_run("$REDRACE check --help >$HERE/short; $REDRACE check --help=all >$HERE/all; wc -l <$HERE/short; grep -c '^  redrace check' $HERE/short; grep -c -- '^  redrace check .*--app' $HERE/short; awk 'length > 80' $HERE/short; [ $(wc -l <$HERE/all) -gt 100 ]"),
		0, "%s", cli_output);
	cr_assert(atoi(cli_output) <= 40, "%s", cli_output);
	cr_assert_str_eq(strchr(cli_output, '\n'), "\n3\n1\n");
	for (size_t i = 0; (command = rr_command_at(i)); i++) {
		const struct rr_command_line *table = command->line;

		for (size_t j = 0; j < table->n_brief; j++) {
			struct rr_option option;
			size_t k = 0;

			while (rr_option_at(table, k, &option) &&
			       (!option.name || strcmp(option.name, table->brief[j].name) != 0))
				k++;
			cr_assert(rr_option_at(table, k, &option), "--%s", table->brief[j].name);
		}
		snprintf(line, sizeof(line),
			 "$REDRACE %s --help=all >$HERE/all && grep -q -- --version $HERE/all",
			 command->name);
		cr_assert_eq(cli_run(line), 0, "%s", command->name);
	}
	cli_assert_one_line("$REDRACE check --help=some 2>&1", RR_EXIT_USAGE, "--help=all");
}

/* The user's own program is what most come for. */
Test(help, overview_has_groups_and_begins_with_check)
{
	cr_assert_eq(
		cli_run("$REDRACE help >$HERE/all; grep -c '^[A-Z].*:$' $HERE/all; grep -m1 -o '^  [a-z]*' $HERE/all; wc -l <$HERE/all"),
		0);
	cr_assert(atoi(cli_output) >= 4, "%s", cli_output);
	cr_assert(strstr(cli_output, "\n  check\n"), "%s", cli_output);
}

/* Words that name nobody, or that a reader would stumble over. */
Test(help, pages_are_in_plain_english)
{
	cr_assert_eq(
		cli_run("for name in $($REDRACE help --complete | grep -v -e -); do $REDRACE help $name; $REDRACE $name --help=all; done >$HERE/pages && test -s $HERE/pages && ! grep -niwE 'nobody|somebody|whoever|so many|so much|is said|more than that|longer than that' $HERE/pages"),
		0, "%s", cli_output);
}

/* ---- Manual pages --------------------------------------------------------- */

/* Each page is rendered, without warnings, and shows the options that --help
 * shows, and no others. */
Test(help, manual_page_has_every_option)
{
	const struct rr_command *command;
	char line[600];

	if (cli_run("command -v groff >/dev/null") != 0)
		cli_skip("no groff");
	for (size_t i = 0; (command = rr_command_at(i)); i++) {
		snprintf(
			line, sizeof(line),
			"$REDRACE help --man %s >$HERE/page && groff -ww -K utf8 -mandoc -Tascii -P-cbou $HERE/page >$HERE/text 2>$HERE/warnings; cat $HERE/warnings; ! test -s $HERE/warnings",
			command->name);
		cr_assert_eq(cli_run(line), 0, "%s: %s", command->name, cli_output);
		snprintf(
			line, sizeof(line),
			"sed -n '/^OPTIONS/,/^EXIT/p' $HERE/text | grep -oE '^     (-., )?--[a-z-]+' | tr -d ' ' >$HERE/in-page; $REDRACE %s --help=all | grep -oE '^  (    |-., )--[a-z-]+' | tr -d ' ' | diff - $HERE/in-page && test -s $HERE/in-page",
			command->name);
		cr_assert_eq(cli_run(line), 0, "%s: %s", command->name, cli_output);
	}
}

Test(help, overview_page_names_every_command)
{
	const struct rr_command *command;
	FILE *named = fopen("docs/redrace.1", "r");
	char line[200];
	size_t n = 0, n_commands = 0;

	cr_assert_not_null(named);
	while (fgets(line, sizeof(line), named)) {
		char name[100];
		struct rr_error unknown = { 0 };

		if (sscanf(line, ".It Xr redrace-%99s 1", name) != 1)
			continue;
		cr_assert_not_null(rr_command_find(name, &unknown), "%s", name);
		n++;
	}
	fclose(named);
	while ((command = rr_command_at(n_commands)))
		n_commands++;
	cr_assert_eq(n, n_commands);
}

/* redrace-race(5) is made of docs/races.md: all its tables' rows are in it. */
Test(help, page_of_races_has_every_row)
{
	cr_assert_eq(
		cli_run("awk -v date=today -f docs/races.awk docs/races.md >$HERE/page; grep -c '^| `' docs/races.md >$HERE/rows; grep -c '^[.]It [\\]fB' $HERE/page | diff $HERE/rows -"),
		0, "%s", cli_output);
	if (cli_run("command -v groff >/dev/null") != 0)
		cli_skip("no groff");
	cr_assert_eq(cli_run("groff -ww -K utf8 -mandoc -Tutf8 $HERE/page 2>&1 >/dev/null"), 0);
	cr_assert_str_eq(cli_output, "");
}

/* ---- Completion ------------------------------------------------------------- */

/* What bash suggests at the end of a command line whose words are given. */
static void assert_completed(const char *words, const char *wanted)
{
	char command[700], line[100];

	snprintf(
		command, sizeof(command),
		"PATH=$(dirname $(readlink -f $REDRACE)):$PATH bash -c '. completion/redrace.bash; COMP_WORDS=(redrace %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _redrace; printf \"%%s\\n\" \"${COMPREPLY[@]}\"' 2>&1",
		words);
	cr_assert_eq(cli_run(command), 0, "%s: %s", words, cli_output);
	snprintf(line, sizeof(line), "%s\n", wanted);
	cr_assert(strstr(cli_output, line), "%s: no '%s' in:\n%s", words, wanted, cli_output);
}

static void assert_not_completed(const char *words, const char *unwanted)
{
	assert_completed(words, "");
	cr_assert_null(strstr(cli_output, unwanted), "%s: %s", words, cli_output);
}

Test(help, bash_completes)
{
	if (cli_run("command -v bash >/dev/null") != 0)
		cli_skip("no bash");
	assert_completed("b", "bench");
	assert_completed("\"\"", "explore");
	assert_completed("bench --thr", "--threads");
	assert_completed("bench multi-w", "multi-watch");
	assert_completed("play lost-upd", "lost-update");
	assert_completed("play set-nx", "set-nx-ex");
	assert_completed("play READ", "README.md");
	assert_completed("play --output READ", "README.md");
	assert_completed("play --format = m", "mermaid");
	assert_completed("matrix --hazard p", "pause");
	assert_completed("claims -o READ", "README.md");
	assert_completed("claims TL-", "TL-7");
	assert_completed("bench --output doc", "docs");
	assert_completed("help ex", "explore");
	assert_not_completed("bench \"\"", "--threads");
	assert_not_completed("matrix --docs READ", "README.md");
	assert_not_completed("bench --threads \"\"", "multi-watch");
}

Test(help, completion_of_zsh_is_zsh)
{
	if (cli_run("command -v zsh >/dev/null") != 0)
		cli_skip("no zsh");
	cr_assert_eq(cli_run("zsh -fnc \"$(cat completion/_redrace)\" 2>&1"), 0, "%s", cli_output);
}

/* ---- Documents --------------------------------------------------------------- */

Test(help, chinese_readme_shows_the_same)
{
	cr_assert_eq(cli_run("sh tests/translation 2>&1"), 0, "%s", cli_output);
}

/* A change may make no page longer, and use no word more often that docs/glossary.md replaces. */
Test(help, prose_only_gets_clearer)
{
	int code;

	if (cli_run("test -x /usr/bin/python3") != 0)
		cli_skip("no python3");
	code = cli_run("/usr/bin/python3 tests/words 2>&1");
	if (code == 77)
		cli_skip("no clone");
	cr_assert_eq(code, 0, "%s", cli_output);
}
