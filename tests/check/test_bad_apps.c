/* SPDX-License-Identifier: MIT */
/* Apps that redrace check cannot follow: a line that says why, and nothing is left behind. */
#include "../cli.h"

#include <stdio.h>

#include "party/sockets.h"

static void setup(void)
{
	cli_setup();
	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE && mkdir $HERE/tmp 2>&1"), 0, "%s",
		     cli_output);
	cli_write("stock", "SET stock 1\n");
}

TestSuite(bad_apps, .init = setup, .fini = cli_teardown);

/* ---- How it is checked ------------------------------------------------------------- */

static void check_app(const char *app, const char *options, int code)
{
	cr_assert_eq(
		cli_runf("TMPDIR=$HERE/tmp $REDRACE check -o $HERE/result.json --init $HERE/stock --audit 2 "
			 "--app %s %s 2>&1",
			 app, options),
		code, "%s", cli_output);
}

static void nothing_is_left(void)
{
	cr_assert_eq(cli_run("pgrep -af \"$HERE/[s]\""), 1, "left behind: %s", cli_output);
	cr_assert_eq(cli_run("ls -A $HERE/tmp | grep ."), 1, "left behind: %s", cli_output);
}

static void cannot_be_checked(const char *app, const char *name)
{
	check_app(app, "--request '$HERE/ask {app}/buy'", 65);
	cli_assert_names(name);
	nothing_is_left();
}

/* ---- Apps -------------------------------------------------------------------------- */

Test(bad_apps, says_why_an_app_is_not_up)
{
	cannot_be_checked("'echo no database; exit 3'", "'no database'");
	cannot_be_checked("'sleep 100000'", "PORT");
	cannot_be_checked("'PORT=$((PORT + 1)); export PORT; exec $HERE/shop'", "PORT");
	cannot_be_checked("true", "$PORT");
	cannot_be_checked("'exec $HERE/missing'", "127");
	check_app("$HERE/missing", "--request '$HERE/ask {app}/buy'", 64);
	cli_assert_names("/missing'");
	cannot_be_checked("'echo no queue; exit 3' --ready true", "'no queue'");
	cannot_be_checked(
		"'echo; echo Error: no module; echo \"    at f\"; echo; echo Node.js v20; exit 1'",
		"'Error: no module'");
	cannot_be_checked("\"/usr/bin/python3 -c 'raise KeyError(7)'\" --ready true",
			  "'KeyError: 7'");
}

/* The process that has opened the port and left it to the two does not count. */
Test(bad_apps, the_kernel_chooses_among_workers_at_one_port)
{
	static const char *const starts[] = {
		"server = serve()\nif os.fork():\n    os.fork()\n",
		/* As gunicorn does: the second one comes later. */
		"server = serve()\n"
		"for i in range(2):\n    if not os.fork(): break\n    time.sleep(0.09)\n"
		"else:\n    os.wait()\n",
		/* Each with a socket of its own. */
		"os.fork()\nserver = serve()\n",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		cli_write(
			"workers.py",
			"import os, socket, time\n"
			"from http.server import BaseHTTPRequestHandler, HTTPServer\n"
			"class Server(HTTPServer):\n"
			"    def server_bind(self):\n"
			"        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
			"        HTTPServer.server_bind(self)\n"
			"def serve():\n    return Server(('127.0.0.1', int(os.environ['PORT'])),\n"
			"                  BaseHTTPRequestHandler)\n%s"
			"server.serve_forever()\n",
			starts[i]);
		cannot_be_checked("'/usr/bin/python3 $HERE/workers.py'", "--apps 2");
	}
}

