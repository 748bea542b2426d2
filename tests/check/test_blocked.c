/* SPDX-License-Identifier: MIT */
/* redrace check with commands that block, and scripts that a server does not know: as on a real server. */
#include "../cli.h"

TestSuite(blocked, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

#define PYTHON CLI_PYTHON "program.py"

/* Two clients, A and B: what each does with its connection `r`. */
static void check_pair(const char *options, const char *a, const char *b, int code)
{
	cli_write("program.py",
		  "import raw\n"
		  "r = raw.Connection()\n"
		  "if raw.me == 'A':\n"
		  "    %s\n"
		  "else:\n"
		  "    %s\n",
		  a, b);
	cr_assert_eq(cli_runf("$REDRACE check --audit 4 %s -- " PYTHON " 2>&1", options), code,
		     "%s | %s: %s", a, b, cli_output);
}

static void check_worker(const char *worker, const char *options, int code)
{
	cli_write("worker.py", "import raw\nr = raw.Connection()\n%s\n", worker);
	cr_assert_eq(cli_runf("$REDRACE check --audit 4 --ready true %s --app '" CLI_PYTHON
			      "worker.py' --request 'redis-cli -u {url} LPUSH jobs x >/dev/null' "
			      "--request 'redis-cli -u {url} LPUSH jobs y >/dev/null' 2>&1",
			      options),
		     code, "%s: %s", worker, cli_output);
}

/* The one that became ready first is served, and not the first that is named. */
Test(blocked, of_several_keys_the_first_that_is_ready_is_served)
{
#define BOTH(first, second) \
	"r('MULTI'); r('" first "', 'b', '1'); r('" second "', 'a', '2'); r('EXEC')"
	check_pair("", BOTH("RPUSH", "RPUSH"), "r('SET', 'got', r('BLPOP', 'a', 'b', 0)[0])", 1);
	check_pair("", BOTH("LPUSH", "LPUSH"), "print(r('BLMPOP', 0, 2, 'a', 'b', 'LEFT')[0])", 1);
	check_pair("", BOTH("RPUSH", "RPUSH"), "r('SET', 'got', r('BLPOP', 'b', 'a', 0)[0])", 0);
	check_pair("", "r('MULTI'); r('ZADD', 'b', 1, 'x'); r('ZADD', 'a', 1, 'y'); r('EXEC')",
		   "print(r('BZPOPMIN', 'a', 'b', 0)[0])", 1);
	check_pair("", "r('EVAL', \"redis.call('RPUSH','b','1') redis.call('RPUSH','a','2')\", 0)",
		   "print(r('BRPOP', 'a', 'b', 0)[0])", 1);
}

/* A reader that waits is woken with an error when its stream goes, and with nothing when the entry
 * is gone again. */
Test(blocked, readers_of_streams_are_woken)
{
	cli_write("init", "XGROUP CREATE s g 0 MKSTREAM\n");
	check_pair("--init $HERE/init", "r('DEL', 's')",
		   "print('UNBLOCKED' in str(r('XREADGROUP', 'GROUP', 'g', 'b', 'BLOCK', 0, "
		   "'STREAMS', 's', '>')))",
		   1);
	check_pair("",
		   "r('MULTI'); r('XADD', 's', '1-1', 'a', 'b'); r('XTRIM', 's', 'MAXLEN', 0); "
		   "r('EXEC'); r('XADD', 's', '2-1', 'a', 'b')",
		   "print(len(r('XREAD', 'BLOCK', 0, 'STREAMS', 's', '0')[0][1]))", 1);
}

/* Who began to wait first is served first, and the one that pushes last is nobody's. */
Test(blocked, who_waits_first_is_served_first)
{
	cli_write("program.py",
		  "import raw\n"
		  "r = raw.Connection()\n"
		  "me = raw.me\n"
		  "if me == 'C':\n"
		  "    r('RPUSH', 'q', 'one'); r('RPUSH', 'q', 'two')\n"
		  "else:\n"
		  "    place = r('INCR', 'places'); print(place, r('BLPOP', 'q', 0)[1])\n");
	/* Its place and its job are taken in two steps. */
	cr_assert_eq(cli_run("$REDRACE check --clients 3 -- " PYTHON " 2>&1"), 1, "%s", cli_output);
	cli_write("program.py", "import raw\n"
				"r = raw.Connection()\n"
				"if raw.me == 'C':\n"
				"    r('RPUSH', 'q', 'one', 'two')\n"
				"else:\n"
				"    r('SADD', 'done', r('BLPOP', 'q', 0)[1])\n");
	cr_assert_eq(cli_run("$REDRACE check --clients 3 -- " PYTHON " 2>&1"), 0, "%s", cli_output);
}

Test(blocked, right_workers_wait_for_ever)
{
	check_worker("while True:\n    r('SADD', 'done', r('BRPOP', 'jobs', 0)[1])", "--apps 2", 0);
	check_worker("while True:\n    job = r('BLMOVE', 'jobs', 'busy', 'RIGHT', 'LEFT', 0)\n"
		     "    r('SADD', 'done', job)\n    r('LREM', 'busy', 1, job)",
		     "--apps 2", 0);
	check_worker("while True:\n    r('BRPOP', 'jobs', 0)\n"
		     "    r('SET', 'done', int(r('GET', 'done') or 0) + 1)",
		     "--apps 2", 1);
}

/* It waits, its connection is lost, and what comes before the server notices is lost with it. */
Test(blocked, a_lost_reply_takes_what_it_brought)
{
	static const char take[] =
		"job = r('BLPOP', 'jobs', 9)\n    if job: r('SET', 'done', job[1])";

	check_pair("--lost-replies 1 --data-only --allow-partial", "r('RPUSH', 'jobs', 'x')", take,
		   0);
	check_pair("--lost-replies 1 --data-only", "r('RPUSH', 'jobs', 'x')", take, 1);
}

/* The race that is drawn loses the job, too: the server notices after it has served the client. */
Test(blocked, a_lost_reply_is_played_as_it_was_found)
{
	check_pair("--lost-replies 1 --data-only --save $HERE/found.race",
		   "job = r('BLPOP', 'jobs', 9)\n    if job: r('SET', 'done', job[1])",
		   "r('RPUSH', 'jobs', 'x')", 1);
	cr_assert_eq(cli_run("$REDRACE play $HERE/found.race 2>&1"), 0, "%s", cli_output);
	cr_assert_eq(cli_run("grep -A1 '^B> RPUSH' $HERE/found.race | grep '^A < (lost)'"), 0, "%s",
		     cli_output);
	cr_assert_eq(cli_run("$REDRACE check --replay $HERE/found.race -- " PYTHON " 2>&1"), 1,
		     "%s", cli_output);
}

/* Both block, and only one of them has a time-out. */
Test(blocked, a_time_out_ends_beside_a_client_that_waits_for_ever)
{
	check_pair("", "r('BLPOP', 'a', 0)", "print(r('BLPOP', 'b', 1))", 1);
	check_pair("", "r('BLMOVE', 'a', 'b', 'LEFT', 'LEFT', 0)",
		   "print(r('XREAD', 'BLOCK', 500, 'STREAMS', 's', '$'))", 1);
}

/* A race beside it is found and played. */
Test(blocked, a_client_may_close_a_connection_while_a_command_blocks_there)
{
	static const char add[] = "r('SET', 'k', int(r('GET', 'k') or 0) + 1)";

	check_pair("",
		   "s = raw.Connection(); s.send('BLPOP', 'b', 0); r('PING'); s.file.close(); "
		   "s.socket.close(); r('SET', 'k', int(r('GET', 'k') or 0) + 1)",
		   add, 1);
}

/* Nothing has come for it yet, and nothing comes any more. */
Test(blocked, a_connection_may_be_lost_while_its_command_blocks)
{
	for (int i = 0; i < 2; i++) {
		cli_write("hand.race",
			  "title A lost connection\nshows it\nclients A B\nservers redis\n\n"
			  "%s"
			  "B> RPUSH jobs x => (integer) 1\n"
			  "B> LLEN jobs => (integer) 1\n\nverdict nothing broken\n",
			  i ? "A> BLPOP jobs 9 => (lost)\n" :
			      "A> BLPOP jobs 9 => (waits)\nA < (lost)\n");
		cr_assert_eq(cli_run("$REDRACE play $HERE/hand.race 2>&1"), 0, "%s", cli_output);
	}
}

/* The first one that asks for it by its hash is told so, and goes another way. */
Test(blocked, scripts_are_not_there_until_they_were_loaded)
{
#define HASH "__import__('hashlib').sha1(b\"return redis.call('INCR',KEYS[1])\").hexdigest()"
#define CALL "r('EVALSHA', " HASH ", 1, 'c')"
#define ADD "r('SET', 'c', int(r('GET', 'c') or 0) + 1)"
#define LOAD "r('SCRIPT', 'LOAD', \"return redis.call('INCR',KEYS[1])\")"
	static const char either[] = "x = " CALL "\n    if not isinstance(x, int):\n        " ADD
				     "; " LOAD;

	check_pair("", either, either, 1);
	/* The other one loads it for both. */
	check_pair("", LOAD "; " CALL, either, 1);
	check_pair("", LOAD "; " CALL, LOAD "; " CALL, 0);
}
