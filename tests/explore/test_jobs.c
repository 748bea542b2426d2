/* SPDX-License-Identifier: MIT */
/* redrace explore --jobs: what is found, and what becomes of the jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support.h"

enum { OUTPUT_SIZE = 1 << 16 };

/* All that is printed and how many runs there were, but for times and random
 * tokens. */
static int explore(const char *arguments, int jobs, char *output)
{
	char command[500];

	snprintf(command, sizeof(command),
		 "$REDRACE explore %s --jobs %d 2>&1 | sed -E "
		 "'s/[0-9a-f]{40}/TOKEN/g; s/blocked, .*/blocked/'",
		 arguments, jobs);
	return support_shell(command, output, OUTPUT_SIZE);
}

static void assert_same(const char *arguments, const char *part)
{
	static char alone[OUTPUT_SIZE], shared[OUTPUT_SIZE];

	explore(arguments, 1, alone);
	cr_assert(strstr(alone, part), "%s: %s", arguments, alone);
	for (int jobs = 2; jobs <= 3; jobs++) {
		explore(arguments, jobs, shared);
		cr_assert_str_eq(shared, alone, "%s: %d jobs: %s, one: %s",
				 arguments, jobs, shared, alone);
	}
}

Test(jobs, find_what_one_finds)
{
	assert_same("none --clients 4", "552 of 576 schedules fail");
	assert_same("none --clients 4 --all", "of 2,520 schedules fail");
}

Test(jobs, find_that_it_is_safe)
{
	assert_same("multi-watch --clients 3 --crashes 1",
		    "multi-watch: safe: all ");
}

Test(jobs, find_what_one_finds_when_time_passes)
{
	assert_same("incr-lock-all --pauses 1", " schedules fail");
	assert_same("setnx-expire-all --pauses 1", "shortest, ");
}

/* Small ones are not shared. */
Test(jobs, find_what_one_finds_where_there_is_little)
{
	assert_same("none lua-delifequals incr-lock", "safe: all ");
}

/* ---- Ends ----------------------------------------------------------------- */

/* Explores something large, does `act` when the jobs are at work ($P: the
 * program, $4: the last job), and says how the program ended. The rest of what it
 * prints must be gone with it: its directories, its processes. */
static int end_by(const char *act, char *output)
{
	char command[2000];

	snprintf(command, sizeof(command),
		 "export TMPDIR=$(mktemp -d); "
		 "children() { cat /proc/$P/task/$P/children 2>/dev/null; }; "
		 "$REDRACE explore fenced --clients 3 --pauses 1 --increments 2 "
		 "--jobs 2 >$TMPDIR.out 2>&1 & P=$!; "
		 "for i in $(seq 300); do set -- $(children); "
		 "[ $# -ge 4 ] && break; sleep 0.1; done; "
		 "[ $# -ge 4 ] || echo never at work; "
		 "sleep 0.5; %s; wait $P; code=$?; "
		 "for i in $(seq 100); do rmdir $TMPDIR 2>/dev/null && break; "
		 "sleep 0.1; done; [ -d $TMPDIR ] && echo left: $TMPDIR/*; "
		 "for p in \"$@\"; do grep -qs '^State:.[^Z]' /proc/$p/status && "
		 "echo alive: $p; done; cat $TMPDIR.out; rm $TMPDIR.out; "
		 "exit $code",
		 act);
	return support_shell(command, output, OUTPUT_SIZE);
}

static void assert_nothing_left(const char *output)
{
	cr_assert_not(strstr(output, "never at work"), "%s", output);
	cr_assert_not(strstr(output, "left: "), "%s", output);
	cr_assert_not(strstr(output, "alive: "), "%s", output);
}

Test(jobs, one_that_is_killed_is_an_error)
{
	static char output[OUTPUT_SIZE];
	const int code = end_by("kill -9 $4", output);

	cr_assert_eq(code, 70, "%d: %s", code, output);
	cr_assert(strstr(output, "was killed by signal 9"), "%s", output);
	cr_assert_not(strstr(output, "safe"), "%s", output);
	assert_nothing_left(output);
}

Test(jobs, end_when_interrupted_and_say_what_they_know)
{
	static char output[OUTPUT_SIZE];
	const int code = end_by("kill -INT $P", output);

	cr_assert_eq(code, 130, "%d: %s", code, output);
	cr_assert(strstr(output, "schedules (interrupted)"), "%s", output);
	assert_nothing_left(output);
}

Test(jobs, end_with_the_program)
{
	static char output[OUTPUT_SIZE];
	const int code = end_by("kill -9 $P", output);

	cr_assert_eq(code, 128 + 9, "%d: %s", code, output);
	assert_nothing_left(output);
}

/* $2: the guardian of the second job. */
Test(jobs, whose_server_is_gone_is_an_error)
{
	static char output[OUTPUT_SIZE];
	const int code = end_by(
		"kill -9 $(cat /proc/$2/task/$2/children)", output);

	cr_assert_eq(code, 69, "%d: %s", code, output);
	assert_nothing_left(output);
}

Test(jobs, wrong_number_is_named)
{
	static char output[OUTPUT_SIZE];

	cr_assert_eq(support_shell("$REDRACE explore none --jobs 0 2>&1",
				   output, sizeof(output)),
		     64);
	cr_assert(strstr(output, "--jobs"), "%s",
		  output);
}
