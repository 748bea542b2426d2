/* SPDX-License-Identifier: MIT */
/* examples/apps: for each kind of app a handler that looks first and takes then, which is found
 * with both answers, and one that is right. Most kinds take long, and are for `make apps`
 * (RR_APPS=all); what is not installed is skipped by name: .ci/deps-peers-apps installs it. */
#include "../cli.h"

#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#define NODE "NODE_PATH=build/apps/node_modules node examples/apps/"
#define PYTHON "PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "
#define HAS_NODE(framework, client)                                                               \
	"NODE_PATH=build/apps/node_modules node -e 'require(\"" framework "\"),require(\"" client \
	"\")'"
#define HAS_PYTHON(modules) "/usr/bin/python3 -c 'import redis, " modules "'"

/* `needs` exits with 0 if all is installed. */
static const struct kind {
	const char *app, *options, *needs;
	bool is_slow;
	bool has_watched; /* a third handler, which is right with WATCH */
} kinds[] = {
	{ .app = "build/apps/hiredis_shop", .needs = "test -x build/apps/hiredis_shop" },
	{ .app = NODE "express-ioredis.js", .needs = HAS_NODE("express", "ioredis") },
	{ .app = NODE "express-node-redis.js",
	  .needs = HAS_NODE("express", "redis"),
	  .is_slow = true },
	{ .app = NODE "express-bullmq.js", .needs = HAS_NODE("express", "bullmq"), .is_slow = true },
	{ .app = NODE "fastify-ioredis.js",
	  .needs = HAS_NODE("fastify", "ioredis"),
	  .is_slow = true },
	{ .app = NODE "fastify-node-redis.js",
	  .needs = HAS_NODE("fastify", "redis"),
	  .is_slow = true },
	{ .app = PYTHON "examples/apps/flask_shop.py",
	  .needs = HAS_PYTHON("flask"),
	  .is_slow = true,
	  .has_watched = true },
	{ .app = "PYTHONDONTWRITEBYTECODE=1 gunicorn --chdir examples/apps -b 127.0.0.1:$PORT "
		 "flask_shop:app",
	  .options = "--apps 2",
	  .needs = HAS_PYTHON("flask") " && gunicorn --version",
	  .is_slow = true,
	  .has_watched = true },
	{ .app = PYTHON "examples/apps/aiohttp_shop.py",
	  .needs = HAS_PYTHON("aiohttp"),
	  .is_slow = true },
	{ .app = PYTHON "examples/apps/fastapi_shop.py",
	  .needs = HAS_PYTHON("fastapi, uvicorn"),
	  .is_slow = true },
	{ .app = "ruby examples/apps/sinatra_shop.rb",
	  .needs = "ruby -e 'require \"sinatra/base\"; require \"connection_pool\"; "
		   "require \"redis\"; require \"puma\"'",
	  .is_slow = true },
	{ .app = "php -S 127.0.0.1:$PORT examples/apps/predis_shop.php",
	  .options = "--apps 2",
	  .has_watched = true,
	  .needs = "php -r 'require \"Predis/Autoloader.php\";'" },
	{ .app = "build/apps/redigo_shop",
	  .needs = "test -x build/apps/redigo_shop",
	  .is_slow = true },
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

TestSuite(app_kinds, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

ParameterizedTestParameters(app_kinds, both_handlers)
{
	static size_t numbers[N_KINDS];

	for (size_t i = 0; i < N_KINDS; i++)
		numbers[i] = i;
	return cr_make_param_array(size_t, numbers, N_KINDS);
}

static void check_kind(const struct kind *kind, const char *path, int code)
{
	cr_assert_eq(
		cli_runf("$REDRACE check --audit 1 --init examples/apps/stock.redis %s --app '%s' "
			 "--request \"curl -s -w '%%{http_code}' -X POST {app}%s\" 2>&1",
			 kind->options ? kind->options : "", kind->app, path),
		code, "%s %s: %s", kind->app, path, cli_output);
}

/* A program of examples/apps that waits for what is put into a queue, in its wrong way or its
 * right one. */
static void check_workers(const char *options, const char *program, const char *put, int code)
{
	cr_assert_eq(cli_runf("$REDRACE check --audit 1 --ready true %s "
			      "--app '" PYTHON "examples/apps/%s' "
			      "--request 'redis-cli -u {url} LPUSH %s >/dev/null' 2>&1",
			      options, program, put),
		     code, "%s: %s", program, cli_output);
}

/* Two of them take the same address from a queue. */
Test(app_kinds, both_workers)
{
	if (cli_run(HAS_PYTHON("os") " 2>&1") != 0)
		cli_skip("worker.py: not all is installed: make apps-deps");
	check_workers("--apps 2", "worker.py looks", "welcome ada", 1);
	cli_assert_prints("mails = [\"ada\", \"ada\"]");
	check_workers("--apps 2", "worker.py marks", "welcome ada", 0);
}

/* One of them crashes, and is started again. */
Test(app_kinds, workers_that_crash)
{
	static const char options[] = "--crashes 1 --restart --clients 1";

	if (cli_run(HAS_PYTHON("os") " 2>&1") != 0)
		cli_skip("reports.py: not all is installed: make apps-deps");
	check_workers(options, "reports.py pops", "wanted sales", 1);
	cli_assert_prints("  no keys\n");
	check_workers(options, "reports.py keeps", "wanted sales", 0);
}

ParameterizedTest(size_t *number, app_kinds, both_handlers)
{
	const struct kind *kind = &kinds[*number];
	const char *which = getenv("RR_APPS");

	if (kind->is_slow && (!which || strcmp(which, "all") != 0))
		cli_skip("%s: only in make apps", kind->app);
	if (cli_runf("%s 2>&1", kind->needs) != 0 || cli_run("curl --version 2>&1") != 0)
		cli_skip("%s: not all is installed: make apps-deps", kind->app);
	check_kind(kind, "/buy", 1);
	cli_assert_prints("request 1 (POST /buy), printed \"sold\\n200\"\n");
	cli_assert_prints("request 2 (POST /buy), printed \"sold\\n200\"\n");
	check_kind(kind, "/buy-once", 0);
	cli_assert_prints("serializable: all ");
	if (!kind->has_watched)
		return;
	check_kind(kind, "/buy-watched", 0);
	cli_assert_prints(", resting on WATCH stock (");
}
