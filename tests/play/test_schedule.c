/* SPDX-License-Identifier: MIT */
/* Strategies under schedules, as a user meets them. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"

TestSuite(schedules, .init = cli_setup, .fini = cli_teardown);

/* `redrace play ARGUMENTS` ends with `code`. */
static void play(const char *arguments, int code)
{
	char command[600];

	snprintf(command, sizeof(command), "$REDRACE play %s 2>&1", arguments);
	cr_assert_eq(cli_run(command), code, "%s: %s", arguments, cli_output);
}

static void says(const char *part)
{
	cr_assert_not_null(strcasestr(cli_output, part), "no '%s' in: %s", part, cli_output);
}

static void says_not(const char *part)
{
	cr_assert_null(strcasestr(cli_output, part), "'%s' in: %s", part, cli_output);
}

/* ---- What happens ------------------------------------------------------------------ */

Test(schedules, none_loses_an_update_as_scheduled)
{
	play("none --schedule 'A:GET B:GET A:SET B:SET'", RR_EXIT_OK);
	says("lost update: expected 2, actual 1, lost 1");
	play("none --schedule 'A:GET A:SET B:GET B:SET'", RR_EXIT_OK);
	says("nothing broken");
	play("none --increments-each 2 --schedule 'A:get B:get A B A:get B:get A B'", RR_EXIT_OK);
	says("lost update: expected 4, actual 2, lost 2");
}

Test(schedules, without_a_schedule_it_is_client_after_client)
{
	play("none --clients 3 --increments-each 2", RR_EXIT_OK);
	says("nothing broken");
	says("C");
}

Test(schedules, stop_leaves_the_rest_out)
{
	play("none --schedule 'A:GET B:GET A:SET' --stop", RR_EXIT_OK);
	says("nothing broken");
	play("none --schedule 'A:GET B:GET A:SET'", RR_EXIT_OK);
	says("lost update");
}

Test(schedules, overrun_lease_is_anothers_lock)
{
	play("set-nx-ex --schedule 'A:SET A:GET tick:11s B:SET A:SET A:DEL'", RR_EXIT_OK);
	says("exclusion broken: 2 in the critical section: A B");
	says("foreign release: A removes B's lock");
	play("set-nx-ex --schedule 'A:SET A:GET pause:A:11s tick:11s B:SET A:SET A:DEL'",
	     RR_EXIT_OK);
	says("A stands still for 11s");
	says("foreign release");
	play("set-nx-ex --schedule 'A:SET A:GET tick:10s B:SET A:SET A:DEL'", RR_EXIT_OK);
	says("nothing broken");
}

/* The rest of it: B asks while A stands still, and gets in when A's lease has
 * ended. */
Test(schedules, rest_waits_for_leases_and_pauses)
{
	play("lua-delifequals --schedule 'A:SET A:GET pause:A:11s'", RR_EXIT_OK);
	says("exclusion broken");
	says_not("indefinitely");
}

Test(schedules, crashed_holder_of_setnx_is_a_deadlock)
{
	play("setnx --schedule 'A:SETNX crash:A'", RR_EXIT_OK);
	says("deadlock: lock:0 is A's, who is dead, and never expires");
	says("deadlock, these would wait indefinitely: B");
	play("set-nx-ex --schedule 'A:SET crash:A'", RR_EXIT_OK);
	says("nothing broken");
	says_not("indefinitely");
}

Test(schedules, crash_takes_threads_of_one_process_along)
{
	play("setnx --processes 1 --schedule 'A:SETNX crash:A'", RR_EXIT_OK);
	says("deadlock");
	says_not("indefinitely");
}

Test(schedules, mutex_is_of_one_process)
{
	play("local-mutex --schedule 'A:lock B:lock A:GET B:GET'", RR_EXIT_OK);
	says("lost update");
	play("local-mutex --processes 1 --schedule 'A:lock A:GET A:SET A:unlock B:lock'",
	     RR_EXIT_OK);
	says("nothing broken");
}

Test(schedules, lost_reply_leaves_a_count_that_nobody_knows_of)
{
	play("incr --schedule 'lose-reply:A A:INCR'", RR_EXIT_OK);
	says("(lost)");
	says("counted twice: expected 1, actual 2, too much 1");
}

Test(schedules, server_that_comes_back_empty_forgets_the_lock)
{
	play("set-nx-ex --clients 3 --schedule 'A:SET A:GET restart:redis B B:sleep B:SET'",
	     RR_EXIT_USAGE);
	play("set-nx-ex --schedule 'A:SET restart:redis'", RR_EXIT_OK);
	says("acknowledged write lost");
	says("(closed)");
}

Test(schedules, renewer_can_be_scheduled)
{
	play("lua-renewed --schedule \"A:SET A':wait A':EVALSHA B:SET\"", RR_EXIT_OK);
	says("A's renewer");
	says("EVALSHA");
	says("nothing broken");
}

Test(schedules, timestamps_are_of_virtual_time)
{
	play("setnx-getset --schedule 'A:clock A:SETNX crash:A tick:12s'", RR_EXIT_OK);
	says("SETNX lock:0 1900000011");
	says("nothing broken");
}

/* Leases are shortened and short times waited for then; what is found must not
 * depend on it. */
