/* SPDX-License-Identifier: MIT */
/* Programs that name their Redis themselves are checked as they are: what they connect to leads to
 * redrace's server, and a Redis that really is there receives nothing. */
#include "../cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "party/redis_at.h"
#include "party/sockets.h"

#define PYTHON "/usr/bin/python3"

/* Sends INCR c and prints what comes back. */
#define PYTHON_INCR "*2\\r\\n$4\\r\\nINCR\\r\\n$1\\r\\nc\\r\\n"

static void setup(void)
{
	cli_setup();
	/* An address of this machine of the test's own. */
	char host[32], port[16];

	snprintf(host, sizeof(host), "127.77.%d.%d", getpid() >> 8 & 0xff, 1 + getpid() % 250);
	snprintf(port, sizeof(port), "%u", rr_sockets_free_port());
	setenv("THERE", host, 1);
	setenv("OWN", port, 1);
}

static void teardown(void)
{
	unsetenv("THERE");
	unsetenv("OWN");
	cli_teardown();
}

TestSuite(redis_at, .init = setup, .fini = teardown, .timeout = 600);

/* Two programs that increment at one step: a yes. Their Redis is at `address`, "" = anywhere. */
static void assert_checked(const char *words, const char *address)
{
	cr_assert_eq(
		cli_runf(
			"$REDRACE check --no-cache --audit 1 --skeptic judge -o $HERE/result.json %s 2>&1",
			words),
		RR_EXIT_OK, "%s: %s", words, cli_output);
	cli_assert_json("(.skeptic.verdict == \"agrees\") and .changes_data");
	if (address[0]) {
		char filter[300];

		snprintf(filter, sizeof(filter), ".redis_at == [\"%s\"]", address);
		cli_assert_json(filter);
	}
}

static void assert_refused(const char *words, const char *name)
{
	char command[1000];

	snprintf(command, sizeof(command), "$REDRACE check --no-cache %s 2>&1 >/dev/null", words);
	cli_assert_one_line(command, RR_EXIT_DATA, name);
}

/* ---- Programs ------------------------------------------------------------------------- */

Test(redis_at, programs_of_c_are_led)
{
	cr_assert_eq(
		cli_run("cc -o $HERE/dynamic tests/check/programs/elsewhere.c -pthread 2>&1 && "
			"cc -static -o $HERE/static tests/check/programs/elsewhere.c -pthread 2>&1"),
		0, "%s", cli_output);
	assert_checked("-- $HERE/dynamic 6379", "127.0.0.1:6379");
	assert_checked("-- $HERE/static 6379", "127.0.0.1:6379");
}

/* One whose first thread has ended, and one with descriptors of its own. Before Linux 6.9 their sockets
 * cannot be taken, and they are refused. */
Test(redis_at, threads_are_led_or_refused)
{
	static const char *const ways[] = { "ends", "apart" };

	cr_assert_eq(cli_run("cc -static -o $HERE/static tests/check/programs/elsewhere.c "
			     "-pthread 2>&1"),
		     0, "%s", cli_output);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const int code = cli_runf("$REDRACE check --no-cache -- $HERE/static 6379 %s 2>&1",
					  ways[i]);

		cr_assert(code == RR_EXIT_OK || code == RR_EXIT_DATA, "%s: %d: %s", ways[i], code,
			  cli_output);
	}
}

