/* SPDX-License-Identifier: MIT */
/* redrace check with programs that anybody could have written: in shell, for redis-cli
 * is there wherever the tests run. */
#include "../cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TestSuite(check, .init = cli_setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --audit 2 -o $HERE/result.json "
#define COUNT "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"

static void check_program(const char *options, const char *program, int code)
{
	cli_write("program", "%s\n", program);
	cr_assert_eq(cli_runf(CHECK "%s -- sh $HERE/program 2>&1", options), code, "%s",
		     cli_output);
}

/* ---- Findings ---------------------------------------------------------------- */

Test(check, finds_a_lost_update_whose_schedule_plays)
{
	check_program("--clients 3 --save $HERE/lost.race", COUNT, 1);
	cli_assert_json(".kinds == [\"lost_update\"] and .clients == 3 and "
			".wrong_final_states == 2 and .final_states == 3");
	cli_assert_property("final_data", "counter = \"2\"");
	cli_assert_property("nearest_serial_data", "counter = \"3\"");
	cr_assert_eq(cli_run("$REDRACE play $HERE/lost.race"), 0, "%s", cli_output);
}

/* Of the serial orders in which no more has gone wrong: that of two clients, and not of three. */
Test(check, a_finding_is_compared_with_an_order_of_those_who_ended)
{
	check_program("--clients 3 --crashes 1", COUNT, 1);
	cli_assert_json(".schedule | contains(\"crash\") | not");
	check_program("--clients 2 --crashes 1", CLI "INCR a >/dev/null; " CLI "INCR b >/dev/null",
		      1);
	cli_assert_property("nearest_serial_data", "a = \"1\"\nb = \"1\"");
}

/* Who was last is as in the order it is compared with, whoever it is. */
Test(check, a_finding_is_compared_with_the_order_that_has_most_keys_alike)
{
	check_program("--all", COUNT "; " CLI "SET last $REDRACE_CLIENT", 1);
	cli_assert_json("[.findings[] | [.final_data, .nearest_serial_data | split(\"\\n\")[1]]] | "
			"sort == [[\"last = \\\"A\\\"\", \"last = \\\"A\\\"\"], "
			"[\"last = \\\"B\\\"\", \"last = \\\"B\\\"\"]]");
}

/* In which order keys, fields and members came about is no difference: B reads before
 * A has written, as in the order B, A, but writes after it. */
Test(check, data_are_the_same_in_whichever_order_they_came_about)
{
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "SET x 1' --client B='v=$(" CLI "GET x); " CLI
				   "SET y \"$v\"' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "HSET h x 1' --client B='v=$(" CLI
				   "HGET h x); " CLI "HSET h y \"$v\"' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "SADD s x' --client B='v=$(" CLI
				   "SISMEMBER s x); " CLI "SADD s \"y$v\"' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--client A='" CLI "RPUSH l x' --client B='v=$(" CLI
				   "LLEN l); " CLI "RPUSH l \"y$v\"' 2>&1"),
		     1, "%s", cli_output);
}

Test(check, one_command_is_serializable)
{
	check_program("--clients 3", CLI "INCR counter", 0);
	cli_assert_property("search.verdict", "serializable");
}

/* One learns it, two tell that it is the same for them; two more play it for real. */
Test(check, starts_a_program_about_once_for_each_history)
{
	check_program("--clients 3 --audit 0", CLI "INCR counter", 0);
	cli_assert_json(".starts <= 5");
}

/* Two runs tell what clients do, and two play the finding, each by its own name. In the serial
 * order, too, each of them does what it was seen to do. */
Test(check, what_is_played_is_not_run_for_anything_else)
{
	check_program("--audit 0", COUNT, 1);
	cli_assert_json(".starts <= 5");
}

/* Whose turn is the second reads what the first has written, and then B does what A does not: it
 * leaves what seemed to be in no serial order. */
