/* SPDX-License-Identifier: MIT */
/* redrace check: what else final data and outputs have to be, and schedules that were
 * saved and are gone again. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(check_expectations, .init = cli_setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --audit 1 "
#define OUTPUTS_DIFFER "search.verdict: outputs_not_serializable"
#define COUNT "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"

static void assert_check(const char *arguments, int code, const char *part)
{
	cr_assert_eq(cli_runf(CHECK "-o $HERE/result.json %s 2>&1", arguments), code, "%s",
		     cli_output);
	cli_assert_outcome(code, part);
}

/* ---- Final data --------------------------------------------------------------- */

Test(check_expectations, final_is_the_reply_to_a_command)
{
	assert_check("--final 'GET counter' 2 -- redis-cli -p {port} INCR counter", 0,
		     CLI_SERIALIZABLE);
	assert_check("--final 'GET counter' 3 -- redis-cli -p {port} INCR counter", 1,
		     "findings.0.keys: [\"GET counter\"]");
	assert_check(
		"--final='LLEN x' -1 --final 'LRANGE x 0 -1' '[\"a\", \"a\"]' -- redis-cli -p {port} RPUSH x a",
		1, "findings.0.keys: [\"LLEN x\"]");
	assert_check("--final 'HGET h f' '(nil)' -- redis-cli -p {port} HDEL h f", 0,
		     CLI_SERIALIZABLE);
}

/* Who exits with 1 has not done its work, and is not held to it. */
Test(check_expectations, final_is_about_those_who_did_their_work)
{
	assert_check("--final 'GET counter' 2 -- sh -c '" CLI "SETNX lock 1 | grep 1 && " CLI
		     "INCR counter'",
		     0, CLI_SERIALIZABLE);
}

Test(check_expectations, final_needs_a_value)
{
	cli_assert_one_line(CHECK "--final 'GET x' -- true 2>&1 >/dev/null", 64, "--final");
	cli_assert_one_line(CHECK "--final 'GET \"x' 1 -- true 2>&1 >/dev/null", 64, "--final");
}

/* Whatever the data are, it is no finding. */
Test(check_expectations, final_is_a_command_that_there_is)
{
	cli_assert_one_line(CHECK "--final GET 1 -- redis-cli -p {port} INCR c 2>&1 >/dev/null", 64,
			    "--final: 'GET'");
	cli_assert_one_line(CHECK "--final 'GOT c' 1 -- redis-cli -p {port} INCR c 2>&1 >/dev/null",
			    64, "--final: 'GOT c'");
	assert_check("--final 'LLEN c' 1 -- redis-cli -p {port} INCR c", 1,
		     "findings.0.keys: [\"LLEN c\"]");
	cli_assert_json(".unexpected | contains(\"WRONGTYPE\")");
}

Test(check_expectations, final_does_not_wait)
{
	cli_assert_one_line(CHECK "--final 'BLPOP q 0' x -- redis-cli -p {port} SET k v "
				  "2>&1 >/dev/null",
			    64, "--final: 'BLPOP q 0'");
	assert_check("--final 'BLPOP q 0' '[\"q\", \"a\"]' -- redis-cli -p {port} RPUSH q a", 0,
		     CLI_SERIALIZABLE);
}

Test(check_expectations, check_runs_a_command_on_all_final_data)
{
	assert_check("--check 'test $(" CLI
		     "GET counter) -eq 2' -- redis-cli -p {port} INCR counter",
		     0, CLI_SERIALIZABLE);
	assert_check("--check 'echo so little; test $(" CLI
		     "GET counter) -gt 2' -- redis-cli -p {port} INCR counter",
		     1, "search.verdict: not_as_expected");
	cli_assert_json(".unexpected | contains(\"--check\") and contains(\"so little\")");
	assert_check("--clients 1 --crashes 1 --check 'test -n \"$(" CLI
		     "GET done)\"' -- sh -c '" CLI "SET begun 1; " CLI "SET done 1'",
		     1, "search.verdict: not_as_expected");
}

Test(check_expectations, check_may_write_and_use_transactions)
{
	assert_check(
		"--check 'printf \"MULTI\\nINCR counter\\nINCR counter\\nEXEC\\n\" | " REDIS_CLI
		"| tail -n 1 | grep -q 4 && " CLI
		"DEL counter' -- redis-cli -p {port} INCR counter",
		0, CLI_SERIALIZABLE);
}

