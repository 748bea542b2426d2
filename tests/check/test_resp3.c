/* SPDX-License-Identifier: MIT */
/* redrace check with programs that say HELLO 3. */
#include "../cli.h"

#include <stdio.h>

TestSuite(resp3, .init = cli_setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --audit 1 -o $HERE/result.json "
#define NODE "NODE_PATH=$PWD/build/peers/node_modules "
#define COMPARES "/usr/bin/python3 -B tests/check/programs/resp3.py "

/* What a program hears is, byte for byte, what a server says. The next run has begun before
 * one has ended: each has a file of its own. */
Test(resp3, replies_are_those_of_a_server)
{
	cr_assert_eq(
		cli_run("redis-server --port 0 --unixsocket $HERE/s --save '' --dir $HERE >/dev/null & P=$!; "
			"until redis-cli -s $HERE/s PING >/dev/null 2>&1; do sleep 0.02; done; " COMPARES
			"$HERE/s >$HERE/server; kill $P; wait $P; grep -c . $HERE/server"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK
			     "--clients 1 -- sh -c '" COMPARES
			     "$REDIS_SOCKET >$HERE/here.$$; diff $HERE/server $HERE/here.$$ && "
			     "mv $HERE/here.$$ $HERE/here' 2>&1"),
		     2, "%s", cli_output);
	cli_assert_property("search.limit", "random_replies");
	cr_assert_eq(cli_run("diff $HERE/server $HERE/here"), 0, "%s", cli_output);
}

static void check_node(const char *package)
{
	static const char client[] =
		"const { createClient } = require(process.argv[2]);\n"
		"(async () => {\n"
		"  const c = createClient({ url: process.env.REDIS_URL, RESP: 3 });\n"
		"  await c.connect();\n"
		"  const n = Number((await c.hGetAll('h')).n || 0);\n"
		"  await c.hSet('h', 'n', n + 1);\n"
		"  await c.zAdd('z', { score: 1.5, value: 'm' });\n"
		"  if (await c.zScore('z', 'm') !== 1.5) process.exit(3);\n"
		"  await c.close();\n"
		"})();\n";

	if (cli_runf(NODE "node -e 'require(\"%s\")' 2>&1", package) != 0)
		cli_skip("%s is not installed", package);
	cli_write("client.js", "%s", client);
	cr_assert_eq(cli_runf(NODE CHECK "-- node $HERE/client.js %s 2>&1", package), 1, "%s",
		     cli_output);
	cli_assert_line("final_data", "h = {\"n\": \"1\"}");
}

/* They send CLIENT MAINT_NOTIFICATIONS, and go on when a server does not know it. */
Test(resp3, node_redis_5_is_followed)
{
	check_node("redis-5");
}

Test(resp3, node_redis_6_is_followed)
{
	check_node("redis-6");
}

Test(resp3, what_is_not_known_of_it_is_refused_by_name)
{
	static const char send[] =
		"exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT; printf \"HELLO 3\\\\r\\\\n%s\\\\r\\\\n\" >&3; "
		"cat <&3 >/dev/null";
	static const char *const commands[] = { "XINFO STREAM s FULL", "COMMAND DOCS get",
						"SUBSCRIBE a\\\\r\\\\nGET b",
						"EVAL redis.setresp(3) 0" };
	static const char *const names[] = { "XINFO STREAM", "COMMAND DOCS", "GET b", "EVAL" };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char text[300], command[500];

		snprintf(text, sizeof(text), send, commands[i]);
		snprintf(command, sizeof(command), CHECK "--clients 1 -- bash -c '%s' 2>&1", text);
		cr_assert_eq(cli_run(command), 65, "%s", cli_output);
		cli_assert_names(names[i]);
	}
}

/* As a server says it, so that clients fall back. */
Test(resp3, other_protocols_are_refused_in_the_servers_words)
{
	cr_assert_eq(cli_run(CHECK
			     "--clients 1 -- sh -c '[ \"$(redis-cli -p $REDIS_PORT HELLO 4)\" = "
			     "\"NOPROTO unsupported protocol version\" ] && redis-cli -p "
			     "$REDIS_PORT INCR x' 2>&1"),
		     0, "%s", cli_output);
}
