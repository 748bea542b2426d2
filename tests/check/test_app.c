/* SPDX-License-Identifier: MIT */
/* redrace check --app: requests to one server. The shop is tests/check/programs/shop.c. */
#include "../cli.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

static void setup(void)
{
	cli_setup();
	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE 2>&1"), 0, "%s", cli_output);
	cli_write("stock", "SET stock 1\n");
}

TestSuite(check_app, .init = setup, .fini = cli_teardown);

#define CHECK "$REDRACE check --init $HERE/stock -o $HERE/result.json --audit 2 "
#define ASK "'$HERE/ask {app}/"

/* An app with requests that $HERE/ask makes, and what that comes to. */
static void check_app(const char *app, const char *options, int code)
{
	cr_assert_eq(cli_runf(CHECK "--app %s %s 2>&1", app, options), code, "%s", cli_output);
}

Test(check_app, finds_that_the_last_one_is_sold_twice)
{
	check_app("$HERE/shop", "--request " ASK "buy' --save $HERE/sold.race", 1);
	cli_assert_json(
		".kinds == [\"check_then_act\"] and "
		"[.requests[].answer | [.output, .exit_status]] == [[\"sold\", 0], [\"sold\", 0]]");
	cli_assert_property("final_data", "stock = \"-1\"");
	cli_assert_json(".nearest_serial_data == null");
	cr_assert_eq(cli_run("$REDRACE play $HERE/sold.race 2>&1"), 0, "%s", cli_output);
	check_app("$HERE/shop", "--request " ASK "buy' --replay $HERE/sold.race", 1);
	cli_assert_json(
		".search.verdict == \"not_serializable\" and .final_states == 1 and .clients == 2");
}

Test(check_app, a_script_that_decides_is_serializable)
{
	check_app("$HERE/shop", "--request " ASK "buy-once'", 0);
	cli_assert_json(".search.verdict == \"serializable\" and .clients == 2");
	cr_assert_eq(cli_run("pgrep -f \"$HERE/shop\""), 1, "left behind: %s", cli_output);
}

/* Of a transaction that is sent at once nothing is heard before its end: else it takes 370 runs for
 * two on connections of their own. */
Test(check_app, a_transaction_on_one_of_several_connections_is_one_step, .timeout = 600)
{
	check_app("$HERE/shop", "--request " ASK "buy-unwatched'", 1);
	cli_assert_line("final_data", "stock = \"-1\"");
	cli_assert_json(".starts < 260");
}

/* What is written behind the answer belongs to the data all the same. */
Test(check_app, work_behind_the_answer_counts)
{
	check_app("$HERE/shop", "--request " ASK "note' --final 'GET note' 1", 0);
	check_app("$HERE/shop", "--request " ASK "note' --final 'GET note' 2", 1);
	cli_assert_json(".findings[0] | .kind == \"not_as_expected\" and .keys == [\"GET note\"]");
}

/* Who asks behind the answer must be told. */
Test(check_app, the_order_of_time_counts)
{
	check_app("$HERE/shop", "--request " ASK "note' --request " ASK "noted'", 1);
	cli_assert_property("search.verdict", "outputs_not_serializable");
	cli_assert_property("is_untimely", "true");
	check_app("$HERE/shop", "--request " ASK "count' --request " ASK "noted'", 0);
}

/* Half a second of the app's own time passes at once. */
Test(check_app, an_app_that_sleeps_is_woken)
{
	check_app("$HERE/shop", "--request " ASK "buy-later'", 1);
}

/* ---- Locks of requests: tests/check/programs/lock_app.c ------------------------------- */

struct held {
	char app[40], first[20], second[20];
	int code;
	char is[60]; /* of its properties */
};

#define RIGHT ".search.verdict == \"serializable\""
#define OTHERS ".kinds == [\"foreign_release\"]"

static const struct held held[] = {
	{ "", "del", "del", 1, OTHERS },
	{ "", "compare", "compare", 0, RIGHT },
	{ "", "renew", "renew", 1, OTHERS },
	{ "", "overwrite", "overwrite", 1, OTHERS },
	{ "", "late", "late", 1, OTHERS },
	{ "", "login", "logout", 0, RIGHT },
	{ "", "in-turn", "in-turn", 0, RIGHT },
	{ "alone", "del", "del", 0, RIGHT },
	/* Whose the DEL is, is not known. */
	{ "alone", "late", "late", 2, ".search.limit == \"left_out\"" },
};

