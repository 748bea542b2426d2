/* SPDX-License-Identifier: MIT */
/* redrace explore, from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "base/text.h"

TestSuite(explore, .init = cli_setup, .fini = cli_teardown);

enum { OUTPUT_SIZE = 1 << 18 };

static char output[OUTPUT_SIZE];

static void assert_explored(const char *arguments, int code, const char *part)
{
	char command[300];
	int got;

	snprintf(command, sizeof(command), "$REDRACE explore %s 2>&1", arguments);
	got = support_shell(command, output, sizeof(output));
	cr_assert_eq(got, code, "%s: %d: %s", arguments, got, output);
	cr_assert(cli_says(output, part), "%s: %s", arguments, output);
}

/* What a strategy breaks of all that the command searches, "count, exclusion"; "" is safe: nothing, and
 * all was explored. */
static void assert_breaks(const char *arguments, const char *strategy, const char *breaks)
{
	char filter[300];

	cr_assert_eq(cli_runf("$REDRACE explore -o $HERE/result.json %s 2>&1", arguments), 0,
		     "%s: %s", arguments, cli_output);
	snprintf(
		filter, sizeof(filter),
		"$all.cases[] | select(.name == \"%s\").properties | (.breaks | join(\", \")) == \"%s\"%s",
		strategy, breaks, *breaks ? "" : " and .explored == \"all\"");
	cli_assert_json(filter);
}

/* The failing interleaving is saved: with this step, and with that verdict. */
static void assert_saved(const char *arguments, const char *step, const char *verdict)
{
	char saving[200], line[100];

	snprintf(saving, sizeof(saving), "%s --save /dev/stdout", arguments);
	snprintf(line, sizeof(line), "verdict %s", verdict);
	assert_explored(saving, 0, step);
	cr_assert_not(cli_says(output, "does not replay"), "%s", output);
	cr_assert(cli_says(output, line), "%s", output);
}

Test(explore, none_loses_an_update_in_four_steps)
{
	assert_explored("none --stateless", 0, "none: 4 of 6 interleavings fail: count\n");
	assert_explored("none -o $HERE/result.json", 0, "none: 4 of 6 interleavings fail: count\n");
	cli_assert_json(".shortest | .steps == 4 and .breaks == [\"count\"] and "
			".anomaly == \"lost update\"");
	cli_assert_line("transcript", "verdict update lost");
}

Test(explore, failures_say_why)
{
	assert_explored("none", 0,
			"none: 4 of 6 interleavings fail: count\n  why (lost update):\n"
			"    A is before B: A's GET counter:0 (2) did not see B's SET (5).\n"
			"    B is before A: B's GET counter:0 (1) did not see A's SET (3).\n");
	assert_explored("set-nx-ex --pauses 1", 0,
			"    lock:0, which A's SET (1) wrote, has run out (4).\n");
}

Test(explore, sound_strategies_are_safe)
{
	assert_breaks("set-nx-ex lua-delifequals", "lua-delifequals", "");
	assert_breaks("multi-watch", "multi-watch", "");
	cli_assert_property("rests_on", "WATCH counter:0 is not sent");
	assert_explored("local-mutex -o $HERE/result.json", 0, "(2 interleavings)");
	cli_assert_json(".explored == \"all\" and (.rests_on | contains(\"mutex\"))");
	assert_breaks("incr --increments-each 2", "incr", "");
}

/* What guards a lock is a script: that is what is weakened. */
Test(explore, locks_that_a_script_grants_rest_on_it)
{
	assert_breaks("fenced", "fenced", "");
	cli_assert_json(".rests_on | startswith(\"script \")");
	assert_breaks("fair-queue", "fair-queue", "");
	cli_assert_json(".rests_on | contains(\"comparison\")");
	assert_breaks("fenced --crashes 1", "fenced", "");
	assert_breaks("fair-queue --crashes 1", "fair-queue", "");
}

Test(explore, mutex_is_useless_between_processes)
{
	assert_breaks("local-mutex --processes 2", "local-mutex", "count, exclusion");
}

Test(explore, misplaced_watch_fails)
{
	assert_breaks("multi multi-watch-split", "multi-watch-split", "count");
}

