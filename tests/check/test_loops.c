/* SPDX-License-Identifier: MIT */
/*
 * redrace check with programs that wait in a loop. One that is right is serializable; one that
 * changes its mind after some rounds is found, however late, up to as many as it is followed;
 * beyond that no yes is said.
 */
#include "../cli.h"

#include <string.h>

TestSuite(loops_check, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* A client with a token takes the lock, `n` refusals before; does `work`, and gives it back. */
static void check_lock(const char *options, const char *refused, const char *work,
		       const char *release, int code, const char *part)
{
	cli_write("lock.py",
		  "import raw, sys, time\n"
		  "r = raw.Connection()\n"
		  "me, n = raw.token(), 0\n"
		  "while r('SET', 'lock', me, 'NX', 'PX', 10000) is None:\n"
		  "    n += 1\n"
		  "    time.sleep(0.05)\n"
		  "    %s\n"
		  "%s\n"
		  "%s\n",
		  refused, work, release);
	cr_assert_eq(cli_runf("$REDRACE check -o $HERE/result.json --audit 2 %s -- " CLI_PYTHON
			      "lock.py 2>&1",
			      options),
		     code, "%s; %s: %s", refused, work, cli_output);
	cli_assert_outcome(code, part);
}

#define ADD "r('SET', 'k', int(r('GET', 'k') or 0) + 1)"
#define RELEASE                                                                                  \
	"r('EVAL', 'if redis.call(\"get\", KEYS[1]) == ARGV[1] then return redis.call(\"del\", " \
	"KEYS[1]) end return 0', 1, 'lock', me)"

Test(loops_check, a_lock_that_waits_is_right)
{
	check_lock("", "pass", ADD, RELEASE, 0, CLI_SERIALIZABLE);
	check_lock("--crashes 1", "pass", ADD, RELEASE, 0, CLI_SERIALIZABLE);
}

Test(loops_check, a_release_without_comparing_is_found)
{
	check_lock("--expiries 1", "pass", "pass", "r('DEL', 'lock')", 1,
		   "search.verdict: foreign_release");
	check_lock("--expiries 1", "pass", "r('ECHO', 'redrace:enter'); r('ECHO', 'redrace:leave')",
		   "r('DEL', 'lock')", 1, "search.verdict: exclusion");
	check_lock("--expiries 1", "pass", ADD, "r('DEL', 'lock')", 1, "anomaly: lost update");
	cli_assert_json(".why | contains(\" would also remove what \")");
	check_lock("--expiries 1", "pass", ADD, RELEASE, 1, "anomaly: lost update");
	cli_assert_json(".why | contains(\" take away \") | not");
}

/* Nobody gives the lock back, and it has no lease. */
Test(loops_check, a_lock_that_is_kept_for_ever_is_no_progress)
{
	check_lock("", "pass", ADD "; r('PERSIST', 'lock')", "pass", 1, CLI_NO_PROGRESS);
}

Test(loops_check, who_gives_up_is_followed_until_then)
{
	check_lock("", "if n == 8: sys.exit(1)", ADD, RELEASE, 0, CLI_SERIALIZABLE);
	cli_assert_property("loops", "null");
}

Test(loops_check, a_lock_that_is_taken_by_force_is_found)
{
	check_lock("", "if n == 5: r('SET', 'lock', me); break", ADD, RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
	check_lock("", "if n == 12: r('SET', 'lock', me); break", ADD, RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
}

/* Nothing is seen of it while the client waits. */
Test(loops_check, who_remembers_how_often_it_was_refused_is_found)
{
	check_lock("", "pass", "if n >= 4: r('SET', 'k', 0)\nelse: " ADD, RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
	check_lock("", "pass", "if n > 10: r('SET', 'k', 0)\nelse: " ADD, RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
}

/* After each number up to 32, and after some greater ones, of which the greatest are tried by random
 * interleavings: with `--audit 0` by runs of the client alone. */
Test(loops_check, a_fault_after_one_number_of_rounds_is_found)
{
	static const char *const numbers[] = { "n == 15", "n == 31", "n == 70",
					       "n > 0 and n % 16 == 0" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char work[100];

		snprintf(work, sizeof(work), "if %s: r('SET', 'k', 0)\nelse: " ADD, numbers[i]);
		check_lock("", "pass", work, RELEASE, 1, CLI_NOT_SERIALIZABLE);
	}
	check_lock("--audit 0", "pass", "if n == 64: r('SET', 'k', 0)\nelse: " ADD, RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
}

/* A right lock that says it was late, after every 16th refusal, is learned in a few searches. */
Test(loops_check, what_is_done_after_every_16th_round_is_learned)
{
	check_lock("", "pass", ADD "\nn % 16 or r('ECHO', 'late')", RELEASE, 0, CLI_SERIALIZABLE);
}

/* The verdict names the numbers of rounds that were tried, and no other. */
Test(loops_check, numbers_of_rounds_that_were_tried_are_named)
{
	check_lock("", "pass", ADD, RELEASE, 0, CLI_SERIALIZABLE);
	cli_assert_json(
		".loops == {followed: 100, left_after: ([range(1; 33)] + [40, 48, 64, 70, 100])}");
}

/* Beyond what a client was followed for, which the verdict names, nothing is claimed. */
Test(loops_check, who_changes_its_mind_later_than_said_is_not_found)
{
	check_lock("", "if n == 150: r('SET', 'lock', me); break", ADD, RELEASE, 0,
		   "loops.followed: 100");
}

/* ---- A new token for each attempt ---------------------------------------------- */

#define FRESH "me = raw.token()"

Test(loops_check, a_lock_with_a_fresh_token_each_time_is_right)
{
	check_lock("", FRESH, ADD, RELEASE, 0, "states: 30");
	check_lock("", "me = 'the-fourth' if n > 2 else raw.token()", ADD, RELEASE, 0,
		   CLI_SERIALIZABLE);
}

Test(loops_check, a_fresh_token_does_not_hide_what_is_wrong)
{
	check_lock("", FRESH "; n == 12 and r('DEL', 'lock')", ADD, RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
	check_lock("", "first = me if n == 1 else first; " FRESH, ADD,
		   "if n > 0: me = first\n" RELEASE, 1, CLI_NOT_SERIALIZABLE);
}

/* What has given its name to the token after it is no new token when it is sent again. */
#define FIRST_AGAIN "first = me if n == 1 else first; me = first if n == 2 else raw.token()"

Test(loops_check, a_token_that_comes_back_is_no_new_one)
{
	check_lock("", FIRST_AGAIN, ADD, RELEASE, 0, CLI_SERIALIZABLE);
	check_lock("", FIRST_AGAIN, "if n > 0 and me == first: r('SET', 'k', 0)\nelse: " ADD,
		   RELEASE, 1, CLI_NOT_SERIALIZABLE);
}

/* The token before is on the server: the next one must have another name. */
Test(loops_check, a_token_that_is_kept_elsewhere_is_another_one)
{
	check_lock("--ignore last", "r('SET', 'last', me); " FRESH,
		   ADD "\nif r('EVAL', 'return redis.call(\"get\", \"last\") == ARGV[1]', 0, me): "
		       "r('SET', 'k', 0)",
		   RELEASE, 0, CLI_SERIALIZABLE);
}

/* There is no end to it because it counts, and calling its one token otherwise changes nothing. */
Test(loops_check, who_counts_and_has_a_token_is_not_followed_twice)
{
	check_lock("--rounds 2 --ignore asked", "r('SET', 'asked', n)", ADD, RELEASE, 2,
		   "search.limit: rounds");
	cli_assert_json(".starts <= 31");
}

/* Nobody looks at what INCR replies. Two replies are tested where a client has heard many, and also
 * where they were heard before anybody tested one: each test is a run or more. */
Test(loops_check, replies_that_do_not_matter_are_not_all_tested)
{
	cli_write("count.py", "%s",
		  "import raw\nr = raw.Connection()\nfor _ in range(8): r('INCR', 'n')\n");
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --no-cache -- " CLI_PYTHON
			     "count.py 2>&1"),
		     0, "%s", cli_output);
	cli_assert_json(".search.verdict == \"serializable\" and .states == 81");
	cli_assert_json(".learned | .states == 9 and .tests <= 120");
}

/* Who hears that nothing is left ends, behind one round as behind six: by that alone the rounds
 * would be one state, and there would be no end to what is counted. */
Test(loops_check, rounds_that_are_counted_are_told_apart_by_all_that_is_left)
{
	cli_write("b.redis", "SET b 9\n");
	cli_write("budget.py", "%s",
		  "import raw\nr = raw.Connection()\nfor _ in range(7):\n"
		  "    if r('DECR', 'b') < 0: break\n    r('INCR', 'sold')\n");
	cr_assert_eq(
		cli_run("$REDRACE check -o $HERE/result.json --no-cache --starts 1500 --init $HERE/b.redis -- " CLI_PYTHON
			"budget.py 2>&1"),
		1, "%s", cli_output);
	cli_assert_property("search.verdict", "not_serializable");
}

/* None of three replies matters by itself: each is assumed to be like others, and no single walk says
 * more. All three are heard where pairs are. */
Test(loops_check, replies_that_matter_together_are_heard_together)
{
	cli_write("saw.py", "%s",
		  "import raw, sys\nr = raw.Connection()\n"
		  "if sys.argv[1] == 'A':\n    for _ in range(10): r('INCR', 'n')\n"
		  "elif [r('GET', 'n') for _ in 'abc'] == ['2', '5', '8']: r('SET', 'saw', 1)\n");
	cr_assert_eq(
		cli_run("$REDRACE check -o $HERE/result.json --no-cache --client A='" CLI_PYTHON
			"saw.py A' "
			"--client B='" CLI_PYTHON "saw.py B' 2>&1"),
		1, "%s", cli_output);
	cli_assert_property("search.verdict", "not_serializable");
}

/* Who crashes leaves a lock that would run out, were it not for a client that asks by putting
 * its lease off: it waits for ever. */
Test(loops_check, who_asks_and_puts_the_lease_off_makes_no_progress)
{
	cli_write("asks.py", "%s",
		  "import raw\nr = raw.Connection()\n"
		  "while r('PEXPIRE', 'lock', 10000) == 1: pass\nr('SET', 'k', 1)\n");
	cr_assert_eq(
		cli_run("$REDRACE check -o $HERE/result.json --audit 2 --crashes 1 --client A='redis-cli -p "
			"$REDIS_PORT SET lock 1 PX 10000; redis-cli -p $REDIS_PORT DEL lock' "
			"--client B='" CLI_PYTHON "asks.py' 2>&1"),
		1, "%s", cli_output);
	cli_assert_property("search.verdict", "no_progress");
}

/* What tells two histories apart was heard on one connection; a state that is tried with it waits
 * for a message on the other. */
Test(loops_check, who_remembers_and_then_listens_is_followed)
{
	cli_write("listens.py", "%s",
		  "import raw, select\nr, s, n = raw.Connection(), raw.Connection(), 0\n"
		  "while r('SETNX', 'lock', 1) == 0: n += 1\n"
		  "r('INCR', 'late' if n > 3 else 'soon')\n"
		  "s('SUBSCRIBE', 'go')\n"
		  "while r('EXISTS', 'done') == 0: select.select([s.socket], [], [], 1)\n");
	cr_assert_eq(
		cli_run("$REDRACE check -o $HERE/result.json --audit 2 --client A='redis-cli -p $REDIS_PORT SETNX "
			"lock 1; redis-cli -p $REDIS_PORT DEL lock; redis-cli -p $REDIS_PORT "
			"SET done 1' --client B='" CLI_PYTHON "listens.py' 2>&1"),
		1, "%s", cli_output);
	cli_assert_property("search.verdict", "not_serializable");
}

/* What a client does after many replies together, none of which it has heard alone: those that it hears
 * when clients take turns. */
Test(loops_check, who_counts_many_replies_is_followed_where_clients_take_turns)
{
	cli_write("counts.py", "%s",
		  "import raw\nr = raw.Connection()\n"
		  "if raw.me == 'A':\n"
		  "    for i in range(5): r('SET', 'x', 1); r('SET', 'x', 0)\n"
		  "    r('INCR', 'c')\n"
		  "else:\n"
		  "    v = [int(r('GET', 'x') or 0) for i in range(10)]\n"
		  "    if sum(v[i] != v[i + 1] for i in range(9)) >= 9:\n"
		  "        n = int(r('GET', 'c') or 0); r('SET', 'c', n + 1)\n"
		  "    else: r('INCR', 'c')\n");
	cr_assert_eq(cli_run("$REDRACE check -- " CLI_PYTHON "counts.py 2>&1"), 1, "%s",
		     cli_output);
}

/* ---- Rounds of which each hears something new -------------------------------------- */

/* The window's counter grows for as long as its first client is slow, in each round of the others. */
static void check_window(const char *options, int n, int code, const char *filter)
{
	cr_assert_eq(cli_run("cc -o $HERE/window tests/check/programs/window.c -lhiredis 2>&1"), 0,
		     "%s", cli_output);
	cr_assert_eq(
		cli_runf("$REDRACE check --no-cache %s -o $HERE/result.json -- $HERE/window %d "
			 "2>&1",
			 options, n),
		code, "%s", cli_output);
	cli_assert_json(filter);
}

Test(loops_check, who_hears_a_larger_number_each_time_is_followed)
{
	check_window("", 0, 0,
		     ".search.verdict == \"serializable\" and "
		     ".rounds_without_end == 32");
	check_window("--rounds 2", 0, 2,
		     ".search.limit == \"rounds\" and .rounds_without_end == 2");
}

Test(loops_check, who_changes_its_mind_at_a_larger_number_is_found)
{
	check_window("--skeptic off", 30, 1, ".search.exit == 1");
	check_window("--skeptic off --rounds 8", 30, 2, ".search.limit == \"rounds\"");
}
