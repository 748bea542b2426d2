/* SPDX-License-Identifier: MIT */
/*
 * programs/: small programs as anybody writes them, each with one concurrency bug, and
 * beside each the same program repaired. The bug is found, with the data that it leaves;
 * the repaired one is proved with the same options. What is not installed is skipped by
 * name.
 */
#include "../cli.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(planted, .init = cli_setup, .fini = cli_teardown);

#define PROGRAMS "tests/check/programs/"

/* What runs a language, with %s for the program's name; `probe` fails where it cannot
 * be run, and `build`, if any, makes it first. */
struct language {
	const char *name, *probe, *build, *command;
};

static const struct language shell = { "shell", "true", NULL, "sh " PROGRAMS "%s.sh" };
static const struct language python = { "redis-py", "/usr/bin/python3 -c 'import redis'", NULL,
					"/usr/bin/python3 " PROGRAMS "%s.py" };
static const struct language ioredis = { "ioredis", "node -e 'require(\"ioredis\")'", NULL,
					 "node " PROGRAMS "%s.js" };
static const struct language node_redis = { "node-redis", "node -e 'require(\"redis\")'", NULL,
					    "node " PROGRAMS "%s.js" };
static const struct language hiredis = { "hiredis",
					 "echo '#include <hiredis/hiredis.h>' | cc -E - >/dev/null",
					 "cc -Wall -Wextra -o $HERE/%s " PROGRAMS "%s.c -lhiredis",
					 "$HERE/%s" };

/* A bug and how it is looked for; "%s" in `clients` is the command. */
struct bug {
	const char *name;
	const struct language *language;
	const char *options, *init, *clients;
	const char *left;   /* a line of the data in the end; NULL: which is there is chance */
	const char *serial; /* and of those of a serial order */
};

#define HOLD_AND_BUY "--client \"A=%s hold\" --client \"B=%s buy\""

static const struct bug bugs[] = {
	{ "lost_update", &shell, "--clients 3", NULL, "-- %s", "deployments = \"2\"",
	  "deployments = \"3\"" },
	{ "lost_update", &hiredis, "", NULL, "-- %s", "high-score = \"10\"",
	  "high-score = \"20\"" },
	{ "check_then_act", &node_redis, "", NULL, "-- %s", NULL, NULL },
	{ "check_then_act", &shell, "", NULL, "-- %s",
	  "mails = [\"report of 2024-05-01\", \"report of 2024-05-01\"]",
	  "mails = [\"report of 2024-05-01\"]" },
	{ "expire_after_incr", &python, "--crashes 1", NULL, "-- %s", "hits:ada = \"2\"",
	  "hits:ada = \"2\", for 60 s" },
	{ "expire_after_incr", &shell, "--crashes 1", NULL, "-- %s", "hits:ada = \"2\"",
	  "hits:ada = \"2\", for 60 s" },
	{ "foreign_del", &ioredis, "--expiries 1", NULL, HOLD_AND_BUY, "no keys",
	  "leader = \"B\"" },
	{ "foreign_del", &shell, "--expiries 1", NULL, HOLD_AND_BUY, "no keys",
	  "seat:12A = \"sold to B\"" },
	{ "watch_missing", &python, "", "SET account:ada 100", "-- %s", "account:ada = \"70\"",
	  "account:ada = \"40\"" },
	{ "watch_missing", &node_redis, "", "RPUSH cart:ada book", "-- %s",
	  "orders = [\"[\\\"book\\\"]\", \"[\\\"book\\\"]\"]", "orders = [\"[\\\"book\\\"]\"]" },
	{ "watch_missing", &hiredis, "", NULL, "-- %s", "waiting = [\"A\", \"B\"]",
	  "waiting = [\"B\"]" },
	{ "exec_ignored", &hiredis, "", NULL, "-- %s", "sequence = \"1\"", "sequence = \"2\"" },
	{ "doubled_retry", &python, "--lost-replies 1", NULL, "-- %s", "balance = \"30\"",
	  "balance = \"20\"" },
	{ "doubled_retry", &ioredis, "--lost-replies 1", NULL, "-- %s", "votes:cats = \"3\"",
	  "votes:cats = \"2\"" },
	{ "doubled_retry", &shell, "--lost-replies 1", NULL, "-- %s",
	  "jobs = [\"resize\", \"resize\", \"resize\"]", "jobs = [\"resize\", \"resize\"]" },
	{ "session_merge", &shell, "", NULL, "-- %s", "hosts = \"B;\"", "hosts = \"B;A;\"" },
	{ "swept_timer", &shell, "", "RPUSH at:9 \"call ann\"\nZADD hours 9 9",
	  "--client \"put=%s put\" --client \"take=%s take\"", "at:9 = [\"call bob\"]",
	  "hours = {\"9\": 9}" },
	{ "overfull_room", &shell, "", NULL, "-- %s", "room:taken = \"-1\"", "room:taken = \"0\"" },
	{ "doubled_token", &shell, "", "HSET noted token 1", "-- %s",
	  "tokens = [\"token\", \"token\"]", "tokens = [\"token\"]" },
	{ "lost_token", &shell, "--crashes 1", "RPUSH tokens token", "-- %s", "no keys",
	  "tokens = [\"token\"]" },
};

