/* SPDX-License-Identifier: MIT */
/* What runs all tests, tests/run-all, beside something that stands for them. */
#include "../cli.h"

#include <string.h>

TestSuite(run_all, .init = cli_setup, .fini = cli_teardown);

/* What stands for the tests fails twice: of a long output CI keeps the end. */
Test(run_all, names_at_its_end_what_failed)
{
	cli_write("run", "%s",
		  "#!/bin/sh\n[ \"$1\" = --list ] && exit\n"
		  "echo '[PASS] a::good: (0.1s)'\n"
		  "echo '[----] tests/a.c:12: Assertion Failed'\necho '[----]   '\n"
		  "echo '[----]   1 is not 2'\necho '[FAIL] a::bad: (0.1s)'\n"
		  "echo '[FAIL] b::worse: (0.1s)'\nexit 1\n");
	cr_assert_eq(cli_run("mkdir -p $HERE/b/tests && mv $HERE/run $HERE/b/tests && "
			     "chmod +x $HERE/b/tests/run && sh tests/run-all $HERE/b"),
		     1, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "check: failed: a::bad, tests/a.c:12:\n"
					      "    1 is not 2\n"
					      "check: failed: b::worse\n"
					      "check: 1 passed, 2 failed, 0 skipped"),
			   "%s", cli_output);
}

/* Twelve reasons, two of which differ in what they are about only: ten lines at most. */
Test(run_all, says_why_tests_were_skipped)
{
	cli_write(
		"run", "%s",
		"#!/bin/sh\n[ \"$1\" = --list ] && exit\necho '[PASS] a::good: (0.1s)'\n"
		"for i in 1 2 3 4 5 6 7 8 9 10 11; do echo \"[SKIP] a::b$i: no thing $i\"; done\n"
		"echo '[SKIP] c::d: go: it starts a thread'\necho '[SKIP] c::e: php: it starts a thread'\n");
	cr_assert_eq(
		cli_run("mkdir -p $HERE/b/tests && mv $HERE/run $HERE/b/tests && "
			"chmod +x $HERE/b/tests/run && sh tests/run-all $HERE/b >$HERE/said 2>&1; "
			"grep -c 'skipped[: ]' $HERE/said; grep -o '^check: 2 skipped: .*' $HERE/said"),
		0, "%s", cli_output);
	/* The last of eleven is the sum of the tests. */
	cr_assert_str_eq(cli_output, "10\ncheck: 2 skipped: go: it starts a thread, and the like\n",
			 "%s", cli_output);
}

/* What stands for the tests has two names, one of them with three values. */
Test(run_all, says_at_least_how_many_tests_there_are)
{
	cli_write(
		"run", "%s",
		"#!/bin/sh\n[ \"$1\" = --list ] && printf 'a: 2 tests\\n├── one\\n└── two\\n' && exit\n"
		"for i in 1 2 3; do echo '[PASS] a::one: (0.1s)'; done\n"
		"i=0; until grep -q 'of ' $HERE/out || [ $i -eq 1200 ]; do sleep 0.1; i=$((i + 1)); done\n"
		"echo '[PASS] a::two: (0.1s)'\n");
	cr_assert_eq(
		cli_run("mkdir -p $HERE/b/tests && mv $HERE/run $HERE/b/tests && "
			"chmod +x $HERE/b/tests/run && sh tests/run-all $HERE/b >$HERE/out 2>&1; "
			"cat $HERE/out"),
		0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "check: 3 passed, 0 failed, 0 skipped, "), "%s",
			   cli_output);
	cr_assert_not_null(strstr(cli_output, " s, of at least 2\n"), "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "check: 4 passed, 0 failed, 0 skipped, "), "%s",
			   cli_output);
}

/* What stands for the tests waits for long. */
Test(run_all, ends_what_it_runs_when_it_is_ended)
{
	cli_write("run", "%s",
		  "#!/bin/sh\n[ \"$1\" = --list ] && exit\n"
		  "echo $$ >$HERE/pid.new\nmv $HERE/pid.new $HERE/pid\nexec sleep 1000\n");
	cr_assert_eq(
		cli_run("mkdir -p $HERE/b/tests && mv $HERE/run $HERE/b/tests && "
			"chmod +x $HERE/b/tests/run && "
			"{ sh tests/run-all $HERE/b >/dev/null 2>&1 & } && "
			"i=0; until [ -s $HERE/pid ] || [ $i -eq 1200 ]; do sleep 0.1; i=$((i + 1)); done; "
			"kill -TERM $!; wait $!"),
		143, "%s", cli_output);
	cr_assert_eq(cli_run("kill -0 $(cat $HERE/pid) 2>&1"), 1, "%s", cli_output);
}