Test(check_expectations, ignored_keys_are_not_compared)
{
	assert_check("--ignore 'coun*' --ignore x -- sh -c '" COUNT "'", 0, CLI_SERIALIZABLE);
	assert_check("--ignore 'count' -- sh -c '" COUNT "'", 1, CLI_NOT_SERIALIZABLE);
}

Test(check_expectations, data_in_other_databases_are_shown)
{
	assert_check("-- sh -c 'v=$(" REDIS_CLI "-n 3 GET counter); " REDIS_CLI
		     "-n 3 SET counter $((v + 1))'",
		     1, "final_data: db 3: counter = \"1\"");
}

/* ---- Outputs -------------------------------------------------------------------- */

#define INCR_GET "sh -c '" CLI "INCR counter; " CLI "GET counter'"

/* A real server lets both clients read 2; one after the other, the first reads 1. */
Test(check_expectations, outputs_count)
{
	assert_check("-- " INCR_GET, 1, OUTPUTS_DIFFER);
	cli_assert_json("[.findings[0].final.endings[].output] | index(\"2\\n2\") != null");
	assert_check("--data-only -- " INCR_GET, 0, CLI_SERIALIZABLE);
	assert_check("-- redis-cli -p {port} INCR counter", 0, CLI_SERIALIZABLE);
}

/* Both are told that the one thing in stock is theirs; the data are right. */
#define SELLS                                                                                \
	"sh -c 'n=$(" CLI "GET stock); if [ $n = 1 ]; then " CLI "SET stock 0 | tail -n 0; " \
	"echo it is yours; else echo sold out; fi'"

Test(check_expectations, what_two_are_told_is_compared)
{
	cr_assert_eq(cli_run("echo SET stock 1 >$HERE/init"), 0);
	assert_check("--init $HERE/init -- " SELLS, 1, OUTPUTS_DIFFER);
	cli_assert_json("[.findings[0].final.endings[] | [.client, .exit_status, .output]] == "
			"[[\"A\", 0, \"it is yours\"], [\"B\", 0, \"it is yours\"]]");
	assert_check("--init $HERE/init --allow-output 'yours|sold' -- " SELLS, 0,
		     CLI_SERIALIZABLE);
	assert_check("--init $HERE/init --allow-output yours -- " SELLS, 1, OUTPUTS_DIFFER);
	cli_assert_one_line(CHECK "--allow-output '(' -- true 2>&1 >/dev/null", 64,
			    "--allow-output '('");
}

/* Both have added theirs and say that they have not: in no order do both of them. */
Test(check_expectations, a_refusal_that_has_done_its_work_counts)
{
#define ADDS_ONE "sh -c '" CLI "RPUSH seats $REDRACE_CLIENT; test $(" CLI "LLEN seats) -le 1'"
	assert_check("-- " ADDS_ONE, 1, OUTPUTS_DIFFER);
	assert_check("--data-only -- " ADDS_ONE, 0, CLI_SERIALIZABLE);
}

/* How often a client has asked in vain is no part of what it has done. */
#define ASKS_FOR_LOCK \
	"until " CLI "SET lock 1 NX | grep -q OK; do n=$((n + 1)); test $n -lt 3 || exit 1; done; "

Test(check_expectations, how_long_was_waited_is_not_compared)
{
	assert_check("-- sh -c 'n=0; " ASKS_FOR_LOCK CLI "INCR x | tail -n 0; " CLI
		     "DEL lock | tail -n 0; echo after $n'",
		     0, CLI_SERIALIZABLE);
	assert_check("-- sh -c 'n=0; " ASKS_FOR_LOCK CLI "DEL lock | tail -n 0; " CLI
		     "INCR x | tail -n 0; " CLI "GET x; echo after $n'",
		     1, OUTPUTS_DIFFER);
}

/* Both look at the job, and say that they do it, before one takes it away; the loop of the
 * other ends like that of one who has waited. */
