/* SPDX-License-Identifier: MIT */
/* Which pairs of commands a search has executed in which orders, what it has not tried, and which
 * option an exit code 2 names: properties.coverage and properties.search.option. */
#include "../cli.h"

#include <stdio.h>

static void setup(void)
{
	cli_setup();
	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE 2>&1"), 0, "%s", cli_output);
	cli_write("stock", "SET stock 1\n");
}

TestSuite(check_coverage, .init = setup, .fini = cli_teardown);

#define COUNT "v=$(" CLI "GET n); " CLI "SET n $((v + 1))"

static void check(const char *options, int code)
{
	cr_assert_eq(cli_runf("$REDRACE_ONCE check --no-cache --audit 1 --skeptic off "
			      "-o $HERE/result.json %s 2>&1",
			      options),
		     code, "%s", cli_output);
}

/* How many pairs met in both orders, were kept apart, had one order, were in no schedule together. */
static void assert_counts(int met, int apart, int one, int none)
{
	char filter[200];

	snprintf(filter, sizeof(filter),
		 ".coverage | [.n_met, .n_apart, .n_one_order, .n_none] == [%d, %d, %d, %d] and "
		 ".n_pairs == (.pairs | length) and .commands_left_out == 0",
		 met, apart, one, none);
	cli_assert_json(filter);
}

Test(check_coverage, commands_that_race_met_in_both_orders)
{
	check("-- sh -c '" COUNT "'", 1);
	assert_counts(3, 0, 0, 0);
	cli_assert_json(".coverage.pairs[0] == {clients: [\"A\", \"B\"], "
			"commands: [\"GET n\", \"SET n\"], server: \"redis\", keys: [\"n\"], "
			"order: \"both\", met: true, why: null}");
}

Test(check_coverage, commands_that_only_read_are_no_pair)
{
	check("-- sh -c '" CLI "GET n; " CLI "EXISTS n'", 0);
	assert_counts(0, 0, 0, 0);
}

/* The same name in two databases is two keys. */
Test(check_coverage, a_key_has_a_database)
{
	check("--client A='printf \"SELECT 1\\nINCR n\\n\" | " REDIS_CLI "' --client B='" CLI
	      "INCR n'",
	      0);
	assert_counts(0, 0, 0, 0);
}

Test(check_coverage, a_lock_keeps_commands_apart, .timeout = 300)
{
	check("-- sh -c 'until [ \"$(" CLI "SET lock 1 NX)\" = OK ]; do :; done; " COUNT "; " CLI
	      "DEL lock'",
	      0);
	cli_assert_json("[.coverage.pairs[] | select(.keys == [\"n\"]) | [.order, .met, .why]] | "
			"unique == [[\"both\", false, \"program\"]]");
	cli_assert_json("[.coverage.pairs[] | select(.commands == [\"SET lock\", \"SET lock\"]) | "
			".met] == [true]");
}

Test(check_coverage, a_command_that_waits_orders_what_comes_after_it)
{
	check("--client put='" CLI "RPUSH jobs 1' --client take='" CLI "BLPOP jobs 0; " CLI
	      "DEL jobs'",
	      0);
	cli_assert_json("[.coverage.pairs[] | select(.order == \"AB\") | "
			".clients, .commands, .why] == "
			"[[\"put\", \"take\"], [\"RPUSH jobs\", \"DEL jobs\"], \"program\"]");
}

/* Only one of them comes to its DEL. */
Test(check_coverage, commands_may_exclude_each_other)
{
	check("-- sh -c '[ \"$(" CLI "SET once 1 NX)\" = OK ] && " CLI "SET won me; true'", 0);
	cli_assert_json("[.coverage.pairs[] | select(.order == \"none\") | .commands, .why] == "
			"[[\"SET won\", \"SET won\"], \"program\"]");
}

/* What is queued does nothing before EXEC. */
Test(check_coverage, a_transaction_names_its_keys)
{
	check("-- sh -c 'printf \"MULTI\\nINCR a\\nINCR b\\nEXEC\\n\" | " REDIS_CLI "'", 0);
	assert_counts(1, 0, 0, 0);
	cli_assert_json(".coverage.pairs[0] | .commands[0] == \"EXEC (INCR a, INCR b)\" and "
			".keys == [\"a\", \"b\"]");
}

