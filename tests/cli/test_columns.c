/* SPDX-License-Identifier: MIT */
/* What is printed fits into a terminal of 80 columns. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"
#include "base/text.h"

TestSuite(columns, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* Of what the command prints; an error is one line, and so is a command to be pasted, however long. */
static void expect_narrow(const char *command)
{
	cli_runf("{ %s; } 2>/dev/null", command);
	cr_assert_neq(cli_output[0], '\0', "%s prints nothing", command);
	for (char *line = cli_output; *line;) {
		const size_t length = strcspn(line, "\n"), step = length + (line[length] == '\n');

		line[length] = '\0';
		cr_expect(rr_plain_width(line) <= 80 ||
				  strncmp(line + strspn(line, " "), "redrace ", 8) == 0,
			  "%s: %s", command, line);
		line += step;
	}
}

Test(columns, help_and_lists_fit)
{
	expect_narrow("$REDRACE --help");
	expect_narrow("for c in bench check claims compare demo doctor explore game help init list "
		      "matrix merge play report; do $REDRACE $c --help; done");
	expect_narrow("$REDRACE list");
	expect_narrow("$REDRACE doctor");
	expect_narrow("P=$(realpath $REDRACE); cd $HERE && $P init");
}

Test(columns, claims_and_the_matrix_fit)
{
	expect_narrow("$REDRACE claims GS-12; $REDRACE claims SC-4");
	expect_narrow("$REDRACE matrix none incr");
	expect_narrow("P=$(realpath $REDRACE); cd $HERE && for i in 1 2; do "
		      "$P matrix --hazard crash --shard $i/2 -o $i.json none incr set-nx-ex; "
		      "done; $P merge 1.json 2.json");
}

Test(columns, searches_fit)
{
	expect_narrow("$REDRACE explore --stats --mutants none incr multi-watch lua-delifequals");
	expect_narrow("$REDRACE explore --crashes 1 --late 1 set-nx-ex lua-delifequals");
	expect_narrow("$REDRACE explore --random 20 none; $REDRACE explore incr-lock");
}

#define COUNT "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"

static void expect_narrow_check(const char *options, const char *program)
{
	char command[600];

	cli_write("program", "%s\n", program);
	snprintf(command, sizeof(command), "$REDRACE check --stats %s -- sh $HERE/program",
		 options);
	expect_narrow(command);
}

Test(columns, checks_fit)
{
	expect_narrow_check("", COUNT);
	expect_narrow_check("--crashes 1", COUNT);
	expect_narrow_check("--expiries 1 --clients 3", CLI "INCR counter >$HERE/x");
	expect_narrow_check("--hold-clock", "true");
	expect_narrow_check("", "[ \"$(" CLI "GET x)\" ] || echo first; " CLI "SET x 1");
	expect_narrow_check("", "until [ \"$(" CLI "SET lock me NX)\" = OK ]; do " CLI
				"GET x; done\n" COUNT "\n" CLI "DEL lock");
}

Test(columns, checks_of_apps_and_suites_fit)
{
	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE 2>&1"), 0, "%s", cli_output);
	cli_write("stock", "SET stock 1\n");
	expect_narrow("$REDRACE check --init $HERE/stock --app $HERE/shop "
		      "--request '$HERE/ask {app}/buy'");
	expect_narrow("$REDRACE check --init $HERE/stock --app $HERE/shop "
		      "--request '$HERE/ask {app}/buy-once'");
	cli_write("redrace.yaml",
		  "checks:\n  hit: {command: 'redis-cli -p {port} INCR counter', clients: 3}\n"
		  "  count: {command: '" COUNT "'}\n");
	expect_narrow("$REDRACE check --suite $HERE/redrace.yaml");
}

Test(columns, counts_fit)
{
	expect_narrow("$REDRACE bench -n 200 -r 1 -o $HERE/a none incr setnx-getset-checked");
	expect_narrow("$REDRACE bench -n 200 -r 4 --threads 1,2 -o $HERE/b incr");
	/* By a short name, which is in the line about a disturbed machine, too. */
	expect_narrow("P=$(realpath $REDRACE); cd $HERE && $P compare b b");
	expect_narrow("$REDRACE bench -n 200 -r 1 -t 1 -p 3 --wait delay-queue --kill-workers 1 "
		      "-o $HERE/c set-nx-ex");
	expect_narrow("$REDRACE bench -n 2000 -r 1 --topology replica --fail-over 1 --cut-ms 100 "
		      "--wait-replicas 1 -o $HERE/d incr");
	expect_narrow("$REDRACE demo --auto --seconds-each 1 counts");
	expect_narrow("$REDRACE demo --auto --seconds-each 1 mutex");
}

Test(columns, races_fit)
{
	static const char *const races[] = { "lost-update", "redlock-hung-minority",
					     "aof-buffer-empty-inside-exec",
					     "torn-transaction-dropped", "getset-older-timestamp" };
	char command[200];

	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE play %s", races[i]);
		expect_narrow(command);
	}
}
