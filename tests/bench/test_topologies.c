/* SPDX-License-Identifier: MIT */
/* bench --topology as a user runs it: each is started, fails over, is judged, and
 * leaves nothing behind. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(topologies, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* One fail-over, cut off before: what was lost is named, and the rows add up. The first writes only
 * what it has read on the same connection (test_failover.c). */
static void check_bench(const char *topology, const char *transport)
{
	char command[800], expected[80];

	snprintf(
		command, sizeof(command),
		"$REDRACE bench --topology %s --fail-over 1 --cut-ms 1000 --hold-us 500 --ttl-ms 3000 --increments 1000 --output $HERE/r multi-watch redlock 2>$HERE/err; echo code $?;"
		"awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
		"{ print $4, $at[\"transport\"], $at[\"topology\"], $at[\"kills\"], ($at[\"fail_overs\"] > 0), ($at[\"without_primary_ns\"] > 0), ($at[\"lost\"] > 0), $at[\"verdict\"] }' $HERE/r/runs.csv | sort;"
		"sh tests/check_csv $HERE/r | sed 's/.*: //'; cat $HERE/err",
		topology);
	cr_assert_eq(cli_run(command), 0);
	cli_assert_prints("lost by fail-over");
	cli_assert_prints("\ncode 0\n");
	snprintf(expected, sizeof(expected), "\nmulti-watch %s %s 1 1 1 1 lost-by-fail-over\n",
		 transport, topology);
	cli_assert_prints(expected);
	snprintf(expected, sizeof(expected), "\nredlock %s alone 1 1 1 0 exact\n", transport);
	cli_assert_prints(expected);
	cli_assert_prints("2 rows add up");
}

Test(topologies, replica)
{
	check_bench("replica", "unix");
	cli_assert_prints("(redrace promotes)");
}

Test(topologies, sentinel)
{
	check_bench("sentinel", "tcp");
}

Test(topologies, cluster)
{
	check_bench("cluster", "tcp");
}

Test(topologies, wait_is_told)
{
	cr_assert_eq(
		cli_run("$REDRACE bench --topology replica --wait-replicas 2 --fail-over 1 --cut-ms 100 --hold-us 500 --ttl-ms 3000 --increments 500 --output $HERE/r lua-delifequals 2>&1"),
		0, "%s", cli_output);
	cli_assert_prints(", WAIT 2,");
	cli_assert_prints("nothing lost");
	cr_assert_eq(cli_run("$REDRACE compare $HERE/r $HERE/r 2>&1"), 0, "%s", cli_output);
}

/* Killed while seven servers run. Their command lines do not tell whose they are;
 * what they have open does. */
Test(topologies, killed_it_leaves_no_server)
{
	cr_assert_eq(
		cli_run("$REDRACE bench --topology sentinel --fail-over 5 --hold-us 1000 --increments 100000 --output $HERE/r set-nx-ex >/dev/null 2>&1 & pid=$!;"
			"for i in $(seq 600); do [ $(ls -d $TMPDIR/redrace-*/5 2>/dev/null | wc -l) -gt 0 ] && [ -s $HERE/r/runs.csv ] && break; sleep 0.1; done;"
			"own() { for p in /proc/[0-9]*; do case $(readlink $p/cwd 2>/dev/null) in $TMPDIR/*) echo $p;; esac; done; };"
			"before=$(own | wc -l); kill -9 $pid; wait $pid 2>/dev/null;"
			"for i in $(seq 1200); do after=$(own | wc -l); [ $after -eq 0 ] && ! ls -d $TMPDIR/redrace-* >/dev/null 2>&1 && break; sleep 0.1; done;"
			"[ $before -ge 6 ] && echo had servers; echo left $after; ls -d $TMPDIR/redrace-* 2>/dev/null | wc -l"),
		0);
	cr_assert_str_eq(cli_output, "had servers\nleft 0\n0\n", "%s", cli_output);
}

Test(topologies, what_does_not_go_together_is_refused)
{
	cli_assert_one_line("$REDRACE bench --fail-over 1 incr 2>&1", 64, "--topology");
	cli_assert_one_line("$REDRACE bench --topology ring incr 2>&1", 64, "ring");
	cli_assert_one_line("$REDRACE bench --topology cluster --wait-replicas 2 incr 2>&1", 64,
			    "has 1");
	cli_assert_one_line("$REDRACE bench --topology replica --cut-ms 5 incr 2>&1", 64,
			    "--fail-over");
	cli_assert_one_line("$REDRACE bench --topology replica --redis redis://localhost incr 2>&1",
			    64, "--redis");
	cli_assert_one_line("$REDRACE bench --topology replica --wait delay-queue set-nx-ex 2>&1",
			    64, "delay-queue");
	cli_assert_one_line(
		"$REDRACE bench --topology replica --fail-over 9 --increments 5 incr 2>&1", 64,
		"5 increments");
}
