/* SPDX-License-Identifier: MIT */
/* bench --dead-holder: who recovers, who gets stuck, and what is written of it. */
#include <jansson.h>
#include <stdio.h>

#include "../cli.h"

TestSuite(dead_holder, .init = cli_setup, .fini = cli_teardown, .timeout = 300);

/* A bench whose results go to $HERE/r; its JSON, the caller's to release. */
static json_t *bench(const char *arguments, int code)
{
	char path[SUPPORT_DIRECTORY + 20];
	json_t *root;

	cr_assert_eq(cli_runf("$REDRACE bench --dead-holder %s -o $HERE/r "
			      "-o $HERE/r.json 2>&1",
			      arguments),
		     code, "%s", cli_output);
	snprintf(path, sizeof(path), "%s/r.json", cli_home);
	root = json_load_file(path, 0, NULL);
	cr_assert_not_null(root, "%s", cli_output);
	return root;
}

/* What is said of a strategy's case; NULL = there is none. */
static const json_t *properties_of(const json_t *root, const char *strategy)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(root, "cases"), i, one) {
		if (strcmp(json_string_value(json_object_get(one, "name")), strategy) == 0)
			return json_object_get(one, "properties");
	}
	return NULL;
}

static long long number_of(const json_t *root, const char *strategy, const char *name)
{
	return json_integer_value(json_object_get(properties_of(root, strategy), name));
}

Test(dead_holder, lease_of_the_server_has_to_end)
{
	json_t *root = bench("-n 200 --ttl-ms 2000 set-nx-ex lua-delifequals redlock fair-queue",
			     0);
	static const char *const names[] = { "set-nx-ex", "lua-delifequals", "redlock",
					     "fair-queue" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cr_assert_eq(number_of(root, names[i], "dead_holders"), 1, "%s", names[i]);
		/* The lease of 2 s, without what passes until the clients begin. */
		cr_assert_gt(number_of(root, names[i], "recovery_ns"), 200000000, "%s", names[i]);
		cr_assert_eq(number_of(root, names[i], "final"), 200, "%s", names[i]);
	}
	json_decref(root);
}

Test(dead_holder, dead_timestamp_is_taken_over_in_many_rounds)
{
	json_t *root = bench("-n 800 --ttl-ms 5000 --threads 4 --processes 2 setnx-getset", 0);

	cr_assert_eq(number_of(root, "setnx-getset", "dead_holders"), 20);
	cr_assert_gt(number_of(root, "setnx-getset", "recovery_ns"), 0);
	cr_assert_eq(number_of(root, "setnx-getset", "final"), 800);
	json_decref(root);
}

Test(dead_holder, leaves_nothing_where_there_is_no_lock_to_leave)
{
	json_t *root = bench("-n 200 --ttl-ms 2000 local-mutex multi-watch incr", 0);

	cr_assert_eq(number_of(root, "local-mutex", "dead_holders"), 0);
	cr_assert_eq(number_of(root, "multi-watch", "dead_holders"), 0);
	cr_assert(json_is_null(json_object_get(properties_of(root, "incr"), "recovery_ns")));
	json_decref(root);
}

/* Within a limit; and with a row, which the plots' data are made of. */
Test(dead_holder, who_cannot_recover_is_stuck_as_expected)
{
	json_t *root = bench("-n 200 --ttl-ms 2000 setnx incr-lock-all set-nx-ex", 0);

	cr_assert_eq(number_of(root, "setnx", "final"), 0);
	cr_assert_eq(number_of(root, "setnx", "dead_holders"), 1);
	json_decref(root);
	cr_assert_eq(cli_run("sh tests/check_csv $HERE/r && "
			     "[ $(grep -c ',stuck,' $HERE/r/runs.csv) = 2 ] && "
			     "[ $(grep -c ',stuck,' $HERE/r/summary.csv) = 2 ] && "
			     "head -1 $HERE/r/runs.csv | grep -q ',dead_holders,recovery_ns,' && "
			     "head -1 $HERE/r/summary.csv | grep -q ',recovery_ns_max,'"),
		     0, "%s", cli_output);
	cr_assert_eq(
		cli_run("mkdir $HERE/tables && LC_ALL=C awk -v out=$HERE/tables -v from=$HERE/r "
			"-f plots/tables.awk $HERE/r/runs.csv $HERE/r/summary.csv && "
			"grep -q 'dead holder' $HERE/tables/settings.gp && "
			"grep 'setnx\t' $HERE/tables/bars-lost.tsv | grep -q stuck && "
			"grep 'set-nx-ex\t' $HERE/tables/bars-throughput.tsv | grep -q 'back in'"),
		0, "%s", cli_output);
}

Test(dead_holder, may_have_its_increments_put_off)
{
	json_t *root =
		bench("-n 200 --ttl-ms 2000 --wait delay-queue --threads 4 setnx setnx-getset", 0);

	cr_assert_eq(number_of(root, "setnx", "final"), 0);
	cr_assert_eq(number_of(root, "setnx-getset", "final"), 200);
	json_decref(root);
}

Test(dead_holder, is_compared_with_its_like_only)
{
	json_decref(bench("-n 200 --ttl-ms 2000 incr set-nx-ex", 0));
	cr_assert_eq(cli_run("$REDRACE bench --ttl-ms 2000 -n 200 set-nx-ex -o $HERE/q >/dev/null; "
			     "$REDRACE compare $HERE/q $HERE/r 2>&1"),
		     65, "%s", cli_output);
	cli_assert_prints("dead_holders");
}

Test(dead_holder, needs_clients_that_ask_again)
{
	cli_assert_one_line("$REDRACE bench --dead-holder --wait fail-fast set-nx-ex 2>&1", 64,
			    "fail-fast");
	cli_assert_one_line("$REDRACE bench --dead-holder --topology sentinel set-nx-ex 2>&1", 64,
			    "--topology");
}
