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

/* Starts a program of that directory that may import tests/check/programs/raw.py. It is started
 * hundreds of times, so it has no packages of the system (-S), which take a fifth of a start. */
#define CLI_PYTHON "/usr/bin/python3 -S $HERE/"

/* $MADE holds apps that are compiled once for all tests (make/build.mk): shop, ask and lock_app. */

/* A command of a program in shell: what prints the reply as redis-cli does, and starts in a quarter of
 * its time (tests/check/programs/talk.c); and redis-cli itself, for its options. */
#define CLI "$TALK "
#define REDIS_CLI "redis-cli -p $REDIS_PORT "

/* Is `part` in a text, or would it be if its sentences did not take several lines? */
bool cli_says(const char *text, const char *part);

/* It is in what the last command printed. */
void cli_assert_prints(const char *part);

/* So is what the last command is about: an option, a file, a key, a command, a value, never a wording. */
void cli_assert_names(const char *name);

/* What a command wrote with `-o $HERE/result.json`: one property of its first case, as text until the
 * next call. A path goes on behind a dot, "search.limit" or "known_as.0"; what is no text is compact
 * JSON. A property that is not there fails the test: tests of a verdict ask for these, and not for
 * words, which may change. */
const char *cli_property(const char *path);
void cli_assert_property(const char *path, const char *expected);

/* A property that is a text has that line: final_data has one for each key. */
void cli_assert_line(const char *path, const char *line);

/* For tests that say what comes of many programs: behind a check that exited with `code`, `part` is a
 * property and a line of it, "final_data: n = \"1\""; of a program that could not be judged (65) there
 * is none, and it is a name in what the check printed. */
void cli_assert_outcome(int code, const char *part);
#define CLI_SERIALIZABLE "search.verdict: serializable"
#define CLI_NOT_SERIALIZABLE "search.verdict: not_serializable"
#define CLI_NO_PROGRESS "search.verdict: no_progress"

/* The same for what takes more than one property: jq's filter, of all properties of that case, is true.
 * $all is the whole file. */
void cli_assert_json(const char *filter);

/* Of a finding: the numbers of steps in each sentence of `why`, [[2, 4], [1, 3]]. Its words are in
 * tests/golden/why.txt. */
#define CLI_WHY_STEPS "(.why | split(\"\n\") | map([scan(\"\\\\(([0-9]+)\\\\)\")[0] | tonumber]))"

/* The command ends with `code` after exactly one line, an error that names what it is about: an option, a
 * file, a key, a place, "" = nothing. Its words are in tests/golden/errors.txt. */
void cli_assert_one_line(const char *command, int code, const char *name);

#endif