Test(check_expectations, work_that_is_done_twice_is_no_waiting)
{
	cr_assert_eq(cli_run("echo RPUSH jobs 1 >$HERE/init"), 0);
	assert_check("--init $HERE/init -- sh -c 'while n=$(" CLI
		     "LINDEX jobs 0); test $n; do echo does $n; " CLI "LPOP jobs >&2; done'",
		     1, OUTPUTS_DIFFER);
	cr_assert_eq(cli_run("echo SET stock 1 >$HERE/init"), 0);
	assert_check("--init $HERE/init -- sh -c 'while test $(" CLI "GET stock) = 1; do " CLI
		     "SET stock 0 >&2; echo sold to $REDRACE_CLIENT; done'",
		     1, OUTPUTS_DIFFER);
}

/* The first client runs `first`, the other one `second`. */
static void check_pair(const char *first, const char *second, int code)
{
	cli_write("pair.py",
		  "import raw, time\n"
		  "r = raw.Connection()\n"
		  "if raw.me == 'A':\n    %s\n"
		  "else:\n    seen = waited = 0\n    %s\n"
		  "    print('seen' if seen else 'waited' if waited else 'ok')\n",
		  first, second);
	cr_assert_eq(cli_run(CHECK "-- " CLI_PYTHON "pair.py 2>&1"), code, "%s: %s", second,
		     cli_output);
}

/* It is printed because of a reply that the client receives in no serial execution. */
Test(check_expectations, what_only_an_interleaving_shows_is_no_waiting)
{
	check_pair("r('SET', 's', 'partial'); r('SET', 's', 'done')",
		   "s = None\n"
		   "    while s != 'done':\n"
		   "        s = r('GET', 's'); seen |= s == 'partial'; time.sleep(.1)",
		   1);
	check_pair("r('LPUSH', 'q', 'x'); r('LPOP', 'q'); r('SET', 'end', 1)",
		   "while not r('GET', 'end'): seen |= r('LLEN', 'q')", 1);
	check_pair("r('SETNX', 'l', 1); r('LPUSH', 'q', 'x'); r('LPOP', 'q'); r('DEL', 'l')",
		   "while not r('SETNX', 'l', 1): seen |= r('LLEN', 'q')\n"
		   "    r('DEL', 'l')",
		   1);
	check_pair(
		"r('HSET', 'o', 'n', 1); r('HSET', 'o', 'sum', 5); r('SET', 'end', 1)",
		"while not r('GET', 'end'):\n"
		"        n, sum = r('EVAL', 'return {redis.call(\"hget\", \"o\", \"n\") or \"\", '\n"
		"            'redis.call(\"hget\", \"o\", \"sum\") or \"\"}', 0)\n"
		"        if n and not sum: print('half-written order')",
		1);
}

#define WATCHED_SALE                                                       \
	"r('SETNX', 'stock', 1)\n"                                         \
	"    while True:\n"                                                \
	"        r('WATCH', 'stock')\n"                                    \
	"        if int(r('GET', 'stock')) < 1: break\n"                   \
	"        r('MULTI'); r('DECR', 'stock')\n"                         \
	"        if r('EXEC'): r('INCR', 'sales'); print('sold'); break\n" \
	"        "

/* Attempts are refused, or the client receives what it would if it ran before the other one. */
Test(check_expectations, who_waits_may_say_so)
{
	check_pair("r('INCR', 'x'); r('SET', 'ready', 1)",
		   "while not r('GET', 'ready'): waited = 1", 0);
	check_pair("r('RPUSH', 'q', 'x')", "while not r('LPOP', 'q'): waited = 1", 0);
	check_pair("r('SETNX', 'l', 1); r('INCR', 'x'); r('DEL', 'l')",
		   "while not r('SETNX', 'l', 1): waited = 1\n"
		   "    r('INCR', 'x'); r('DEL', 'l')",
		   0);
	check_pair("r('INCR', 'x')",
		   "while True:\n"
		   "        r('WATCH', 'x'); n = int(r('GET', 'x') or 0)\n"
		   "        r('MULTI'); r('SET', 'x', n + 1)\n"
		   "        if r('EXEC'): break\n"
		   "        waited = 1",
		   0);
	/* Tried again, and then nothing is left to do. */
	check_pair("r('SET', 'stock', 0)", WATCHED_SALE "waited = 1", 0);
	check_pair("r('SET', 'stock', 0)", WATCHED_SALE "print('sold')", 1);
}

