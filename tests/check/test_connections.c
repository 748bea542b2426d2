/* SPDX-License-Identifier: MIT */
/* redrace check with programs that use many connections, long pipelines, other databases
 * and the commands that are about connections. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(connections_check, .init = cli_setup, .fini = cli_teardown);

/* Some count their runs in a file. */
#define CHECK "$REDRACE check --audit 2 -o $HERE/result.json --allow-outside $HERE "
#define NODE "NODE_PATH=$PWD/build/peers/node_modules "

static void check_file(const char *options, const char *interpreter, const char *text, int code)
{
	cli_write("connected", "%s", text);
	cr_assert_eq(cli_runf(NODE CHECK "%s -- %s $HERE/connected 2>&1", options, interpreter),
		     code, "%s", cli_output);
}

static void check_python(const char *options, const char *text, int code)
{
	if (cli_run("/usr/bin/python3 -c 'import redis'") != 0)
		cli_skip("redis-py is not installed");
	check_file(options, "/usr/bin/python3", text, code);
}

/* ---- Many connections ------------------------------------------------------------- */

#define POOL(N, WORK)                                                                               \
	"import os, redis, threading\n"                                                             \
	"pool = redis.BlockingConnectionPool.from_url(os.environ['REDIS_URL'], max_connections=" #N \
	")\n"                                                                                       \
	"r = redis.Redis(connection_pool=pool)\n"                                                   \
	"def work(i):\n"                                                                            \
	"    " WORK "\n"                                                                            \
	"threads = [threading.Thread(target=work, args=(i,)) for i in range(" #N ")]\n"             \
	"for t in threads: t.start()\n"                                                             \
	"for t in threads: t.join()\n"

/* Commands of two threads come in all orders, also within one client; but what a client
 * does alone is no finding, for serial orders have it too. */
Test(connections_check, threads_of_one_client_race_with_those_of_others)
{
	check_python("--clients 1", POOL(2, "r.set('c', int(r.get('c') or 0) + 1)"), 0);
	cli_assert_property("search.verdict", "serializable");
	check_python("--clients 2", POOL(2, "r.incr('c')"), 0);
	cli_assert_property("search.verdict", "serializable");
	check_python("--clients 2", POOL(2, "r.set('c', int(r.get('c') or 0) + 1)"), 1);
	cli_assert_property("final_data", "c = \"1\"");
}

/* Whose turn it is with a connection that two threads share is up to the kernel: in every second
 * run it is the other one's. */
Test(connections_check, threads_that_share_a_connection_are_not_deterministic)
{
	static const char shared[] = "import os, redis, threading\n"
				     "r = redis.Redis.from_url(os.environ['REDIS_URL']).client()\n"
				     "lock = threading.Lock()\n"
				     "def work():\n"
				     "    with lock: v = int(r.get('c') or 0)\n"
				     "    with lock: r.set('c', v + 1)\n"
				     "threads = [threading.Thread(target=work) for _ in range(2)]\n"
				     "for t in threads: t.start()\n"
				     "for t in threads: t.join()\n";

	check_python("--no-cache --clients 1", shared, 65);
	cli_assert_names("client A");
	check_python("--no-cache --clients 2", shared, 65);
	cli_assert_names("client A");
}

/* Two connections are told apart by what they ask, also where one of them asks something else in
 * each run. */
Test(connections_check, a_random_value_does_not_tell_connections_apart)
{
	static const char two[] =
		"import os, socket, uuid\n"
		"where = os.environ['REDIS_HOST'], int(os.environ['REDIS_PORT'])\n"
		"one, other = (socket.create_connection(where) for _ in range(2))\n"
		"%s.sendall(b'SET token ' + uuid.uuid4().hex.encode() + b'\\r\\n')\n"
		"%s.sendall(b'GET price\\r\\n')\n"
		"one.recv(9), other.recv(9)\n";
	char text[400];

	snprintf(text, sizeof(text), two, "one", "other");
	check_file("--clients 1", "/usr/bin/python3", text, 0);
	snprintf(text, sizeof(text), two, "other", "one");
	check_file("--clients 1", "/usr/bin/python3", text, 0);
}

