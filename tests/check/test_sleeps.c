/* SPDX-License-Identifier: MIT */
/* redrace check of programs that sleep: time goes on for all, and leases end meanwhile. */
#include "../cli.h"

TestSuite(sleeps, .init = cli_setup, .fini = cli_teardown, .timeout = 900);

#define PYTHON CLI_PYTHON "program.py"

struct sleeping {
	int code;
	char options[120];
	char text[900];
};

#define RMW "v = int(r('GET', 'c') or 0); r('SET', 'c', v + 1)\n"
#define RELEASE \
	"r('EVAL', \"if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0\", 1, 'l', me)\n"

static void check_programs(const struct sleeping *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cli_write("program.py",
			  "import sys, time, raw\n"
			  "r = raw.Connection(); me = raw.me\n"
			  "%s",
			  all[i].text);
		cr_assert_eq(cli_runf("$REDRACE check --audit 4 %s -- " PYTHON " 2>&1",
				      all[i].options),
			     all[i].code, "%s: %s", all[i].text, cli_output);
	}
}

#define CHECK_ALL(...)                                           \
	check_programs((const struct sleeping[]){ __VA_ARGS__ }, \
		       sizeof((const struct sleeping[]){ __VA_ARGS__ }) / sizeof(struct sleeping))

/* The lease is shorter than the work, which sleeps. */
Test(sleeps, a_lease_ends_while_its_holder_sleeps)
{
	CHECK_ALL(
		{ 1, "",
		  "while not r('SET', 'l', me, 'NX', 'PX', 3000): time.sleep(.1)\n"
		  "v = int(r('GET', 'c') or 0); time.sleep(5); r('SET', 'c', v + 1)\n" RELEASE },
		{ 1, "",
		  "if not r('SET', 'l', me, 'NX', 'PX', 700): sys.exit('busy')\n"
		  "v = int(r('GET', 'c') or 0); time.sleep(.8); r('SET', 'c', v + 1)\n" RELEASE });
}

/* Nobody's lease ends because another client sleeps, or because its holder is slow. */
Test(sleeps, a_lease_that_is_long_enough_holds)
{
	CHECK_ALL({ 0, "",
		    "while not r('SET', 'l', me, 'NX', 'PX', 8000): time.sleep(.1)\n"
		    "v = int(r('GET', 'c') or 0); time.sleep(5); r('SET', 'c', v + 1)\n" RELEASE },
		  { 0, "",
		    "for i in range(3):\n"
		    "    if r('SET', 'l', me, 'NX', 'PX', 3000): break\n"
		    "    time.sleep(2)\n"
		    "else: sys.exit('busy')\n" RMW RELEASE });
}

/* What a client has written for a time is gone after it. */
Test(sleeps, a_client_sleeps_out_its_own_keys)
{
	CHECK_ALL({ 0, "",
		    "r('SET', me, 1, 'EX', 2); time.sleep(3)\n"
		    "if r('GET', me):\n    " RMW "else: r('INCR', 'c')\n" },
		  { 0, "",
		    "r('SET', me, 1, 'EX', 10); time.sleep(6); r('INCR', 'n'); time.sleep(6)\n"
		    "if r('GET', me):\n    " RMW "else: r('INCR', 'c')\n" },
		  { 0, "",
		    "time.sleep(3); t = int(r('TIME')[0])\n"
		    "if abs(t - time.time()) > 2:\n    " RMW "else: r('INCR', 'c')\n" },
		  { 1, "",
		    "r('SET', me, 1, 'EX', 4); time.sleep(3)\n"
		    "if r('GET', me):\n    " RMW "else: r('INCR', 'c')\n" });
}

