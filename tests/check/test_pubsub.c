/* SPDX-License-Identifier: MIT */
/* redrace check with programs that publish and subscribe: in shell, redis-py, ioredis
 * and node-redis, as far as they are there. */
#include "../cli.h"

#include <stdio.h>

TestSuite(pubsub_check, .init = cli_setup, .fini = cli_teardown);

/* Whether somebody listened is what PUBLISH prints, and in a serial order nobody does. */
#define CHECK "$REDRACE check --audit 2 --data-only -o $HERE/result.json "
#define NODE "NODE_PATH=$PWD/build/peers/node_modules "
#define PYTHON "/usr/bin/python3 "
#define PUBLISHER "--client P='" CLI "SET job 1; " CLI "PUBLISH wake go' 2>&1"

static void check_subscriber(const char *interpreter, const char *mode, const char *others,
			     int code)
{
	cr_assert_eq(cli_runf(NODE CHECK "--client S='%s $HERE/subscriber %s' %s", interpreter,
			      mode, others),
		     code, "%s", cli_output);
}

static void need(const char *command, const char *what)
{
	if (cli_run(command) != 0)
		cli_skip("%s is not installed", what);
}

static void need_python(void)
{
	need(PYTHON "-c 'import redis'", "redis-py");
}

/* ---- In shell ------------------------------------------------------------------ */

/* Says what it hears: a confirmation for each channel, and what is published. */
#define OPEN "exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT\n"
#define HEAR "read -r line <&3; heard=\"$heard${line%?} \"\n"

Test(pubsub_check, each_channel_is_confirmed)
{
	cli_write(
		"subscriber", "%s",
		OPEN
		"printf 'SUBSCRIBE a b\\r\\n' >&3\n"
		"for i in $(seq 12); do " HEAR "done\n"
		"[ \"$heard\" = '*3 $9 subscribe $1 a :1 *3 $9 subscribe $1 b :2 ' ] || exit 1\n"
		"printf 'PING\\r\\nUNSUBSCRIBE a b\\r\\n' >&3; heard=\n"
		"for i in $(seq 17); do " HEAR "done\n"
		"[ \"$heard\" = '*2 $4 pong $0  *3 $11 unsubscribe $1 a :1 *3 $11 unsubscribe $1 b :0 ' ] || exit 1\n"
		"printf 'PING\\r\\n' >&3; heard=\n" HEAR "[ \"$heard\" = '+PONG ' ] || exit 1\n" CLI
		"INCR right");
	check_subscriber("bash", "", "--client O='" CLI "SET x 1' 2>&1", 0);
	cli_assert_property("search.verdict", "serializable");
}

/* What is left without having been subscribed to is confirmed, too, and may be read late. */
Test(pubsub_check, what_was_never_subscribed_is_left_all_the_same)
{
	cli_write("left.py", "%s",
		  "import raw\n"
		  "r = raw.Connection()\n"
		  "r('WATCH', 'w')\n"
		  "r('SUBSCRIBE', 'a')\n"
		  "heard = [r('UNSUBSCRIBE', 'a', 'b', 'c'), r.read(), r.read()]\n"
		  "assert [h[1] for h in heard] == ['a', 'b', 'c'], heard\n"
		  "r.send('UNSUBSCRIBE', 'd', 'e')\n"
		  "r.send('GET', 'n')\n"
		  "assert [r.read()[1], r.read()[1]] == ['d', 'e']\n"
		  "r('SET', 'n', int(r.read() or 0) + 1)\n");
	cr_assert_eq(cli_run(CHECK "-- " CLI_PYTHON "left.py 2>&1"), 1, "%s", cli_output);
	cli_assert_json(".search.verdict == \"not_serializable\" and "
			".wrong_final_states == 1 and .final_states == 2");
}

/* Whoever has left a shard's channel waits for no message: nothing will come. */
Test(pubsub_check, a_shard_that_is_left_is_listened_to_no_more)
{
	cli_write(
		"subscriber", "%s",
		OPEN
		"printf 'SSUBSCRIBE a\\r\\nSUNSUBSCRIBE a\\r\\n' >&3\n" HEAR
		"case $heard in -*) kill -STOP $$;; esac\n" /* before Redis 7 */
		"for i in $(seq 11); do " HEAR "done\n"
		"[ \"$heard\" = '*3 $10 ssubscribe $1 a :1 *3 $12 sunsubscribe $1 a :0 ' ] || exit 1\n" HEAR);
	check_subscriber("bash", "", "--client O='" CLI "SET x 1' --hangs-after 1 2>&1", 65);
	cli_assert_names("client S");
	cli_assert_names("--hangs-after");
}

