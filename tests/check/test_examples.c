/* SPDX-License-Identifier: MIT */
/* examples/check: programs in several languages, checked as their comments say. Those whose
 * packages are missing are skipped by name; .ci/deps-peers installs them. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(check_examples, .init = cli_setup, .fini = cli_teardown);

#define PYTHON "/usr/bin/python3 examples/check/"
#define NODE "node examples/check/"

static void need_redis_py(void)
{
	if (cli_run("/usr/bin/python3 -c 'import redis' 2>&1") != 0)
		cli_skip("redis-py is not installed: make deps-peers");
}

/* A package of npm's below build/peers. */
static void need_npm(const char *package)
{
	char command[300];

	setenv("NODE_PATH", "build/peers/node_modules", 1);
	snprintf(command, sizeof(command), "node -e 'require(\"%s\")' 2>&1", package);
	if (cli_run(command) != 0)
		cli_skip("%s is not installed: make deps-peers", package);
}

static void check_example(const char *arguments, int code, const char *part)
{
	char command[400];

	snprintf(command, sizeof(command), "$REDRACE check %s 2>&1", arguments);
	cr_assert_eq(cli_run(command), code, "%s", cli_output);
	cr_assert(cli_says(cli_output, part), "no '%s' in: %s", part, cli_output);
}

Test(check_examples, counter_in_shell)
{
	check_example("-- sh examples/check/counter.sh", 1, "not serializable");
}

Test(check_examples, counter_in_c)
{
	cr_assert_eq(cli_run("cc -o $HERE/counter examples/check/counter.c -lhiredis 2>&1"), 0,
		     "%s", cli_output);
	check_example("--clients 3 -- $HERE/counter", 1, "not serializable");
}

/* Dynamic or static: Go keeps its own clock, and that is said. */
Test(check_examples, counter_in_go)
{
	static const char build[] = "GOPATH=/usr/share/gocode GO111MODULE=off GOCACHE=$HERE/go ";

	if (cli_run("test -d /usr/share/gocode/src/github.com/gomodule/redigo && go version 2>&1") !=
	    0)
		cli_skip(
			"go and redigo are not installed (Debian: golang-go, golang-github-gomodule-redigo-dev)");
	for (int cgo = 0; cgo < 2; cgo++) {
		char command[300];

		snprintf(
			command, sizeof(command),
			"%s CGO_ENABLED=%d go build -o $HERE/counter examples/check/counter.go 2>&1",
			build, cgo);
		cr_assert_eq(cli_run(command), 0, "%s", cli_output);
		check_example("-- $HERE/counter", 1, "keeps its own clock");
	}
}

Test(check_examples, counter_in_python)
{
	need_redis_py();
	check_example("--clients 3 -- " PYTHON "counter.py", 1,
		      "not serializable (2 of 3 final states");
	check_example("--clients 3 -- " PYTHON "counter_incr.py", 0, "serializable: all ");
}

Test(check_examples, counter_in_javascript)
{
	need_npm("ioredis");
	check_example("-- " NODE "counter.js", 1, "not serializable");
}

/* Of the examples of apps: a path that sells twice, and one that does not. */
static void check_shop(const char *app)
{
	char arguments[300];

	if (cli_run("curl --version 2>&1") != 0)
		cli_skip("curl is not installed");
	for (int is_right = 0; is_right < 2; is_right++) {
		snprintf(arguments, sizeof(arguments),
			 "--audit 1 --init examples/check/stock.redis --app '%s' "
			 "--request 'curl -s -X POST {app}/buy%s'",
			 app, is_right ? "-once" : "");
		check_example(arguments, !is_right,
			      is_right ? "serializable: all " : "stock = \"-1\"");
	}
}

Test(check_examples, shop_in_javascript, .timeout = 600)
{
	need_npm("ioredis");
	check_shop(NODE "shop.js");
}

Test(check_examples, shop_in_python, .timeout = 600)
{
	need_redis_py();
	check_shop(PYTHON "shop.py");
}

Test(check_examples, lock_of_redis_py, .timeout = 600)
{
	need_redis_py();
	check_example("--crashes 1 --audit 1 -- " PYTHON "lock.py", 0, "serializable: all ");
	check_example("--expiries 1 --audit 1 -- " PYTHON "lock_short.py", 1,
		      "two clients are in their critical sections");
}

/* One that waits is right; one that loses patience is found, however late. */
Test(check_examples, lock_of_phpredis)
{
	if (cli_run("php -r 'exit(class_exists(\"Redis\") ? 0 : 1);' 2>&1") != 0)
		cli_skip("phpredis is not installed (Debian: php-cli, php-redis)");
	check_example("--audit 1 -- php examples/check/lock.php", 0, "serializable: all ");
}

Test(check_examples, lock_by_force)
{
	cr_assert_eq(cli_run("cc -o $HERE/lock_by_force examples/check/lock_by_force.c -lhiredis "
			     "2>&1"),
		     0, "%s", cli_output);
	check_example("-- $HERE/lock_by_force", 1, "not serializable (1 of 2 final states");
}

Test(check_examples, session)
{
	need_redis_py();
	check_example("--init examples/check/session.redis -- " PYTHON "session.py", 1,
		      "not serializable");
	check_example("--init examples/check/session.redis -- " PYTHON "session_watch.py", 0,
		      "serializable: all ");
}

Test(check_examples, ratelimiter)
{
	need_npm("limiter-1.0.2");
	need_npm("limiter-1.0.3");
	need_npm("redis");
	check_example("-- " NODE "ratelimiter.js limiter-1.0.2", 1, "not serializable");
	check_example("-- " NODE "ratelimiter.js limiter-1.0.3", 0, "serializable: all ");
}

/* ---- In other test runners ------------------------------------------------------------ */

Test(check_examples, a_check_is_a_test_of_pytest)
{
	need_redis_py();
	if (cli_run("/usr/bin/python3 -m pytest --version 2>&1") != 0)
		cli_skip("pytest is not installed");
	cr_assert_eq(cli_run("/usr/bin/python3 -m pytest -p no:cacheprovider examples/ci 2>&1"), 0,
		     "%s", cli_output);
	cli_assert_prints("1 passed");
	cr_assert_eq(
		cli_run("REDRACE=false /usr/bin/python3 -m pytest -p no:cacheprovider examples/ci 2>&1"),
		1, "%s", cli_output);
}

Test(check_examples, a_check_is_a_test_of_node)
{
	need_npm("ioredis");
	cr_assert_eq(cli_run("node --test examples/ci/counter.test.mjs 2>&1"), 0, "%s", cli_output);
	cli_assert_prints("pass 1");
	cr_assert_eq(cli_run("REDRACE=true node --test examples/ci/counter.test.mjs 2>&1"), 1, "%s",
		     cli_output);
}
