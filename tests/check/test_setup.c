/* SPDX-License-Identifier: MIT */
/* --setup that asks the app: who logs in once, and whose cookies each request has. */
#include "../cli.h"

/* A session in Redis; `n` is a cookie that each answer makes larger. */
static void setup(void)
{
	cli_setup();
	cli_write("server.py", "%s",
		  "import os, raw\n"
		  "from http.server import BaseHTTPRequestHandler, HTTPServer\n"
		  "r = raw.Connection()\n"
		  "class App(BaseHTTPRequestHandler):\n"
		  "    def answer(self, status, text, *cookies):\n"
		  "        self.send_response(status)\n"
		  "        for cookie in cookies: self.send_header('Set-Cookie', cookie)\n"
		  "        self.end_headers()\n"
		  "        self.wfile.write((text + '\\n').encode())\n"
		  "    def do_GET(self):\n"
		  "        cookies = dict(c.split('=') for c in\n"
		  "                       (self.headers['Cookie'] or 'none=1').split('; '))\n"
		  "        user = r('GET', 'session:' + cookies.get('sid', ''))\n"
		  "        n = int(cookies.get('n', 0)) + 1\n"
		  "        if self.path == '/login':\n"
		  "            sid = raw.token()\n"
		  "            r('SET', 'session:' + sid, 'ada')\n"
		  "            r('SET', 'credit', '10')\n"
		  "            self.answer(200, 'hello', 'sid=' + sid, 'n=1')\n"
		  "        elif not user:\n"
		  "            self.answer(401, 'log in')\n"
		  "        elif self.path == '/visit':\n"
		  "            r('INCR', 'visits')\n"
		  "            self.answer(200, 'visit %d' % n, 'n=%d' % n)\n"
		  "        else:\n"
		  "            r('SET', 'credit', int(r('GET', 'credit')) - 4)\n"
		  "            self.answer(200, 'paid')\n"
		  "HTTPServer(('127.0.0.1', int(os.environ['PORT'])), App).serve_forever()\n");
}

TestSuite(set_up, .init = setup, .fini = cli_teardown, .timeout = 600);

#define CHECK                                                                       \
	"$REDRACE check --audit 1 -o $HERE/result.json --app '/usr/bin/python3 -S " \
	"$HERE/server.py' "
#define LOGIN "--setup 'curl -s -c {jar} {app}/login' "

Test(set_up, logs_in_and_each_request_has_its_cookies)
{
	cr_assert_eq(cli_run(CHECK LOGIN "--apps 2 --request 'curl -s -b {jar} {app}/pay' 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
	cli_assert_line("final_data", "credit = \"6\"");
	cli_assert_json(".known_as == [\"lost update (credit)\"]");
}

/* One that writes its jar changes neither that of the other request nor that of the next run. */
Test(set_up, jar_is_of_one_request_in_one_run)
{
	cr_assert_eq(cli_run(CHECK LOGIN
			     "--request 'curl -s -b {jar} -c {jar} {app}/visit; cat {jar} | "
			     "grep -c \"n.2$\"' 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cli_assert_property("search.verdict", "serializable");
}

Test(set_up, says_why_the_app_refuses_it)
{
	static const char request[] = "--request 'curl -s -b {jar} {app}/pay'";
	char command[600];

	snprintf(command, sizeof(command), "%s--setup 'curl -s -c {jar} {app}/pay' %s", CHECK,
		 request);
	cr_assert_eq(cli_runf("%s 2>&1", command), 65, "%s", cli_output);
	cli_assert_names("401");
	cr_assert_eq(cli_runf(CHECK "--setup 'curl -sf {app}/pay >/dev/null' --request 'curl -s "
				    "{app}/pay' 2>&1"),
		     65, "%s", cli_output);
	cli_assert_names("22");
	/* The app comes first. */
	cr_assert_eq(cli_runf("$REDRACE check --app 'echo no module; exit 3' " LOGIN "%s 2>&1",
			      request),
		     65, "%s", cli_output);
	cli_assert_names("'no module'");
}

Test(set_up, refuses_what_does_not_go_together)
{
	static const struct {
		const char *words, *name;
	} wrong[] = {
		{ "--setup 'curl {app}/login' -- true", "{app}" },
		{ "--setup 'curl -c {jar} x' -- true", "{jar}" },
		{ "--app true --setup 'curl -c {jar} x' --request 'curl -b {jar} {app}/'",
		  "{app}" },
		{ "--app true --setup 'curl -c {jar} {app}/' --request 'curl {app}/'", "{jar}" },
		{ "--app true --request 'curl -b {jar} {app}/'", "--setup" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char command[300];

		snprintf(command, sizeof(command), "$REDRACE_ONCE check %s 2>&1", wrong[i].words);
		cli_assert_one_line(command, RR_EXIT_USAGE, wrong[i].name);
	}
}

/* Nothing is known by then of what comes of it. */
Test(set_up, ends_when_its_time_is_up)
{
	cr_assert_eq(cli_run("$REDRACE_ONCE check --seconds 1 --setup 'while :; do :; done' -- "
			     "true 2>&1"),
		     65, "%s", cli_output);
	cli_assert_names("--setup");
	cli_write("hit.sh", "%s",
		  "v=$(" CLI "GET c)\n[ ! -e $HERE/hang ] || while :; do :; done\n" CLI
		  "SET c $v.\n");
	cr_assert_eq(cli_run("$REDRACE_ONCE check --save $HERE/x.race -- sh $HERE/hit.sh 2>&1"), 1);
	cr_assert_eq(cli_run("touch $HERE/hang; $REDRACE_ONCE check --seconds 1 -o "
			     "$HERE/result.json --replay $HERE/x.race -- sh $HERE/hit.sh 2>&1"),
		     2, "%s", cli_output);
	cli_assert_property("search.limit", "seconds");
}
