/* SPDX-License-Identifier: MIT */
/* What a checked program sends to another Redis than ours does not come there; what it sends to
 * other servers does. The user's own server is a real one, at a port and a unix socket. */
#include "../cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "party/outside.h"
#include "party/sockets.h"

#define PYTHON "/usr/bin/python3"

static void setup(void)
{
	char port[16];

	cli_setup();
	snprintf(port, sizeof(port), "%u", rr_sockets_free_port());
	setenv("OWN", port, 1);
	cr_assert_eq(
		cli_run("cc -o $HERE/dynamic tests/check/programs/elsewhere.c -pthread 2>&1 && "
			"cc -static -o $HERE/static tests/check/programs/elsewhere.c -pthread 2>&1 && "
			"redis-server --port $OWN --unixsocket $HERE/own.sock --save '' --dir $HERE "
			"--pidfile $HERE/own.pid --daemonize yes >/dev/null && "
			"for i in $(seq 1200); do test -S $HERE/own.sock && break; sleep 0.1; done"),
		0, "%s", cli_output);
}

static void teardown(void)
{
	cli_run("redis-cli -s $HERE/own.sock SHUTDOWN NOSAVE; "
		"! test -e $HERE/others.pid || kill $(cat $HERE/others.pid)");
	unsetenv("OWN");
	cli_teardown();
}

TestSuite(outside, .init = setup, .fini = teardown, .timeout = 600);

/* ---- Another Redis ------------------------------------------------------------------ */

static void assert_untouched(const char *name)
{
	cr_assert_neq(cli_run("redis-cli -s $HERE/own.sock INFO commandstats | "
			      "grep '^cmdstat_' | grep -v '^cmdstat_info:'"),
		      0, "%s: the user's own server was asked: %s", name, cli_output);
	cr_assert_eq(cli_run("redis-cli -s $HERE/own.sock INFO persistence | "
			     "grep rdb_changes_since_last_save:0"),
		     0, "%s: it was changed", name);
}

/* A check of it ends at once, and names the address. */
static void assert_held(const char *options, const char *address)
{
	char command[1024];

	snprintf(command, sizeof(command), "$REDRACE check %s 2>&1 >/dev/null", options);
	cli_assert_one_line(command, RR_EXIT_DATA, address);
	assert_untouched(options);
}

static void assert_held_at_port(const char *options)
{
	char address[64];

	snprintf(address, sizeof(address), "127.0.0.1:%s", getenv("OWN"));
	assert_held(options, address);
}

Test(outside, programs_of_c_are_held)
{
	assert_held_at_port("-- $HERE/dynamic $OWN");
	assert_held_at_port("-- $HERE/static $OWN");
}

Test(outside, shells_and_their_children_are_held)
{
	cli_write("inline",
		  "exec 3<>/dev/tcp/127.0.0.1/$1\nprintf 'INCR c\\r\\n' >&3\nread -r x <&3\n");
	cli_write("errs",
		  "exec 3<>/dev/tcp/127.0.0.1/$1\necho HI >&3\necho INCR c >&3\nread x <&3\n");
	cli_write("hears", "exec 3<>/dev/tcp/127.0.0.1/$1\necho HI >&3\nread x <&3\n"
			   "echo INCR c >&3\nread x <&3\n");
	cli_write("leaves", "exec 3<>/dev/tcp/127.0.0.1/$1\nprintf '\\n\"Set\" c 1\\n' >&3\n");
	assert_held_at_port("-- redis-cli -p $OWN INCR c");
	assert_held_at_port(
		"-- sh -c \"redis-cli -u {url} GET c; (redis-cli -p $OWN INCR c) || true\"");
	assert_held_at_port("-- bash $HERE/inline $OWN");
	assert_held_at_port("-- bash $HERE/leaves $OWN");
	assert_held_at_port("-- bash $HERE/errs $OWN");
	assert_held_at_port("-- bash $HERE/hears $OWN");
	assert_held("-- redis-cli -s $HERE/own.sock INCR c", "/own.sock");
	assert_held("-- sh -c 'cd $HERE && redis-cli -s own.sock INCR c'", "/own.sock");
}

/* One that blocks, one that does not, one of IPv6, and bytes in pieces. */
Test(outside, programs_of_python_are_held)
{
	cli_write("blocks.py",
		  "import socket, sys, time\n"
		  "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
		  "for part in b'*2\\r', b'\\n$4\\r\\nINCR\\r\\n', b'$1\\r\\nc\\r\\n':\n"
		  "    s.sendall(part)\n"
		  "    time.sleep(0.01)\n"
		  "print(s.recv(99))\n");
	cli_write("mapped.py", "import socket, sys\n"
			       "s = socket.socket(socket.AF_INET6)\n"
			       "s.connect(('::ffff:127.0.0.1', int(sys.argv[1])))\n"
			       "s.sendall(b'*2\\r\\n$4\\r\\nINCR\\r\\n$1\\r\\nc\\r\\n')\n"
			       "print(s.recv(99))\n");
	cli_write("async.py",
		  "import asyncio, sys\n"
		  "async def main():\n"
		  "    r, w = await asyncio.open_connection('127.0.0.1', int(sys.argv[1]))\n"
		  "    w.write(b'*2\\r\\n$4\\r\\nINCR\\r\\n$1\\r\\nc\\r\\n')\n"
		  "    print(await r.readline())\n"
		  "asyncio.run(main())\n");
	assert_held_at_port("-- " PYTHON " $HERE/blocks.py $OWN");
	assert_held_at_port("-- " PYTHON " $HERE/mapped.py $OWN");
	assert_held_at_port("-- " PYTHON " $HERE/async.py $OWN");
}

