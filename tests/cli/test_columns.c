/* SPDX-License-Identifier: MIT */
/* What is printed fits into a terminal of 80 columns. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"
#include "base/text.h"

TestSuite(columns, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* Of what the command prints; an error is one line, however long. */
static void expect_narrow(const char *command)
{
	cli_runf("{ %s; } 2>/dev/null", command);
	cr_assert_neq(cli_output[0], '\0', "%s prints nothing", command);
	for (char *line = cli_output; *line;) {
		const size_t length = strcspn(line, "\n"), step = length + (line[length] == '\n');

		line[length] = '\0';
		cr_expect_leq(rr_plain_width(line), 80, "%s: %s", command, line);
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
}

Test(columns, counts_fit)
{
	expect_narrow("$REDRACE bench -n 200 -r 1 -o $HERE/a none incr setnx-getset-checked");
	expect_narrow("$REDRACE bench -n 200 -r 4 --threads 1,2 -o $HERE/b incr");
	expect_narrow("$REDRACE compare $HERE/b $HERE/b");
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
