/* SPDX-License-Identifier: MIT */
/*
 * redrace check with programs that send the time of day in each attempt. There is an end to what
 * they do where it stands still while they wait; what is wrong is found all the same, and what
 * waits for the time of day itself is followed with a clock that goes on, as before.
 */
#include "../cli.h"

#include <stdlib.h>
#include <string.h>

TestSuite(held_clock, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

#define HELD_TO_END "no_end"
#define ADD "r('SET', 'k', int(r('GET', 'k') or 0) + 1)"

/* Sends when it asks, waits after each refusal, and takes the lock back with `release`. */
static void check_lock(const char *options, const char *refused, const char *release, int code,
		       const char *part)
{
	cli_write("timed.py",
		  "import raw, random, time\n"
		  "r = raw.Connection()\n"
		  "ask = 'if redis.call(\"exists\", KEYS[1]) == 1 then return 0 end '\\\n"
		  "      'redis.call(\"hset\", KEYS[1], \"since\", ARGV[1]) return 1'\n"
		  "n, begun = 0, time.time()\n"
		  "while not r('EVAL', ask, 1, 'lock', time.time()):\n"
		  "    n += 1\n"
		  "    %s\n"
		  "" ADD "\n"
		  "%s\n",
		  refused, release);
	cr_assert_eq(cli_runf("$REDRACE check -o $HERE/result.json --audit 2 %s -- " CLI_PYTHON
			      "timed.py 2>&1",
			      options),
		     code, "%s: %s", refused, cli_output);
	cli_assert_outcome(code, part);
}

#define RELEASE "r('DEL', 'lock')"

Test(held_clock, a_lock_that_sends_the_time_is_right)
{
	check_lock("", "time.sleep(0.05)", RELEASE, 0, CLI_SERIALIZABLE);
	cli_assert_property("held_clock", HELD_TO_END);
}

Test(held_clock, so_is_one_that_pauses_at_random)
{
	check_lock("", "time.sleep(0.05 + random.random() / 100)", RELEASE, 0, CLI_SERIALIZABLE);
	cli_assert_property("held_clock", HELD_TO_END);
}

/* It says the time in a number of digits that depends on the pause: one is the beginning of
 * another, which is no part of it. What is said must not depend on that. */
Test(held_clock, pauses_of_few_lengths_change_nothing)
{
	for (int i = 0; i < 2; i++) {
		check_lock("--no-cache", "time.sleep((90 + random.randrange(21)) / 1000)", RELEASE,
			   0, CLI_SERIALIZABLE);
		cli_assert_property("held_clock", HELD_TO_END);
	}
}

/* There is an end to what it does, with any clock. The saved schedule knows that the clock was
 * held. */
Test(held_clock, who_takes_the_lock_by_force_is_found_and_played_again)
{
	static const char wrong[] = "time.sleep(0.05)\n    if n == 40: break";

	check_lock("", wrong, RELEASE, 1, CLI_NOT_SERIALIZABLE);
	check_lock("--hold-clock --save $HERE/f.race", wrong, RELEASE, 1, CLI_NOT_SERIALIZABLE);
	cli_assert_property("held_clock", "option");
	cr_assert_eq(cli_run("grep -q '^# redrace check .*--hold-clock' $HERE/f.race"), 0);
	check_lock("--replay $HERE/f.race", wrong, RELEASE, 1, CLI_NOT_SERIALIZABLE);
}

/* None that has read the clock behind its wait has come to its end, when it is asked whether any
 * has: they stand where they are. */
Test(held_clock, a_value_that_says_when_it_was_made_is_right)
{
	cli_write("made.py", "%s",
		  "import raw, time\n"
		  "r, me = raw.Connection(), raw.token()\n"
		  "if not r('GET', 'value'):\n"
		  "    while not r('SET', 'lock', me, 'NX'): time.sleep(0.1)\n"
		  "    if not r('GET', 'value'): r('SET', 'value', time.time())\n"
		  "    " RELEASE "\n");
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --audit 2 -- " CLI_PYTHON
			     "made.py 2>&1"),
		     0, "%s", cli_output);
	cli_assert_property("held_clock", HELD_TO_END);
}