Test(explore, paused_holder_overlaps_and_fencing_keeps_the_count)
{
	assert_breaks("lua-delifequals --pauses 1", "lua-delifequals", "count, exclusion");
	assert_breaks("fenced --pauses 1", "fenced", "");
}

Test(explore, lost_reply_is_counted_twice)
{
	assert_breaks("incr --lost-replies 1", "incr", "count");
	cli_assert_line("transcript", "verdict counted twice");
}

/* The caller repeats a transaction that it has not heard of. */
Test(explore, reply_lost_inside_a_transaction_replays)
{
	assert_saved("multi multi-watch-split multi-watch --lost-replies 1", "A> EXEC  => (lost)\n",
		     "counted twice");
}

/* Messages come on a connection of their own. */
Test(explore, woken_clients_listen_in_a_transcript_too)
{
	assert_saved("fair-queue --slow-work", "\nB2> SUBSCRIBE ", "exclusion broken");
}

Test(explore, everybody_who_asks_keeps_a_dead_lock_alive)
{
	assert_breaks("incr-lock-all --crashes 1", "incr-lock-all", "starvation");
	assert_breaks("incr-lock --crashes 1", "incr-lock", "starvation");
}

Test(explore, clocks_that_are_apart_are_written)
{
	assert_saved("setnx-getset --skew --clients 3", "clock B +12s\nclock C +24s\n", "");
}

Test(explore, crash_leaves_setnx_stuck)
{
	assert_breaks("setnx --crashes 1", "setnx", "deadlock");
	cli_assert_line("transcript", "verdict deadlock");
	assert_breaks("set-nx-ex --crashes 1", "set-nx-ex", "");
}

/* What a client that has crashed had sent is executed when the next one has the lock. */
Test(explore, late_command_of_a_dead_client_takes_anothers_lock)
{
	assert_breaks("set-nx-ex --crashes 1 --late 1", "set-nx-ex", "ownership");
}

/* The strategies that a command breaks which arrives late are those that a pause before it
 * breaks: no other fails. Redlock's five servers have too many states for a test. */
Test(explore, late_commands_break_what_a_pause_breaks, .timeout = 600)
{
	char names[600] = "", command[700];

	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (rr_strategies[i]->lock.kind != RR_LOCK_QUORUM)
			rr_add_text(names, sizeof(names), " %s", rr_strategies[i]->name);
	}
	snprintf(command, sizeof(command), "$REDRACE explore --crashes 1 --late 1%s", names);
	cr_assert_eq(support_shell(command, output, sizeof(output)), 0, "%s: %s", command, output);
}

/* Majorities of before and after a restart have no server in common; back after a lease, the
 * server has forgotten only what has run out. */
Test(explore, lock_server_that_stays_away_grants_nothing_twice)
{
	static const char search[] = "redlock --lock-servers 3 --restarts 1";
	char staying[100];

	snprintf(staying, sizeof(staying), "%s --stays-away", search);
	assert_breaks(search, "redlock", "count, exclusion, lease");
	assert_breaks(staying, "redlock", "");
}

/* With work of several leases: released when its lease does not cover the work, and used only
 * with one that does. */
Test(explore, quorum_that_covers_the_work_is_safe_under_slow_work)
{
	assert_breaks("redlock --lock-servers 3 --slow-work", "redlock", "count, exclusion");
	assert_breaks("redlock-covering --lock-servers 3 --slow-work", "redlock-covering", "");
}

Test(explore, takeover_by_del_needs_three_clients_and_a_crash)
{
	assert_breaks("setnx-del-takeover --clients 2 --crashes 1", "setnx-del-takeover", "");
	assert_breaks("setnx-del-takeover --clients 3 --crashes 1", "setnx-del-takeover",
		      "count, exclusion, lease, ownership");
}

/* One client leaves its lock, and two take it over; other locks need no third one, and who gives a
 * number gets it. */