/* `pattern` with all its %s replaced; into `text`. */
static void put_name(char *text, size_t size, const char *pattern, const char *name)
{
	FILE *file = fmemopen(text, size, "w");

	cr_assert_not_null(file);
	for (; *pattern; pattern++) {
		if (strncmp(pattern, "%s", 2) == 0) {
			fputs(name, file);
			pattern++;
		} else {
			fputc(*pattern, file);
		}
	}
	fputc('\0', file);
	fclose(file);
}

static bool is_installed(const struct language *language)
{
	char command[300];

	snprintf(command, sizeof(command), "%s 2>/dev/null", language->probe);
	return cli_run(command) == 0;
}

static void build_program(const struct language *language, const char *name)
{
	char command[300];

	if (!language->build)
		return;
	put_name(command, sizeof(command), language->build, name);
	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
}

static void check_program(const struct bug *bug, const char *name, int code)
{
	char program[200], clients[500], command[1000];

	build_program(bug->language, name);
	put_name(program, sizeof(program), bug->language->command, name);
	put_name(clients, sizeof(clients), bug->clients, program);
	snprintf(
		command, sizeof(command),
		"echo '%s' >$HERE/init; $REDRACE check -o $HERE/result.json --audit 1 --init $HERE/init %s %s 2>&1",
		bug->init ? bug->init : "# nothing", bug->options, clients);
	cr_assert_eq(cli_run(command), code, "%s of %s: %s", name, bug->language->name, cli_output);
}

ParameterizedTestParameters(planted, bug_is_found_and_its_repair_is_right)
{
	static size_t numbers[sizeof(bugs) / sizeof(bugs[0])];

	for (size_t i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++)
		numbers[i] = i;
	return cr_make_param_array(size_t, numbers, sizeof(bugs) / sizeof(bugs[0]));
}

ParameterizedTest(size_t *number, planted, bug_is_found_and_its_repair_is_right, .timeout = 600)
{
	const struct bug *bug = &bugs[*number];
	char fixed[80];

	setenv("NODE_PATH", "build/peers/node_modules", 1);
	if (!is_installed(bug->language))
		cli_skip("%s is not installed", bug->language->name);
	check_program(bug, bug->name, 1);
	cli_assert_property("search.verdict", "not_serializable");
	if (bug->left) {
		cli_assert_line("final_data", bug->left);
		cli_assert_line("nearest_serial_data", bug->serial);
	}
	snprintf(fixed, sizeof(fixed), "%s_fixed", bug->name);
	check_program(bug, fixed, 0);
	cli_assert_property("search.verdict", "serializable");
}

/* Nobody is waiting when the signal comes, and it is gone when somebody waits. */
Test(planted, a_signal_that_is_missed, .timeout = 600)
{
	struct bug bug = { "missed_signal", &shell, "", NULL, "-- %s", NULL, NULL };

	check_program(&bug, "missed_signal", 1);
	cli_assert_property("search.verdict", "no_progress");
	check_program(&bug, "missed_signal_fixed", 0);
	cli_assert_property("search.verdict", "serializable");
}

/* Most of its histories begin alike. What has run as far as to where they part goes on
 * from there: it is hardly started more often than there are histories, 65 of them. */
Test(planted, a_loop_is_not_started_again_for_each_step, .timeout = 600)
{
	if (!is_installed(&hiredis))
		cli_skip("%s is not installed", hiredis.name);
	build_program(&hiredis, "watch_loop");
	cr_assert_eq(
		cli_run("$REDRACE check --lost-replies 1 -o $HERE/result.json -- $HERE/watch_loop 2>&1"),
		1, "%s", cli_output);
	cli_assert_json(".starts < 130");
}
