/* SPDX-License-Identifier: MIT */
/* Programs that are started ahead: how often, what becomes of those that are not used, and
 * that they do not notice how long nobody has heard them. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(ahead_check, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

#define CHECK "HERE=$HERE $REDRACE check "
/* For tests that count the starts of one check. */
#define CHECK_ONCE "HERE=$HERE $REDRACE_ONCE check --skeptic off --allow-outside $HERE "
/* Notes that it has been started. */
#define NOTED "echo $$ >>$HERE/starts; "

static long starts(void)
{
	cr_assert_eq(cli_run("wc -l <$HERE/starts"), 0, "%s", cli_output);
	return strtol(cli_output, NULL, 10);
}

static bool has_two_processors(void)
{
	cr_assert_eq(cli_run("nproc"), 0);
	return strtol(cli_output, NULL, 10) > 1;
}

Test(ahead_check, what_is_not_used_is_counted_and_ended)
{
	long used, unused;

	cr_assert_eq(cli_run(CHECK_ONCE "-o $HERE/result.json --clients 3 -- sh -c '" NOTED CLI
					"INCR counter' 2>&1"),
		     0, "%s", cli_output);
	used = strtol(cli_property("starts"), NULL, 10);
	unused = strtol(cli_property("unused_starts"), NULL, 10);
	/* One that is not used may be ended before it has come so far. */
	cr_assert(starts() >= used && starts() <= used + unused, "%ld + %ld", used, unused);
	cr_assert_eq(unused > 0, has_two_processors());
	/* Such a number may be another process's by now. */
	cr_assert_eq(cli_run("for i in $(cat $HERE/starts); do "
			     "grep -qs \"HERE=$HERE\" /proc/$i/environ && exit 1; done; exit 0"),
		     0);
}

/* The last that is started plays the finding: who that will be is known. */
Test(ahead_check, none_is_started_in_vain_behind_a_finding)
{
	cr_assert_eq(cli_run(CHECK "-o $HERE/result.json --clients 3 -- "
				   "sh examples/check/counter.sh 2>&1"),
		     1, "%s", cli_output);
	cli_assert_property("unused_starts", "0");
}

Test(ahead_check, a_program_that_fails_at_once_is_not_started_more_often)
{
	long used;

	cr_assert_eq(cli_run(CHECK_ONCE "-o $HERE/result.json -- sh -c '" NOTED "exit 127' 2>&1"),
		     2, "%s", cli_output);
	used = strtol(cli_property("starts"), NULL, 10);
	cr_assert_eq(used, 2, "one for each client: %s", cli_output);
	cr_assert_leq(starts(), used + 1);
}

static void check_standing(const char *way)
{
	char command[200];

	cr_assert_eq(cli_run("cc -O1 -o $HERE/standing tests/check/programs/standing.c 2>&1"), 0,
		     "%s", cli_output);
	snprintf(command, sizeof(command), CHECK "--audit 0 -- $HERE/standing %s 2>&1", way);
	cr_assert_eq(cli_run(command), 0, "%s: %s", way, cli_output);
}

Test(ahead_check, time_stands_still_for_who_is_not_heard)
{
	check_standing("poll");
}

Test(ahead_check, time_of_the_kernel_does_not_pass_either)
{
	check_standing("timer");
}

Test(ahead_check, who_reads_the_clock_in_a_loop_does_not_see_it_move)
{
	check_standing("spin");
}
