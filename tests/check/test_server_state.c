/* SPDX-License-Identifier: MIT */
/*
 * redrace check with programs whose commands ask for what a server keeps besides data, and
 * with those that wait. What is true of each is what a real server answers in the
 * order that its comment says; every finding is played on one before it is printed.
 */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(server_state, .init = cli_setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --audit 2 -o $HERE/result.json "

/* A program in Python; `r` is its connection. */
static void write_program(const char *name, const char *text)
{
	cli_write(name, "import raw\nr = raw.Connection()\n%s\n", text);
}

/* Two clients that do the same. */
static void check_one(const char *options, const char *text, int code, const char *part)
{
	write_program("both.py", text);
	cr_assert_eq(cli_runf(CHECK "%s -- sh -c \"" CLI_PYTHON "both.py\" 2>&1", options), code,
		     "%s: %s", text, cli_output);
	cli_assert_outcome(code, part);
}

static void check_two(const char *options, const char *a, const char *b, int code, const char *part)
{
	write_program("a.py", a);
	write_program("b.py", b);
	cr_assert_eq(cli_runf(CHECK "%s --client A=\"" CLI_PYTHON "a.py\" --client B=\"" CLI_PYTHON
				    "b.py\" 2>&1",
			      options),
		     code, "%s; %s: %s", a, b, cli_output);
	cli_assert_outcome(code, part);
}

/* ---- Connections ---------------------------------------------------------------------- */

/* Connections are numbered in the order in which they are opened, by 5 and 6 or 5 and 7:
 * two clients may or may not count in the same place. */
Test(server_state, a_choice_by_client_id_is_not_deterministic)
{
	check_one("",
		  "shard = r('CLIENT', 'ID') % 2\n"
		  "r('SET', 'n%d' % shard, int(r('GET', 'n%d' % shard) or 0) + 1)",
		  65, "'GET n");
	check_one("", "r('INCR', 'odd' if r('CLIENT', 'ID') % 2 else 'even')", 65, "'INCR odd'");
}

/* As a name it is one's own. */
Test(server_state, a_client_may_be_named_by_its_id)
{
	check_one("",
		  "me = str(r('CLIENT', 'ID'))\n"
		  "while r('SET', 'lock', me, 'NX', 'PX', 10000) is None: pass\n"
		  "r('SET', 'n', int(r('GET', 'n') or 0) + 1)\n"
		  "if r('GET', 'lock') == me: r('DEL', 'lock')",
		  0, CLI_SERIALIZABLE);
	check_one("",
		  "me = str(r('CLIENT', 'ID'))\n"
		  "if r('SET', 'lock', me, 'NX') == 'OK': r('SET', 'winner', r('GET', 'lock'))",
		  0, CLI_SERIALIZABLE);
}

/* Somebody connects to the ports that programs say, and sends what would be a finding: the
 * programs wait until he has. At one that was started ahead he is heard later. */
Test(server_state, strangers_are_refused_and_named)
{
	write_program("waits.py",
		      "import os, time\n"
		      "port = os.environ['REDIS_PORT']\n"
		      "here = os.environ['HERE']\n"
		      "open(here + '/port.' + port, 'w').close()\n"
		      "while not os.path.exists(here + '/said.' + port): time.sleep(0.01)\n"
		      "r('INCR', 'n')");
	cli_write("stranger.sh", "%s",
		  "exec 3<>/dev/tcp/127.0.0.1/$1 && printf 'SET x %s\\r\\n' $1 >&3\n"
		  ": >$HERE/said.$1; read -r answer <&3\n");
	cr_assert_eq(
		cli_run("cp \"$(command -v bash)\" $HERE/stranger; "
			"(until [ -e $HERE/end ]; do for f in $HERE/port.*; do p=${f##*.}; "
			"[ ! -e $f ] || [ -e $HERE/said.$p ] || { "
			"{ timeout 20 $HERE/stranger $HERE/stranger.sh $p >/dev/null 2>&1; : >$HERE/said.$p; } & "
			"until [ -e $HERE/said.$p ]; do sleep 0.01; done; }; "
			"done; sleep 0.01; done) & " CHECK
			"--allow-outside $HERE --clients 2 -- sh -c \"" CLI_PYTHON
			"waits.py\" 2>&1; code=$?; touch $HERE/end; wait; "
			"exit $code"),
		0, "%s", cli_output);
	cli_assert_property("search.verdict", "serializable");
	cli_assert_json(".strangers | .n > 0 and (.first | contains(\"(stranger)\"))");
}

/* Its own processes may be in other groups, and have another environment. */
Test(server_state, children_in_other_groups_are_no_strangers)
{
	cr_assert_eq(cli_run(CHECK
			     "-- sh -c '(timeout 600 redis-cli -p $REDIS_PORT INCR n; setsid -w "
			     "redis-cli -s $REDIS_SOCKET INCR n; setsid -w env -i $(command -v "
			     "redis-cli) -p $REDIS_PORT INCR n) >/dev/null' 2>&1"),
		     0, "%s", cli_output);
	cli_assert_property("search.verdict", "serializable");
	cli_assert_property("strangers", "null");
}

/* ---- Scripts ---------------------------------------------------------------------------- */

#define DRAW(SCRIPT)                         \
	"r('SADD', 's', *'abcdefgh')\n"      \
	"x = r('EVAL', \"" SCRIPT "\", 0)\n" \
	"r('SET', 'x', str(x))"

/* Two servers answer them differently, and so does one that is asked twice. */
Test(server_state, scripts_that_draw_are_random_commands)
{
	static const char random[] = "EVAL was answered in two ways, because its reply is random";

	check_one("", DRAW("return redis.call('SRANDMEMBER', 's')"), 65, random);
	check_one("", DRAW("redis.call('SET', 'k', redis.call('spop', 's'))"), 65, random);
	check_one("", DRAW("return tostring(math.random())"), 65, random);
	check_one("",
		  "r('SADD', 's', 'a')\n"
		  "r('EVAL', \"return redis.call('SRANDMEMBER', 's')\", 0)",
		  2, "search.limit: random_replies");
}

#define SCRIPT "return redis.call('INCR', 'runs')"

/* As bee-queue does. Both may ask before either has loaded it, and a server then says 0 to
 * both; in a serial order the second is told 1. */
Test(server_state, which_scripts_a_server_knows_is_state)
{
	static const char asks[] = "import hashlib\n"
				   "sha = hashlib.sha1(b\"" SCRIPT "\").hexdigest()\n"
				   "if r('SCRIPT', 'EXISTS', sha) == [0]:\n"
				   "    r('INCR', 'loads')\n"
				   "    assert r('SCRIPT', 'LOAD', \"" SCRIPT "\") == sha\n"
				   "r('EVALSHA', sha, 0)";

	check_one("--data-only", asks, 1, "final_data: loads = \"2\"");
	cli_assert_line("nearest_serial_data", "loads = \"1\"");
}

/* As ioredis does: EVAL makes a script known, too, and only who comes before it misses it. A
 * search that has found that out anew shows a schedule that a new server plays. */
Test(server_state, a_script_that_was_sent_in_full_is_known)
{
	static const char sends[] = "import hashlib\n"
				    "sha = hashlib.sha1(b\"" SCRIPT "\").hexdigest()\n"
				    "if isinstance(r('EVALSHA', sha, 0), Exception):\n"
				    "    r('EVAL', \"" SCRIPT "\", 0)\n";
	char counts[400];

	check_one("", sends, 0, CLI_SERIALIZABLE);
	snprintf(counts, sizeof(counts), "%s    r('INCR', 'misses')", sends);
	check_one("", counts, 1, "final_data: misses = \"2\"");
	snprintf(counts, sizeof(counts), "%sr('SET', 'n', int(r('GET', 'n') or 0) + 1)", sends);
	check_one("", counts, 1, "final_data: n = \"1\"");
}

/* Whoever is told NOSCRIPT sends the script, unless it is flushed in between: the server
 * says NOSCRIPT to the second EVALSHA, too. */
Test(server_state, scripts_that_are_flushed_are_gone)
{
	check_two("",
		  "import hashlib\n"
		  "sha = hashlib.sha1(b\"" SCRIPT "\").hexdigest()\n"
		  "r('SCRIPT', 'LOAD', \"" SCRIPT "\")\n"
		  "if isinstance(r('EVALSHA', sha, 0), Exception): r('SET', 'gone', 1)",
		  "r('SCRIPT', 'FLUSH')", 1, "final_data: gone = \"1\"");
	check_one("",
		  "r('EVAL', \"" SCRIPT "\", 0)\n"
		  "r('SCRIPT', 'FLUSH')",
		  0, CLI_SERIALIZABLE);
}

/* ---- The protocol --------------------------------------------------------------------- */

/* A line may have quotes: the value is "b c", as MONITOR of a server shows. */
Test(server_state, lines_with_quotes_are_read_as_servers_do)
{
	check_one("",
		  "r.socket.sendall(b'GET \"the count\"\\r\\n')\n"
		  "n = int(r.read() or 0)\n"
		  "r.socket.sendall(b'SET \"the count\" \\'%d\\'\\r\\n' % (n + 1))\n"
		  "r.read()",
		  1, "final_data: the count = \"1\"");
	check_one("", "r.socket.sendall(b'SET \"a 1\\r\\n')\nr.read()", 65, "client A");
}

/* ---- Waiting ---------------------------------------------------------------------------- */

/* The key has 5 s, and WAIT gives up after 100 ms: the value is still there. */
Test(server_state, wait_counts_milliseconds)
{
	check_one("--clients 1 --final 'GET lost' '(nil)'",
		  "r('SET', 'k', 1, 'PX', 5000)\n"
		  "r('WAIT', 1, 100)\n"
		  "if r('GET', 'k') is None: r('SET', 'lost', 1)",
		  0, CLI_SERIALIZABLE);
}

/* An XREAD that is blocked when the entry comes gets it, and the reader says so before the
 * writer has ended: 1. In both serial orders it waits in vain. */
Test(server_state, the_last_id_of_a_stream_is_that_when_it_was_asked_for)
{
	static const char write[] = "r('XADD', 's', '1-1', 'a', 'b')\nr('GET', 'got')";

	check_two("",
		  "x = r('XREAD', 'BLOCK', 1000, 'STREAMS', 's', '$')\n"
		  "r('SET', 'got', 1 if x else 0)",
		  write, 1, "final_data: got = \"1\"");
	check_two("",
		  "x = r('XREAD', 'BLOCK', 1000, 'STREAMS', 't', 's', '$', '$')\n"
		  "r('SET', 'got', str(x))",
		  write, 1, "final_data: got = \"[['s', [['1-1', ['a', 'b']]]]]\"");
}

/* It is served by the first entry, and hears of no other. */
Test(server_state, a_blocked_xread_is_served_at_once)
{
	check_two("",
		  "x = r('XREAD', 'BLOCK', 1000, 'STREAMS', 's', '$')\n"
		  "if x and len(x[0][1]) > 1: r('SET', 'many', 1)",
		  "r('XADD', 's', '1-1', 'a', 'b')\n"
		  "r('XADD', 's', '1-2', 'a', 'b')",
		  0, CLI_SERIALIZABLE);
}

/* Nothing says that the other is fast enough: after a second BLPOP is over, wherever the
 * other is. So b was read before it was set, and got is 0. */
Test(server_state, a_blocking_command_may_time_out_where_others_are_slow)
{
	check_two("",
		  "x = r('BLPOP', 'q', 1)\n"
		  "if x is None: r('SET', 'late', r('GET', 'b') or 'none')",
		  "r('SET', 'b', 1)\n"
		  "r('RPUSH', 'q', 'x')",
		  1, "final_data: late = \"1\"");
}

/* Whenever that is, entries have the ids of that time: they are no difference. And who waits
 * until a time comes to an end. */
Test(server_state, a_time_out_is_in_no_data)
{
	check_two("--data-only", "r('BLPOP', 'q', 1)", "r('XADD', 's', '*', 'a', 'b')", 0,
		  CLI_SERIALIZABLE);
	check_two("--data-only",
		  "import time\n"
		  "end = time.time() + 3\n"
		  "while time.time() < end: r('BLPOP', 'q', 1)",
		  "r('INCR', 'n')", 0, CLI_SERIALIZABLE);
}

/* All of them, and what is found then is played again by a race. */
Test(server_state, what_follows_a_time_out_is_played_again)
{
	static const char *const commands[] = { "BLPOP q 1",
						"BLMOVE a b LEFT LEFT 1",
						"BLMPOP 1 1 q LEFT",
						"BZPOPMIN z 0.5",
						"WAIT 1 100",
						"XREAD BLOCK 100 STREAMS s $",
						"XREADGROUP GROUP g me BLOCK 100 STREAMS s >" };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char text[300];

		snprintf(text, sizeof(text),
			 "r('XGROUP', 'CREATE', 's', 'g', '$', 'MKSTREAM')\n"
			 "r(*'%s'.split())\n"
			 "r('SET', 'n', int(r('GET', 'n') or 0) + 1)",
			 commands[i]);
		check_one("", text, 1, "final_data: n = \"1\"");
	}
}

