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
			  "import os, sys, time, raw\n"
			  "r = raw.Connection(); me = os.environ['REDRACE_CLIENT']\n"
			  "%s",
			  all[i].text);
		cr_assert_eq(cli_runf("$REDRACE check --audit 4 %s -- env " PYTHON " 2>&1",
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
