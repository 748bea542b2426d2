/* SPDX-License-Identifier: MIT */
/* redrace check --app: requests to one server. The shop is tests/check/programs/shop.c. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

static void setup(void)
{
	cli_setup();
	cr_assert_eq(
		cli_run("cc -o $HERE/shop tests/check/programs/shop.c -lhiredis -pthread 2>&1 && "
			"cc -o $HERE/ask tests/check/programs/ask.c 2>&1"),
		0, "%s", cli_output);
	cli_write("stock", "SET stock 1\n");
}

TestSuite(check_app, .init = setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --init $HERE/stock --audit 2 "
#define ASK "'$HERE/ask {app}/"

/* An app with requests that $HERE/ask makes, and what that comes to. */
static void check_app(const char *app, const char *options, int code)
{
	cr_assert_eq(cli_runf(CHECK "--app %s %s 2>&1", app, options), code, "%s", cli_output);
}

Test(check_app, finds_that_the_last_one_is_sold_twice)
{
	check_app("$HERE/shop", "--request " ASK "buy' --save $HERE/sold.race", 1);
	cli_assert_prints("not serializable (");
	cli_assert_prints("In the end there is\n  stock = \"-1\"\n"
			  "  request 1 (ask /buy), printed \"sold\\n\"\n"
			  "  request 2 (ask /buy), printed \"sold\\n\"\n"
			  "and no serial order of the requests leaves that.\n");
	cli_assert_prints("in no serial order of the requests do they all succeed.");
	cli_assert_prints("Why (both did what only one should):\n  request 1 is before request 2: "
			  "request 1's GET stock (3) did not see request 2's DECR (7).\n");
	cli_assert_prints(" request1");
	cli_assert_prints("=> sold");
	cr_assert_eq(cli_run("$REDRACE play $HERE/sold.race 2>&1"), 0, "%s", cli_output);
	check_app("$HERE/shop", "--request " ASK "buy' --replay $HERE/sold.race", 1);
	cli_assert_prints("not serializable (1 of 1 final states; 2 requests, ");
}

Test(check_app, a_script_that_decides_is_serializable)
{
	check_app("$HERE/shop", "--request " ASK "buy-once'", 0);
	cli_assert_prints("data and answers as in some order of the requests (2 requests, ");
	cr_assert_eq(cli_run("pgrep -f \"$HERE/shop\""), 1, "left behind: %s", cli_output);
}

/* Of a transaction that is sent at once nothing is heard before its end: else it takes 370 runs for
 * two on connections of their own. */
Test(check_app, a_transaction_on_one_of_several_connections_is_one_step, .timeout = 600)
{
	const char *at;
	int n_runs = 0;

	check_app("$HERE/shop", "--request " ASK "buy-unwatched'", 1);
	cli_assert_prints("stock = \"-1\"");
	at = strstr(cli_output, "; 2 requests, ");
	cr_assert(at && sscanf(at + strlen("; 2 requests, "), "%d runs", &n_runs) == 1 &&
			  n_runs < 260,
		  "%s", cli_output);
}

/* What is written behind the answer belongs to the data all the same. */
Test(check_app, work_behind_the_answer_counts)
{
	check_app("$HERE/shop", "--request " ASK "note' --final 'GET note' 1", 0);
	check_app("$HERE/shop", "--request " ASK "note' --final 'GET note' 2", 1);
	cli_assert_prints("GET note => \"1\", expected 2");
}

/* Who asks behind the answer must be told. */
Test(check_app, the_order_of_time_counts)
{
	check_app("$HERE/shop", "--request " ASK "note' --request " ASK "noted'", 1);
	cli_assert_prints("outputs are not serializable");
	cli_assert_prints("It is serializable, but not in the order of time");
	check_app("$HERE/shop", "--request " ASK "count' --request " ASK "noted'", 0);
}

/* Half a second of the app's own time passes at once. */
Test(check_app, an_app_that_sleeps_is_woken)
{
	check_app("$HERE/shop", "--request " ASK "buy-later'", 1);
}

/* Thousands of histories, and few states. */
Test(check_app, three_requests_come_to_an_end, .timeout = 600)
{
	cli_write("stock", "SET stock 2\n");
	check_app("$HERE/shop", "--clients 3 --request " ASK "buy-once'", 0);
	cli_assert_prints(
		" states, data and answers as in some order of the requests (3 requests, ");
}

/* Each is told another number. */
Test(check_app, answers_are_those_of_an_order)
{
	check_app("$HERE/shop", "--request " ASK "count'", 0);
}

/* Its threads share a connection: who has it next, when one gives it back, is not for Redis to
 * say. It may be found by chance, or not. While a lock is held from the first command to the last,
 * nobody else goes on. */