Test(check_expectations, how_many_seconds_were_waited_is_not_compared)
{
	assert_check(
		"-- sh -c 't=$(date +%s); n=0; until " CLI
		"SET lock 1 NX | grep -q OK; do sleep 1; n=$((n + 1)); test $n -lt 3 || exit 1; done; " CLI
		"INCR x | tail -n 0; " CLI
		"DEL lock | tail -n 0; echo after $(($(date +%s) - t)) s'",
		0, CLI_SERIALIZABLE);
}

Test(check_expectations, outputs_may_name_the_client)
{
	assert_check("-- sh -c 'echo $REDRACE_CLIENT; " CLI "INCR counter'", 0, CLI_SERIALIZABLE);
}

/* The kernel's process id, which no seed controls, is left out; what stands beside it is not. */
Test(check_expectations, what_varies_between_runs_is_not_compared)
{
	assert_check("-- sh -c 'echo [$(readlink /proc/self)] begins; " CLI "INCR counter'", 0,
		     CLI_SERIALIZABLE);
	cli_assert_property("varying_outputs", "[{\"pattern\":\"[*] begins\",\"line\":null}]");
	assert_check("-- sh -c 'echo $(readlink /proc/self); " CLI "INCR counter'", 0,
		     CLI_SERIALIZABLE);
	cli_assert_property("varying_outputs", "[{\"pattern\":\"*\",\"line\":1}]");
	assert_check("-- sh -c 'echo $(readlink /proc/self); " CLI "INCR counter; " CLI
		     "GET counter'",
		     1, OUTPUTS_DIFFER);
	assert_check("-- sh -c 'n=$(" CLI
		     "INCR counter); echo $(readlink /proc/self) has $n of $(" CLI "GET counter)'",
		     1, OUTPUTS_DIFFER);
}

/* ---- Schedules again ---------------------------------------------------------------- */

Test(check_expectations, a_schedule_that_was_saved_is_gone_again)
{
	assert_check("--clients 3 --save $HERE/x.race -- sh -c '" COUNT "'", 1,
		     CLI_NOT_SERIALIZABLE);
	cli_assert_names("/x.race");
	assert_check("--replay $HERE/x.race -- sh -c '" COUNT "'", 1, CLI_NOT_SERIALIZABLE);
	cli_assert_json(".final_states == 1 and .wrong_final_states == 1 and .clients == 3");
	assert_check("--replay $HERE/x.race -- redis-cli -p {port} INCR counter", 65,
		     "A:INCR, B:INCR, C:INCR");
}

Test(check_expectations, a_schedule_with_faults_is_gone_again)
{
	cr_assert_eq(cli_run("cc -o $HERE/waits examples/check/lock_by_force.c -lhiredis 2>&1"), 0,
		     "%s", cli_output);
	assert_check("--crashes 1 --allow-partial --save $HERE/x.race -- $HERE/waits 1000000000", 1,
		     CLI_NO_PROGRESS);
	cr_assert_eq(cli_run("grep -c 'schedule.* crash:' $HERE/x.race"), 0);
	assert_check("--replay $HERE/x.race -- $HERE/waits 1000000000", 1, CLI_NO_PROGRESS);
}

/* Whatever ends before the lock does so in the same expiry. */
Test(check_expectations, any_of_several_keys_may_be_the_one_that_expires)
{
#define LOCKED                                      \
	"sh -c '" CLI "SET seen 1 PX 1; [ \"$(" CLI \
	"SET lock me NX PX 9000)\" = OK ] || exit 1\n" COUNT "\n" CLI "DEL lock'"
	assert_check("--expiries 1 --ignore seen --save $HERE/x.race -- " LOCKED, 1,
		     "anomaly: lost update");
	cli_assert_json(".why | contains(\"lock, which A's SET\")");
	cr_assert_eq(cli_run("grep -c '^# schedule.* whole:2 ' $HERE/x.race"), 0, "%s", cli_output);
	assert_check("--replay $HERE/x.race --ignore seen -- " LOCKED, 1, CLI_NOT_SERIALIZABLE);
}

