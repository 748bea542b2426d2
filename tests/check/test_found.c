/* SPDX-License-Identifier: MIT */
/* examples/found: docs/found.md is what drivers and records say, and a verdict that is not the
 * expected one is a failure. The packages themselves are for `make found`. */
#include "../cli.h"

TestSuite(check_found, .init = cli_setup, .fini = cli_teardown);

Test(check_found, page_is_up_to_date)
{
	cr_assert_eq(cli_run("examples/found/run --page 2>&1 | diff - docs/found.md"), 0,
		     "docs/found.md is not what examples/found says: make found\n%s", cli_output);
}

/* Two terminals print what the reports show, and so do programs whose packages are installed. */
Test(check_found, reports_show_what_happens)
{
	if (cli_run("test -x /usr/bin/python3 && command -v redis-cli") != 0)
		cli_skip("no python3 or redis-cli");
	cr_assert_eq(cli_run("tests/reports 2>&1"), 0, "%s", cli_output);
}

/* A driver of two shell commands, in a tree of its own. */
static void driver(const char *expected)
{
	cr_assert_eq(
		cli_run("mkdir -p $HERE/examples/found $HERE/docs $HERE/tests && "
			"cp tests/twice $HERE/tests && cp examples/found/run examples/found/drivers.py $HERE/examples/found"),
		0, "%s", cli_output);
	cli_write(
		"examples/found/counter.py",
		"# Package: counter 1\n# Is: a counter\n# Lost: One of two\n#   increments.\n"
		"# Kind: data\n# Fixed: not yet\n# Link: new\n# Expected: %s\n# Install: none\n"
		"import os, subprocess as s\n"
		"run = lambda *w: s.check_output(['redis-cli', '-u', os.environ['REDIS_URL'], *w])\n"
		"run('SET', 'n', str(int(run('GET', 'n').strip() or 0) + 1))\n",
		expected);
}

static int run_drivers(void)
{
	return cli_run("REDRACE=$(realpath $REDRACE) $HERE/examples/found/run 2>&1");
}

Test(check_found, expected_verdict)
{
	driver("not serializable, 1");
	cr_assert_eq(run_drivers(), 0, "%s", cli_output);
	cr_assert_eq(
		cli_run("grep '^One of two increments' $HERE/docs/found.md && "
			"grep -E 'counter.txt\\) .*; [0-9.]+ s, [0-9]+ runs' $HERE/docs/found.md && "
			"grep '^#### counter 1$' $HERE/docs/found.md && grep 'lost update' $HERE/examples/found/counter.txt"),
		0, "%s", cli_output);
}

Test(check_found, another_verdict)
{
	driver("serializable, 0");
	cr_assert_eq(run_drivers(), 1, "%s", cli_output);
	cli_assert_names("counter");
	cr_assert_eq(cli_run("test ! -e $HERE/examples/found/counter.txt"), 0,
		     "what was not expected is no record");
}

Test(check_found, header_without_a_field)
{
	driver("not serializable");
	cr_assert_eq(run_drivers(), 1, "%s", cli_output);
	cli_assert_names("Expected");
}
