/* SPDX-License-Identifier: MIT */
/* redrace explore, from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

#include <criterion/parameterized.h>
#include "base/text.h"

TestSuite(explore, .init = cli_setup, .fini = cli_teardown);

/* Explores, with its results in JSON. */
static void explore(const char *arguments, int code)
{
	cr_assert_eq(cli_runf("$REDRACE explore -o $HERE/result.json %s 2>&1", arguments), code,
		     "%s: %s", arguments, cli_output);
}

/* What a strategy breaks of all that the command searches, "count, exclusion"; "" is safe: nothing, and
 * all was explored. */
static void assert_breaks(const char *arguments, const char *strategy, const char *breaks)
{
	char filter[300];

	explore(arguments, 0);
	snprintf(
		filter, sizeof(filter),
		"$all.cases[] | select(.name == \"%s\").properties | (.breaks | join(\", \")) == \"%s\"%s",
		strategy, breaks, *breaks ? "" : " and .explored == \"all\"");
	cli_assert_json(filter);
}

/* The failing interleaving is saved, and plays as it is written: with this line, and that verdict. */
static void assert_saved(const char *arguments, const char *step, const char *verdict)
{
	char line[100];

	cr_assert_eq(cli_runf("$REDRACE explore --save $HERE/x.race %s >/dev/null 2>&1 && "
			      "$REDRACE play $HERE/x.race >/dev/null && cat $HERE/x.race",
			      arguments),
		     0, "%s: %s", arguments, cli_output);
	snprintf(line, sizeof(line), "\nverdict %s", verdict);
	cr_assert_not_null(strstr(cli_output, step), "%s: %s", arguments, cli_output);
	cr_assert_not_null(strstr(cli_output, line), "%s: %s", arguments, cli_output);
}

Test(explore, none_loses_an_update_in_four_steps)
{
	static const char *const searches[] = { "none --stateless", "none" };

	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		explore(searches[i], 0);
		cli_assert_json(".interleavings == 6 and .failing_interleavings == 4 and "
				".breaks == [\"count\"]");
	}
	cli_assert_json(".shortest | .steps == 4 and .breaks == [\"count\"]");
	cli_assert_json(".findings[0] | .kind == \"lost_update\" and .keys == [\"counter:0\"]");
	cli_assert_line("transcript", "verdict lost update");
}

/* By the numbers of its steps: those of the reads and writes, and of the lock that has expired. */
Test(explore, failures_say_why)
{
	explore("none", 0);
	cli_assert_json(".findings[0] | .kind == \"lost_update\" and " CLI_WHY_STEPS
			" == [[2, 5], [1, 3]]");
	explore("set-nx-ex --pauses 1", 0);
	cli_assert_json(".findings[0] | " CLI_WHY_STEPS "[0] as [$set, $passes] | "
			"(.steps[$set - 1].command[:2] == [\"SET\", \"lock:0\"]) and "
			".steps[$passes - 1].kind == \"tick\"");
}

/* The finding and its meaning are sentences of their own. */
Test(explore, a_page_says_what_was_found)
{
	explore("set-nx-ex --expiries 1 --show ownership -o $HERE/page.html", 0);
	cr_assert_eq(cli_run("grep -o '✗ foreign release: [^<]*' $HERE/page.html | head -n 1"), 0);
	cr_assert_str_eq(cli_output, "✗ foreign release: A removes B&#39;s lock. A client has "
				     "removed or changed a lock that another one holds.\n");
}

Test(explore, sound_strategies_are_safe)
{
	assert_breaks("set-nx-ex lua-delifequals", "lua-delifequals", "");
	assert_breaks("multi-watch", "multi-watch", "");
	cli_assert_json(
		"[.mutants[] | select(.fails).rests_on | contains(\"WATCH counter:0\")] | any");
	assert_breaks("local-mutex", "local-mutex", "");
	cli_assert_json(".interleavings == 2 and (.mutants | map(.fails) | any)");
	assert_breaks("incr --increments-each 2", "incr", "");
}

/* What guards a lock is a script: that is what is weakened. */
Test(explore, locks_that_a_script_grants_rest_on_it)
{
#define RESTS_ON_A_SCRIPT \
	"[.mutants[] | select(.fails).rests_on | test(\"redis.call|local function\")] | any"
	assert_breaks("fenced", "fenced", "");
	cli_assert_json(RESTS_ON_A_SCRIPT);
	assert_breaks("fair-queue", "fair-queue", "");
	cli_assert_json(RESTS_ON_A_SCRIPT);
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
	char names[600] = "", arguments[700];

	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (rr_strategies[i]->lock.kind != RR_LOCK_QUORUM)
			rr_add_text(names, sizeof(names), " %s", rr_strategies[i]->name);
	}
	snprintf(arguments, sizeof(arguments), "--crashes 1 --late 1%s", names);
	explore(arguments, 0);
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
		explore(arguments, 0);
		cli_assert_property("bounds.clients", clients);
	}
}