Test(check_expectations, a_schedule_into_the_critical_section_is_gone_again)
{
#define MARKED "sh -c '" CLI "ECHO redrace:enter; " CLI "INCR n; " CLI "ECHO redrace:leave'"
	assert_check("--save $HERE/x.race -- " MARKED, 1, "search.verdict: exclusion");
	assert_check("--replay $HERE/x.race -- " MARKED, 1, "search.verdict: exclusion");
}

Test(check_expectations, a_schedule_has_its_init_again)
{
	cr_assert_eq(cli_run("printf '\\n# ten\\nSET counter 10\\n' >$HERE/init"), 0);
	assert_check("--init $HERE/init --save $HERE/x.race -- sh -c '" COUNT "'", 1,
		     "final_data: counter = \"11\"");
	assert_check("--replay $HERE/x.race -- sh -c '" COUNT "'", 1,
		     "final_data: counter = \"11\"");
}

Test(check_expectations, what_is_refused_at_first_is_named)
{
	cr_assert_eq(cli_run("echo SETT a >$HERE/init"), 0);
	cli_assert_one_line(CHECK "--init $HERE/init -- true 2>&1 >/dev/null", 65, "'SETT a'");
}

/* A quote that is not closed leaves no word behind it. */
Test(check_expectations, quotes_of_what_is_given_must_end)
{
	static const char *const lines[] = { "\"",         "'",          "SET x \"",
					     "SET \"a\"b", "SET x '\\'", "\"\\x" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cli_write("init", "SET y 1\n%s\n", lines[i]);
		cli_assert_one_line(CHECK "--init $HERE/init -- true 2>&1 >/dev/null", 65,
				    "init:2: ");
		cli_write("final", "%s", lines[i]);
		cli_assert_one_line(CHECK
				    "--final \"$(cat $HERE/final)\" 1 -- true 2>&1 >/dev/null",
				    64, "--final: ");
	}
}

Test(check_expectations, what_a_program_may_not_send_is_not_given)
{
	static const char *const lines[] = { "MONITOR",       "debug jmap",  "SHUTDOWN NOSAVE",
					     "SUBSCRIBE c",   "CLIENT LIST", "HELLO 3",
					     "QUIT",          "SYNC",        "MULTI",
					     "MODULE LOAD m", "$GET a" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cli_write("init", "%s\n", lines[i]);
		cli_assert_one_line(CHECK "--init $HERE/init -- true 2>&1 >/dev/null", 65,
				    "init:1: ");
	}
	cli_write("init", "BLPOP l 0\n");
	cli_assert_one_line(CHECK "--init $HERE/init -- true 2>&1 >/dev/null", 65, "'BLPOP l 0'");
	cli_write("init", "LPUSH l 1\nBLPOP l 0\n");
	assert_check("--init $HERE/init -- redis-cli -u {url} GET x", 0, CLI_SERIALIZABLE);
}

/* Expressions that would take all stack, memory or time are refused. */
Test(check_expectations, expressions_are_small)
{
	static const char *const options[] = { "--refused", "--allow-output" };

	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(cli_runf(CHECK
				      "%s \"$(printf '%%010000d' 0 | tr 0 '(')\" -- true 2>&1",
				      options[i]),
			     64, "%s", cli_output);
		cr_assert_eq(cli_runf(CHECK "%s \"$(printf '%%01001d' 0)\" -- true 2>&1",
				      options[i]),
			     64, "%s", cli_output);
		cr_assert_eq(cli_runf(CHECK "%s '((a{1,200}){1,200}){1,200}' -- true 2>&1",
				      options[i]),
			     64, "%s", cli_output);
		cr_assert_eq(
			cli_runf(CHECK
				 "%s '((sold|out) )+[(]{2,5}' -- redis-cli -u {url} GET x 2>&1",
				 options[i]),
			0, "%s", cli_output);
	}
}

/* One of its runs is killed: that is no choice of the program's. */
Test(check_expectations, a_run_that_was_killed_is_named)
{
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(cli_run("rm -rf $HERE/run*"), 0);
		cli_write(
			"program",
			CLI
			"INCR n >/dev/null\n"
			"run=0; until mkdir $HERE/run$run 2>/dev/null; do run=$((run + 1)); done\n"
			"[ $((run %% 5)) != 3 ] || kill -9 $$\n%s\n",
			i ? CLI "INCR m >/dev/null" : "exit 0");
		cr_assert_eq(cli_run(CHECK "-- sh $HERE/program 2>&1"), 65, "%s", cli_output);
		cli_assert_names("SIGKILL");
	}
}

