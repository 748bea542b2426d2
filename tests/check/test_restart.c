/* SPDX-License-Identifier: MIT */
/* redrace check --restart: an app that has crashed is started again. */
#include "../cli.h"

TestSuite(check_restart, .init = cli_setup, .fini = cli_teardown);

#define PYTHON "/usr/bin/python3 -S "

/* A worker: what it does at its start, how it takes a job, and what it does with that. One job. */
static void check_worker(const char *start, const char *take, const char *work, const char *options,
			 int code)
{
	cli_write("worker.py",
		  "import raw\nr = raw.Connection()\n%s\nwhile True:\n    job = %s\n    %s\n",
		  start, take, work);
	cr_assert_eq(
		cli_runf("$REDRACE check --audit 2 -o $HERE/result.json --crashes 1 %s --clients 1 --ready true "
			 "--app '" PYTHON "$HERE/worker.py' "
			 "--request 'redis-cli -u {url} LPUSH jobs ada >/dev/null' 2>&1",
			 options),
		code, "%s", cli_output);
}

#define MARKED "r('HSET', 'results', job, 'done')"
#define COUNTED "r('HINCRBY', 'results', job, 1)"
#define POP "r('BRPOP', 'jobs', 0)[1]"
#define MOVE "r('BLMOVE', 'jobs', 'working', 'RIGHT', 'LEFT', 0)"
#define THROUGH "; r('LREM', 'working', 1, job)"
#define RECOVER(work) "while job := r('LINDEX', 'working', 0):\n    " work THROUGH

/* With --allow-partial the crash of a worker is one in serial executions, too. */
Test(check_restart, a_job_that_was_taken_is_lost)
{
	check_worker("", POP, MARKED, "--restart --save $HERE/lost.race", 1);
	cli_assert_property("final_data", "no keys");
	cli_assert_property("nearest_serial_data", "results = {\"ada\": \"done\"}");
	cli_assert_json(
		".kinds == [\"taken_and_not_done\"] and (.schedule | test(\":BRPOP crash:\"))");
	check_worker("", POP, MARKED, "--replay $HERE/lost.race", 1);
	cli_assert_property("final_data", "no keys");
	check_worker("", POP, MARKED, "--allow-partial", 0);
}

/* Started again it finds what it was at. If it is not, the job lies there. */
Test(check_restart, a_job_that_is_kept_is_done)
{
	check_worker(RECOVER(MARKED), MOVE, MARKED THROUGH, "--restart", 0);
	cli_assert_json(
		".search.verdict == \"serializable\" and .clients == 1 and .bounds.crashes == 1");
	check_worker(RECOVER(MARKED), MOVE, MARKED THROUGH, "", 1);
	check_worker("", MOVE, MARKED THROUGH, "--restart", 1);
	cli_assert_line("final_data", "working = [\"ada\"]");
}

Test(check_restart, a_job_that_is_kept_may_be_done_twice)
{
	check_worker(RECOVER(COUNTED), MOVE, COUNTED THROUGH, "--restart", 1);
	cli_assert_line("final_data", "results = {\"ada\": \"2\"}");
	cli_assert_json(".schedule | test(\"A:HINCRBY crash:A .*:HINCRBY\")");
}

/* What had begun before does not come to the app that is started again, and what comes later does:
 * what the app has kept in its memory is gone. */
Test(check_restart, requests_come_to_the_app_that_is_started_again)
{
	cli_write(
		"app.py", "%s",
		"import os, raw\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\n"
		"r = raw.Connection()\nn = int(r('GET', 'hits') or 0) if os.environ.get('READS') else 0\n"
		"class App(BaseHTTPRequestHandler):\n    def do_GET(self):\n        global n\n"
		"        n += 1\n        r('SET', 'hits', n)\n        self.send_response(200)\n"
		"        self.end_headers()\n        self.wfile.write(b'counted\\n')\n"
		"HTTPServer(('127.0.0.1', int(os.environ['PORT'])), App).serve_forever()\n");
#define CHECK_APP                                                                                         \
	"$REDRACE check --audit 2 -o $HERE/result.json --crashes 1 --restart --request 'curl -s {app}/' " \
	"--graph $HERE/graph.json --game $HERE/game.html --app "
	cr_assert_eq(cli_run(CHECK_APP "'" PYTHON "$HERE/app.py' 2>&1"), 1, "%s", cli_output);
	cli_assert_property("final_data", "hits = \"1\"");
	/* Whoever has an answer does not crash with the app. */
	cli_assert_json("[.requests[].answer.output] == [\"counted\", \"counted\"] and "
			"(.schedule | test(\":SET A:ECHO crash:A .*:SET\"))");
	cr_assert_eq(cli_run(CHECK_APP "'READS=1 " PYTHON "$HERE/app.py' 2>&1"), 0, "%s",
		     cli_output);
}

Test(check_restart, goes_with_an_app_that_crashes)
{
	cli_assert_one_line("$REDRACE check --restart -- true 2>&1", 64, "--crashes");
	cli_assert_one_line("$REDRACE check --restart --app true --request true 2>&1", 64,
			    "--crashes");
}