/* Also of a client that is slow while another one sleeps. */
Test(sleeps, the_server_and_a_slow_client_have_one_time)
{
	CHECK_ALL({ 0, "",
		    "a = int(r('TIME')[0]) - time.time(); time.sleep(3)\n"
		    "b = int(r('TIME')[0]) - time.time()\n"
		    "r('INCR', 'skewed' if abs(a - b) > 1 else 'n')\n" },
		  { 0, "",
		    "a = time.monotonic(); s = int(r('TIME')[0]); time.sleep(2)\n"
		    "r('SET', me, 1, 'EX', 60); time.sleep(2); t = int(r('TIME')[0])\n"
		    "r('INCR', 'n' if abs(t - s - (time.monotonic() - a)) < 1.5 else 'skewed')\n" },
		  { 1, "",
		    "a = int(r('TIME')[0]) - time.time(); time.sleep(3)\n"
		    "b = int(r('TIME')[0]) - time.time()\n"
		    "if abs(a - b) <= 1:\n    " RMW });
}

/* Nor has a client that begins after a pause read its clock before it. */
Test(sleeps, a_pause_before_the_first_command_is_no_time_of_the_client)
{
	CHECK_ALL({ 1, "--pauses 1",
		    "a = time.monotonic()\n"
		    "if not r('SET', 'l', 1, 'NX', 'EX', 10): sys.exit(1)\n"
		    "n = int(r('GET', 'n') or 0)\n"
		    "if time.monotonic() - a > 9: sys.exit(1)\n"
		    "r('SET', 'n', n + 1)\n" });
}

Test(sleeps, what_is_given_expires)
{
	cli_write("init", "SET l dead PX 5000\nSET cool 1 PX 2000\n");
	CHECK_ALL({ 0, "--init $HERE/init",
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000): time.sleep(.5)\n" RMW RELEASE },
		  { 0, "--init $HERE/init",
		    "t = r('PTTL', 'cool')\n"
		    "if t > 0: time.sleep(t / 1000 + .1)\n"
		    "if r('EXISTS', 'cool'):\n    " RMW "else: r('INCR', 'c')\n" });
}

/* A round that waits by a command with a time-out is where it was before it: time passes to the next
 * end for many rounds at once, and whoever has blocked shortly before may be served after it. */
Test(sleeps, rounds_that_block_are_folded)
{
	cli_write("init", "SET l dead PX 5000\n");
	CHECK_ALL({ 0, "--starts 800 --init $HERE/init",
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000): r('BLPOP', 'freed', 1)\n" RMW
			    RELEASE },
		  { 0, "--starts 800 --init $HERE/init",
		    "while r('GET', 'l'): r('XREAD', 'BLOCK', 700, 'STREAMS', 'wake', '0')\n"
		    "r('INCR', 'c')\n" },
		  { 1, "--starts 800 --init $HERE/init",
		    "while r('GET', 'l'): r('BZPOPMIN', 'wake', 1)\n" RMW },
		  { 1, "--starts 800 --init $HERE/init",
		    "if me == 'A':\n"
		    "    while r('GET', 'l'):\n"
		    "        if r('BLPOP', 'q', 1): r('SET', 'late', 1); sys.exit()\n"
		    "    r('INCR', 'c')\n"
		    "else:\n"
		    "    time.sleep(5.2); r('LPUSH', 'q', 1)\n" });
}

/* A client whose rounds have an end goes round as often as it does. */
Test(sleeps, rounds_that_block_and_are_counted_are_not_folded)
{
	cli_write("init", "SET l dead PX 5000\n");
	CHECK_ALL({ 1, "--init $HERE/init",
		    "for i in range(3):\n"
		    "    if r('SET', 'l', me, 'NX', 'PX', 9000): break\n"
		    "    r('BLPOP', 'freed', 1)\n"
		    "else: r('SET', 'l', me, 'PX', 9000)\n" RMW RELEASE },
		  { 0, "--clients 1 --final 'GET c' 1 --init $HERE/init",
		    "for i in range(20):\n"
		    "    if r('SET', 'l', me, 'NX', 'PX', 9000): break\n"
		    "    r('BLPOP', 'freed', 1)\n"
		    "else: sys.exit('busy')\n" RMW RELEASE },
		  { 0, "--clients 1 --final 'GET c' 1 --init $HERE/init",
		    "end = time.monotonic() + 9\n"
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000):\n"
		    "    if time.monotonic() > end: sys.exit('busy')\n"
		    "    r('BLPOP', 'freed', 1)\n" RMW RELEASE });
}