Test(check_app, threads_that_wait_for_each_other_get_no_yes)
{
	static const char shared[] =
		"'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/check/programs /usr/bin/python3 -S "
		"tests/check/programs/shared.py'";
	const int code = cli_runf(CHECK "--app %s --request " ASK "buy' 2>&1", shared);

	cr_assert(code == 1 || code == 2 || code == 65, "%d\n%s", code, cli_output);
	if (code == 2)
		cli_assert_prints("threads of the app wait for each other");
	check_app(shared, "--request " ASK "buy-locked'", 0);
}

/* A worker that waits for jobs listens on no port, and waits for them at the end, too. */
Test(check_app, a_worker_waits_for_jobs)
{
	cli_write("worker.py", "%s",
		  "import raw\nr = raw.Connection()\n"
		  "while r('BRPOP', 'jobs', 0):\n"
		  "    r('SET', 'done', int(r('GET', 'done') or 0) + 1)\n");
	check_app("'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/check/programs /usr/bin/python3 -S "
		  "$HERE/worker.py' --ready true",
		  "--request 'redis-cli -u {url} LPUSH jobs x >/dev/null' --final 'GET done' 2", 0);
}

/* A worker in Python, with `r` to talk to Redis; what it does with a job. */
static void check_workers(const char *take, const char *work, const char *options, int code)
{
	cli_write("worker.py",
		  "import raw, sys, time\nr = raw.Connection()\nwhile True:\n"
		  "    job = %s\n    %s\n",
		  take, work);
	check_app("'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/check/programs /usr/bin/python3 -S "
		  "$HERE/worker.py' --ready true",
		  options, code);
}

#define TAKE "r('BLMOVE', 'jobs', 'working', 'RIGHT', 'LEFT', 0)"
#define TWO_WORKERS                                                        \
	"--apps 2 --request 'redis-cli -u {url} LPUSH jobs 5 >/dev/null' " \
	"--request 'redis-cli -u {url} LPUSH jobs 7 >/dev/null'"

/* Each is learned by itself, and says so where it is named. */
Test(check_app, two_workers_share_a_queue)
{
	check_workers(TAKE, "r('INCRBY', 'done', job); r('LREM', 'working', 1, job)",
		      TWO_WORKERS " --final 'GET done' 12", 0);
	check_workers(TAKE,
		      "r('SET', 'done', int(r('GET', 'done') or 0) + int(job)); "
		      "r('LREM', 'working', 1, job)",
		      TWO_WORKERS, 1);
	cli_assert_prints("Why (lost update):\n  appA is before appB: appA's GET done (");
	cli_assert_prints("request 2 (LPUSH jobs 7)\n");
}

/* Who asks for jobs again and again, because time-outs end or it polls, waits all the same. */
Test(check_app, workers_that_poll_come_to_an_end)
{
	check_workers("r('BRPOP', 'jobs', 1)", "if job: r('INCR', 'done')",
		      "--clients 1 --request 'redis-cli -u {url} LPUSH jobs 5 >/dev/null' "
		      "--final 'GET done' 1",
		      0);
	check_workers("r('LPOP', 'jobs')", "if job: r('INCR', 'done')\n    else: time.sleep(0.1)",
		      "--clients 1 --request 'redis-cli -u {url} LPUSH jobs 5 >/dev/null' "
		      "--final 'GET done' 1",
		      0);
}

/* They wait in one loop, whatever they have done before: else these are 1,321 states and 274 runs. */
Test(check_app, two_workers_that_poll_come_to_an_end, .timeout = 600)
{
	check_workers("r('LPOP', 'jobs')", "if job: r('INCR', 'done')\n    else: time.sleep(0.1)",
		      TWO_WORKERS " --final 'GET done' 2", 0);
	cli_assert_prints("serializable: all 126 states, ");
}

Test(check_app, requests_that_never_succeed_show_nothing)
{
	check_app("$HERE/shop", "--request 'exit 3'", 2);
	cli_assert_prints("This shows nothing: ");
	check_app("$HERE/shop", "--request " ASK "nothing'", 2);
	cli_assert_prints("the app sent no command; does it connect to REDIS_URL?");
}

/* Broken in any order, it shows nothing; broken in a race alone, it is a finding. */
Test(check_app, an_answer_that_the_app_is_broken_is_no_success)
{
	check_app("$HERE/shop", "--request " ASK "broken'", 2);
	cli_assert_prints("there is a request that never succeeded");
	check_app("$HERE/shop", "--request " ASK "broken-in-a-race'", 1);
	cli_assert_prints("in no serial order are these the answers");
}

/* Whoever is not answered then was not refused, although ask exits with 52. */
Test(check_app, an_app_that_ends_by_itself_is_a_finding)
{
	check_app("$HERE/shop", "--request " ASK "dies-in-a-race'", 1);
	cli_assert_prints("exited with 52");
}

