/* SPDX-License-Identifier: MIT */
/* How many interleavings there are, random schedules, and Ctrl-C, from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

#include <criterion/parameterized.h>

TestSuite(random, .init = cli_setup, .fini = cli_teardown);

static int explore(const char *arguments)
{
	return cli_runf("$REDRACE explore -o $HERE/result.json %s 2>/dev/null", arguments);
}

/* ---- How many ------------------------------------------------------------- */

ParameterizedTestParameters(random, states_stand_for_all_interleavings)
{
	static char cases[][40] = {
		"none",
		"none --crashes 1",
		"none --pauses 1",
		"none --lost-replies 1",
		"local-mutex --crashes 1",
		"local-mutex --processes 2",
		"incr --lost-replies 1",
		"multi-watch-split",
	};

	return cr_make_param_array(char[40], cases, sizeof(cases) / sizeof(cases[0]));
}

/* As many as there are when every history is explored for itself. */
ParameterizedTest(char (*arguments)[40], random, states_stand_for_all_interleavings, .timeout = 600)
{
	char stateless[60], counted[30];

	explore(*arguments);
	snprintf(counted, sizeof(counted), "%s", cli_property("interleavings"));
	cr_assert_gt(strtol(counted, NULL, 10), 0, "%s: %s", *arguments, counted);
	snprintf(stateless, sizeof(stateless), "%s --stateless", *arguments);
	explore(stateless);
	cli_assert_property("interleavings", counted);
}

/* ---- Random schedules ----------------------------------------------------- */

Test(random, lost_update_is_found_in_a_few_runs)
{
	cr_assert_eq(explore("none --random 50 --seed 1"), 0);
	cli_assert_json(
		".explored == \"random schedules\" and .schedules == 50 and .failing > 0 and "
		".shortest.switches > 0");
	cli_assert_line("transcript", "verdict lost update");
}

Test(random, paused_holder_is_found)
{
	cr_assert_eq(explore("lua-delifequals --pauses 1 --random 1000 --seed 5"), 0, "%s",
		     cli_output);
	cli_assert_json(".breaks | index(\"exclusion\") != null");
}

Test(random, failing_seed_replays)
{
	char again[100], same[4096];

	explore("none --clients 3 --random 50 --seed 1000");
	snprintf(again, sizeof(again), "none --clients 3 --random 1 --seed %.30s",
		 cli_property("seed"));
	cr_assert_lt(snprintf(same, sizeof(same), ".transcript == %s",
			      (cli_run("jq '.cases[0].properties.transcript' $HERE/result.json"),
			       cli_output)),
		     (int)sizeof(same));
	cr_assert_eq(explore(again), 0, "%s", cli_output);
	cli_assert_json(same);
	cli_assert_json(".failing == 1 and .schedules == 1");
}

Test(random, never_says_safe)
{
	cr_assert_eq(explore("incr --random 20 --seed 9"), 2);
	cli_assert_json("$all.cases[0].verdict == \"inconclusive\" and .schedules == 20 and "
			".failing == 0 and .explored == \"random schedules\" and "
			".bound.once == 0.125");
}

Test(random, wrong_use_is_named)
{
	cr_assert_eq(explore("none --random 0"), 64);
	cr_assert_eq(explore("none --random 3 --seed x"), 64);
	cr_assert_eq(explore("none --random 3 --depth 0"), 64);
	cr_assert_eq(explore("none --random 3 --stateless"), 64);
	cr_assert_eq(explore("none --seed 3"), 64);
}

/* ---- Ctrl-C --------------------------------------------------------------- */

/* When servers execute scripts the search is under way. Its directory goes a moment after it. */
Test(random, interrupt_tells_what_is_known_and_leaves_nothing)
{
	const int code = cli_run(
		"d=$(mktemp -d); TMPDIR=$d $REDRACE explore redlock --clients 3 --pauses 1 & P=$!\n"
		"until for s in $(find $d -type s); do redis-cli -s $s INFO commandstats; done 2>&1 | "
		"grep -q cmdstat_evalsha; do kill -0 $P && sleep 0.1 || break; done\n"
		"kill -INT $P; wait $P; code=$?; "
		"for i in $(seq 1200); do rmdir $d && break; sleep 0.1; done 2>/dev/null; "
		"ls $d 2>/dev/null; [ ! -e $d ] && [ $code -eq 130 ]");

	cr_assert_eq(code, 0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "redlock: "), "%s", cli_output);
}