Test(outside, apps_requests_and_what_else_is_run_are_held)
{
	cli_write("app.js",
		  "const net = require('net');\n"
		  "require('http').createServer((request, response) => {\n"
		  "  const redis = net.connect(+process.env.OWN, '127.0.0.1');\n"
		  "  redis.write('*2\\r\\n$4\\r\\nINCR\\r\\n$1\\r\\nc\\r\\n');\n"
		  "  redis.on('data', data => { redis.end(); response.end('' + data); });\n"
		  "  redis.on('close', () => response.end('closed'));\n"
		  "}).listen(process.env.PORT, '127.0.0.1');\n");
	assert_held_at_port("--app '" PYTHON " -m http.server -b 127.0.0.1 $PORT' "
			    "--request 'redis-cli -p $OWN INCR c'");
	assert_held_at_port("--setup 'redis-cli -p $OWN INCR c' -- true");
	assert_held_at_port("--check 'redis-cli -p $OWN INCR c' -- redis-cli -u {url} INCR c");
	if (cli_run("node --version") == 0)
		assert_held_at_port("--app 'node $HERE/app.js' --request 'curl -s {app}'");
}

/* ---- Other servers ------------------------------------------------------------------ */

/* What comes back is what they answer: the program fails otherwise, and the check shows nothing. */
Test(outside, other_servers_are_reached)
{
	cli_write(
		"asks.py",
		"import os, socket, urllib.request\n"
		"def ask(port, data):\n"
		"    with socket.create_connection(('localhost', int(os.environ[port])), 5) as s:\n"
		"        s.sendall(data)\n"
		"        return s.recv(99)\n"
		"url = 'http://localhost:' + os.environ['HTTP']\n"
		"assert urllib.request.urlopen(url).read() == b'hello'\n"
		"assert len(urllib.request.urlopen(url + '/much', timeout=5).read()) == 100000\n"
		"assert urllib.request.urlopen(url, data=b'y' * 50000).read() == b'50000'\n"
		"for text in b'ping\\n', b'hello', b'set x\\r\\n', b'\\x16\\x03\\x01', b'* 1\\r\\n':\n"
		"    assert ask('ECHO', text) == text\n"
		"assert ask('KEEP', b'get k\\r\\n').startswith(b'VALUE')\n"
		"assert ask('GREET', b'HELO x\\r\\n').startswith(b'220')\n"
		"if 'SIX' in os.environ:\n"
		"    with socket.socket(socket.AF_INET6) as s:\n"
		"        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)\n"
		"        s.connect(('::1', int(os.environ['SIX'])))\n"
		"        s.sendall(b'hello\\n')\n"
		"        assert s.recv(99) == b'hello\\n'\n"
		"with socket.socket(socket.AF_UNIX) as s:\n"
		"    s.connect(os.environ['HERE'] + '/others.sock')\n"
		"    s.sendall(b'hello\\n')\n"
		"    assert s.recv(99) == b'hello\\n'\n"
		"with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:\n"
		"    s.connect(('127.0.0.1', int(os.environ['ECHO'])))\n"
		"    s.send(b'*1\\r\\n$4\\r\\nPING\\r\\n')\n"
		"try:\n"
		"    socket.create_connection(('127.0.0.1', 1))\n"
		"    raise AssertionError\n"
		"except ConnectionRefusedError:\n"
		"    pass\n"
		"raise SystemExit(os.system('redis-cli -u $REDIS_URL SET x 1') != 0)\n");
	cr_assert_eq(cli_run(PYTHON " tests/check/programs/elsewhere.py $HERE/others "
				    ">/dev/null 2>&1 & echo $! >$HERE/others.pid; "
				    "for i in $(seq 1200); do test -s $HERE/others && break; "
				    "sleep 0.1; done; test -s $HERE/others"),
		     0);
	cr_assert_eq(cli_run(". $HERE/others && "
			     "$REDRACE check --audit 1 --allow-outside localhost:$HTTP "
			     "--allow-outside localhost:$ECHO --allow-outside localhost:$KEEP "
			     "--allow-outside localhost:$GREET "
			     "${SIX:+--allow-outside localhost:$SIX} "
			     "--allow-outside unix:$HERE/others.sock -- " PYTHON
			     " $HERE/asks.py 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
}

Test(outside, an_app_is_asked_by_its_requests)
{
	cli_write(
		"app.py",
		"import http.server, os\n"
		"class Answers(http.server.BaseHTTPRequestHandler):\n"
		"    def do_GET(self):\n"
		"        os.system('redis-cli -u $REDIS_URL INCR c >/dev/null')\n"
		"        self.send_response(204)\n"
		"        self.end_headers()\n"
		"port = int(os.environ['PORT'])\n"
		"http.server.ThreadingHTTPServer(('127.0.0.1', port), Answers).serve_forever()\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --app '" PYTHON " $HERE/app.py' "
			     "--request 'curl -sf {app}' 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
}

/* ---- Where it cannot be watched ------------------------------------------------------ */

static void assert_unwatched(int withheld, const char *program, int code)
{
	cr_assert_eq(
		cli_runf(
			"$HERE/withhold %d $REDRACE check -o $HERE/result.json --no-cache -- %s 2>&1",
			withheld, program),
		code, "%s", cli_output);
}

/* A yes would be one about another server. */
Test(outside, there_is_no_yes_where_connections_cannot_be_watched)
{
	static const char right[] = "redis-cli -u {url} INCR c";

	cr_assert_eq(cli_run("cc -o $HERE/withhold tests/check/programs/withhold.c 2>&1"), 0, "%s",
		     cli_output);
	assert_unwatched(SYS_seccomp, right, RR_EXIT_INCONCLUSIVE);
	cli_assert_property("search.limit", "unwatched");
	assert_unwatched(SYS_pidfd_getfd, right, RR_EXIT_OK);
	assert_unwatched(SYS_pidfd_getfd,
			 "sh -c 'redis-cli -u {url} INCR c; curl -s 127.0.0.1:1; true'",
			 RR_EXIT_INCONCLUSIVE);
	assert_unwatched(SYS_pidfd_getfd, "$HERE/static 6379", RR_EXIT_DATA);
	cli_assert_names("127.0.0.1:6379");
}

/* Python's forkserver gets the descriptors of a child by a unix socket. */
Test(outside, children_of_a_forkserver_are_started)
{
	cli_write("forks.py", "import multiprocessing, os\n"
			      "def add():\n"
			      "    os.system('redis-cli -u $REDIS_URL INCR c >/dev/null')\n"
			      "if __name__ == '__main__':\n"
			      "    multiprocessing.set_start_method('forkserver')\n"
			      "    child = multiprocessing.Process(target=add)\n"
			      "    child.start()\n"
			      "    child.join()\n"
			      "    raise SystemExit(child.exitcode)\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 -- " PYTHON " $HERE/forks.py 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
}

/* ---- The first bytes ---------------------------------------------------------------- */

Test(outside_bytes, are_judged_by_what_redis_would_do)
{
	static const struct {
		const char *bytes;
		enum rr_first first;
		size_t n_harmless;
	} cases[] = {
		{ "*2\r\n$4\r\n", RR_FIRST_REDIS, 0 },
		{ "*1\r", RR_FIRST_REDIS, 0 },
		{ "*-1\r\n", RR_FIRST_REDIS, 0 },
		{ "\r\n\r\n*1\r\n", RR_FIRST_REDIS, 4 },
		{ "*12", RR_FIRST_UNDECIDED, 0 },
		{ "*IDN?\n", RR_FIRST_UNDECIDED, 6 },
		{ "*\r\n", RR_FIRST_UNDECIDED, 3 },
		{ "INCR c\r\n", RR_FIRST_INLINE, 7 },
		{ "incr c\n", RR_FIRST_INLINE, 6 },
		{ "'incr' c\n", RR_FIRST_INLINE, 8 },
		{ "PING\n", RR_FIRST_INLINE, 4 },
		{ "INCR c", RR_FIRST_UNDECIDED, 6 },
		{ "INC", RR_FIRST_UNDECIDED, 3 },
		{ "GET / HTTP/1.1\r\nHost: x\r\n", RR_FIRST_OTHER, 14 },
		{ "GET /", RR_FIRST_UNDECIDED, 5 },
		{ "POST / HTTP/1.1\r\n", RR_FIRST_OTHER, 0 },
		{ "GETS\n", RR_FIRST_UNDECIDED, 5 },
		{ "GETS\r\nINCR c\r\n", RR_FIRST_INLINE, 0 },
		{ "GETS\r\nPUTS\r\nSET", RR_FIRST_UNDECIDED, 15 },
		{ "POST / HTTP/1.1\r\nHost: x\r\n\r\nset\n", RR_FIRST_OTHER, 0 },
		{ "load.1 42 1700000000\n", RR_FIRST_UNDECIDED, 21 },
		{ "\x16\x03\x01", RR_FIRST_OTHER, 0 },
		{ "", RR_FIRST_UNDECIDED, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n_harmless;
		const enum rr_first first = rr_first_bytes(cases[i].bytes, strlen(cases[i].bytes),
							   &n_harmless);

		cr_assert_eq(first, cases[i].first, "%s: %d", cases[i].bytes, (int)first);
		if (first != RR_FIRST_OTHER)
			cr_assert_eq(n_harmless, cases[i].n_harmless, "%s: %zu", cases[i].bytes,
				     n_harmless);
	}
}