Test(check, serial_orders_are_really_run_by_whom_they_are_news_to)
{
	check_program("",
		      "n=$(" CLI "INCR turn)\nv=$(" CLI "GET counter)\n"
		      "[ $n = 2 ] && [ \"$REDRACE_CLIENT$v\" != B1 ] || n=1\n" CLI "SET counter $n",
		      0);
	cli_assert_property("search.verdict", "serializable");
}

/* One name is found to be another client's only where the finding is played. */
Test(check, names_that_play_a_finding_are_those_of_its_clients)
{
	check_program("",
		      "n=$(" CLI "GET counter)\n" CLI "SET counter $((n + 1))\n[ \"$n\" ] || " CLI
		      "SET $REDRACE_CLIENT 1",
		      1);
	cli_assert_json(".final_data | split(\"\\n\") | sort == "
			"[\"A = \\\"1\\\"\", \"B = \\\"1\\\"\", \"counter = \\\"1\\\"\"]");
}

Test(check, who_is_refused_counts_as_absent)
{
	static const char lock[] = "[ \"$(" CLI "SET lock me NX EX 10)\" = OK ] || exit 1\n" COUNT
				   "\n" CLI "DEL lock";

	check_program("--clients 3", lock, 0);
	cli_assert_property("search.verdict", "serializable");
	check_program("",
		      "[ \"$(" CLI "SET lock me NX)\" = OK ] || { echo busy; exit 0; }\n" COUNT
		      "\n" CLI "DEL lock",
		      1);
	check_program("--refused busy",
		      "[ \"$(" CLI "SET lock me NX)\" = OK ] || { echo busy; exit 0; }\n" COUNT
		      "\n" CLI "DEL lock",
		      0);
}

Test(check, a_lock_deleted_by_who_lost_it_fails_when_leases_run_out)
{
	static const char lock[] = "[ \"$(" CLI "SET lock me NX EX 10)\" = OK ] || exit 1\n" COUNT
				   "\n" CLI "DEL lock";

	check_program("--expiries 1", lock, 1);
	cli_assert_json(".search.verdict == \"not_serializable\" and "
			"(.schedule | test(\"(^| )(half|whole|tick)\"))");
}

Test(check, a_lost_reply_is_sent_again_by_the_program_itself)
{
	check_program("--lost-replies 1", CLI "INCR counter >/dev/null 2>&1 || " CLI "INCR counter",
		      1);
	check_program("--lost-replies 1 --allow-partial",
		      CLI "INCR counter >/dev/null 2>&1 || " CLI "INCR counter", 0);
	check_program("--lost-replies 1 --clients 2 --allow-partial",
		      "v=$(" CLI "INCR counter 2>&1)\ncase $v in [0-9]*) ;; *) " CLI
		      "INCR counter ;; esac",
		      0);
}

Test(check, a_crash_in_the_middle_is_no_finding_if_it_may_be_in_serial_executions)
{
	static const char both[] = CLI "RPUSH a 1 >/dev/null\n" CLI "RPUSH b 1 >/dev/null";

	check_program("--crashes 1", both, 1);
	check_program("--crashes 1 --allow-partial", both, 0);
	check_program("--crashes 1", COUNT, 1);
}

Test(check, marks_add_exclusion)
{
	check_program("",
		      CLI "GET lock\n" CLI "ECHO redrace:enter\n" CLI "GET x\n" CLI
			  "ECHO redrace:leave",
		      1);
	cli_assert_property("kinds", "[\"exclusion\"]");
}

/* Who ends with it and who ends without it are in one state, and one of them has come over the
 * critical section. */
Test(check, clients_that_end_alike_have_entered_or_not)
{
#define PASS CLI "ECHO redrace:enter >/dev/null && " CLI "ECHO redrace:leave >/dev/null; exit 0"

	check_program("", "[ $(" CLI "INCR n) = 1 ] && " PASS, 0);
	cli_assert_json(".search.verdict == \"serializable\" and .states == 4");
	check_program("", "[ $(" CLI "INCR n) = 2 ] && " PASS, 0);
	cli_assert_json(".search.verdict == \"serializable\" and .states == 4");
#undef PASS
}

