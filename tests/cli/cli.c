/* SPDX-License-Identifier: MIT */
#include "../cli.h"

#include <jansson.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

char cli_home[SUPPORT_DIRECTORY];

static void set_path(const char *variable, const char *path)
{
	char whole[PATH_MAX];

	cr_assert_not_null(realpath(path, whole), "no %s", path);
	setenv(variable, whole, 1);
}

/* What the Makefile has made beside the runner of tests. */
static void set_path_beside(const char *variable, const char *name)
{
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - strlen(name) - 1);

	cr_assert_gt(length, 0);
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	setenv(variable, path, 1);
}

void cli_setup(void)
{
	const char *program = getenv("REDRACE");

	support_directory(cli_home);
	setenv("TMPDIR", cli_home, 1);
	setenv("HERE", cli_home, 1);
	/* No check has anything from another one, unless a test says so. */
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	/* What Python imports is compiled there: compiling raw.py takes a fifth of a start. */
	set_path_beside("PYTHONPATH", "python");
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	set_path_beside("TALK", "talk");
	set_path_beside("MADE", "");
	set_path("REDRACE_ONCE", program ? program : "build/redrace");
	set_path("REDRACE_TWICE", "tests/twice");
}

void cli_teardown(void)
{
	support_remove(cli_home);
}

char cli_output[65536];

/* How far a command is, it says where that takes longer than ten seconds: up to the machine. */
static void leave_out_progress(char *text)
{
	static const char progress[] =
		"^redrace: ([0-9]+ of [0-9]+, |[^:]*: [0-9,]+ [a-z ]+, [0-9,]+ a second(,|$))";
	char *to = text;
	regex_t is_progress;

	cr_assert_eq(regcomp(&is_progress, progress, REG_EXTENDED | REG_NOSUB), 0);
	while (*text) {
		char *end = text + strcspn(text, "\n");
		const bool is_whole = *end == '\n';
		const size_t length = (size_t)(end - text) + is_whole;

		*end = '\0';
		if (regexec(&is_progress, text, 0, NULL, 0) != 0) {
			if (is_whole)
				*end = '\n';
			memmove(to, text, length);
			to += length;
		}
		text += length;
	}
	*to = '\0';
	regfree(&is_progress);
}