Test(explore, locks_that_are_taken_over_have_three_clients)
{
	static const struct {
		const char *arguments;
		int clients;
	} searches[] = {
		{ "setnx-getset", 2 },
		{ "setnx-getset --pauses 1", 2 },
		{ "setnx-getset --crashes 1", 3 },
		{ "setnx-getset --lost-replies 1", 3 },
		{ "watch-getset --crashes 1", 3 },
		{ "setnx-getset --crashes 1 --clients 2", 2 },
		{ "setnx-getset --crashes 1 --processes 2", 2 },
		{ "set-nx-ex --crashes 1 --lost-replies 1", 2 },
	};

	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		char arguments[100], clients[20];

		snprintf(arguments, sizeof(arguments), "--audit 0 %s", searches[i].arguments);
		snprintf(clients, sizeof(clients), "%d", searches[i].clients);
		cr_assert_eq(cli_runf("$REDRACE explore -o $HERE/result.json %s 2>&1", arguments),
			     0, "%s", cli_output);
		cli_assert_property("bounds.clients", clients);
	}
}

/* A loop that writes is cut, and then nothing is called safe. */
Test(explore, cut_loop_takes_the_word_safe_away)
{
	cr_assert_eq(cli_run("$REDRACE explore -o $HERE/result.json incr-lock 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_json(".breaks == [] and .explored != \"all\" and .bounds.rounds == 2");
}

Test(explore, saved_schedule_replays)
{
	cr_assert_eq(
		cli_run("$REDRACE explore none lua-delifequals --pauses 1 --save $HERE/ 2>&1 &&"
			"$REDRACE play $HERE/none.race && "
			"$REDRACE play $HERE/lua-delifequals.race"),
		0, "%s", cli_output);
}

Test(explore, what_cannot_be_done_is_said)
{
	assert_explored("none --save /nonexistent/x", 74,
			"cannot write '/nonexistent/x': No such file");
	cli_assert_one_line("$REDRACE explore none --redis-server false 2>&1", 69,
			    "redrace: 'false' exited with 1");
	cli_assert_one_line("R=$(readlink -f $REDRACE);"
			    "PATH=/nowhere $R explore none 2>&1",
			    69, "install redis-server");
	cli_assert_one_line("R=$(readlink -f $REDRACE);"
			    "PATH=/nowhere $R claims LU-1 2>&1 >/dev/null",
			    69, "install redis-server");
}

Test(explore, skipped_alone_is_77_and_in_a_list_is_named)
{
	static const char said[] = "redrace: native-cad skipped: this server has no DELEX";

	if (cli_run("$REDRACE explore native-cad 2>&1") != 77)
		cli_skip("this server has what native-cad needs");
	cli_assert_one_line("$REDRACE explore native-cad 2>&1", 77, said);
	assert_explored("native-cad none", 0, said);
}

Test(explore, wrong_use_is_named)
{
	assert_explored("nosuchstrategy", 64, "no strategy 'nosuchstrategy'");
	assert_explored("nonne", 64, "did you mean 'none'?");
	assert_explored("none --crashes many", 64,
			"--crashes: 'many' is not a whole number from 0 to 8");
}

/* Who crashes inside has left: whether another enters before or after that is
 * another interleaving. */
Test(explore, crash_inside_is_ordered_with_who_enters)
{
	assert_explored("local-mutex --crashes 1", 0, "local-mutex: 262 of 320 interleavings fail");
	assert_explored("local-mutex --crashes 1 --stateless", 0,
			"local-mutex: 262 of 320 interleavings fail");
}

/* As many as there are orders of two clients' four steps. */
Test(explore, interleavings_are_counted_as_all_schedules_are)
{
	assert_explored("incr --increments-each 2", 0, "(6 interleavings)");
	assert_explored("incr --increments-each 3", 0, "(20 interleavings)");
	assert_explored("incr --clients 4", 0, "(24 interleavings)");
	assert_explored("none --clients 4", 0, " of 2,520 interleavings fail");
	assert_explored("none --clients 4 --stateless", 0, " of 2,520 interleavings fail");
}

/* What is not sent, or said, is as good as not known. */
Test(explore, all_mutants_are_listed_on_demand)
{
	assert_explored("lua-delifequals --mutants", 0, "  rests on SET lock:0 ");
	assert_explored("lua-delifequals --stats", 0, "  client states");
	cr_assert(cli_says(output, "  paths played"), "%s", output);
}