/* A loop that writes is cut, and then nothing is called safe. */
Test(explore, cut_loop_takes_the_word_safe_away)
{
	explore("incr-lock", 0);
	cli_assert_json(".breaks == [] and .explored != \"all\" and .bounds.rounds == 2");
}

Test(explore, saved_schedule_replays)
{
	cr_assert_eq(
		cli_run("$REDRACE explore none lua-delifequals --pauses 1 --save $HERE/ 2>&1 &&"
			"$REDRACE play $HERE/none.race && "
			"$REDRACE play $HERE/lua-delifequals.race"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE explore none --save /dev/stdout"), 0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "\nA> GET counter:0 "), "%s", cli_output);
}

Test(explore, errors_name_what_they_are_about)
{
	static const struct {
		const char *command;
		int code;
		const char *name;
	} errors[] = {
		{ "$REDRACE explore none --redis-server false 2>&1", 69, "'false'" },
		{ "R=$(readlink -f $REDRACE); PATH=/nowhere $R explore none 2>&1", 69,
		  "redis-server" },
		{ "R=$(readlink -f $REDRACE); PATH=/nowhere $R claims LU-1 2>&1 >/dev/null", 69,
		  "redis-server" },
		{ "$REDRACE explore nosuchstrategy 2>&1", 64, "'nosuchstrategy'" },
		{ "$REDRACE explore nonne 2>&1", 64, "'none'" },
		{ "$REDRACE explore none --crashes many 2>&1", 64, "--crashes" },
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		cli_assert_one_line(errors[i].command, errors[i].code, errors[i].name);
	cr_assert_eq(cli_run("$REDRACE explore none --save /nonexistent/x 2>&1 >/dev/null"), 74);
	cr_assert_not_null(strstr(cli_output, "/nonexistent/x"), "%s", cli_output);
}

Test(explore, skipped_alone_is_77_and_in_a_list_is_named)
{
	if (cli_run("$REDRACE explore native-cad 2>&1") != 77)
		cli_skip("this server has what native-cad needs");
	cli_assert_one_line("$REDRACE explore native-cad 2>&1", 77, "DELEX");
	explore("native-cad none", 0);
	cli_assert_json("[$all.cases[] | [.name, .verdict]] == "
			"[[\"native-cad\", \"skipped\"], [\"none\", \"passed\"]]");
}

/* Who crashes inside has left: whether another enters before or after that is
 * another interleaving. */
Test(explore, crash_inside_is_ordered_with_who_enters)
{
	static const char *const searches[] = { "local-mutex --crashes 1",
						"local-mutex --crashes 1 --stateless" };

	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		explore(searches[i], 0);
		cli_assert_json(".interleavings == 320 and .failing_interleavings == 262");
	}
}

struct counted {
	char arguments[40], interleavings[10];
};

ParameterizedTestParameters(explore, interleavings_are_counted_as_all_schedules_are)
{
	static struct counted counted[] = {
		{ "incr --increments-each 2", "6" },
		{ "incr --increments-each 3", "20" },
		{ "incr --clients 4", "24" },
		{ "none --clients 4", "2520" },
		{ "none --clients 4 --stateless", "2520" },
	};

	return cr_make_param_array(struct counted, counted, sizeof(counted) / sizeof(counted[0]));
}

/* As many as there are orders of the clients' steps. */
ParameterizedTest(struct counted *it, explore, interleavings_are_counted_as_all_schedules_are)
{
	explore(it->arguments, 0);
	cli_assert_property("interleavings", it->interleavings);
}

/* Of a command that is not sent, or that says something else, it is known whether that shows. */
Test(explore, all_mutants_are_listed_on_demand)
{
	explore("lua-delifequals --mutants", 0);
	cli_assert_json(
		"(.mutants | map(.fails) | unique) == [false, true] and "
		"([.mutants[] | select(.fails).rests_on | contains(\"SET lock:0 \")] | any)");
}

/* They are figures for people: no more is tested than that they are added. */
Test(explore, figures_are_added)
{
	cr_assert_eq(
		cli_run("$REDRACE explore incr | wc -l; $REDRACE explore incr --stats | wc -l"), 0);
	cr_assert_lt(strtol(cli_output, NULL, 10), strtol(strchr(cli_output, '\n'), NULL, 10), "%s",
		     cli_output);
}