/* Has a check come to something else, the second time? */
static void assert_same_twice(void)
{
	char path[SUPPORT_DIRECTORY + 10], text[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/differs", cli_home);
	file = fopen(path, "re");
	if (!file)
		return;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	cr_assert_fail("a second check differs: %s", text);
}

/* The command with each check made twice; malloc'd. */
static char *make_twice(const char *command)
{
	static const char check[] = "$REDRACE check", twice[] = "$REDRACE_TWICE check";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *at;

	cr_assert_not_null(out);
	while ((at = strstr(command, check))) {
		fprintf(out, "%.*s%s", (int)(at - command), command, twice);
		command = at + strlen(check);
	}
	fputs(command, out);
	fclose(out);
	return text;
}

int cli_run(const char *command)
{
	char *twice = make_twice(command);
	const int code = support_shell(twice, cli_output, sizeof(cli_output));

	free(twice);
	assert_same_twice();
	leave_out_progress(cli_output);
	return code;
}

int cli_runf(const char *format, ...)
{
	char command[4096];
	va_list arguments;

	va_start(arguments, format);
	cr_assert_lt(vsnprintf(command, sizeof(command), format, arguments), (int)sizeof(command));
	va_end(arguments);
	return cli_run(command);
}

void cli_write(const char *name, const char *format, ...)
{
	char path[SUPPORT_DIRECTORY + 40];
	va_list arguments;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", cli_home, name);
	file = fopen(path, "we");
	cr_assert_not_null(file, "cannot write %s", path);
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	cr_assert_eq(fclose(file), 0, "cannot write %s", path);
}

/* Would the word at the beginning of `next` not have fitted behind the line? */
static bool is_full(const char *line, size_t length, const char *next)
{
	const size_t room = RR_COLUMNS - RR_COLUMNS_OF_SUITES;
	char *whole = strndup(line, length + 1 + strcspn(next, " \n"));
	bool is;

	whole[length] = ' ';
	memcpy(whole + length + 1, next, strcspn(next, " \n"));
	is = rr_plain_width(whole) > room;
	free(whole);
	return is;
}

/* Puts sentences together that rr_print_sentence() has printed on several lines. */
static char *join_sentences(const char *text)
{
	char *joined = malloc(strlen(text) + 1), *to = joined;
	size_t indent = 0, skipped = 0;

	while (*text) {
		const size_t length = strcspn(text, "\n");
		const char *next = text + length + (text[length] == '\n');
		const size_t blanks = strspn(next, " ");
		bool goes_on;

		indent = skipped ? indent : strspn(text, " ");
		memcpy(to, text + skipped, length - skipped);
		to += length - skipped;
		goes_on = blanks >= indent + 2 && is_full(text, length, next + blanks);
		*to++ = goes_on ? ' ' : '\n';
		skipped = goes_on ? blanks : 0;
		text = next;
	}
	*to = '\0';
	return joined;
}

bool cli_says(const char *text, const char *part)
{
	char *joined = join_sentences(text);
	const bool does = strstr(text, part) || strstr(joined, part);

	free(joined);
	return does;
}

void cli_assert_prints(const char *part)
{
	cr_assert(cli_says(cli_output, part), "no '%s' in: %s", part, cli_output);
}

void cli_assert_names(const char *name)
{
	cr_assert_not_null(strstr(cli_output, name), "no '%s' in: %s", name, cli_output);
}

/* The value behind `path` in what `from` owns. */
static json_t *follow(json_t *from, const char *path)
{
	while (from && *path) {
		char name[80];
		const size_t length = strcspn(path, ".");

		cr_assert_lt(length, sizeof(name), "%s", path);
		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		from = json_is_array(from) ? json_array_get(from, strtoul(name, NULL, 10)) :
					     json_object_get(from, name);
		path += length + (path[length] == '.');
	}
	return from;
}

const char *cli_property(const char *path)
{
	static char text[sizeof(cli_output)];
	char file[SUPPORT_DIRECTORY + 20], *dumped;
	json_error_t error;
	json_t *all, *value;

	snprintf(file, sizeof(file), "%s/result.json", cli_home);
	all = json_load_file(file, 0, &error);
	cr_assert_not_null(all, "%s: %s", file, error.text);
	value = follow(all, "cases.0.properties");
	value = follow(value, path);
	cr_assert_not_null(value, "no property '%s': %s", path, cli_output);
	dumped = json_is_string(value) ? strdup(json_string_value(value)) :
					 json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	cr_assert_lt(snprintf(text, sizeof(text), "%s", dumped), (int)sizeof(text));
	free(dumped);
	json_decref(all);
	return text;
}

void cli_assert_property(const char *path, const char *expected)
{
	const char *value = cli_property(path);

	cr_assert_str_eq(value, expected, "%s is '%s', not '%s': %s", path, value, expected,
			 cli_output);
}

void cli_assert_line(const char *path, const char *line)
{
	const char *value = cli_property(path);

	for (const char *at = value; at; at = strchr(at, '\n')) {
		const size_t length = strcspn(at += *at == '\n', "\n");

		if (length == strlen(line) && strncmp(at, line, length) == 0)
			return;
	}
	cr_assert_fail("no line '%s' in %s '%s': %s", line, path, value, cli_output);
}

void cli_assert_outcome(int code, const char *part)
{
	const char *line = strstr(part, ": ");
	char path[80];

	if (code >= RR_EXIT_USAGE) {
		cli_assert_names(part);
		return;
	}
	cr_assert(line && (size_t)(line - part) < sizeof(path), "no property: %s", part);
	snprintf(path, sizeof(path), "%.*s", (int)(line - part), part);
	cli_assert_line(path, line + strlen(": "));
}

void cli_assert_json(const char *filter)
{
	char said[8192];

	setenv("FILTER", filter, 1);
	cr_assert_eq(support_shell("jq -ec '. as $all | .cases[0].properties | "
				   "if ['\"$FILTER\"'] == [true] then true else (., false) end' "
				   "$HERE/result.json 2>&1",
				   said, sizeof(said)),
		     0, "not %s: %s", filter, said);
}

void cli_assert_one_line(const char *command, int code, const char *name)
{
	const int got = cli_run(command);
	const char *end = strchr(cli_output, '\n');

	cr_assert_eq(got, code, "%s: exit %d, expected %d: %s", command, got, code, cli_output);
	cr_assert_not_null(strstr(cli_output, name), "%s said: %s", command, cli_output);
	cr_assert(end && end[1] == '\0', "%s said more than a line: %s", command, cli_output);
}