/* Whoever can act may still be late: all orders of commands and sleeps are there. */
Test(sleeps, no_client_waits_for_another_one_by_sleeping)
{
	CHECK_ALL({ 1, "",
		    "r('SET', 'ttl', 1, 'EX', 1000)\n"
		    "if r('GET', 'x'): sys.exit('busy')\n"
		    "r('SET', 'x', me); time.sleep(1)\n"
		    "if r('GET', 'x') != me: sys.exit('lost')\n" RMW "r('DEL', 'x')\n" },
		  { 1, "",
		    "if me == 'A':\n"
		    "    r('SET', 'job', 1, 'EX', 1000); time.sleep(.1)\n"
		    "    r('SET', 'result', r('GET', 'done') or 'none')\n"
		    "else:\n"
		    "    while r('GET', 'job') is None: time.sleep(.01)\n"
		    "    time.sleep(.05); r('SET', 'done', 1)\n" },
		  { 1, "",
		    "if me == 'A':\n"
		    "    r('SET', 'x', 1, 'EX', 1000); time.sleep(50); r('SET', 'x', 2)\n"
		    "else:\n"
		    "    a = r('GET', 'x'); time.sleep(20); b = r('GET', 'x')\n"
		    "    if a == '1' and b == '1': r('SET', 'twice', 1)\n" });
}

/* A slow client's key lasts for longer, whatever else runs on, also while a command blocks. */
Test(sleeps, a_client_is_slow_for_longer_than_its_key_lasts)
{
	CHECK_ALL(
		{ 1, "--refused 1 --ignore 't:*'",
		  "if me == 'A':\n"
		  "    r('SET', 't:a', 1, 'EX', 1); v = int(r('GET', 'c') or 0); r('SET', 'go', 1)\n"
		  "    r('SET', 'c', v + 1)\n"
		  "else:\n"
		  "    if not r('GET', 'go'): sys.exit(1)\n"
		  "    r('SET', 't:b', 1, 'EX', 10); time.sleep(3); r('INCR', 'c')\n" },
		{ 1, "--refused 1 --ignore 't:*'",
		  "if me == 'A':\n"
		  "    r('SELECT', 3); r('SET', 't:a', 1, 'EX', 1); v = int(r('GET', 'c') or 0)\n"
		  "    r('SET', 'go', 1); r('SET', 'c', v + 1)\n"
		  "else:\n"
		  "    r('SELECT', 3)\n"
		  "    if not r('GET', 'go'): sys.exit(1)\n"
		  "    r('SET', 't:b', 1, 'EX', 10); time.sleep(3); r('INCR', 'c')\n" },
		{ 1, "--refused 1 --ignore 't:*'",
		  "if me == 'A':\n"
		  "    r('SET', 't:a', 1, 'EX', 3); v = int(r('GET', 'c') or 0); r('SET', 'go', 1)\n"
		  "    r('SET', 'c', v + 1)\n"
		  "else:\n"
		  "    if not r('GET', 'go'): sys.exit(1)\n"
		  "    r('SET', 't:b', 1, 'EX', 100); r('BLPOP', 'q', 5); r('INCR', 'c')\n" },
		{ 0, "--refused 1 --ignore 't:*'",
		  "r('SET', me, 1, 'EX', 10)\n"
		  "for i in range(2): r('BLPOP', 'q', 6)\n"
		  "r('INCR', 'early' if r('GET', me) else 'c')\n" });
}

/* A client that watches would notice: then there is no yes. */
Test(sleeps, what_a_slow_client_would_do_later_is_named_where_keys_are_watched)
{
	CHECK_ALL(
		{ 2, "--refused 1 --ignore 't:*'",
		  "if me == 'A':\n"
		  "    r('SET', 't:a', 1, 'EX', 1); v = int(r('GET', 'd') or 0); r('SET', 'go', 1)\n"
		  "    r('SET', 'd', v + 1)\n"
		  "else:\n"
		  "    if not r('GET', 'go'): sys.exit(1)\n"
		  "    r('SET', 't:b', 1, 'EX', 10); r('WATCH', 'w'); time.sleep(3); r('INCR', 'c')\n" });
}

/* A serial order may begin a client at a time at which it did something, and let time pass before
 * that. Where no time has passed, none does there. */