/* Nobody reads what the other one publishes, until there is no room for more: that is so with a clock
 * that stands still, too. What was learned of loops then is not what the verdict rests on, and it is
 * not tested. */
Test(held_clock, what_a_search_has_learned_that_failed_does_not_count)
{
	cli_write("heard.py", "%s",
		  "import raw, time\n"
		  "r, s = raw.Connection(), raw.Connection()\n"
		  "s('SUBSCRIBE', 'go')\n"
		  "while not r('SET', 'lock', time.time(), 'NX'):\n"
		  "    r('PUBLISH', 'go', 'x')\n"
		  "    time.sleep(0.05)\n" ADD "\n" RELEASE "\n");
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --audit 2 -- " CLI_PYTHON
			     "heard.py 2>&1"),
		     2, "%s", cli_output);
	cli_assert_json(".loops == null and .starts < 100");
}

/* With a clock that stands still nobody would see that the time is over. */
Test(held_clock, who_takes_over_by_its_own_clock_is_found_before)
{
	check_lock("", "time.sleep(0.1)\n    if time.time() > begun + 0.15: break", RELEASE, 1,
		   CLI_NOT_SERIALIZABLE);
	cli_assert_property("held_clock", "null");
}

/* It waits for the time of day itself: what was found out with a clock that goes on stands. */
Test(held_clock, who_waits_for_the_time_of_day_is_followed_for_some_rounds)
{
	check_lock("",
		   "until = time.time() + 1\n"
		   "    while time.time() < until: time.sleep(0.1)",
		   RELEASE, 2, "search.limit: rounds");
	cli_assert_property("held_clock", "null");
}

/* ---- Times in the data -------------------------------------------------------------------- */

static void check_log(const char *write, int code, const char *part)
{
	cli_write("log.py",
		  "import raw, time\n"
		  "r = raw.Connection()\n"
		  "while r('SET', 'lock', 'x', 'NX') is None: time.sleep(0.05)\n"
		  "%s\n"
		  "r('DEL', 'lock')\n",
		  write);
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --audit 1 -- " CLI_PYTHON
			     "log.py 2>&1"),
		     code, "%s: %s", write, cli_output);
	cli_assert_outcome(code, part);
}

/* Whoever waits writes another time than whoever does not; so it prints. */
Test(held_clock, when_something_was_written_is_no_finding)
{
	check_log("now = time.time()\n"
		  "date = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(now))\n"
		  "r('RPUSH', 'log', int(now * 1000), date)\n"
		  "print('at', now)",
		  0, CLI_SERIALIZABLE);
}

/* What is wrong beside that is one. */
Test(held_clock, what_is_wrong_beside_a_time_is_found)
{
	check_log("r('DEL', 'lock')\n"
		  "n = int((r('GET', 'k') or '0').split()[0])\n"
		  "r('SET', 'k', f'{n + 1} {time.time()}')",
		  1, CLI_NOT_SERIALIZABLE);
}

/* ---- Leases that no server knows ------------------------------------------------- */

/* Who holds the lock, and until when, is its value. */
static void check_stamps(const char *options, int code, const char *part)
{
	cli_write("stamps.py", "%s",
		  "import raw, time\n"
		  "r = raw.Connection()\n"
		  "take = 'local ends = tonumber(redis.call(\"get\", KEYS[1]) or 0) '\\\n"
		  "       'if ends >= tonumber(ARGV[1]) then return 0 end '\\\n"
		  "       'redis.call(\"set\", KEYS[1], ARGV[1] + 5) return 1'\n"
		  "while not r('EVAL', take, 1, 'lock', int(time.time())): time.sleep(1)\n" ADD "\n"
		  "r('DEL', 'lock')\n");
	cr_assert_eq(cli_runf("$REDRACE check -o $HERE/result.json --audit 2 %s -- " CLI_PYTHON
			      "stamps.py 2>&1",
			      options),
		     code, "%s", cli_output);
	cli_assert_outcome(code, part);
}

Test(held_clock, a_lease_that_only_clients_know_ends_in_a_pause)
{
	check_stamps("", 0, CLI_SERIALIZABLE);
	check_stamps("--expiries 1", 0, CLI_SERIALIZABLE);
	cli_assert_property("has_leases", "false");
	check_stamps("--pauses 1", 1, "anomaly: lost update");
}