/* MULTI stays on its connection: one step, at EXEC. */
Test(check, a_transaction_is_one_step)
{
	check_program("--clients 3", "printf 'MULTI\\nINCR a\\nINCR b\\nEXEC\\n' | " REDIS_CLI, 0);
	cli_assert_property("search.verdict", "serializable");
}

/* ---- Programs ----------------------------------------------------------------- */

Test(check, clients_may_be_different_programs)
{
	cr_assert_eq(cli_run(CHECK "--client one='" CLI "SET x 1' --client two='v=$(" CLI
				   "GET x); " CLI "SET y \"$v\"' 2>&1"),
		     0, "%s", cli_output);
	cli_assert_property("clients", "2");
}

Test(check, begins_with_what_init_says)
{
	cr_assert_eq(
		cli_run("printf 'SET counter 41\\n# a comment\\nSET \"a b\" c\\n' >$HERE/init; printf '%s\\n' '" COUNT
			"' >$HERE/p; " CHECK "--init $HERE/init -- sh $HERE/p"),
		1, "%s", cli_output);
	cli_assert_property("final_data", "counter = \"42\"\na b = \"c\"");
	cli_assert_property("nearest_serial_data", "counter = \"43\"\na b = \"c\"");
}

Test(check, arguments_may_name_the_port)
{
	cr_assert_eq(cli_run(CHECK "-- redis-cli -u {url} INCR counter 2>&1 && " CHECK
				   "-- redis-cli -h {host} -p {port} INCR counter && " CHECK
				   "-- redis-cli -s {socket} INCR counter"),
		     0, "%s", cli_output);
}

/* Each run has another one, and each client its own. */
Test(check, random_values_are_renamed)
{
	static const char lock[] = "t=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \\n')\n"
				   "[ \"$(" CLI "SET lock $t NX EX 10)\" = OK ] || exit 1\n" COUNT
				   "\n[ \"$(" CLI "GET lock)\" = \"$t\" ] && " CLI "DEL lock\ntrue";

	check_program("--clients 2", lock, 0);
	cli_assert_property("search.verdict", "serializable");
	check_program("--clients 2 --expiries 1", lock, 1);
}

/* Eight other runs of a history in which it is sent tell that it is random, though that is not the
 * longest one; and these are all, however often it is asked. */
Test(check, random_values_are_drawn_where_they_are_sent)
{
	check_program("--audit 0",
		      "read t </proc/sys/kernel/random/uuid\n[ $(" CLI "INCR turn) = 2 ] && " CLI
		      "INCR a && exec " CLI "INCR b\nexec " CLI "SET token $t",
		      0);
	cli_assert_json(".starts <= 13");
}

Test(check, a_program_may_do_what_its_name_says)
{
	check_program("--clients 3", CLI "SET $REDRACE_CLIENT 1", 0);
	cli_assert_property("search.verdict", "serializable");
}

Test(check, sleeping_costs_nothing)
{
	check_program("", "sleep 1000\n" CLI "INCR counter", 0);
}

Test(check, who_polls_is_followed_so_often)
{
	static const char program[] = "until [ \"$(" CLI "SET lock me NX)\" = OK ]; do " CLI
				      "GET x; done\n" COUNT "\n" CLI "DEL lock";

	check_program("--rounds 2", program, 2);
	cli_assert_json(".search.verdict == \"no_failure_found\" and .search.limit == \"rounds\"");
	check_program("--rounds 2 --accept-bounded", program, 0);
	cli_assert_json(".search.verdict == \"no_failure_found\" and .search.limit == \"rounds\"");
}

/* The shell itself has ended long before. */
Test(check, what_runs_in_the_background_belongs_to_the_program)
{
	check_program("", "(" COUNT ") &", 1);
	cli_assert_json(".search.exit == 1 and .wrong_final_states == 1 and .final_states == 2");
	check_program("", "( (sleep 5; " COUNT ") & )\n" CLI "GET other", 1);
	check_program("", "(sleep 5; " CLI "INCR counter) &", 0);
}