Test(check_expectations, what_is_not_the_protocol_is_named)
{
	static const char *const programs[] = {
		"curl -s http://$REDIS_HOST:$REDIS_PORT/",
		"curl -s -d x http://$REDIS_HOST:$REDIS_PORT/",
		"curl -s -X PURGE http://$REDIS_HOST:$REDIS_PORT/a?b",
		"curl -sk https://$REDIS_HOST:$REDIS_PORT/",
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		cr_assert_eq(cli_runf(CHECK "-- sh -c '%s' 2>&1", programs[i]), 65, "%s",
			     cli_output);
		cli_assert_names("client A");
	}
	cr_assert_eq(cli_run(CHECK "-- sh -c '" CLI "POST x' 2>&1"), 65, "%s", cli_output);
}

/* Whichever database was selected last, clients begin in the first one. */
Test(check_expectations, a_database_that_is_selected_at_first_is_no_clients)
{
	cli_write("init", "SET x 1\nSELECT 1\nSET x 5\n");
	assert_check("--init $HERE/init --final 'GET x' 3 -- redis-cli -u {url} INCR x", 0,
		     CLI_SERIALIZABLE);
	assert_check("--init $HERE/init --final 'GET x' 1 -- redis-cli -u {url} -n 1 INCR x", 0,
		     CLI_SERIALIZABLE);
}

Test(check_expectations, any_number_of_commands_may_be_given)
{
	cr_assert_eq(cli_run("for i in $(seq 299); do echo INCR x; done >$HERE/init"), 0);
	assert_check("--init $HERE/init --final 'GET x' 301 -- redis-cli -u {url} INCR x", 0,
		     CLI_SERIALIZABLE);
}

Test(check_expectations, programs_that_send_nothing_can_fail_too)
{
	assert_check("--final 'GET x' 5 -- true", 1, "findings.0.keys: [\"GET x\"]");
}

Test(check_expectations, a_file_without_a_schedule_is_named)
{
	cli_assert_one_line(CHECK "--replay $HERE/none -- true 2>&1 >/dev/null", 64, "/none'");
	cli_assert_one_line(CHECK "--replay README.md -- true 2>&1 >/dev/null", 65, "'README.md'");
}

Test(check_expectations, pictures_are_drawn_in_all_formats)
{
	assert_check("-o $HERE/x.svg -- sh -c '" COUNT "'", 1, CLI_NOT_SERIALIZABLE);
	cli_assert_names("/x.svg");
	cr_assert_eq(cli_run("grep -c '>redis<' $HERE/x.svg"), 0);
	cr_assert_eq(cli_run(CHECK "--format mermaid -- sh -c '" COUNT "' 2>$HERE/text"), 1);
	cli_assert_names("sequenceDiagram\n");
	cr_assert_eq(cli_run("grep -c 'counter = ' $HERE/text"), 0, "the verdict stands there");
	cli_assert_one_line(CHECK "-o x.pdf -- true 2>&1 >/dev/null", 64, "--output 'x.pdf'");
}

/* ---- Figures ------------------------------------------------------------------------- */

Test(check_expectations, stats_say_where_the_time_went)
{
	assert_check("--stats --clients 3 -- sh -c '" COUNT "'", 1, CLI_NOT_SERIALIZABLE);
	cli_assert_json(".states == 59 and .transitions == 99");
	cli_assert_names(" 59 ");
	cli_assert_names(" 99 ");
}

/* ---- The documents ------------------------------------------------------------------- */

/* The workflow's own command, on a program of that name. */
Test(check_expectations, the_workflow_of_the_document_runs)
{
	cr_assert_eq(
		cli_run("mkdir $HERE/app && cp examples/check/counter.py $HERE/app && "
			"sed -n '/name: Search all/,/uses:/s/^          //p' docs/ci.md >$HERE/step && "
			"grep -q -e '--crashes 1' $HERE/step"),
		0, "%s", cli_output);
	if (cli_run("/usr/bin/python3 -c 'import redis' 2>&1") != 0)
		cli_skip("redis-py is not installed: make deps-peers");
	cr_assert_eq(
		cli_run("redrace=$(realpath $REDRACE); cd $HERE && redrace() { $redrace \"$@\"; } && . ./step"),
		1, "%s", cli_output);
	cli_assert_names("::error file=app/counter.py,line=1,title=");
	cr_assert_eq(
		cli_run("cd $HERE/found && test -s race.race && test -s race.svg && "
			"test -s report.json && test -s report.xml && ls ../.redrace-cache/*.check"),
		0, "%s", cli_output);
}