ParameterizedTestParameters(check_app, a_lock_is_its_holders)
{
	static struct held copies[sizeof(held) / sizeof(held[0])];

	memcpy(copies, held, sizeof(held));
	return cr_make_param_array(struct held, copies, sizeof(held) / sizeof(held[0]));
}

ParameterizedTest(struct held *it, check_app, a_lock_is_its_holders, .timeout = 600)
{
	cr_assert_eq(cli_run("cp $MADE/lock_app $HERE 2>&1"), 0, "%s", cli_output);
	cr_assert_eq(cli_runf("$REDRACE check --audit 2 --no-cache --skeptic off --expiries 1 "
			      "-o $HERE/result.json --app '$HERE/lock_app %s' --request " ASK
			      "%s?a' --request " ASK "%s?b' 2>&1",
			      it->app, it->first, it->second),
		     it->code, "%s: %s", it->first, cli_output);
	cli_assert_json(it->is);
}

/* Thousands of histories, and few states. */
Test(check_app, three_requests_come_to_an_end, .timeout = 600)
{
	cli_write("stock", "SET stock 2\n");
	check_app("$HERE/shop",
		  "-o $HERE/said.json --final 'GET stock' -1 --clients 3 --request " ASK
		  "buy-once'",
		  0);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties | .clients == 3 and .pairs.searched == 1 "
			     "and (.pairs.found_by | not)' $HERE/said.json"),
		     0, "%s", cli_output);
}

/* Schedules with few switches between connections come first, and what is wrong among all is played
 * before what is believed of the app is verified, which takes hundreds of starts. */
Test(check_app, five_commands_of_each_request_take_few_starts, .timeout = 600)
{
	check_app("$HERE/shop", "--skeptic off --starts 100 --request " ASK "visit'", 1);
	cli_assert_json(".starts < 100");
}

/* An acknowledgement that the kernel delays by 40 ms is no sign that an app waits for something. */
Test(check_app, connections_may_be_kept_and_written_to_in_pieces, .timeout = 600)
{
	char request[1000] = "curl -s";

	for (int i = 0; i < 30; i++)
		strcat(request, " {app}/ping");
	cr_assert_eq(cli_runf(CHECK "--app '/usr/bin/python3 -S $PYTHONPATH/keep_alive.py' "
				    "--request '%s {app}/buy' 2>&1",
			      request),
		     1, "%s", cli_output);
}

/* Where all requests are searched at once, 400 starts are not enough. */
Test(check_app, three_requests_of_five_commands_are_found_by_pairs, .timeout = 600)
{
	check_app("$HERE/shop",
		  "--starts 300 -o $HERE/said.json --save $HERE/x.race --clients 3 --request " ASK
		  "visit'",
		  1);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties | .clients == 3 and .pairs.searched == 1 "
			     "and .pairs.found_by' $HERE/said.json"),
		     0, "%s", cli_output);
	check_app("$HERE/shop", "--replay $HERE/x.race --clients 3 --request " ASK "visit'", 1);
}

/* Their connections and clients have other numbers where all requests are searched, and the first of
 * these is no request to the app. */
Test(check_app, pair_is_any_two_of_the_requests, .timeout = 600)
{
	check_app("$HERE/shop",
		  "--request 'redis-cli -u {url} GET spent >/dev/null' --request " ASK
		  "buy' --request " ASK "buy'",
		  1);
	cli_assert_json(".clients == 3 and .pairs.searched == 2 and .pairs.found_by");
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
	static const char shared[] = "'/usr/bin/python3 -S "
				     "$PYTHONPATH/shared.py'";
	const int code = cli_runf(CHECK "--app %s --request " ASK "buy' 2>&1", shared);

	cr_assert(code == 1 || code == 2 || code == 65, "%d\n%s", code, cli_output);
	if (code == 2)
		cli_assert_property("search.limit", "threads_wait");
	check_app(shared, "--request " ASK "buy-locked'", 0);
}

