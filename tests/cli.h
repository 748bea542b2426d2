/* SPDX-License-Identifier: MIT */
/* Running the program as a user does, in a directory of the test's own. */
#ifndef RR_TEST_CLI_H
#define RR_TEST_CLI_H

#include "support.h"

/* That directory, also $HERE and $TMPDIR, and what the last command printed, but how far it was. */
extern char cli_home[SUPPORT_DIRECTORY];
extern char cli_output[65536];

/* Before and after each test. */
void cli_setup(void);
void cli_teardown(void);

/* Skips the test and says why. A skipped test has no .fini: the directory goes here. */
#define cli_skip(...)                      \
	do {                               \
		cli_teardown();            \
		cr_skip_test(__VA_ARGS__); \
	} while (0)

/* support_shell() into cli_output; the exit code. cli_runf() as printf. What stands behind "$REDRACE
 * check" is checked by tests/twice: one check of eight (all with RR_ALL_TWICE=1) that keeps something is
 * made a second time with that, and
 * the test fails if the verdict is another one. $REDRACE_ONCE is the program itself, for tests that
 * send it signals or count how often it runs a program. */
int cli_run(const char *command);
int cli_runf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file for $HERE/NAME, its text as printf. */
void cli_write(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A program of that directory that speaks to Redis by tests/check/programs/raw.py: env CLI_PYTHON. It is
 * started often, and -S is a quarter of that: there are no packages of the system. */
#define CLI_PYTHON \
	"PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/check/programs /usr/bin/python3 -S $HERE/"

/* Is `part` in a text, or would it be if its sentences did not take several lines? */
bool cli_says(const char *text, const char *part);

/* It is in what the last command printed. */
void cli_assert_prints(const char *part);

/* The command ends with `code` after exactly one line that holds `part`. */
void cli_assert_one_line(const char *command, int code, const char *part);

#endif