/* Clients of node wait for that. */
Test(check, quit_closes_the_connection)
{
	cli_write(
		"program", "%s\n",
		"exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT; printf 'INCR c\\r\\nQUIT\\r\\n' >&3; cat <&3");
	cr_assert_eq(cli_run(CHECK "-- bash $HERE/program 2>&1"), 0, "%s", cli_output);
}

Test(check, commands_may_have_a_hundred_words)
{
	check_program("", "n=$(" CLI "LLEN list)\n" CLI "RPUSH list $(seq $((n + 1)) $((n + 100)))",
		      1);
	cli_assert_property("search.exit", "1");
}

/* Their first commands are in it; and without any, both are in it at once. */
Test(check, sections_that_programs_begin_with_are_exclusive_too)
{
	check_program("", CLI "ECHO redrace:enter\n" CLI "INCR x\n" CLI "ECHO redrace:leave\n", 1);
	cli_assert_property("kinds", "[\"exclusion\"]");
	check_program("", CLI "ECHO redrace:enter\n" CLI "ECHO redrace:leave\n" CLI "INCR x\n", 1);
}

/* ---- What is wrong ---------------------------------------------------------------- */

Test(check, a_program_that_is_not_deterministic_is_named)
{
	check_program("--clients 3",
		      "echo x >>$HERE/runs\n" CLI "SET n $(($(wc -l <$HERE/runs) % 10))", 65);
	cli_assert_names("'SET n ");
}

/* Each run draws anew what a program draws by itself; here two of twenty do otherwise, for one
 * may be started ahead in vain. */
Test(check, a_rare_choice_is_noticed)
{
	cli_write("program", "%s\n",
		  "echo x >>$HERE/starts\n[ $(($(wc -l <$HERE/starts) % 20)) -ge 18 ] && " CLI
		  "SET counter 7 || " CLI "INCR counter");
	cr_assert_eq(cli_run("HERE=$HERE $REDRACE check -- sh $HERE/program 2>&1"), 65, "%s",
		     cli_output);
	cli_assert_names("'INCR counter'");
	cli_assert_names("'SET counter 7'");
}

Test(check, a_program_that_cannot_be_run_is_named)
{
	static const char *const missing[] = {
		"-- $HERE/none",
		"-- sh $HERE/none.sh",
		"-- sh -c 'node checks/none.js x'",
		"--client a=$HERE/none --client b='redis-cli -u {url} PING'",
		"--check 'python3 none.py' -- true",
		"--setup $HERE/none -- true",
		"--app 'python3 none.py' --request 'curl {app}/buy'",
	};
	char line[300];

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		snprintf(line, sizeof(line), CHECK "%s 2>&1 >/dev/null", missing[i]);
		cli_assert_one_line(line, 64, "' does not exist: write it");
	}
	/* A file that may not be run is made executable, or run by its interpreter. */
	static const char *const denied[] = {
		"-- $HERE/hit.py",
		"-- sh -c \"$HERE/hit.py x\"",
		"--client a=$HERE/hit.py --client b=true",
		"--app $HERE/hit.py --request 'curl {app}/buy'",
	};

	cli_write("hit.py", "pass\n");
	for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
		snprintf(line, sizeof(line), CHECK "%s 2>&1 >/dev/null", denied[i]);
		cli_assert_one_line(line, 64, "'chmod +x ");
		cr_assert_not_null(strstr(cli_output, "'python3 "), "%s", cli_output);
	}
	/* A module by Node's rules, and a line of more than plain words. */
	cli_write("hit.js", "process.exit(0);\n");
	cr_assert_eq(cli_run("command -v node >/dev/null || exit 2; " CHECK
			     "-- node $HERE/hit 2>&1"),
		     2, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "-- sh -c 'cd / && sh none.sh' 2>&1"), 2, "%s", cli_output);
}

