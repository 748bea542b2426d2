/* SPDX-License-Identifier: MIT */
/* tests/verdicts: what each case comes to, dumped and compared, as `make verdicts` does. */
#include "../cli.h"

#include <stdlib.h>

TestSuite(verdicts, .init = cli_setup, .fini = cli_teardown);

/* ---- Dumps -------------------------------------------------------------------------------- */

static void dump(const char *name, const char *patterns)
{
	cr_assert_eq(cli_runf("tests/verdicts/dump --redrace $REDRACE_ONCE $HERE/%s %s 2>&1", name,
			      patterns),
		     0, "%s", cli_output);
}

Test(verdicts, two_dumps_of_one_program_are_equal, .timeout = 600)
{
	static const char patterns[] = "about check/counter-shell 'matrix/incr/*' claims/TL-7";

	dump("a", patterns);
	dump("b", patterns);
	cr_assert_eq(cli_run("cmp $HERE/a $HERE/b && wc -l <$HERE/a"), 0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "10\n");
	cr_assert_eq(
		cli_run("grep -q '^{\"id\": \"check/counter-shell\", \"exit\": 1, "
			"\"search_verdict\": \"not_serializable\", \"kinds\": \\[\"lost_update\"\\], "
			"\"final\": {\"n\": 2, ' $HERE/a"),
		0, "no finding in it");
	cr_assert_eq(cli_run("tests/verdicts/compare $HERE/a $HERE/b"), 0, "%s", cli_output);
}

/* The cases are those of the other dump; another program comes to something else. */
Test(verdicts, another_program_is_noticed, .timeout = 600)
{
	cli_write("redrace", "#!/bin/sh\nexec $REDRACE_ONCE \"$@\"\n");
	cli_write(
		"other",
		"#!/bin/sh\nshift\nexec $REDRACE_ONCE check --max-states 1 --skeptic off \"$@\"\n");
	cr_assert_eq(cli_run("chmod +x $HERE/redrace $HERE/other"), 0);
	cr_assert_eq(
		cli_run("tests/verdicts/dump --redrace $HERE/redrace $HERE/a "
			"check/counter-shell 2>&1 && tests/verdicts/dump --redrace $HERE/other "
			"--like $HERE/a $HERE/b 2>&1"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run("tests/verdicts/compare $HERE/a $HERE/b"), 1, "%s", cli_output);
	cli_assert_prints("check/counter-shell: search_verdict: \"not_serializable\", now ");
}

Test(verdicts, what_is_not_installed_is_skipped_with_a_reason)
{
	cr_assert_eq(
		cli_run("PATH=/nonexistent tests/verdicts/dump --redrace $REDRACE_ONCE $HERE/a "
			"check/shop-python-buy 2>&1"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run("grep -E '^.\"id\": \"check/shop-python-buy\", \"skipped\": "
			     "\"no_(curl|redis_py)\".$' $HERE/a"),
		     0, "%s", cli_output);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

#define ABOUT "{\"id\": \"about\", \"server\": \"Redis 7.0.15\"}\n"
#define CHECK                                                                                      \
	"{\"id\": \"check/a\", \"exit\": 0, \"search_verdict\": \"serializable\", \"kinds\": [], " \
	"\"final\": {\"n\": 1, \"digest\": \"01\"}, \"states\": 8, \"starts\": 100}\n"
#define CELL "{\"id\": \"matrix/b/crash\", \"exit\": 0, \"kinds\": [], \"states\": 20}\n"

/* How it exits where `sed` has changed the second dump. */
static int compare(const char *sed, const char *allowed)
{
	cli_write("base", "%s", ABOUT CHECK CELL);
	cli_write("allow", "# why\n%s", allowed);
	return cli_runf("sed '%s' $HERE/base >$HERE/new; tests/verdicts/compare --allow "
			"$HERE/allow $HERE/base $HERE/new 2>&1",
			sed);
}

static void assert_differs(const char *sed, const char *part)
{
	cr_assert_eq(compare(sed, ""), 1, "%s: %s", sed, cli_output);
	cli_assert_prints(part);
}

static void assert_same(const char *sed)
{
	cr_assert_eq(compare(sed, ""), 0, "%s: %s", sed, cli_output);
}

Test(verdicts, differences_are_named)
{
	assert_same("");
	assert_differs("/check/s/\"exit\": 0/\"exit\": 2/", "check/a: exit: 0, now 2");
	assert_differs("s/serializable/no_failure_found/", "check/a: search_verdict: ");
	assert_differs("s/01/02/", "check/a: final: ");
	assert_differs("/matrix/s/\\[\\]/[\"count\"]/", "matrix/b/crash: kinds: ");
	assert_differs("/matrix/d", "matrix/b/crash: id: ");
	assert_differs("s/\"exit\": 0, .*/\"skipped\": \"no_curl\"}/", "check/a: skipped: ");
}

/* A search of programs may take other steps, if it comes to the same ends. */
Test(verdicts, counts_are_exact_for_strategies)
{
	assert_same("/check/s/\"states\": 8/\"states\": 9/");
	assert_differs("/matrix/s/20/21/", "matrix/b/crash: states: 20, now 21");
	assert_same("s/100/110/");
	assert_differs("s/100/111/", "check/a: starts: 100, now 111");
}

Test(verdicts, difference_is_allowed_by_a_line_that_says_why)
{
	static const char sed[] = "/check/s/\"exit\": 0/\"exit\": 2/";

	cr_assert_eq(compare(sed, "check/* | exit | 0 | 2 | times are not excused any more\n"), 0,
		     "%s", cli_output);
	cr_assert_eq(compare(sed, "check/* | exit | * | 2 | the same\n"), 0, "%s", cli_output);
	cr_assert_eq(compare(sed, "check/* | exit | 1 | 2 | another value\n"), 1);
	cr_assert_eq(compare(sed, "check/* | kinds | 0 | 2 | another field\n"), 1);
	cr_assert_eq(compare(sed, "check/* | exit | 0 | 2 |\n"), 1, "it does not say why");
}

Test(verdicts, dumps_of_two_servers_are_not_compared)
{
	cr_assert_eq(compare("s/7.0.15/8.2.1/", ""), 77, "%s", cli_output);
}
