/* SPDX-License-Identifier: MIT */
/* docs/teaching.md: every command in it is run, and shows what stands below it.
 * The Chinese one has the same commands and outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

static void setup_lessons(void)
{
	cli_setup();
	setenv("LC_ALL", "C.UTF-8", 1);
}

TestSuite(teaching, .init = setup_lessons, .fini = cli_teardown, .timeout = 120);

enum { LINE_SIZE = 600 };

/* A line without what indents the block that it stands in. */
static char *cut_line(char *line, size_t indent)
{
	line[strcspn(line, "\n")] = '\0';
	return strspn(line, " ") >= indent ? line + indent : line;
}

/* Runs what stands behind "$ redrace ". */
static void run_shown(const char *command)
{
	char text[LINE_SIZE + 40];

	snprintf(text, sizeof(text), "$REDRACE %s 2>&1 </dev/null", command);
	cr_assert_lt(cli_run(text), 2, "%s: %s", command, cli_output);
}

/* "all 5 states ..." is the beginning of a line. */
static void assert_shown(char *line, const char *command)
{
	const size_t length = strlen(line);

	if (strcmp(line, "...") == 0 || length == 0)
		return;
	if (length > 4 && strcmp(line + length - 4, " ...") == 0)
		line[length - 4] = '\0';
	cr_expect_not_null(strstr(cli_output, line), "'redrace %s' does not show: %s\nbut: %s",
			   command, line, cli_output);
}

Test(teaching, shows_what_comes)
{
	FILE *file = fopen("docs/teaching.md", "r");
	char buffer[LINE_SIZE], command[LINE_SIZE] = "";
	bool is_block = false;
	size_t indent = 0;
	int n = 0;

	cr_assert_not_null(file);
	while (fgets(buffer, sizeof(buffer), file)) {
		char *line = buffer + strspn(buffer, " ");

		if (strncmp(line, "```", 3) == 0) {
			is_block = !is_block;
			indent = (size_t)(line - buffer);
			command[0] = '\0';
			continue;
		}
		if (!is_block)
			continue;
		line = cut_line(buffer, indent);
		if (strncmp(line, "$ redrace ", 10) == 0) {
			snprintf(command, sizeof(command), "%s", line + 10);
			run_shown(command);
			n++;
		} else if (command[0]) {
			assert_shown(line, command);
		}
	}
	fclose(file);
	cr_assert_gt(n, 20, "%d commands", n);
}

/* Only its blocks, without the lines around them. */
#define BLOCKS(path) "sed -n '/^ *```/,/^ *```/p' " path

Test(teaching, is_the_same_in_chinese)
{
	cr_assert_eq(cli_run(BLOCKS("docs/teaching.md") " >$HERE/en; " BLOCKS(
			     "docs/teaching.zh.md") " >$HERE/zh; diff $HERE/en $HERE/zh"),
		     0, "%s", cli_output);
	cr_assert_eq(
		cli_run("for f in docs/teaching.md docs/teaching.zh.md; do "
			"grep -oE '\\]\\((\\.\\./)?[a-z][^)]*' $f | sort >$HERE/$(basename $f); done; "
			"diff $HERE/teaching.md $HERE/teaching.zh.md"),
		0, "%s", cli_output);
}

/* Every link leads to a file. */
Test(teaching, links_lead_somewhere)
{
	cr_assert_eq(
		cli_run("grep -ohE '\\]\\((\\.\\./)?[a-z][^)#]*' docs/teaching.md docs/documents.md | "
			"cut -c3- | sort -u | while read -r f; do [ -e docs/$f ] || echo $f; done"),
		0);
	cr_assert_str_eq(cli_output, "", "no such files: %s", cli_output);
}