/* Each command in a line of its own: a shell that reads the lines runs the same. */
Test(check, what_is_run_can_be_pasted)
{
	cr_assert_eq(
		cli_run(CHECK
			"-- sh -c \"printf '%s|' \\\"\\$@\\\"\" \"it's\" 'a b' '' 'c\nd' '$x' '{a,b}' >$HERE/said; "
			"sed -n '/^Runs/,/^[^ R]/p' $HERE/said | grep '^  ' >$HERE/line; wc -l <$HERE/line; bash $HERE/line"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "1\na b||c\nd|$x|{a,b}|");
	cli_run(CHECK
		"--client a='sleep 0; printf \"%s\" \"it'\"'\"'s\"' --client b='printf \"\\n\"; true' >$HERE/said; "
		"sed -n '/^Runs/,/^[^ R]/p' $HERE/said | grep '^  ' >$HERE/line; wc -l <$HERE/line; bash $HERE/line");
	cr_assert_str_eq(cli_output, "2\nit's\n");
}

Test(check, a_program_that_hangs_is_named)
{
	cli_assert_one_line(CHECK "--hangs-after 1 -- sh -c 'kill -STOP $$' 2>&1 >/dev/null", 65,
			    "--hangs-after");
}

Test(check, printing_for_ever_is_hanging)
{
	cli_assert_one_line(CHECK "--hangs-after 1 -- yes 2>&1 >/dev/null", 65, "--hangs-after");
}

Test(check, what_cannot_be_judged_is_refused)
{
	static const char *const commands[] = {
		"MONITOR",
		"CLIENT LIST",
		"CLIENT REPLY OFF",
		"CLIENT TRACKING ON",
		"CONFIG SET maxmemory 1",
		"SHUTDOWN NOSAVE",
		"OBJECT FREQ x",
		"ACL SETUSER x",
	};
	char command[200], part[60];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(command, sizeof(command),
			 CHECK "-- redis-cli -p {port} %s 2>&1 >/dev/null", commands[i]);
		snprintf(part, sizeof(part), "%.9s", commands[i]);
		cli_assert_one_line(command, 65, part);
	}
}

/* It would be seen to do nothing, and be called serializable. */
Test(check, a_daemon_is_named)
{
	cli_write("program",
		  "setsid sh -c ': %s; v=$(" CLI "GET x); " CLI
		  "SET x $((v + 1)); kill -STOP $$' >/dev/null 2>&1 &\n",
		  cli_home);
	cli_assert_one_line(CHECK "-- sh $HERE/program 2>&1 >/dev/null", 65, "client A");
	cr_assert_eq(cli_run("pgrep -f \"^sh -c : $HERE;\""), 1, "left behind: %s", cli_output);
}

/* As a port of Erlang's, which has a session of its own and ends when its parent has: a real
 * server sees one INCR of each client, and nobody is left. */
Test(check, who_ends_soon_after_its_parent_is_no_daemon)
{
	cli_write("program", "%s\n",
		  "mkfifo $HERE/$$; setsid sh -c 'read x; i=0; while [ $i -lt "
		  "50000 ]; do i=$((i + 1)); done' <$HERE/$$ &\n"
		  "exec 3>$HERE/$$; " CLI "INCR counter");
	cr_assert_eq(cli_run("HERE=$HERE " CHECK "--allow-outside $HERE -- sh $HERE/program 2>&1"),
		     0, "%s", cli_output);
}