Test(sleeps, a_serial_order_may_begin_later)
{
	cli_write("init", "SET l dead PX 5000\n");
	cli_write("cool", "SET cool 1 PX 2000\n");
	CHECK_ALL({ 0, "--init $HERE/init",
		    "end = time.monotonic() + 3\n"
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000):\n"
		    "    if time.monotonic() > end: sys.exit('busy')\n"
		    "    r('BLPOP', 'freed', 1)\n" RMW RELEASE },
		  { 0, "--init $HERE/cool",
		    "if me == 'A':\n"
		    "    r('GET', 'x'); time.sleep(3); r('INCR', 'n')\n"
		    "else:\n"
		    "    r('EVAL', \"redis.call('SET', 'saw', redis.call('EXISTS', 'cool') ..\"\n"
		    "      \" tostring(redis.call('GET', 'n'))) \", 3, 'saw', 'cool', 'n')\n" },
		  { 1, "--init $HERE/cool",
		    "if me == 'A':\n"
		    "    r('GET', 'x'); time.sleep(3); r('INCR', 'n')\n"
		    "else:\n"
		    "    saw = r('EXISTS', 'cool')\n"
		    "    r('SET', 'saw', '%s %s' % (saw, r('GET', 'n')))\n" },
		  { 1, "", "v = int(r('GET', 'd') or 0); r('SET', 'd', v + 1, 'EX', 2)\n" });
}

/* What is shown is no end that such a serial order has: here c is 2 in one. */
Test(sleeps, a_finding_is_no_end_of_a_serial_order_that_begins_later)
{
	cli_write("init", "SET t:l dead PX 2000\n");
	CHECK_ALL({ 1, "--init $HERE/init --ignore 't:*' -o $HERE/out.json",
		    "for i in range(2):\n"
		    "    if r('SET', 't:l', me, 'NX', 'EX', 2): break\n"
		    "    time.sleep(1)\n"
		    "else: sys.exit(1)\n"
		    "v = int(r('GET', 'c') or 0); time.sleep(5); r('SET', 'c', v + 1)\n"
		    "r('DEL', 't:l')\n" });
	cr_assert_eq(cli_run("jq -e '.cases[0].properties | .wrong_final_states == 1 and "
			     ".final_data == \"c = \\\"1\\\"\"' $HERE/out.json"),
		     0, "%s", cli_output);
}

/* A key whose time is over just when a sleep ends may still be there, also if somebody is slow. */
Test(sleeps, a_key_ends_just_when_a_sleep_ends)
{
	cli_write("init", "SET t:l dead PX 2000\n");
	CHECK_ALL(
		{ 1, "--init $HERE/init --ignore 't:*'",
		  "for i in range(2):\n"
		  "    if r('SET', 't:l', me, 'NX', 'EX', 2): break\n"
		  "    time.sleep(1)\n"
		  "else: sys.exit(1)\n"
		  "v = int(r('GET', 'c') or 0); time.sleep(5); r('SET', 'c', v + 1); r('DEL', 't:l')\n" });
}

/* Whose the ninth key is counts as well; beyond 32 there is no yes. */
Test(sleeps, whose_many_keys_are_is_known)
{
	CHECK_ALL(
		{ 0, "--ignore '?:*'",
		  "for i in range(12): r('SET', '%s:%d' % (me, i), 1, 'EX', 2)\n"
		  "r('INCR', 'c' if all(r('EXISTS', '%s:%d' % (me, i)) for i in range(12)) else 'x')\n"
		  "time.sleep(5)\n" },
		{ 2, "--ignore '?:*'",
		  "for i in range(20): r('SET', '%s:%d' % (me, i), 1, 'EX', 9)\n"
		  "time.sleep(5); r('INCR', 'c')\n" });
}

