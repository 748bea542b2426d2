/* SPDX-License-Identifier: MIT */
/* --build: what is run before the programs, once. */
#include "../cli.h"

TestSuite(build, .init = cli_setup, .fini = cli_teardown);

#define IN_HERE "R=$(realpath $REDRACE_ONCE); cd $HERE && "

Test(build, makes_what_is_checked_once)
{
	cr_assert_eq(cli_run(IN_HERE
			     "$R check --no-cache -o result.json --build 'echo once >>built; "
			     "echo \"" CLI "INCR counter\" >hit.sh' -- sh hit.sh 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cr_assert_eq(cli_run("cat $HERE/built"), 0);
	cr_assert_str_eq(cli_output, "once\n");
	cli_assert_property("search.verdict", "serializable");
}

/* Checks of a suite run in parallel. One that has another command builds, too. */
Test(build, is_shared_by_the_checks_of_a_suite)
{
	cli_write("redrace.yaml", "%s",
		  "defaults: {build: 'sleep 0.2; echo one >>built', no-cache: true}\n"
		  "checks:\n"
		  "  a: {command: '" CLI "INCR a'}\n"
		  "  b: {command: '" CLI "INCR b'}\n"
		  "  c: {command: '" CLI "INCR c', build: echo two >>built}\n"
		  "  d: {command: '" CLI "INCR d'}\n");
	cr_assert_eq(cli_run(IN_HERE "$R check --jobs 4 2>&1"), RR_EXIT_OK, "%s", cli_output);
	cr_assert_eq(cli_run("sort $HERE/built"), 0);
	cr_assert_str_eq(cli_output, "one\ntwo\n");
}

/* Before anything is said of a program that is not there. */
Test(build, says_why_it_failed)
{
	cli_assert_one_line("$REDRACE_ONCE check --build 'echo main.c:3:5: error: no x; echo 1 "
			    "error; exit 2' -- sh $HERE/none.sh 2>&1",
			    65, "main.c:3:5: error: no x");
	cli_assert_one_line("$REDRACE_ONCE check --build true -- sh $HERE/none.sh 2>&1", 64,
			    "none.sh");
	cli_assert_one_line("$REDRACE_ONCE check --seconds 1 --build 'sleep 98765' -- true 2>&1",
			    65, "--seconds");
	cr_assert_eq(cli_run("pgrep -af '[s]leep 98765'"), 1, "still there: %s", cli_output);
}
