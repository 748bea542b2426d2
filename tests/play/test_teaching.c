/* SPDX-License-Identifier: MIT */
/* docs/teaching.md, and what else shows what comes of a command: it is run, and shows what
 * stands below it. The Chinese lessons have the same commands and outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

static void setup_lessons(void)
{
	cli_setup();
	setenv("LC_ALL", "C.UTF-8", 1);
}

TestSuite(teaching, .init = setup_lessons, .fini = cli_teardown, .timeout = 600);

enum { LINE_SIZE = 600 };

/* A line without what indents the block that it stands in. */
static char *cut_line(char *line, size_t indent)
{
	line[strcspn(line, "\n")] = '\0';
	return strspn(line, " ") >= indent ? line + indent : line;
}

/* How long it took, "0.17", and other figures with a point are N. */
static void hide_measured(char *text)
{
	static const char digits[] = "0123456789";
	char *to = text;

	while (*text) {
		const size_t n = strspn(text, digits);
		const size_t more = n && text[n] == '.' ? strspn(text + n + 1, digits) : 0;

		if (more) {
			*to++ = 'N';
			text += n + 1 + more;
		} else {
			memmove(to, text, n ? n : 1);
			to += n ? n : 1;
			text += n ? n : 1;
		}
	}
	*to = '\0';
}

/* Runs what stands behind "$ redrace ", as if for the first time. */
static void run_shown(const char *command)
{
	const bool is_check = strncmp(command, "check ", 6) == 0;
	char text[LINE_SIZE + 60];

	snprintf(text, sizeof(text), "$REDRACE %s%s 2>&1 </dev/null",
		 is_check ? "check --no-cache " : "", command + (is_check ? 6 : 0));
	cr_assert_lt(cli_run(text), 2, "%s: %s", command, cli_output);
	hide_measured(cli_output);
}

/* "all 5 states ..." is the beginning of a line. */
static void assert_shown(char *line, const char *command)
{
	const size_t length = strlen(line);

	if (strcmp(line, "...") == 0 || length == 0)
		return;
	if (length > 4 && strcmp(line + length - 3, "...") == 0)
		line[length - (line[length - 4] == ' ' ? 4 : 3)] = '\0';
	hide_measured(line);
	cr_expect_not_null(strstr(cli_output, line), "'redrace %s' does not show: %s\nbut: %s",
			   command, line, cli_output);
}

static bool has_redis_py(void)
{
	return cli_run("/usr/bin/python3 -c 'import redis' 2>&1") == 0;
}

/* What counts for some seconds, or needs something else than redis-server and a shell, is
 * left out. */
static bool can_run(const char *command)
{
	return (!strstr(command, "python3") ||
		(strstr(command, "/usr/bin/python3") && has_redis_py())) &&
	       !strstr(command, "node ") && strncmp(command, "demo ", 5) != 0 &&
	       strncmp(command, "bench ", 6) != 0 && !strstr(command, "junit") &&
	       !strstr(command, "--graph");
}

/* How many commands are shown in the document, and run. */
static int run_document(const char *path)
{
	FILE *file = fopen(path, "r");
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
		if (line[0] == '$') {
			const char *words = strstr(line, "redrace ");

			command[0] = '\0';
			if (!words || words - line > 8 || !can_run(words + 8))
				continue;
			snprintf(command, sizeof(command), "%s", words + 8);
			run_shown(command);
			n++;
		} else if (command[0]) {
			assert_shown(line, command);
		}
	}
	fclose(file);
	return n;
}

Test(teaching, shows_what_comes)
{
	const int n = run_document("docs/teaching.md");

	cr_assert_gt(n, 20, "%d commands", n);
}

Test(teaching, others_show_what_comes)
{
	const struct {
		const char *path;
		int commands;
	} documents[] = {
		{ "README.md", has_redis_py() }, { "README.zh.md", has_redis_py() },
		{ "docs/interleavings.md", 5 },  { "docs/interleavings.zh.md", 5 },
		{ "docs/check.md", 1 },          { "docs/faults.md", 1 },
		{ "docs/formats.md", 3 },
	};

	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
		cr_expect_eq(run_document(documents[i].path), documents[i].commands, "%s",
			     documents[i].path);
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

/* Every link of every page leads to a file. */
Test(teaching, links_lead_somewhere)
{
	cr_assert_eq(cli_run("for page in README*.md docs/*.md; do "
			     "grep -ohE '\\]\\([a-z.][^)#: ]*[)#]' $page | sed 's/^..//; s/.$//' | "
			     "sort -u | while read -r f; do "
			     "[ -e $(dirname $page)/$f ] || echo $page: $f; done; done"),
		     0);
	cr_assert_str_eq(cli_output, "", "no such files: %s", cli_output);
}
