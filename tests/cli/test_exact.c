/* SPDX-License-Identifier: MIT */
/* examples/ci/exact, and make exact: codes, and the last line. Strategies with a fault planted are
 * in tests/matrix/test_mutants.c. */
#include <stdlib.h>

#include "../cli.h"

TestSuite(exact, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* The last line is the same through make, which has codes of its own. */
static void assert_ends(const char *command, int code, const char *last)
{
	cr_assert_eq(cli_runf("{ %s; echo $? >$HERE/code; } 2>/dev/null | tail -1; exit $(cat "
			      "$HERE/code)",
			      command),
		     code, "%s: %s", command, cli_output);
	cli_assert_prints(last);
}

Test(exact, passes_with_a_line_for_each)
{
	assert_ends("examples/ci/exact incr none", 0, "exact: passed");
	cr_assert_eq(cli_run("examples/ci/exact incr none | grep -c '^passed '"), 0);
	cr_assert_eq(strtol(cli_output, NULL, 10), 2 * 4 + 2, "%s", cli_output);
}

/* A program that says of everything that it failed, or showed nothing. */
Test(exact, says_through_make_which_code_it_was)
{
	cli_write("program", "#!/bin/sh\necho 'not ok 1 - bench incr: lost'\nexit 1\n");
	cr_assert_eq(cli_run("chmod +x $HERE/program"), 0);
	assert_ends("REDRACE=$HERE/program examples/ci/exact incr", 1, "exact: FAILED (1)");
	/* What other tests run meanwhile is not built again. */
	assert_ends("make -s -o all exact B=$(dirname $REDRACE) ARGS=incr", 0, "exact: passed");
	cli_write("program", "#!/bin/sh\necho once >>$HERE/runs\nexit 2\n");
	assert_ends("REDRACE=$HERE/program examples/ci/exact incr", 2, "exact: inconclusive (2)");
	/* Each of three commands twice. */
	cr_assert_eq(cli_run("[ $(wc -l <$HERE/runs) = 6 ]"), 0);
}

Test(exact, nothing_passes_that_was_not_compared)
{
	cli_write("program", "#!/bin/sh\necho 'ok 1 - bench incr # SKIP no such command'\n");
	cr_assert_eq(cli_run("chmod +x $HERE/program"), 0);
	assert_ends("REDRACE=$HERE/program examples/ci/exact incr", 2, "exact: inconclusive (2)");
	cli_write("program", "#!/bin/sh\nexit 0\n");
	assert_ends("REDRACE=$HERE/program examples/ci/exact incr", 2, "exact: inconclusive (2)");
	assert_ends("REDRACE=/nowhere examples/ci/exact incr", 70, "exact: not judged (70)");
	assert_ends("examples/ci/exact --redis-server=/nowhere incr", 69, "exact: not judged (69)");
	assert_ends("examples/ci/exact no-such-strategy", 64, "exact: not judged (64)");
}

/* The jobs that are to be copied run the script, and fail with it. */
Test(exact, jobs_to_copy_fail_with_it)
{
	static const char *const steps[] = {
		"yaml.safe_load(open(\"examples/ci/exact-github.yml\"))[\"jobs\"][\"exact\"][\"steps\"][-1][\"run\"]",
		"yaml.safe_load(open(\"examples/ci/exact-gitlab.yml\"))[\"exact\"][\"script\"][-1]"
	};

	if (cli_run("/usr/bin/python3 -c 'import yaml'") != 0)
		cli_skip("no python3-yaml");
	cli_write("program", "#!/bin/sh\necho 'not ok 1 - bench incr: lost'\nexit 1\n");
	cr_assert_eq(cli_run("chmod +x $HERE/program"), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(cli_runf("/usr/bin/python3 -c 'import yaml; print(%s)' "
				      "| sed \"s|build/redrace|$HERE/program|\" >$HERE/step && "
				      "grep -q program $HERE/step",
				      steps[i]),
			     0, "%s", cli_output);
		assert_ends("sh $HERE/step", 1, "exact: FAILED (1)");
	}
}