/* Whoever is subscribed and is heard of no more is told of: how many got it. */
Test(pubsub_check, publish_counts_who_listens)
{
	cli_write("subscriber", "%s",
		  OPEN "printf 'SUBSCRIBE a\\r\\n' >&3\n"
		       "for i in $(seq 6); do " HEAR "done\n");
	check_subscriber("bash", "", "--client P='" CLI "SET got $(" CLI "PUBLISH a x)' 2>&1", 1);
	cli_assert_line("final_data", "got = \"1\"");
}

/* A subscriber that nobody wakes does not end. */
Test(pubsub_check, redis_cli_waits_for_messages_for_ever)
{
	cr_assert_eq(cli_run(CHECK
			     "--client S='redis-cli -p $REDIS_PORT SUBSCRIBE a' --client P='" CLI
			     "PUBLISH a x' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_property("search.verdict", "no_progress");
}

/* ---- A wake-up that is missed ------------------------------------------------------ */

static const char python_waiter[] = "import os, sys, redis\n"
				    "r = redis.Redis.from_url(os.environ['REDIS_URL'])\n"
				    "p = r.pubsub()\n"
				    "early = sys.argv[1] == 'early'\n"
				    "if early:\n"
				    "    p.subscribe('wake')\n"
				    "    p.get_message(timeout=None)\n"
				    "if r.get('job') is None:\n"
				    "    if not early:\n"
				    "        p.subscribe('wake')\n"
				    "    for m in p.listen():\n"
				    "        if m['type'] == 'message':\n"
				    "            break\n"
				    "r.incr('done')\n";

Test(pubsub_check, python_misses_a_wake_up_that_comes_before_it_subscribes)
{
	need_python();
	cli_write("subscriber", "%s", python_waiter);
	check_subscriber(PYTHON, "late", PUBLISHER, 1);
	cli_assert_property("search.verdict", "no_progress");
	cli_assert_json(".schedule | contains(\"B:PUBLISH A:SUBSCRIBE\")");
}

Test(pubsub_check, python_that_subscribes_first_is_woken)
{
	need_python();
	cli_write("subscriber", "%s", python_waiter);
	check_subscriber(PYTHON, "early", PUBLISHER, 0);
	cli_assert_property("search.verdict", "serializable");
}

static const char ioredis_waiter[] =
	"const Redis = require('ioredis');\n"
	"const sub = new Redis(process.env.REDIS_URL);\n"
	"const r = new Redis(process.env.REDIS_URL);\n"
	"const early = process.argv[2] === 'early';\n"
	"(async () => {\n"
	"  const woken = new Promise(wake => sub.on('message', wake));\n"
	"  if (early) await sub.subscribe('wake');\n"
	"  if (!await r.get('job')) {\n"
	"    if (!early) await sub.subscribe('wake');\n"
	"    await woken;\n"
	"  }\n"
	"  await r.incr('done');\n"
	"  sub.disconnect(); r.disconnect();\n"
	"})();\n";

static const char redis2_waiter[] =
	"const redis = require('redis'), url = process.env.REDIS_URL;\n"
	"const sub = redis.createClient(url), r = redis.createClient(url);\n"
	"const early = process.argv[2] === 'early';\n"
	"let over = false;\n"
	"function done() {\n"
	"  if (over) return;\n"
	"  over = true;\n"
	"  r.incr('done', () => { sub.quit(); r.quit(); });\n"
	"}\n"
	"function look(otherwise) {\n"
	"  r.get('job', (error, value) => value ? done() : otherwise());\n"
	"}\n"
	"sub.on('message', done);\n"
	"if (early) sub.subscribe('wake', () => look(() => {}));\n"
	"else look(() => sub.subscribe('wake'));\n";

Test(pubsub_check, node_misses_a_wake_up_that_comes_before_it_subscribes)
{
	need(NODE "node -e \"require('ioredis'); require('redis')\"", "ioredis or node-redis");
	cli_write("subscriber", "%s", ioredis_waiter);
	check_subscriber("node", "late", PUBLISHER, 1);
	cli_assert_property("search.verdict", "no_progress");
	cli_write("subscriber", "%s", redis2_waiter);
	check_subscriber("node", "late", PUBLISHER, 1);
	cli_assert_property("search.verdict", "no_progress");
}

/* Timers that do nothing stand for those by which Node looks after its memory: how many there are,
 * and when, differs from run to run. */
Test(pubsub_check, node_waits_for_what_it_does_and_not_for_timers_of_its_own)
{
	need("command -v node", "Node");
	cli_write(
		"subscriber", "%s",
		"const open = () => require('net').connect(process.env.REDIS_PORT, '127.0.0.1');\n"
		"open().write('SUBSCRIBE wake\\r\\n');\n"
		"for (let n = Math.random() * 4; n > 0; n--)\n"
		"  setTimeout(() => {}, 1000 + Math.random() * 8000);\n"
		"setTimeout(() => {\n"
		"  const other = open();\n"
		"  other.on('data', () => process.exit());\n"
		"  other.write('INCR right\\r\\n');\n"
		"}, 10000);\n");
	check_subscriber("node", "", "--client O='" CLI "SET x 1' 2>&1", 0);
	cli_assert_property("search.verdict", "serializable");
}

Test(pubsub_check, node_that_subscribes_first_is_woken)
{
	need(NODE "node -e \"require('ioredis'); require('redis')\"", "ioredis or node-redis");
	cli_write("subscriber", "%s", ioredis_waiter);
	check_subscriber("node", "early", PUBLISHER, 0);
	cli_write("subscriber", "%s", redis2_waiter);
	check_subscriber("node", "early", PUBLISHER, 0);
	cli_assert_property("search.verdict", "serializable");
}

/* ---- A cache that is invalidated --------------------------------------------------- */

static const char cache[] = "import os, sys, redis\n"
			    "r = redis.Redis.from_url(os.environ['REDIS_URL'])\n"
			    "p = r.pubsub(ignore_subscribe_messages=True)\n"
			    "p.subscribe('changed')\n"
			    "p.get_message(timeout=None)\n"
			    "cached = r.get('x')\n"
			    "r.blpop('end')\n"
			    "if sys.argv[1] == 'wait':\n"
			    "    while cached is None:\n"
			    "        p.get_message(timeout=None)\n"
			    "        cached = r.get('x')\n"
			    "elif p.get_message():\n"
			    "    cached = r.get('x')\n"
			    "r.set('copy', cached or 'none')\n";

#define WRITER "--client W='" CLI "SET x new; " CLI "PUBLISH changed x; " CLI "RPUSH end 1' 2>&1"

/* The message comes down another connection than the reply: perhaps later. */
Test(pubsub_check, a_message_may_come_behind_the_reply_of_another_connection)
{
	need_python();
	cli_write("subscriber", "%s", cache);
	check_subscriber(PYTHON, "look", WRITER, 1);
	cli_assert_line("final_data", "copy = \"none\"");
	check_subscriber(PYTHON, "wait", WRITER, 0);
	cli_assert_property("search.verdict", "serializable");
}

/* Or before it. */
Test(pubsub_check, a_message_may_come_before_the_reply_of_another_connection)
{
	static const char reader[] = "import os, redis\n"
				     "r = redis.Redis.from_url(os.environ['REDIS_URL'])\n"
				     "p = r.pubsub(ignore_subscribe_messages=True)\n"
				     "p.subscribe('changed')\n"
				     "p.get_message(timeout=None)\n"
				     "r.blpop('end')\n"
				     "if p.connection.can_read(0):\n"
				     "    r.set('early', 1)\n";

	need_python();
	cli_write("subscriber", "%s", reader);
	check_subscriber(PYTHON, "", WRITER, 1);
	cli_assert_line("final_data", "early = \"1\"");
}

/* ---- Time-outs ---------------------------------------------------------------------- */

/* A time-out may be over before anything has come, and after. */
Test(pubsub_check, waiting_for_a_message_may_time_out)
{
	static const char waiter[] =
		"import os, redis\n"
		"r = redis.Redis.from_url(os.environ['REDIS_URL'])\n"
		"p = r.pubsub(ignore_subscribe_messages=True)\n"
		"p.subscribe('wake')\n"
		"p.get_message(timeout=None)\n"
		"r.set('ready', 1)\n"
		"r.set('got', 'a message' if p.get_message(timeout=5) else 'nothing')\n";

	need_python();
	cli_write("subscriber", "%s", waiter);
	check_subscriber(PYTHON, "",
			 "--client P='[ \"$(" CLI "GET ready)\" ] || exit 1; " CLI
			 "PUBLISH wake go' 2>&1",
			 1);
	cli_assert_line("final_data", "got = \"a message\"");
	cli_assert_line("nearest_serial_data", "got = \"nothing\"");
}