/* A worker that waits for jobs listens on no port, and waits for them at the end, too. */
Test(check_app, a_worker_waits_for_jobs)
{
	cli_write("worker.py", "%s",
		  "import raw\nr = raw.Connection()\n"
		  "while r('BRPOP', 'jobs', 0):\n"
		  "    r('SET', 'done', int(r('GET', 'done') or 0) + 1)\n");
	check_app("'/usr/bin/python3 -S "
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
	check_app("'/usr/bin/python3 -S "
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
	cli_assert_json(".kinds == [\"lost_update\"] and (.known_as == [\"lost update (done)\"])");
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
	cli_assert_json(".search.verdict == \"serializable\" and .states <= 126");
}

Test(check_app, requests_that_never_succeed_show_nothing)
{
	check_app("$HERE/shop", "--request 'exit 3'", 2);
	cli_assert_property("search.limit", "no_command");
	check_app("$HERE/shop", "--request " ASK "nothing'", 2);
	cli_assert_property("search.limit", "no_command");
}

/* Broken in any order, it shows nothing; broken in a race alone, it is a finding. */
Test(check_app, an_answer_that_the_app_is_broken_is_no_success)
{
	check_app("$HERE/shop", "--request " ASK "broken'", 2);
	cli_assert_property("search.limit", "never_succeeds");
	check_app("$HERE/shop", "--request " ASK "broken-in-a-race'", 1);
	cli_assert_property("search.verdict", "outputs_not_serializable");
}

/* Whoever is not answered then was not refused, although ask exits with 52. */
Test(check_app, an_app_that_ends_by_itself_is_a_finding)
{
	check_app("$HERE/shop", "--request " ASK "dies-in-a-race'", 1);
	cli_assert_json("[.requests[].answer.exit_status] | index(52) != null");
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
	cli_assert_property("search.limit", "never_succeeds");
}

/* The status is read on the connection, whatever the command prints. */
Test(check_app, the_status_need_not_be_printed)
{
	check_app("$HERE/shop", "--request " ASK "first-status --body'", 1);
	cli_assert_property("search.verdict", "outputs_not_serializable");
	check_app("$HERE/shop", "--request '$HERE/ask http://127.0.0.1:$PORT/first-status --body'",
		  1);
	check_app("$HERE/shop", "--request " ASK "buy-once --body'", 0);
}

Test(check_app, answers_that_are_all_errors_show_nothing)
{
	static const char *const paths[] = { "missing", "broken" };
	static const char *const filters[] = { ".failing[0].http_status == 404",
					       ".failing[0].http_status == 500" };
	char request[100];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(request, sizeof(request),
			 "--request " ASK "%s --body' --request " ASK "count --body'", paths[i]);
		check_app("$HERE/shop", request, 2);
		cli_assert_property("search.limit", "never_succeeds");
		cli_assert_json(filters[i]);
	}
}

/* All bytes of an answer are compared. */
Test(check_app, answers_differ_behind_a_byte_that_is_0_and_behind_many)
{
	check_app("$HERE/shop", "--request " ASK "first-far --body'", 1);
	cli_assert_json(".requests[0].answer | .http_status == 200 and .output_bytes == 100006");
}

/* For other programs: what each request was answered, and what in the nearest serial order. */
Test(check_app, answers_are_in_json)
{
	check_app("$HERE/shop", "--request " ASK "first'", 1);
	cli_assert_json("($all.cases[0].name | endswith(\"/shop\")) and (.requests[0] | "
			"(.answer | .output == \"first\\n409\" and .exit_status == 0) and "
			"(.nearest_serial_answer.output | startswith(\"first\")))");
	check_app("$HERE/shop", "--request " ASK "count'", 0);
	cli_assert_property("requests", "[]");
}

#define LINES                   \
	"'/usr/bin/python3 -S " \
	"$PYTHONPATH/lines.py'"

/* Nobody knows when the app is through with a line, so the order of time does not count; what it
 * does in five seconds belongs to it. */
Test(check_app, lines_of_input_are_requests)
{
	check_app(LINES, "--line buy", 1);
	cli_assert_line("final_data", "stock = \"-1\"");
	cli_assert_property("requests.0.line", "buy");
	check_app(LINES, "--line buy-once", 0);
	check_app(LINES, "--line 'set 1' --line 'set 2'", 0);
	check_app(LINES, "--line note-later --final 'GET notes' 2", 0);
	check_app(LINES, "--line x --request 'exit 3'", 2);
}

/* A line that has begun may be what goes on when a reply comes to another one. */
Test(check_app, no_request_is_named_where_another_one_may_wait)
{
	static const char desk[] = "'/usr/bin/python3 -S "
				   "$PYTHONPATH/desk.py'";

	check_app(desk, "--line buy --line buy", 1);
	cli_assert_json(".kinds == [\"check_then_act\"]");
	check_app(desk, "--all --line rest --line buy --line buy", 1);
	cli_assert_json("[.findings[].why] | unique == [null]");
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
	cli_assert_one_line("$REDRACE check --app true 2>&1", 64, "--request");
	cli_assert_one_line("$REDRACE check --request true 2>&1", 64, "--request");
	cli_assert_one_line("$REDRACE check --app true --request true -- true 2>&1", 64,
			    "--request");
}