/* The job's script, as a reader of YAML understands it; what it writes is what the job
 * keeps. */
Test(check_expectations, the_gitlab_job_of_the_document_runs)
{
	if (cli_run("/usr/bin/python3 -c 'import redis, yaml' 2>&1") != 0)
		cli_skip("redis-py or PyYAML is not installed");
	cr_assert_eq(
		cli_run("mkdir $HERE/app && cp examples/check/counter.py $HERE/app && "
			"sed -n '/^## GitLab/,/^## A shell/{/^```yaml/,/^```$/{/^```/d;p}}' docs/ci.md >$HERE/job.yml && "
			"/usr/bin/python3 -c 'import sys, yaml; job = yaml.safe_load(open(sys.argv[1]))[\"races\"]; kept = job[\"artifacts\"]; print(\"\\n\".join(job[\"script\"])); print(\"ls\", *kept[\"paths\"], \"&& test -s\", kept[\"reports\"][\"junit\"], file=sys.stderr)' $HERE/job.yml >$HERE/script 2>$HERE/kept; cat $HERE/script $HERE/kept"),
		0, "%s", cli_output);
	cr_assert_eq(
		cli_run("redrace=$(realpath $REDRACE); cd $HERE && redrace() { $redrace \"$@\"; } && . ./script"),
		1, "%s", cli_output);
	cr_assert_eq(cli_run("cd $HERE && . ./kept && grep -c 'failures=.1. ' found/report.xml && "
			     "test -s found/race.race && test -s found/race.svg"),
		     0, "%s", cli_output);
}

/* What Jenkins runs writes what it reads. */
Test(check_expectations, the_jenkins_stage_of_the_document_runs)
{
	cli_write("redrace.yaml", "checks:\n  a: {command: sh counter.sh}\n");
	cr_assert_eq(
		cli_run("cp examples/check/counter.sh $HERE && "
			"sed -n '/^## Jenkins/,/^## What/s/^ *\\(redrace check.*\\)/\\1/p' docs/ci.md >$HERE/step && "
			"sed -n \"/^## Jenkins/,/^## What/s/.* junit '\\([^']*\\)'.*/\\1/p\" docs/ci.md >$HERE/read && "
			"test -s $HERE/step -a -s $HERE/read"),
		0, "%s", cli_output);
	cr_assert_eq(
		cli_run("redrace=$(realpath $REDRACE); cd $HERE && redrace() { $redrace \"$@\"; } && . ./step"),
		1, "%s", cli_output);
	cr_assert_eq(cli_run("cd $HERE && grep -c 'failures=.1. ' $(cat read)"), 0, "%s",
		     cli_output);
}

/* The workflow, too. */
Test(check_expectations, the_workflow_is_yaml)
{
	if (cli_run("/usr/bin/python3 -c 'import yaml' 2>&1") != 0)
		cli_skip("PyYAML is not installed");
	cr_assert_eq(
		cli_run("sed -n '/^## GitHub/,/^## GitLab/{/^```yaml/,/^```$/{/^```/d;p}}' docs/ci.md | /usr/bin/python3 -c 'import sys, yaml; w = yaml.safe_load(sys.stdin); print([s.get(\"name\") for s in w[\"jobs\"][\"check\"][\"steps\"]])'"),
		0, "%s", cli_output);
	cli_assert_names("'Search all interleavings'");
}

/* No serial execution of both comes to an end: there is nothing to compare with, but what the user
 * says is right. */
#define NEED_EACH_OTHER                                                                 \
	"--client A='" CLI "LPUSH a 1; " CLI "BLPOP b 0 >&2; " CLI "SET a_done 1 >&2' " \
	"--client B='" CLI "BLPOP a 0 >&2; " CLI "LPUSH b 1; " CLI "SET b_done 1 >&2' 2>&1"