/* In which order an event loop hears what comes on two connections mostly does not matter. If it
 * does, that shows only at the end. */
Test(connections_check, the_order_of_two_connections_is_one_state_unless_it_matters)
{
	cr_assert_eq(cli_run("cc -O1 -o $HERE/two tests/check/programs/two_connections.c "
			     "-lhiredis 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "-- $HERE/two 3 2>&1"), 0, "%s", cli_output);
	cli_assert_json(".learned | .states == 17 and .merges == 9");
	cr_assert_eq(cli_run(CHECK "-- $HERE/two 3 remembers 2>&1"), 1, "%s", cli_output);
	cli_assert_line("final_data", "last = \"1\"");
}

/* A real server ends with 1 or 2, whichever connection of the only client is faster. */
Test(connections_check, what_serial_orders_do_wrong_is_said)
{
	check_file("", "sh",
		   "inc() { v=$(" CLI "GET counter); " CLI "SET counter $((v + 1)); }\n"
		   "inc & inc & wait\n",
		   1);
	cli_assert_json(".search.exit == 1 and .wrong_in_serial_orders != null");
	check_file("--final 'GET counter' 3", "sh", CLI "INCR counter", 1);
	cli_assert_json(".kinds == [\"not_as_expected\"] and .wrong_in_serial_orders != null");
	check_file("--check false", "sh", CLI "INCR counter", 1);
	cli_assert_json(".kinds == [\"not_as_expected\"] and .wrong_in_serial_orders != null");
	check_file("", "sh", "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))", 1);
	cli_assert_json(".kinds == [\"lost_update\"] and .wrong_in_serial_orders == null");
}

/* A race has room for twelve. */
Test(connections_check, a_client_may_have_sixteen_connections)
{
	static const char each[] =
		"for i in $(seq 9); do eval \"exec {fd}<>/dev/tcp/127.0.0.1/$REDIS_PORT\"; fds[i]=$fd; "
		"printf 'EXISTS x\\r\\n' >&$fd; read -r line <&$fd; done\n"
		"printf 'GET c\\r\\n' >&${fds[1]}; read -r v <&${fds[1]}; "
		"[ \"$v\" = $'$-1\\r' ] && v=0 || read -r v <&${fds[1]}\n"
		"printf \"SET c $((${v%$'\\r'} + 1))\\r\\n\" >&${fds[9]}; read -r line <&${fds[9]}\n";

	check_file("", "bash", each, 1);
	cli_assert_property("final_data", "c = \"1\"");
	check_file("", "bash",
		   "for i in $(seq 17); do eval \"exec {fd}<>/dev/tcp/127.0.0.1/$REDIS_PORT\"; "
		   "printf 'EXISTS x\\r\\n' >&$fd; read -r line <&$fd; done\n",
		   65);
	cli_assert_names("16 connections");
}

/* ---- Many commands ------------------------------------------------------------------ */

Test(connections_check, a_pipeline_may_have_a_thousand_commands)
{
	static const char pipeline[] =
		"exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT\n"
		"for i in $(seq %d); do echo \"SET k$((i %% 3)) $i\"; done >&3\n"
		"for i in $(seq %d); do read -r line <&3; done\n";
	char text[300];

	snprintf(text, sizeof(text), pipeline, 1000, 1000);
	check_file("--clients 1 --audit 1", "bash", text, 0);
	cli_assert_property("search.verdict", "serializable");
	snprintf(text, sizeof(text), pipeline, 5000, 5000);
	check_file("--clients 1", "bash", text, 65);
	cli_assert_names("4096 commands");
}

Test(connections_check, a_transaction_may_have_hundreds_of_commands)
{
	static const char transaction[] =
		"v=$(" CLI "GET k)\n"
		"(%sfor i in $(seq 70); do echo INCR k; done%s) | " REDIS_CLI "| tail -n 0"
		"\n"
		"[ \"$v\" ] || " CLI "SET first \"x$v\"\n";
	char text[300];

	snprintf(text, sizeof(text), transaction, "echo MULTI; ", "; echo EXEC");
	check_file("--data-only", "bash", text, 0);
	cli_assert_property("search.verdict", "serializable");
	/* One that is refused spoils it, however far after MULTI. */
	snprintf(text, sizeof(text), transaction, "echo MULTI; ", "; echo INCR; echo EXEC");
	check_file("--data-only", "bash", text, 0);
	cli_assert_property("search.verdict", "serializable");
}

/* ---- Databases ----------------------------------------------------------------------- */

Test(connections_check, other_databases_are_compared_and_shown)
{
	check_file("", "sh",
		   "v=$(redis-cli -u $REDIS_URL/1 GET c)\n"
		   "redis-cli -u $REDIS_URL/1 SET c $((v + 1))\n",
		   1);
	cli_assert_property("final_data", "db 1: c = \"1\"");
	cli_assert_property("nearest_serial_data", "db 1: c = \"2\"");
	check_file("", "sh", "redis-cli -u $REDIS_URL/1 INCR c\n", 0);
	check_file("", "sh", "redis-cli -n 2 -u $REDIS_URL SADD s \"x$REDRACE_CLIENT\"\n", 0);
}

Test(connections_check, databases_that_are_swapped_are_seen)
{
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "SWAPDB 0 1' --client B='" CLI "SET a 1; " CLI
				   "SET b 1' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_line("final_data", "db 1: a = \"1\"");
}

/* ---- About connections ------------------------------------------------------------------ */

Test(connections_check, commands_about_the_connection_are_answered)
{
	check_file(
		"", "bash",
		"exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT\n"
		"printf 'CLIENT GETNAME\\r\\nCLIENT SETNAME me\\r\\nCLIENT GETNAME\\r\\nPING\\r\\nHELLO 4\\r\\n' >&3\n"
		"for i in 1 2 3 4 5 6; do read -r line <&3; heard=\"$heard${line%?} \"; done\n"
		"[ \"$heard\" = '$-1 +OK $2 me +PONG -NOPROTO unsupported protocol version ' ] || exit 1\n"
		"[ $(" CLI "CLIENT ID) -gt 0 ] || exit 2\n" CLI "INCR x",
		0);
	cli_assert_property("search.verdict", "serializable");
}

/* Every second run stays for long between the two: what comes on a new connection is seen before
 * the end of the old one, and otherwise together with that. */
Test(connections_check, a_connection_that_is_closed_beside_a_new_one_is_over)
{
	check_python(
		"",
		"import os, socket\n"
		"def connect(): return socket.create_connection(('127.0.0.1', int(os.environ['REDIS_PORT'])))\n"
		"runs = os.path.dirname(os.path.abspath(__file__)) + '/runs'\n"
		"open(runs, 'a').write('.')\n"
		"is_slow = len(open(runs).read()) % 2\n"
		"old = connect(); old.sendall(b'GET x\\r\\n'); old.recv(100)\n"
		"new = connect()\n"
		"if is_slow:\n"
		"    new.sendall(b'INCR x\\r\\n')\n"
		"    for i in range(5000000): pass\n"
		"    old.close()\n"
		"else:\n"
		"    old.close(); new.sendall(b'INCR x\\r\\n')\n"
		"new.recv(100)\n",
		0);
	cli_assert_property("search.verdict", "serializable");
}

/* Random replies are no matter as long as there is nothing to choose from. */
Test(connections_check, random_replies_are_named)
{
	check_file("", "sh", CLI "SPOP s\n" CLI "RANDOMKEY", 2);
	cli_assert_property("search.limit", "random_replies");
	check_file("", "sh", CLI "SADD s a b c d e f g h\n" CLI "SET got $(" CLI "SPOP s)", 65);
	cli_assert_names("SPOP");
}

Test(connections_check, blocking_commands_wait_for_others)
{
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "BLMOVE a b LEFT LEFT 0' --client B='" CLI
				   "RPUSH a 1' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "BZPOPMIN z 0; " CLI
				   "INCR n' --client B='" CLI "ZADD z 1 m' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "BLPOP a 0' --client B='" CLI
				   "RPUSH b 1' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_property("search.verdict", "no_progress");
}