/* How long a key lasts still depends on when somebody asks: that is named, and is no finding. */
Test(sleeps, what_a_key_has_left_is_not_compared)
{
	CHECK_ALL({ 2, "",
		    "if not r('SET', 'cool', me, 'NX', 'EX', 30):\n"
		    "    print('held for another %d s' % r('TTL', 'cool')); sys.exit(0)\n"
		    "time.sleep(3); r('INCR', 'c')\n" },
		  { 2, "",
		    "if not r('SET', 'cool', me, 'NX', 'PX', 30000):\n"
		    "    r('SET', 'wait:' + me, r('PTTL', 'cool') / 1000); sys.exit(0)\n"
		    "time.sleep(3); r('INCR', 'c')\n" },
		  { 1, "",
		    "r('SET', 'cool', me, 'NX', 'EX', 30); v = int(r('GET', 'c') or 0)\n"
		    "time.sleep(3); r('SET', 'c', v + 1); r('SET', 'left', r('TTL', 'cool'))\n" });
}

/* A refresh is lost, whether it is the command that gave the key its time before or another one. What
 * passes after the last refresh is the same time in another order. */
Test(sleeps, a_lost_refresh_is_no_yes)
{
	CHECK_ALL({ 2, "--skeptic judge",
		    "if r('SET', 'first', 1, 'NX'):\n"
		    "    r('SET', 'k', 1, 'EX', 100); r('SET', 'busy', 1)\n"
		    "    time.sleep(50); r('DEL', 'busy')\n"
		    "elif not r('GET', 'busy'):\n"
		    "    r('SET', 'k', 1, 'EX', 100)\n" },
		  { 1, "--skeptic judge",
		    "if r('SET', 'first', 1, 'NX'):\n"
		    "    r('SET', 'k', 1, 'EX', 100); r('SET', 'busy', 1)\n"
		    "    time.sleep(150); r('DEL', 'busy')\n"
		    "elif not r('GET', 'busy'):\n"
		    "    r('SET', 'k', 1, 'EX', 100)\n" },
		  { 0, "--skeptic judge",
		    "r('SET', 'k', 1, 'EX', 100); time.sleep(50); r('INCR', 'n')\n" },
		  { 0, "--skeptic judge",
		    "if r('SET', 'k', 1, 'EX', 100, 'NX') is None: r('EXPIRE', 'k', 100)\n"
		    "time.sleep(50); r('INCR', 'n')\n" });
}

/* While a client waits for another its key grows older, or expires. */
Test(sleeps, a_key_may_expire_while_its_client_waits)
{
	CHECK_ALL({ 0, "--skeptic judge",
		    "r('SET', 'probe', 1, 'PX', 20)\n"
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000): time.sleep(.05)\n" RMW
		    "r('DEL', 'l')\n" },
		  { 0, "--skeptic judge",
		    "r('SET', 'probe' + me, 1, 'PX', 20)\n"
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000): time.sleep(.05)\n" RMW
		    "r('DEL', 'l')\n" },
		  { 0, "--skeptic judge",
		    "r('SET', 'seen', me, 'EX', 1)\n"
		    "while not r('SET', 'l', me, 'NX', 'PX', 9000): time.sleep(.05)\n"
		    "r('INCR', 'c'); time.sleep(.2); r('DEL', 'l')\n" });
}

/* Of keys that nobody compares but that end in another moment only what they were given counts. */
Test(sleeps, keys_that_have_been_there_for_another_time_are_the_same)
{
	CHECK_ALL({ 0, "--clients 3",
		    "r('SET', 'a:' + me, 1, 'EX', 60)\n"
		    "time.sleep({'A': 5, 'B': 3, 'C': 7}[me]); r('INCR', 'c')\n" },
		  { 1, "",
		    "t = 60 if r('GET', 'c') else 90\n"
		    "time.sleep(1); r('SET', 'a:' + me, 1, 'EX', t); r('INCR', 'c')\n" });
}

/* The clock of a client that begins late says so, before its first command, too. */
Test(sleeps, in_a_pause_a_client_begins_late)
{
	CHECK_ALL(
		{ 1, "--pauses 1",
		  "now = time.time()\n"
		  "if not r('SETNX', 'lock', now + 5) and float(r('GET', 'lock') or now + 5) > now:\n"
		  "    sys.exit('busy')\n" RMW },
		{ 0, "",
		  "now = time.time()\n"
		  "if not r('SETNX', 'lock', now + 5) and float(r('GET', 'lock') or now + 5) > now:\n"
		  "    sys.exit('busy')\n" RMW });
}