/* Real threads end in any order; each order by itself is one that a real server sees. */
Test(check, the_threads_of_libuv_are_one)
{
	if (cli_run("node -e ''") != 0)
		cr_skip_test("needs Node");
	cli_write("program.js", "%s\n",
		  "const s = require('net').connect(+process.env.REDIS_PORT, '127.0.0.1');\n"
		  "let n = 0;\n"
		  "s.on('data', d => { n += d.toString().split('\\n').length - 1;\n"
		  "                    if (n >= 4) s.end(); });\n"
		  "for (let i = 0; i < 4; i++)\n"
		  "  require('crypto').pbkdf2('x', 'y', 2000, 32, 'sha256',\n"
		  "                           () => s.write('RPUSH list ' + i + '\\r\\n'));\n");
	cr_assert_eq(cli_run(CHECK "--clients 1 -- node $HERE/program.js 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_property("has_one_uv_thread", "true");
	cr_assert_eq(cli_run("UV_THREADPOOL_SIZE=4 " CHECK "--clients 1 -- node -e 0 2>&1"), 2,
		     "%s", cli_output);
	cli_assert_property("has_one_uv_thread", "false");
}

Test(check, a_program_that_asks_nothing_shows_nothing)
{
	check_program("", "head -c 3000000 /dev/zero", 2);
	cli_assert_property("search.limit", "no_command");
}

Test(check, a_program_without_an_end_is_ended_by_seconds)
{
	check_program("--seconds 1", "while :; do " CLI "INCR x; done", 2);
	cli_assert_property("search.limit", "seconds");
}

/* A check with a budget of starts, and its figures. */
static void check_starts(const char *before, int n, int code)
{
	cr_assert_eq(cli_runf("%s $REDRACE check --no-cache --clients 3 --audit 0 --starts %d -o "
			      "$HERE/result.json -- sh -c '" CLI "INCR x; v=$(" CLI "GET y); " CLI
			      "SET y $((v + 1))' 2>&1",
			      before, n),
		     code, "%s", cli_output);
}

/* On one processor nothing is started ahead. */
Test(check, a_budget_of_starts_ends_a_search_where_it_did_before)
{
	char first[200];

	check_starts("", 4, 2);
	cli_assert_json(".bounds.starts == 4 and .starts <= 4 and .search.limit == \"starts\"");
	snprintf(first, sizeof(first), ".states == %.80s", cli_property("states"));
	snprintf(first + strlen(first), sizeof(first) - strlen(first), " and .transitions == %.80s",
		 cli_property("transitions"));
	check_starts("taskset -c 0", 4, 2);
	cli_assert_json(first);
	check_starts("", 1000, 1);
	cli_assert_property("not_searched_because", "null");
}

/* What is found by then is played with more starts. */
Test(check, a_finding_within_a_budget_of_starts_stands)
{
	cr_assert_eq(cli_run("$REDRACE check --no-cache --starts 3 -o $HERE/result.json -- sh "
			     "examples/check/counter.sh 2>&1"),
		     1, "%s", cli_output);
	cli_assert_json(".starts > 3");
	cr_assert_eq(cli_run("$REDRACE check --starts 0 -- true 2>&1"), 64, "%s", cli_output);
}

/* 5,040 final states beside 13,700 that serial orders leave, each with seven random values: to
 * compare them takes minutes, unless most are found at once. */
Test(check, comparing_final_states_ends_with_seconds_too, .timeout = 600)
{
	const int code = cli_run(
		"timeout 60 $REDRACE_ONCE check --skeptic off --audit 1 --clients 7 -s 10 -o $HERE/result.json -- "
		"sh -c 'redis-cli -p $REDIS_PORT RPUSH l $(cat /proc/sys/kernel/random/uuid)' 2>&1");

	cr_assert(code == 0 || code == 2, "%d: %s", code, cli_output);
	cli_assert_property("search.limit", code ? "seconds" : "null");
}

/* Each of 24 final states is looked at by a command that takes some time. */
Test(check, time_that_is_over_while_states_are_compared_is_said)
{
	cr_assert_eq(
		cli_run("$REDRACE check --clients 4 --audit 0 -s 2 -o $HERE/result.json --check "
			"'i=0; while [ $i -lt 4000000 ]; do i=$((i+1)); done' -- "
			"sh -c 'redis-cli -p $REDIS_PORT RPUSH l $REDRACE_CLIENT' 2>&1"),
		2, "%s", cli_output);
	cli_assert_property("search.limit", "seconds");
}

Test(check, programs_that_always_fail_show_nothing)
{
	check_program("", CLI "INCR counter\nexit 3", 2);
	cli_assert_json(".search.limit == \"never_succeeds\" and "
			"([.refused[] | [.client, .exit_status]] == [[\"A\", 3], [\"B\", 3]])");
}

/* What other replies would make of it is not what it ended with. */
Test(check, programs_that_give_up_in_all_final_states_show_nothing)
{
	cli_write("init", "SET lock dead PX 5000\n");
	check_program("--skeptic off --init $HERE/init",
		      "for i in 1 2 3; do\n"
		      "\t[ \"$(" CLI "SET lock x NX)\" != OK ] || break\n"
		      "\tsleep 1\n"
		      "\t[ $i != 3 ] || exit 1\n"
		      "done\n"
		      "for i in 1 2 3 4; do " CLI "INCR counter; done\n",
		      2);
	cli_assert_json(".search.limit == \"never_succeeds\" and .refused[0].exit_status == 1");
}

Test(check, what_is_no_request_is_named)
{
	cli_write("program", "%s\n",
		  "exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT; printf '*x\\r\\n' >&3; cat <&3");
	cli_assert_one_line(CHECK "-- bash $HERE/program 2>&1 >/dev/null", 65, "client A");
	cli_assert_one_line(CHECK "-- redis-cli --tls --insecure -p {port} PING 2>&1 >/dev/null",
			    65, "client A");
}

Test(check, usage_is_explained)
{
	cli_assert_one_line(CHECK "2>&1", 64, "--");
	cli_assert_one_line(CHECK "true 2>&1 | head -n 1; exit 64", 64, "redrace check -- true");
	cli_assert_one_line(CHECK "--client A=true -- true 2>&1", 64, "--client");
	cli_assert_one_line(CHECK "--init $HERE/none -- true 2>&1 >/dev/null", 64, "/none'");
}

/* ---- What is left behind -------------------------------------------------------------- */

/* Its program says that it is there, and has a child. */
Test(check, a_killed_check_leaves_no_process)
{
	cr_assert_eq(
		cli_run("$REDRACE_ONCE check --audit 2 "
			"--hangs-after 600 -- sh -c 'cat /dev/zero >/dev/null & : >$HERE/there; kill -STOP $$' >$HERE/out 2>&1 & p=$!; "
			"until [ -e $HERE/there ] || ! kill -0 $p; do sleep 0.05; done; kill -9 $p; wait $p; "
			"left() { ls -d $TMPDIR/redrace-* 2>/dev/null; for d in /proc/[0-9]*; do grep -qs REDRACE_CLIENT= $d/environ && grep -s \"HERE=$HERE\" $d/environ >/dev/null && echo ${d#/proc/}; done; }; "
			"for i in $(seq 1200); do [ -n \"$(left)\" ] || break; sleep 0.1; done; left; true"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "");
}

/* Of whoever wrote the command line. */
Test(check, shows_nothing_but_text)
{
	cr_assert_eq(cli_run(CHECK "-- sh -c \"$(printf ': \\033[31m')\n"
				   "redis-cli -p {port} INCR x\" 2>&1"),
		     0, "%s", cli_output);
	cli_assert_prints("\n  sh -c $': \\x1b[31m\\n");
	cr_assert_eq(cli_run(CHECK "-- sh -c 'v=$(" CLI "GET ::error::x); " CLI
				   "SET ::error::x $((v + 1))' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_names("\n  \"::error::x\" = ");
	cr_assert_eq(cli_run(CHECK "-- sh -c 'v=$(" CLI "GET \"x ::a##[error]y\"); " CLI
				   "SET \"x ::a##[error]y\" $((v + 1)); " CLI
				   "SET x \"##[group]z\"' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_names("\n  \"x \\x3a:a\\x23#[error]y\" = ");
	cli_assert_names("\n  x = \"\\x23#[group]z\"");
	cr_assert_null(strstr(cli_output, "##["), "%s", cli_output);
}
