/* SPDX-License-Identifier: MIT */
/* What a client does that does not get the lock: --wait, --kill-workers. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(waiting, .init = cli_setup, .fini = cli_teardown);

/* ---- Policies as data ---------------------------------------------------------- */

Test(waiting, policies_have_their_figures_in_their_names)
{
	const struct rr_strategy *lock = rr_strategy_find("lua-delifequals");
	static const char *const wanted[RR_POLICIES] = {
		[RR_POLICY_BACKOFF] = "backoff:400-5000us",
		[RR_POLICY_FAIL_FAST] = "fail-fast",
		[RR_POLICY_SLEEP] = "sleep:400us",
		[RR_POLICY_DELAY_QUEUE] = "delay-queue",
	};
	char text[RR_POLICY_TEXT_SIZE];

	for (enum rr_policy p = 0; p < RR_POLICIES; p++) {
		cr_assert_str_eq(rr_policy_text(p, lock, text), wanted[p]);
		cr_assert_str_eq(rr_policy_text(p, rr_strategy_find("incr"), text), "none");
	}
}

Test(waiting, sleep_is_always_the_same_and_backoff_grows)
{
	const struct rr_wait wait = { .min_us = 100, .max_us = 3000 };
	struct rr_random random = { 1 };

	for (uint64_t n = 0; n < 100; n++) {
		const int64_t limit_ns = n < 5 ? INT64_C(100000) << n : 3000000;
		const int64_t backoff = rr_policy_wait_ns(RR_POLICY_BACKOFF, &wait, n, &random);

		cr_assert_eq(rr_policy_wait_ns(RR_POLICY_SLEEP, &wait, n, &random), 100000);
		cr_assert_geq(backoff, limit_ns / 2);
		cr_assert_leq(backoff, limit_ns);
	}
}

Test(waiting, only_what_can_be_put_off_is_put_off)
{
	const enum rr_policy queue = RR_POLICY_DELAY_QUEUE;
	const struct rr_strategy *lock = rr_strategy_find("lua-delifequals");
	const struct rr_strategy *watch = rr_strategy_find("multi-watch");
	const struct rr_strategy *incr = rr_strategy_find("incr");

	cr_assert_null(rr_policy_objection(queue, lock, 3));
	cr_assert_not_null(rr_policy_objection(queue, watch, 0));
	cr_assert_null(rr_policy_objection(RR_POLICY_SLEEP, watch, 0));
	cr_assert_null(rr_policy_objection(queue, incr, 0));
	cr_assert_not_null(rr_policy_objection(queue, incr, 1));
	cr_assert_eq(rr_policy_for(queue, incr), RR_POLICY_BACKOFF);
	cr_assert_eq(rr_policy_for(queue, lock), queue);
}

/* ---- The command line ------------------------------------------------------------- */

Test(waiting, wrong_usage_is_64_in_one_line)
{
	static const struct {
		const char *arguments, *part;
	} wrong[] = {
		{ "--wait patiently", "--wait 'patiently': expected backoff, fail-fast" },
		{ "--all none", "exclude each other" },
		{ "--kill-workers 1 --threads 1 --processes 2", "is for --wait delay-queue" },
		{ "--wait delay-queue --kill-workers 1", "--threads 1" },
		{ "--wait delay-queue --kill-workers 1 --threads 1", "--processes 2" },
		{ "--wait delay-queue --kill-workers 1 --threads 1,2 --processes 2",
		  "--threads 1" },
		{ "--wait delay-queue --kill-workers 9 --threads 1 --processes 2 --increments 8",
		  "only 8 increments" },
		{ "--wait delay-queue --kill-workers -1", "from 0 to" },
	};
	char command[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE bench %s 2>&1", wrong[i].arguments);
		cli_assert_one_line(command, RR_EXIT_USAGE, wrong[i].part);
	}
}

Test(waiting, skipped_alone_is_77_and_in_a_list_is_named)
{
	cli_assert_one_line("$REDRACE bench multi-watch --wait delay-queue --output $HERE/a 2>&1",
			    RR_EXIT_SKIPPED, "multi-watch skipped");
	cr_assert_eq(
		cli_run("$REDRACE bench multi-watch incr --increments 100 --wait delay-queue --output $HERE/a 2>&1"),
		0, "%s", cli_output);
	cr_assert(strstr(cli_output, "multi-watch skipped"), "%s", cli_output);
}

Test(waiting, rows_tell_the_policy_and_add_up)
{
	cr_assert_eq(
		cli_run("for w in fail-fast sleep backoff delay-queue; do $REDRACE bench incr lua-delifequals --increments 500 --threads 4 --wait $w --output $HERE/a >$HERE/$w || exit; done;"
			"sh tests/check_csv $HERE/a && cut -d, -f4,49 $HERE/a/runs.csv | sort"),
		0, "%s", cli_output);
	cr_assert(strstr(cli_output, "incr,none\nincr,none\nincr,none\nincr,none\n"
				     "lua-delifequals,backoff:400-5000us\n"
				     "lua-delifequals,delay-queue\n"
				     "lua-delifequals,fail-fast\n"
				     "lua-delifequals,sleep:400us\n"),
		  "%s", cli_output);
	cr_assert_eq(
		cli_run("for w in backoff sleep; do head -2 $HERE/$w | tr -d '\\n' | sed 's/.*same, *//; s/seed.*//'; echo; done"),
		0);
	cr_assert_str_eq(cli_output, "\nwait sleep, \n");
}

/* Every strategy has a row, or a line that says why not. */
Test(waiting, all_is_all)
{
	cr_assert_eq(
		cli_run("$REDRACE bench --all-strategies --increments 300 --threads 1 --output $HERE/a >$HERE/t 2>$HERE/skipped;"
			"{ sed 1d $HERE/a/runs.csv; grep ' skipped: ' $HERE/skipped; } | grep -c .; $REDRACE list --format markdown | grep -c '^| \\['"),
		0);
	cr_assert_eq(atoi(cli_output), atoi(strchr(cli_output, '\n')), "%s", cli_output);
}