Test(check_expectations, clients_that_need_each_other)
{
	cr_assert_eq(cli_run(CHECK NEED_EACH_OTHER), 2, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--data-only " NEED_EACH_OTHER), 2, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--final 'EXISTS a_done b_done' 2 " NEED_EACH_OTHER), 0, "%s",
		     cli_output);
	cr_assert_eq(cli_run(CHECK "--final 'EXISTS a_done b_done' 1 " NEED_EACH_OTHER), 1, "%s",
		     cli_output);
}

/* Names of clients may be words of the language of races, also where a step begins with the name. */
Test(check_expectations, a_client_may_be_called_like_a_heading)
{
	static const char *const names[] = { "server", "lock", "end", "kill" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cr_assert_eq(cli_runf(CHECK "--crashes 1 "
					    "--client %s='" CLI "INCR c; " CLI "INCR d' "
					    "--client other='" CLI "MGET c d' 2>&1",
				      names[i]),
			     1, "%s: %s", names[i], cli_output);
	}
}

/* ---- Clients that fail ----------------------------------------------------------------- */

static void check_failing(const char *options, const char *program, int code, const char *query)
{
	cli_write("failing.py", "import os, raw, sys\nr = raw.Connection()\n%s\n", program);
	cr_assert_eq(cli_runf(CHECK "%s -o $HERE/failing.json -- " CLI_PYTHON "failing.py 2>&1",
			      options),
		     code, "%s %s: %s", options, program, cli_output);
	cr_assert_eq(cli_runf("jq -e '.cases[0].properties | %s' $HERE/failing.json", query), 0,
		     "%s %s: %s", options, program, cli_output);
}

/* It has changed data, if only for a moment, before it fails: no refusal, unless that is declared. */
Test(check_expectations, who_has_changed_data_is_not_refused)
{
	static const char fails[] = "r('LPUSH', 'q', 'job'); r('LPOP', 'q')\n"
				    "if r('LLEN', 'q'): raise RuntimeError('another job')";
	static const char exits[] = "r('LPUSH', 'q', 'job'); r('LPOP', 'q')\n"
				    "if r('LLEN', 'q'): print('another job'); sys.exit(75)";

	check_failing("", fails, 1,
		      ".refused[0] | .is_finding and .last_line == \"RuntimeError: another job\"");
	check_failing("", exits, 1, ".refused[0].is_finding");
	check_failing("--refused 75", exits, 0, ".refused[0].exit_status == 75");
	check_failing("--refused another", exits, 0, ".refused[0].is_finding == false");
	check_failing("--refused 7", exits, 1, ".refused[0].is_finding");
	check_failing("--data-only", exits, 0, ".changes_data");
	check_failing("", "if r('SETNX', 'l', 1): r('DEL', 'l')\nelse: os.kill(os.getpid(), 9)", 1,
		      ".refused[0].is_finding");
	/* So it does alone, behind another one. */
	check_failing("", "r('INCR', 'n')\nif r('INCR', 'm') > 1: sys.exit(1)", 0,
		      ".refused[0].is_finding == false");
}

Test(check_expectations, who_is_refused_is_listed)
{
	static const char busy[] = "if not r('SETNX', 'l', 1): print('busy'); sys.exit(1)\n"
				   "r('DEL', 'l')";

	check_failing("", busy, 0,
		      ".refused[1] | .client == \"B\" and .ends > 0 and .of > .ends and "
		      ".last_line == \"busy\"");
	check_failing("--strict-exits", busy, 1, ".refused[1].is_finding");
	check_failing("--strict-exits --refused 1", busy, 0, ".refused[1].is_finding == false");
	check_failing("", "r('GET', 'x')", 0, "(.refused == []) and (.changes_data == false)");
	/* After one start it is not known whether it does. */
	check_failing("--starts 1", "r('GET', 'x'); r('INCR', 'x')", 2, ".changes_data == null");
	/* Without the condition of SET, exclusion is broken before any end is compared. */
	check_failing("",
		      "while not r('SET', 'l', 1, 'NX'): pass\n"
		      "r('ECHO', 'redrace:enter'); r('INCR', 'n'); r('ECHO', 'redrace:leave')\n"
		      "r('DEL', 'l')",
		      0, ".changes_data");
}