Test(schedules, without_the_shim_the_findings_are_the_same)
{
	cr_assert_eq(cli_run("cp $REDRACE $HERE/alone && "
			     "$HERE/alone play set-nx-ex --schedule 'A:SET crash:A' && "
			     "$HERE/alone play overrun-delete 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	says("nothing broken");
	says("foreign release");
	says_not("foreign change");
}

/* ---- What is refused ------------------------------------------------------------------ */

struct refused {
	const char *arguments, *part; /* of the message */
};

/* Each is called a wrong use in one line. */
static void assert_refused(const struct refused *wrong, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char command[300];

		snprintf(command, sizeof(command), "$REDRACE play %s 2>&1", wrong[i].arguments);
		cli_assert_one_line(command, RR_EXIT_USAGE, wrong[i].part);
	}
}

Test(schedules, step_that_nobody_is_about_to_make_is_64)
{
	static const struct refused wrong[] = {
		{ "none --schedule 'A:GET A:GET'", "SET counter:0 1" },
		{ "none --schedule 'A A A'", "word 3, 'A'" },
		{ "none --schedule 'crash:A A'", "word 2, 'A'" },
		{ "none --schedule \"A':EVAL\"", "A'" },
		{ "setnx --schedule 'A:SETNX B:SETNX B:SETNX'", "400us" },
		{ "local-mutex --processes 1 --schedule 'A:lock B:lock'", "'B:lock'" },
		{ "none --schedule 'A A crash:A'", "'crash:A'" },
	};

	assert_refused(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

/* The words behind the one that is meant are not shown, nor their newlines. */
Test(schedules, too_many_words_are_64_in_one_line)
{
	cli_assert_one_line("$REDRACE play none --schedule \"$(seq 1001 | sed s,.*,A,)\" 2>&1",
			    RR_EXIT_USAGE, "1001");
}

Test(schedules, wrong_words_and_options_are_64)
{
	static const struct refused wrong[] = {
		{ "none --schedule 'A C:GET'", "word 2, 'C:GET'" },
		{ "none --schedule 'tick:10'", "a duration" },
		{ "none --schedule 'tick:0s'", "a duration" },
		{ "none --schedule 'pause:A'", "pause:CLIENT:DURATION" },
		{ "none --schedule 'crash:Z'", "a client, A to B" },
		{ "none --schedule 'restart:n1'", "expected redis" },
		{ "redlock --schedule 'restart:n6'", "data, n1 to n5" },
		{ "none --schedule 'A:'", "a command after the colon" },
		{ "none --clients 7", "from 1 to 6" },
		{ "none --increments-each 0", "from 1 to" },
		{ "none --stop", "--stop needs a --schedule" },
		{ "none --save ''", "--save is empty" },
		{ "none --step", "--step is for races" },
		{ "none --interactive --schedule A", "leave out --schedule" },
		{ "none --interactive --format svg", "takes neither" },
		{ "lost-update --schedule A", "is not a strategy" },
		{ "none --interactive </dev/null", "needs a terminal" },
	};

	assert_refused(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

/* ---- Transcripts -------------------------------------------------------------------------- */

Test(schedules, saved_transcripts_replay_with_the_same_verdict)
{
	static const struct {
		const char *arguments, *verdict;
	} saved[] = {
		{ "none --schedule 'A:GET B:GET A:SET B:SET'", "verdict lost update" },
		{ "set-nx-ex --clients 3 --schedule 'A:SET A:GET pause:A:11s tick:11s B:SET A:SET A:DEL C:SET'",
		  "verdict exclusion broken, foreign release" },
		{ "lua-delifequals --schedule 'A:SET A:GET B:SET pause:A:11s tick:11s B:sleep B:SET B:GET B:SET B:EVALSHA A:SET'",
		  "verdict exclusion broken, lost update" },
		{ "setnx-getset --schedule 'A:clock A:SETNX pause:A:13s tick:13s B:clock B:SETNX B:GET B:clock B:clock B:GETSET B:clock A:GET A:SET A:DEL'",
		  "verdict exclusion broken, foreign release" },
		{ "lua-renewed --schedule \"A:SET A':wait A':EVAL B:SET\"",
		  "verdict nothing broken" },
		{ "multi-watch --schedule 'A A A lose-reply:A A:SET'", "verdict counted twice" },
		{ "local-mutex --processes 1", "verdict nothing broken" },
		{ "redlock --schedule 'A A A restart:n1 restart:n2'",
		  "verdict acknowledged write lost" },
		{ "setnx --schedule 'A crash:A'", "verdict deadlock" },
		{ "setnx --clients 6 --schedule 'pause:C:1000000s tick:10001ms B'",
		  "verdict nothing broken" },
		{ "lua-renewed --schedule lose-reply:B --stop", "verdict nothing broken" },
		{ "incr-lock --schedule 'A:INCR B:INCR'", "verdict nothing broken" },
		{ "fair-queue --schedule 'A A B B A A B:wait'", "verdict nothing broken" },
		{ "fair-queue --schedule 'A A B B crash:B A A'", "verdict nothing broken" },
	};

	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++) {
		char command[300];

		snprintf(command, sizeof(command), "%s --save $HERE/t.race", saved[i].arguments);
		play(command, RR_EXIT_OK);
		cr_assert_eq(cli_run("tail -n 1 $HERE/t.race"), 0);
		says(saved[i].verdict);
		play("$HERE/t.race", RR_EXIT_OK);
		cr_assert_eq(cli_run("ls $HERE"), 0);
		cr_assert_str_eq(cli_output, "t.race\n");
	}
}

Test(schedules, saved_scripts_are_whole_and_values_literal)
{
	play("lua-delifequals --save $HERE/t.race", RR_EXIT_OK);
	cr_assert_eq(cli_run("cat $HERE/t.race"), 0);
	says("> EVAL \"if redis.call('GET', KEYS[1]) == ARGV[1]");
	says_not("EVALSHA");
	says_not("$");
}

Test(schedules, transcript_that_cannot_be_written_is_74)
{
	play("none --save /proc/t.race", RR_EXIT_FILE);
	says("cannot write '/proc/t.race'");
}