Test(check_coverage, requests_to_an_app_are_its_clients)
{
	check("--init $HERE/stock --app $HERE/shop --request '$HERE/ask {app}/buy'", 1);
	cli_assert_json("[.coverage.pairs[].clients] | unique == "
			"[[\"request 1\", \"request 2\"], [\"request 2\", \"request 1\"]]");
	cli_assert_json("[.coverage.pairs[] | select(.met)] | length > 0");
	cli_assert_json("[.coverage.not_tried[] | select(.what == \"clients\") | .option] == "
			"[\"--request COMMAND\"]");
}

Test(check_coverage, says_what_was_not_tried)
{
	check("--clients 3 -- sh -c '" CLI "INCR n'", 0);
	cli_assert_json(
		"[.coverage.not_tried[] | [.what, .option]] == "
		"[[\"crashes\", \"--crashes 1\"], [\"lost_replies\", \"--lost-replies 1\"], "
		"[\"clients\", \"--clients 4\"]]");
	check("--crashes 1 --data-only -- sh -c '" CLI "SET k v EX 10'", 0);
	cli_assert_json("[.coverage.not_tried[].what] == "
			"[\"expiries\", \"pauses\", \"lost_replies\", \"clients\"]");
}

Test(check_coverage, a_search_that_was_cut_names_the_option)
{
	check("--max-states 4 -- sh -c '" COUNT "'", 2);
	cli_assert_json(".search.limit == \"states\" and .search.option == \"--max-states 8\"");
	cli_assert_json(
		".coverage | .not_tried[0] == {what: \"states\", option: \"--max-states 8\","
		" text: \"states that were left at a limit\"} and "
		"([.pairs[].why] | unique == [\"not_searched\"])");
	check("--starts 2 -- sh -c '" COUNT "'", 2);
	cli_assert_json(".search.limit == \"starts\" and .search.option == \"--starts 4\"");
	check("--rounds 2 -- sh -c 'until [ \"$(" CLI "SET lock me NX)\" = OK ]; do " CLI
	      "GET x; done; " COUNT "; " CLI "DEL lock'",
	      2);
	cli_assert_json(".search.limit == \"rounds\" and .search.option == \"--rounds 4\"");
	check("-- sh -c '" CLI "INCR n; exit 1'", 2);
	cli_assert_json(
		".search.limit == \"never_succeeds\" and .search.option == \"--init FILE\"");
	check("-- sh -c '" CLI "INCR n'", 0);
	cli_assert_json(".search.limit == null and .search.option == null");
}

/* Ten lines and what they take to be wrapped. */
Test(check_coverage, verbose_shows_a_little_of_it)
{
	check("--verbose -- sh -c '" COUNT "'", 1);
	cli_assert_prints("Coverage: 3 pairs");
	cli_assert_names("--crashes 1");
	check("-- sh -c '" COUNT "'", 1);
	cr_assert_not(cli_says(cli_output, "Coverage:"), "%s", cli_output);
}

Test(check_coverage, only_json_has_it)
{
	cli_run("$REDRACE_ONCE check --no-cache --skeptic off --format junit -- sh -c '" COUNT
		"' 2>/dev/null");
	cr_assert(cli_says(cli_output, "transitions:"), "%s", cli_output);
	cr_assert_not(cli_says(cli_output, "coverage:"), "%s", cli_output);
}

Test(check_coverage, strategies_have_it_too)
{
	cr_assert_eq(cli_run("$REDRACE explore lua-delifequals -o $HERE/result.json 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_json(
		"[.coverage.pairs[] | select(.keys == [\"counter:0\"]) | [.order, .met, .why]] | "
		"unique == [[\"both\", false, \"program\"]]");
	cli_assert_json(".coverage.not_tried | map(.what) | index(\"crashes\") != null and "
			"index(\"increments\") != null");
}

Test(check_coverage, a_yes_lists_its_requests)
{
	check("--init $HERE/stock --app $HERE/shop --request '$HERE/ask {app}/buy-once'", 0);
	cli_assert_prints("Requests: 2 times");
	cli_assert_names("{app}/buy-once");
}

Test(check_coverage, a_search_that_fails_names_its_bounds_too)
{
	cr_assert_eq(cli_run("$REDRACE explore none --clients 3 --show exclusion 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_names("3 threads");
	cli_assert_prints("within these bounds");
}