/* Its first process takes what comes to the port, and passes it on. */
Test(bad_apps, a_process_of_the_app_chooses_among_workers)
{
	if (cli_run("command -v node") != 0)
		cli_skip("no node");
	cli_write("cluster.js", "%s",
		  "const cluster = require('cluster');\n"
		  "if (cluster.isMaster) { cluster.fork(); cluster.fork(); cluster.fork(); }\n"
		  "else require('http').createServer((request, response) => response.end())\n"
		  "  .listen(process.env.PORT, '127.0.0.1');\n");
	cannot_be_checked("'node $HERE/cluster.js'", "--apps 2");
}

/* A server in Python: what it does first, and with a request. */
static void write_server(const char *first, const char *work)
{
	cli_write("server.py",
		  "import os, raw, socket, threading\n"
		  "from http.server import BaseHTTPRequestHandler, HTTPServer\n%s\n"
		  "r = raw.Connection()\n"
		  "class App(BaseHTTPRequestHandler):\n    def do_GET(self):\n"
		  "        r('INCR', 'n')\n        %s\n        self.send_response(500)\n"
		  "        self.end_headers()\n        self.wfile.write(b'broken\\n')\n"
		  "HTTPServer(('127.0.0.1', int(os.environ['PORT'])), App).serve_forever()\n",
		  first, work);
}

#define SERVER                  \
	"'/usr/bin/python3 -S " \
	"$HERE/server.py'"
#define CURL "--clients 1 --request 'curl -s -w \"%{http_code}\" {app}/' "

/* With a session of its own, or without. */
Test(bad_apps, goes_into_the_background)
{
	/* The word tells this error from those of an app that is gone. */
	static const char says[] = "background";

	cannot_be_checked("'$HERE/shop &'", says);
	cannot_be_checked("'setsid -f $HERE/shop'", says);
	write_server("if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)", "pass");
	cannot_be_checked(SERVER, says);
	write_server("if os.fork(): os._exit(0)", "pass");
	cannot_be_checked(SERVER " --ready 'curl -s {app}/'", says);
}

/* Two that are begun at once are in each other's way there, which is not what is said. */
Test(bad_apps, listens_on_a_port_of_its_own)
{
	const unsigned port = rr_sockets_free_port();
	char first[80], says[80];

	snprintf(first, sizeof(first), "os.environ['PORT'] = '%u'", port);
	snprintf(says, sizeof(says), "port %u,", port);
	write_server(first, "pass");
	cannot_be_checked(SERVER, says);
}

Test(bad_apps, needs_another_service)
{
	write_server("socket.create_connection(('127.0.0.1', 1))", "pass");
	cannot_be_checked(SERVER, "'ConnectionRefusedError: [Errno 111] Connection refused'");
	write_server("", "socket.create_connection(('127.0.0.1', 1))");
	check_app(SERVER, CURL, 2);
	cli_assert_property("search.limit", "never_succeeds");
	cli_assert_json("[.refused[] | .exit_status] == [52]");
	nothing_is_left();
}

/* What it waits for never comes, or it computes. It has to be up before it can hang, and Python
 * takes a second for that where little of the processor is left. */
Test(bad_apps, hangs, .timeout = 600)
{
	static const char *const works[] = { "threading.Event().wait()", "while True: pass" };

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		write_server("", works[i]);
		check_app(SERVER, CURL "--seconds 2", 2);
		cli_assert_property("search.limit", "seconds");
		nothing_is_left();
	}
	write_server("", "open(os.environ['HERE'] + '/hangs', 'a').write('x')\n"
			 "        while True: pass");
	check_app(SERVER, CURL "--hangs-after 2", 65);
	cli_assert_names("--hangs-after");
	cr_assert_eq(cli_run("wc -c <$HERE/hangs"), 0);
	cr_assert_str_eq(cli_output, "1\n", "hangs so often: %s", cli_output);
	nothing_is_left();
}

Test(bad_apps, answers_500)
{
	write_server("", "pass");
	check_app(SERVER, CURL, 2);
	cli_assert_property("search.limit", "never_succeeds");
	cli_assert_json(".failing[0] | .http_status == 500 and (.output | contains(\"broken\"))");
	nothing_is_left();
}