Test(redis_at, shells_are_led)
{
	cli_write("inline",
		  "exec 3<>/dev/tcp/127.0.0.1/6379\nprintf 'INCR c\\r\\n' >&3\nread -r x <&3\n");
	assert_checked("-- bash $HERE/inline", "127.0.0.1:6379");
	assert_checked("-- redis-cli INCR c", "127.0.0.1:6379");
	cr_assert_eq(cli_run("$REDRACE check -- sh -c 'v=$(redis-cli GET c); "
			     "redis-cli SET c $((v + 1))' 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
}

/* One that blocks, one that does not, one that looks for its end by itself, and all that asyncio
 * does. */
Test(redis_at, programs_of_python_are_led)
{
	cli_write("ways.py",
		  "import asyncio, errno, os, select, socket, sys\n"
		  "def ask(s):\n"
		  "    s.sendall(b'" PYTHON_INCR "')\n"
		  "    assert s.recv(99)[:1] == b':'\n"
		  "def blocks(host):\n"
		  "    ask(socket.create_connection((host, 6379), 5))\n"
		  "def waits(host):\n"
		  "    s = socket.socket()\n"
		  "    s.setblocking(False)\n"
		  "    code = s.connect_ex((host, 6379))\n"
		  "    assert code in (0, errno.EINPROGRESS), code\n"
		  "    assert select.select([], [s], [], 5)[1]\n"
		  "    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0\n"
		  "    assert s.connect_ex((host, 6379)) in (0, errno.EISCONN)\n"
		  "    s.setblocking(True)\n"
		  "    ask(s)\n"
		  "def six(host):\n"
		  "    s = socket.socket(socket.AF_INET6)\n"
		  "    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host == '::1')\n"
		  "    s.connect((host, 6379))\n"
		  "    ask(s)\n"
		  "def runs(host):\n"
		  "    async def main():\n"
		  "        r, w = await asyncio.open_connection(host, 6379)\n"
		  "        w.write(b'" PYTHON_INCR "')\n"
		  "        assert (await r.readline())[:1] == b':'\n"
		  "    asyncio.run(main())\n"
		  "def path(name):\n"
		  "    s = socket.socket(socket.AF_UNIX)\n"
		  "    s.connect(name)\n"
		  "    ask(s)\n"
		  "def changes(name):\n"
		  "    os.chdir(os.path.dirname(name))\n"
		  "    path(os.path.basename(name))\n"
		  "globals()[sys.argv[1]](sys.argv[2])\n");
	assert_checked("-- " PYTHON " $HERE/ways.py blocks 127.0.0.1", "127.0.0.1:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py blocks 192.0.2.7", "192.0.2.7:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py waits 127.0.0.1", "127.0.0.1:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py waits 192.0.2.7", "192.0.2.7:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py six ::1", "[::1]:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py six 2001:db8::5", "[2001:db8::5]:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py six ::ffff:127.0.0.1", "127.0.0.1:6379");
	assert_checked("-- " PYTHON " $HERE/ways.py runs localhost", "");
	assert_checked("--redis-at unix:/no/such/redis.sock -- " PYTHON
		       " $HERE/ways.py path /no/such/redis.sock",
		       "/no/such/redis.sock");
	assert_checked("--redis-at $HERE/redis.sock -- " PYTHON
		       " $HERE/ways.py changes $HERE/redis.sock",
		       "");
	/* By another name than the option has. */
	cr_assert_eq(cli_run("mkdir $HERE/run && ln -s run $HERE/var"), 0);
	assert_checked("--redis-at $HERE/var/redis.sock -- " PYTHON
		       " $HERE/ways.py path $HERE/run/redis.sock",
		       "");
	assert_checked("--redis-at $HERE/run/redis.sock -- " PYTHON
		       " $HERE/ways.py path $HERE/var/redis.sock",
		       "");
	assert_checked("--redis-at unix:@redis -- " PYTHON " -c 'import sys; sys.argv[1:] = "
		       "[\"path\", \"\\0redis\"]; exec(open(\"'$HERE/ways.py'\").read())'",
		       "@redis");
}

Test(redis_at, programs_in_other_languages_are_led)
{
	static const struct {
		const char *with, *name, *text;
	} programs[] = {
		{ "node", "ask.js",
		  "const s = require('net').connect(6379, 'localhost');\n"
		  "s.write('" PYTHON_INCR "');\n"
		  "s.on('data', () => s.end());\n" },
		{ "ruby", "ask.rb",
		  "require 'socket'\ns = TCPSocket.new('127.0.0.1', 6379)\n"
		  "s.write(\"" PYTHON_INCR "\")\nexit(s.gets.start_with?(':'))\n" },
		{ "php", "ask.php",
		  "<?php $s = stream_socket_client('tcp://127.0.0.1:6379', $n, $e, 5);\n"
		  "fwrite($s, \"*2\\r\\n\\$4\\r\\nINCR\\r\\n\\$1\\r\\nc\\r\\n\");\n"
		  "exit(fgets($s)[0] === ':' ? 0 : 1);\n" },
		{ "perl", "ask.pl",
		  "use IO::Socket::INET;\nmy $s = IO::Socket::INET->new('127.0.0.1:6379');\n"
		  "print $s \"*2\\r\\n\\$4\\r\\nINCR\\r\\n\\$1\\r\\nc\\r\\n\";\n"
		  "exit(<$s> =~ /^:/ ? 0 : 1);\n" },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (cli_runf("command -v %s", programs[i].with) != 0)
			continue;
		char words[100];

		cli_write(programs[i].name, "%s", programs[i].text);
		snprintf(words, sizeof(words), "-- %s $HERE/%s", programs[i].with,
			 programs[i].name);
		assert_checked(words, "");
	}
}

Test(redis_at, static_programs_in_go_are_led)
{
	cli_write("ask.go",
		  "package main\n"
		  "import (\"bufio\"; \"net\"; \"os\")\n"
		  "func main() {\n"
		  "\tc, err := net.Dial(os.Args[1], os.Args[2])\n"
		  "\tif err != nil { println(err.Error()); os.Exit(1) }\n"
		  "\tc.Write([]byte(\"" PYTHON_INCR "\"))\n"
		  "\tif s, _ := bufio.NewReader(c).ReadString('\\n'); s == \"\" { os.Exit(1) }\n"
		  "}\n");
	if (cli_run("cd $HERE && GOCACHE=$HERE/cache CGO_ENABLED=0 go build -o ask ask.go 2>&1") !=
	    0)
		cli_skip("Go is not here: %s", cli_output);
	assert_checked("-- $HERE/ask tcp localhost:6379", "");
	assert_checked("-- $HERE/ask tcp6 '[::1]:6379'", "[::1]:6379");
}

Test(redis_at, apps_and_requests_are_led)
{
	cli_write(
		"app.py",
		"import http.server, os\n"
		"class Answers(http.server.BaseHTTPRequestHandler):\n"
		"    def do_GET(self):\n"
		"        os.system('redis-cli INCR c >/dev/null')\n"
		"        self.send_response(204)\n"
		"        self.end_headers()\n"
		"port = int(os.environ['PORT'])\n"
		"http.server.ThreadingHTTPServer(('127.0.0.1', port), Answers).serve_forever()\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --setup 'redis-cli SET c 5' "
			     "--app '" PYTHON " $HERE/app.py' --request 'curl -sf {app}' "
			     "--check 'test $(redis-cli GET c) = 7' 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
}

/* ---- Names ------------------------------------------------------------------------------ */

Test(redis_at, names_without_an_address_are_led)
{
	cli_write("by_name.py", "import socket, sys\n"
				"s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)\n"
				"s.sendall(b'" PYTHON_INCR "')\n"
				"assert s.recv(99)[:1] == b':'\n");
	assert_checked("-- " PYTHON " $HERE/by_name.py redis 6379", "redis:6379");
	assert_checked("-- " PYTHON " $HERE/by_name.py kv.invalid 6379", "kv.invalid:6379");
	assert_checked("--redis-at Kv.invalid:7000 -- " PYTHON " $HERE/by_name.py kv.invalid 7000",
		       "kv.invalid:7000");
	cr_assert_eq(cli_run("$REDRACE check --no-cache -- " PYTHON
			     " $HERE/by_name.py redis 7000 2>&1"),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cr_assert(cli_says(cli_output, "--redis-at redis:7000"), "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE check --no-cache -- " PYTHON
			     " $HERE/by_name.py kv.invalid 7000 2>&1"),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cr_assert(cli_says(cli_output, "--redis-at kv.invalid:7000"), "%s", cli_output);
	/* No other service is to be found by such a name. */
	cli_write("other_port.py", "import socket\n"
				   "try:\n"
				   "    socket.create_connection(('redis.invalid', 80), 5)\n"
				   "except OSError:\n"
				   "    pass\n"
				   "try:\n"
				   "    socket.getaddrinfo('db.invalid', 5432)\n"
				   "    raise AssertionError\n"
				   "except socket.gaierror:\n"
				   "    pass\n"
				   "import os\n"
				   "raise SystemExit(os.system('redis-cli INCR c') != 0)\n");
	assert_checked("-- " PYTHON " $HERE/other_port.py", "127.0.0.1:6379");
}

/* ---- One Redis -------------------------------------------------------------------------- */

Test(redis_at, forms_of_localhost_are_one)
{
	assert_checked("-- sh -c '{ redis-cli -h 127.0.0.1 INCR a; redis-cli -h localhost INCR b; "
		       "redis-cli -h ::1 INCR c; redis-cli -h 0.0.0.0 INCR d; "
		       "redis-cli -u {url} INCR e; } >/dev/null'",
		       "");
}

Test(redis_at, a_second_redis_is_refused)
{
	assert_refused("-- sh -c 'redis-cli INCR a; redis-cli -h 192.0.2.7 INCR a'",
		       "192.0.2.7:6379");
	cli_assert_names("127.0.0.1:6379");
	assert_refused("-- sh -c 'redis-cli -h redis-a INCR a; redis-cli -h redis-b INCR a'",
		       "redis-b:6379");
	assert_refused("--client A='redis-cli INCR a' --client B='redis-cli -h 192.0.2.7 INCR a'",
		       "192.0.2.7:6379");
}

Test(redis_at, another_one_is_named_as_the_option_takes_it)
{
	cli_write("there.py", "import socket, sys\n"
			      "l = socket.socket()\n"
			      "l.bind(('127.0.0.1', 0))\n"
			      "l.listen()\n"
			      "s = socket.create_connection(l.getsockname())\n"
			      "s.sendall(b'" PYTHON_INCR "')\n"
			      "s.recv(99)\n");
	assert_refused("-- " PYTHON " $HERE/there.py", "--redis-at 127.0.0.1:");
}

/* Each has its own databases. */
Test(redis_at, two_that_are_named_are_kept_apart)
{
	static const char both[] = "--redis-at localhost:6379 --redis-at redis-b:6379";
	char words[700];

	snprintf(words, sizeof(words),
		 "%s --setup 'redis-cli -h redis-b -n 2 SET k 2' --check 'test \"$(redis-cli GET "
		 "k)$(redis-cli -h redis-b GET k)$(redis-cli -h redis-b -n 2 GET k)\" = ab2' -- "
		 "sh -c 'redis-cli SET k a; redis-cli -h redis-b SET k b; "
		 "test $(redis-cli -u {url} GET k)$(redis-cli -h redis-b GET k) = ab'",
		 both);
	assert_checked(words, "");
	cli_assert_json(".redis_at == [\"127.0.0.1:6379\", \"redis-b:6379\"] or "
			".redis_at == [\"redis-b:6379\", \"127.0.0.1:6379\"] or "
			".redis_at == [\"redis-b:6379\", \"[::1]:6379\"]");
	snprintf(words, sizeof(words), "%s -- redis-cli -h redis-b FLUSHALL", both);
	assert_refused(words, "FLUSHALL");
	snprintf(words, sizeof(words), "%s -- redis-cli -h redis-c INCR k", both);
	assert_refused(words, "--redis-at redis-c:6379");
}

/* ---- What connections say --------------------------------------------------------------- */

Test(redis_at, passwords_and_databases_work)
{
	assert_checked("--check 'test $(redis-cli -h 192.0.2.7 -n 3 GET c) = 2' -- "
		       "redis-cli -u redis://me:secret@192.0.2.7:6379/3 INCR c",
		       "192.0.2.7:6379");
}

Test(redis_at, tls_is_refused_by_name)
{
	cli_write("tls.py", "import socket, ssl\n"
			    "s = socket.create_connection(('127.0.0.1', 6379))\n"
			    "ssl._create_unverified_context().wrap_socket(s)\n");
	assert_refused("-- " PYTHON " $HERE/tls.py", "TLS");
}

/* ---- The user's own Redis ---------------------------------------------------------------- */

Test(redis_at, a_redis_that_is_there_receives_nothing)
{
	cr_assert_eq(
		cli_run("cc -o $HERE/dynamic tests/check/programs/elsewhere.c -pthread 2>&1 && "
			"cc -o $HERE/withhold tests/check/programs/withhold.c 2>&1"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run("for at in \"$THERE 6379\" \"127.0.0.1 $OWN\"; do set -- $at; "
			     "redis-server --bind $1 --port $2 --save '' --dir $HERE "
			     "--pidfile $HERE/$2.pid --daemonize yes >/dev/null; "
			     "for i in $(seq 600); do redis-cli -h $1 -p $2 PING 2>/dev/null | "
			     "grep -q PONG && break; sleep 0.1; done; "
			     "redis-cli -h $1 -p $2 MONITOR >$HERE/$2.seen & echo $! "
			     ">$HERE/$2.monitor; done; "
			     "for i in $(seq 600); do grep -q OK $HERE/6379.seen && "
			     "grep -q OK $HERE/$OWN.seen && break; sleep 0.1; done"),
		     0, "%s", cli_output);
	cr_expect_eq(cli_run("$REDRACE check --no-cache -- redis-cli -h $THERE INCR c 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cr_expect_eq(cli_run("$REDRACE check --no-cache --redis-at 127.0.0.1:$OWN -- "
			     "redis-cli -p $OWN INCR c 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cr_expect_eq(cli_run("$REDRACE check --no-cache -- redis-cli -p $OWN INCR c 2>&1"),
		     RR_EXIT_DATA, "%s", cli_output);
	/* The first program has begun before it is known that the kernel does not ask. */
	for (int i = 0; i < 4; i++)
		cr_expect_eq(cli_runf("$HERE/withhold %d $REDRACE_ONCE check --no-cache -- "
				      "$HERE/dynamic 6379 now $THERE 2>&1",
				      SYS_seccomp),
			     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cli_run("kill $(cat $HERE/*.monitor); redis-cli -h $THERE DBSIZE; "
		"redis-cli -p $OWN DBSIZE");
	cr_expect_str_eq(cli_output, "0\n0\n");
	cli_run("cat $HERE/*.seen; redis-cli -h $THERE SHUTDOWN NOSAVE; "
		"redis-cli -p $OWN SHUTDOWN NOSAVE");
	cr_assert_eq(strncmp(cli_output, "OK\nOK\n", 6), 0, "%s", cli_output);
	cr_assert_eq(strlen(cli_output), 6, "%s", cli_output);
}

/* ---- Where the kernel does not ask ------------------------------------------------------- */

Test(redis_at, the_library_leads_where_the_kernel_does_not_ask)
{
	static const char program[] = "redis-cli -h 192.0.2.7 INCR c";

	cr_assert_eq(cli_run("cc -o $HERE/withhold tests/check/programs/withhold.c 2>&1"), 0, "%s",
		     cli_output);
	cr_assert_eq(cli_runf("$HERE/withhold %d $REDRACE check --no-cache "
			      "-o $HERE/result.json -- %s 2>&1",
			      SYS_pidfd_getfd, program),
		     RR_EXIT_OK, "%s", cli_output);
	cli_assert_json(".redis_at == [\"192.0.2.7:6379\"]");
	cr_assert_eq(cli_run("cc -o $HERE/dynamic tests/check/programs/elsewhere.c -pthread 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(
		cli_runf("$HERE/withhold %d $REDRACE check --no-cache -- $HERE/dynamic 6379 2>&1",
			 SYS_pidfd_getfd),
		RR_EXIT_OK, "%s", cli_output);
	/* A static program would not be led, and it is not known whether this is one. */
	cr_assert_eq(cli_runf("$HERE/withhold %d $REDRACE check --no-cache "
			      "-o $HERE/result.json -- %s 2>&1",
			      SYS_seccomp, program),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cli_assert_property("search.limit", "unwatched");
	cli_assert_json(".changes_data and .redis_at == [\"192.0.2.7:6379\"]");
	cr_assert_eq(cli_runf("$HERE/withhold %d $REDRACE check --no-cache -- sh -c "
			      "'redis-cli INCR a; redis-cli -h redis-b INCR a' 2>&1",
			      SYS_pidfd_getfd),
		     RR_EXIT_DATA, "%s", cli_output);
	cli_assert_names("redis-b:6379");
}

/* ---- The option -------------------------------------------------------------------------- */

Test(redis_at, wrong_uses_are_one_line)
{
	static const char *const wrong[] = {
		"redis",
		"redis:",
		":6379",
		"redis:0",
		"redis:65536",
		"redis:6379/0",
		"::1:6379",
		"[::1]",
		"[::1:6379",
		"[redis]:6379",
		"unix:",
		"unix:redis.sock",
		"redis://redis:6379",
		"a b:6379",
		"redis.sock",
		"/",
		"unix:redis:6379",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char command[200];

		snprintf(command, sizeof(command),
			 "$REDRACE_ONCE check --redis-at '%s' -- true 2>&1 >/dev/null", wrong[i]);
		cli_assert_one_line(command, RR_EXIT_USAGE, "--redis-at");
	}
	cli_assert_one_line("$REDRACE_ONCE check $(for i in 1 2 3 4 5 6 7 8 9; do "
			    "echo --redis-at h:$i; done) -- true 2>&1 >/dev/null",
			    RR_EXIT_USAGE, "--redis-at");
}

Test(redis_at, is_a_key_of_a_suite_and_of_what_is_saved)
{
	cli_write("redrace.yaml", "checks:\n"
				  "  a:\n"
				  "    command: redis-cli -p 7001 INCR c\n"
				  "    redis-at: [localhost:7001]\n");
	cr_assert_eq(cli_run("$REDRACE check --suite $HERE/redrace.yaml 2>&1"), RR_EXIT_OK, "%s",
		     cli_output);
	cr_assert_eq(cli_run("$REDRACE check --redis-at 192.0.2.7:7001 --save $HERE/found.race -- "
			     "sh -c 'v=$(redis-cli -h 192.0.2.7 -p 7001 GET c); "
			     "redis-cli -h 192.0.2.7 -p 7001 SET c $((v + 1))' 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE check --replay $HERE/found.race -- "
			     "sh -c 'v=$(redis-cli -h 192.0.2.7 -p 7001 GET c); "
			     "redis-cli -h 192.0.2.7 -p 7001 SET c $((v + 1))' 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
}

/* A verdict holds for the option that it was made with. */
Test(redis_at, a_kept_verdict_is_of_one_option)
{
	static const char check[] = "$REDRACE_ONCE check --cache $HERE/kept %s "
				    "-o $HERE/result.json -- redis-cli INCR c 2>&1";

	cr_assert_eq(cli_runf(check, ""), RR_EXIT_OK, "%s", cli_output);
	cr_assert_eq(cli_runf(check, ""), RR_EXIT_OK, "%s", cli_output);
	cli_assert_json(".kept.is_used");
	cr_assert_eq(cli_runf(check, "--redis-at 192.0.2.7:7001"), RR_EXIT_OK, "%s", cli_output);
	cli_assert_json("(.kept.is_used | not) and .kept.earlier == \"none\"");
}

/* ---- Texts ------------------------------------------------------------------------------- */

Test(redis_at_texts, are_read_and_compared)
{
	static const struct {
		const char *text, *address;
	} cases[] = {
		{ "Redis:6379", "redis:6379" },
		{ "10.0.0.5:6380", "10.0.0.5:6380" },
		{ "[0:0::1]:6379", "[::1]:6379" },
		{ "unix:/run/redis.sock", "/run/redis.sock" },
		{ "/run/redis.sock", "/run/redis.sock" },
		{ "unix:///run/redis.sock", "/run/redis.sock" },
		{ "unix:@redis", "@redis" },
	};
	char address[RR_ADDRESS_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert(rr_redis_at_read(cases[i].text, address), "%s", cases[i].text);
		cr_assert_str_eq(address, cases[i].address);
	}
	cr_assert(rr_addresses_are_same("localhost:6379", "[::1]:6379"));
	cr_assert(rr_addresses_are_same("127.0.1.1:6379", "0.0.0.0:6379"));
	cr_assert_not(rr_addresses_are_same("127.0.0.1:6379", "127.0.0.2:6379"));
	cr_assert_not(rr_addresses_are_same("localhost:6379", "localhost:6380"));
	cr_assert_not(rr_addresses_are_same("redis-a:6379", "redis-b:6379"));
	cr_assert_neq(rr_host_address("redis-a"), rr_host_address("redis-b"));
}

/* "127.1" is looked up as a name is. */
Test(redis_at_texts, two_names_of_one_address_are_one_place)
{
	static const char *const texts[] = { "127.0.0.1:7001", "127.1:7001", "localhost:7001" };
	struct rr_redis_places places = { .n_led = 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		rr_redis_places_add(&places, texts[i]);
		cr_assert_eq(rr_redis_at_find(&places.named, texts[i]), 0, "%s", texts[i]);
	}
	cr_assert_eq(places.named.n_places, 1);
	rr_redis_places_add(&places, "127.0.0.2:7001");
	cr_assert_eq(places.named.n_places, 2);
	cr_assert_eq(rr_redis_at_find(&places.named, "127.0.0.2:7001"), 1);
}