/* In a transaction a server answers nothing at once, neither PING nor INFO. */
Test(server_state, what_is_queued_is_answered_by_exec)
{
	check_one("",
		  "r('MULTI')\n"
		  "assert r('PING') == 'QUEUED' and r('ECHO', 'x') == 'QUEUED'\n"
		  "assert r('EXEC') == ['PONG', 'x']",
		  0, CLI_SERIALIZABLE);
	check_one("", "r('MULTI')\nr('CLIENT', 'ID')", 65, "sent CLIENT ID");
}

/* All that a server of 7.0 knows was tried: these would be answered differently each time,
 * or tell of more than the data. */
Test(server_state, what_cannot_be_judged_is_refused_by_name)
{
	static const char *const commands[] = { "ACL GENPASS",   "SLOWLOG LEN",  "LATENCY RESET",
						"CLIENT LIST",   "CLIENT KILL",  "CLIENT REPLY",
						"INFO keyspace", "SCRIPT DEBUG", "REPLCONF ACK" };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char text[100], told[100];

		snprintf(text, sizeof(text), "r(*'%s'.split())", commands[i]);
		snprintf(told, sizeof(told), "client A sent %s, which redrace check cannot judge",
			 commands[i]);
		check_one("--clients 1", text, 65, told);
	}
}

/* A server that is no part of a cluster says so. */
Test(server_state, what_a_server_refuses_is_refused_in_its_words)
{
	check_one(
		"",
		"assert 'cluster support disabled' in str(r('READONLY'))\n"
		"assert 'unknown subcommand' in str(r('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')).lower()\n"
		"r('INCR', 'n')",
		0, CLI_SERIALIZABLE);
}

/* Which part of a table a cursor leads to is the same for the same data. */
Test(server_state, lists_by_cursor_are_not_random)
{
	check_one("--data-only",
		  "r('HSET', 'h', 'a', 1)\n"
		  "r('INCRBY', 'n', len(r('HSCAN', 'h', 0)[1]))",
		  0, CLI_SERIALIZABLE);
}