/* An answer that happens to be a number is no status of HTTP: both were told the same. */
Test(check_app, a_count_is_no_status)
{
	static const char *const clients[] = {
		"$HERE/ask {app}/first", "curl -s -i -X POST {app}/first",
		"curl -s -X POST -w \"%{http_code} 409\" {app}/first",
		"$HERE/ask {app}/first; : %{http_code}"
	};
	char request[200];

	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
		snprintf(request, sizeof(request), "--request '%s'", clients[i]);
		check_app("$HERE/shop", request, 1);
	}
}

/* Of several headings the last one is the answer's. */
Test(check_app, the_status_is_in_the_last_heading)
{
	static const char redirected[] =
		"--request 'printf \"HTTP/1.1 302 Found\\r\\n\\r\\n\"; $HERE/ask {app}/broken'";

	check_app("$HERE/shop", redirected, 2);
	cli_assert_prints("there is a request that never succeeded");
}

/* The status is read on the connection, whatever the command prints. */
Test(check_app, the_status_need_not_be_printed)
{
	check_app("$HERE/shop", "--request " ASK "first-status --body'", 1);
	cli_assert_prints("outputs are not serializable");
	check_app("$HERE/shop", "--request '$HERE/ask http://127.0.0.1:$PORT/first-status --body'",
		  1);
	check_app("$HERE/shop", "--request " ASK "buy-once --body'", 0);
}

Test(check_app, answers_that_are_all_errors_show_nothing)
{
	static const char *const paths[] = { "missing", "broken" };
	char request[100];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(request, sizeof(request),
			 "--request " ASK "%s --body' --request " ASK "count --body'", paths[i]);
		check_app("$HERE/shop", request, 2);
		cli_assert_prints("there is a request that never succeeded");
		cli_assert_prints(i ? "HTTP 500" : "HTTP 404");
	}
}

/* All bytes of an answer are compared. */
Test(check_app, answers_differ_behind_a_byte_that_is_0_and_behind_many)
{
	check_app("$HERE/shop", "--request " ASK "first-far --body' -o $HERE/far.json", 1);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.requests[0].answer | "
			     ".http_status == 200 and .output_bytes == 100006' $HERE/far.json"),
		     0, "%s", cli_output);
}

/* For other programs: what each request was answered, and what in the nearest serial order. */
Test(check_app, answers_are_in_json)
{
	check_app("$HERE/shop", "--request " ASK "first' -o $HERE/first.json", 1);
	cr_assert_eq(
		cli_run("jq -ce '.cases[0] | .name, (.properties.requests | "
			"map(.answer.output, .answer.exit_status, .nearest_serial_answer.output))' "
			"$HERE/first.json"),
		0, "%s", cli_output);
	cli_assert_prints("/shop\"\n[\"first\\n409\",0,\"first");
	check_app("$HERE/shop", "--request " ASK "count' -o $HERE/count.json", 0);
	cr_assert_eq(cli_run("jq -ce '.cases[0].properties.requests == []' $HERE/count.json"), 0,
		     "%s", cli_output);
}

#define LINES                                                                             \
	"'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/check/programs /usr/bin/python3 -S " \
	"tests/check/programs/lines.py'"

/* Nobody knows when the app is through with a line, so the order of time does not count; what it
 * does in five seconds belongs to it. */
Test(check_app, lines_of_input_are_requests)
{
	check_app(LINES, "--line buy", 1);
	cli_assert_prints("  request 1 (line buy)\n");
	cli_assert_prints("stock = \"-1\"");
	cli_assert_prints("=> nothing\n");
	check_app(LINES, "--line buy-once", 0);
	check_app(LINES, "--line 'set 1' --line 'set 2'", 0);
	check_app(LINES, "--line note-later --final 'GET notes' 2", 0);
	check_app(LINES, "--line x --request 'exit 3'", 2);
}

/* A line that has begun may be what goes on when a reply comes to another one. */
Test(check_app, no_request_is_named_where_another_one_may_wait)
{
	static const char desk[] =
		"'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/check/programs /usr/bin/python3 -S "
		"tests/check/programs/desk.py'";

	check_app(desk, "--line buy --line buy", 1);
	cli_assert_prints("  request 1 is before request 2: request 1's GET stock (5) did not see "
			  "request 2's DECR (8).\n");
	check_app(desk, "--line buy --line buy --line rest", 1);
	cr_assert_not(strstr(cli_output, "Why"), "%s", cli_output);
}

/* It goes on from --init. */
Test(check_app, a_command_may_fill_the_server)
{
	check_app("$HERE/shop",
		  "--setup 'redis-cli -u $REDIS_URL INCR stock' --request " ASK "buy'", 0);
	check_app("$HERE/shop",
		  "--setup 'redis-cli -u $REDIS_URL DECR stock' --request " ASK "buy'", 2);
}

Test(check_app, app_and_requests_belong_together)
{
	cli_assert_one_line("$REDRACE check --app true 2>&1", 64, "belong together");
	cli_assert_one_line("$REDRACE check --request true 2>&1", 64, "belong together");
	cli_assert_one_line("$REDRACE check --app true --request true -- true 2>&1", 64,
			    "belong together");
}
