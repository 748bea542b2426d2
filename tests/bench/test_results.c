/* SPDX-License-Identifier: MIT */
/* The directory of results: which files bench writes, and which it refuses. */
#include "../cli.h"

TestSuite(results, .init = cli_setup, .fini = cli_teardown, .timeout = 300);

/* Another user of a shared directory could lead the files elsewhere. */
Test(results, folders_that_are_links_are_not_followed)
{
	static const char *const names[] = { "percentiles", "holders" };

	for (int i = 0; i < 2; i++) {
		cli_runf("mkdir -p $HERE/r%d $HERE/elsewhere; ln -s $HERE/elsewhere $HERE/r%d/%s",
			 i, i, names[i]);
		cr_assert_eq(
			cli_runf(
				"$REDRACE bench lua-delifequals -n 20 --warmup 0 --trace 2 -o $HERE/r%d 2>&1",
				i),
			RR_EXIT_FILE, "%s", cli_output);
		cli_assert_prints("is a link or no directory; choose another --output");
	}
	cr_assert_eq(cli_run("ls $HERE/elsewhere"), 0);
	cr_assert_str_empty(cli_output);
	cli_assert_one_line(
		"mkdir $HERE/p; ln -s $HERE/elsewhere $HERE/p/plots; touch $HERE/p/runs.csv "
		"$HERE/p/summary.csv; sh plots/draw $HERE/p 2>&1",
		RR_EXIT_FILE, "is a link, which may lead anywhere");
}

/* In env.json, the rows and under the table; a disturbed machine is called one. */
Test(results, disturbances_are_named)
{
	cr_assert_eq(cli_run("$REDRACE bench incr -n 30000 --output $HERE/a 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_prints("other programs used");
	cli_assert_prints("frequency ");
	cr_assert_eq(
		cli_run("jq -e '.disturbance | has(\"disturbed\") and has(\"others_pct\") and has(\"steal_pct\") and has(\"throttled\") and has(\"frequency_mhz\")' $HERE/a/env.json &&"
			"head -1 $HERE/a/runs.csv | grep ',others_pct,steal_pct,throttled,frequency_mhz$'"),
		0, "%s", cli_output);
}
