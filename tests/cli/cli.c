/* SPDX-License-Identifier: MIT */
#include "../cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char cli_home[SUPPORT_DIRECTORY];

void cli_setup(void)
{
	support_directory(cli_home);
	setenv("TMPDIR", cli_home, 1);
	setenv("HERE", cli_home, 1);
	/* No check has anything from another one, unless a test says so. */
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

void cli_teardown(void)
{
	support_remove(cli_home);
}

char cli_output[65536];

int cli_run(const char *command)
{
	return support_shell(command, cli_output, sizeof(cli_output));
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

void cli_assert_prints(const char *part)
{
	cr_assert_not_null(strstr(cli_output, part), "no '%s' in: %s", part, cli_output);
}

void cli_assert_one_line(const char *command, int code, const char *part)
{
	const int got = cli_run(command);
	const char *end = strchr(cli_output, '\n');

	cr_assert_eq(got, code, "%s: exit %d, expected %d: %s", command, got, code, cli_output);
	cr_assert_not_null(strstr(cli_output, part), "%s said: %s", command, cli_output);
	cr_assert(end && end[1] == '\0', "%s said more than a line: %s", command, cli_output);
}
