/* SPDX-License-Identifier: MIT */
/* tests/bench/versions, as make runs it: with the system's server, with those of make
 * servers where they are, and with none. */
#include "../cli.h"

#include <string.h>
#include <unistd.h>

TestSuite(versions, .init = cli_setup, .fini = cli_teardown);

#define VALKEY "build/servers/valkey-9/redis-server"
#define REDIS "build/servers/redis-8/redis-server"

Test(versions, one_server_is_no_comparison_but_works)
{
	cr_assert_eq(
		cli_run("tests/bench/versions --redis-server redis-server --only TX-3 2>$HERE/err || "
			"{ code=$?; cat $HERE/err; exit $code; }"),
		0, "%s", cli_output);
	cli_assert_prints("| 1 claim: 1 as recorded |");
	cli_assert_prints("The verdicts of the other 1 are the same.");
	cli_assert_prints("| `incr` |");
	cli_run("cat $HERE/err; ls -d $HERE/redrace-* 2>/dev/null");
	cli_assert_prints("there is one server only; make servers gets others");
	cr_assert_null(strstr(cli_output, "/redrace-"), "%s", cli_output);
}

Test(versions, says_in_one_line_what_cannot_be_done)
{
	cli_assert_one_line("tests/bench/versions --only TX-99 2>&1", RR_EXIT_USAGE, "TX-99");
	cli_assert_one_line(
		"tests/bench/versions --only TX-3 --redis-server $HERE/none 2>&1 >/dev/null",
		RR_EXIT_REDIS, "/none");
}

/* It is wrapped at 80 columns. */
Test(versions, summary_of_two_lines_is_read_whole)
{
	cli_write("program", "#!/bin/sh\necho {} >\"$3\"\nprintf 'table\\n\\n234 cells: 227 as "
			     "expected,\\n7 skipped; 9 states, 5 s, Redis\\n'\n");
	cr_assert_eq(cli_run("chmod +x $HERE/program; cd tests/bench && REDRACE=$HERE/program "
			     "/usr/bin/python3 -B -c 'import os, tools; "
			     "print(tools.results(os.environ[\"HERE\"], \"matrix\")[1])'"),
		     0, "%s", cli_output);
	cr_assert_str_eq(cli_output,
			 "234 cells: 227 as expected, 7 skipped; 9 states, 5 s, Redis\n");
}

/* Claims whose verdict is another one there, and a race with a frozen clock. */
Test(versions, newer_servers_are_told_apart)
{
	if (access(VALKEY, X_OK) != 0 || access(REDIS, X_OK) != 0)
		cli_skip("no build/servers: make servers");
	cr_assert_eq(
		cli_run("tests/bench/versions --only TL-2,TL-11,TX-4,TX-11d,GS-12 --redis-server " REDIS
			" --redis-server " VALKEY " 2>/dev/null"),
		0, "%s", cli_output);
	cli_assert_prints(" 5 claims: 5 as recorded | DELEX | stays open in the file |");
	cli_assert_prints(" 5 claims: 5 as recorded | DELIFEQ | is closed |");
	cli_assert_prints("whole transaction fail | true if | true |");
	cli_assert_prints("| threads | **safe** | **safe** |");
	cli_assert_prints("The verdicts of the other 2 are the same.");
}
