/* SPDX-License-Identifier: MIT */
/* Files that programs write and servers that they connect to are named, and take a yes away unless --allow-outside names them. With --fresh each run begins with a copy of a
 * directory. */
#include "../cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3 -S "
#define CHECK "$REDRACE check --audit 1 -o $HERE/result.json "
#define RIGHT CLI "INCR c"

TestSuite(touched, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* A check of these options ends with `code`, and these are the things that were touched: jq's list of
 * kind, name and whether it is allowed. */
static void assert_touched(const char *options, int code, const char *things)
{
	char filter[1000];

	cr_assert_eq(cli_runf("cd $HERE; " CHECK "%s 2>&1", options), code, "%s: %s", options,
		     cli_output);
	snprintf(filter, sizeof(filter),
		 "[.outside[] | [.kind, (.name | split(\"/\") | last), .is_allowed]] == %s",
		 things);
	cli_assert_json(filter);
}

/* ---- Files --------------------------------------------------------------------------------- */

Test(touched, a_log_takes_the_yes_away_by_name)
{
	cli_write("program", "echo x >>$HERE/app.log; " RIGHT "\n");
	assert_touched("-- sh program", RR_EXIT_INCONCLUSIVE, "[[\"file\", \"app.log\", false]]");
	cli_assert_property("search.limit", "outside");
	cli_assert_json(
		"(.not_compared | length) == 1 and "
		"(.not_compared[0] | startswith(\"the file /\") and endswith(\"/app.log\"))");
	cli_assert_json(".outside[0].clients == [\"A\", \"B\"]");
	assert_touched("--allow-outside app.log -- sh program", RR_EXIT_OK,
		       "[[\"file\", \"app.log\", true]]");
	cli_assert_json(".not_compared == [] and .search.limit == null");
	assert_touched("--no-cache --allow-outside '*.log' -- sh program", RR_EXIT_OK,
		       "[[\"file\", \"app.log\", true]]");
	assert_touched("--no-cache --allow-outside app.lo -- sh program", RR_EXIT_INCONCLUSIVE,
		       "[[\"file\", \"app.log\", false]]");
	/* A finding is a finding. */
	cli_write("program", "echo x >>app.log; v=$(" CLI "GET c); " CLI "SET c $((v + 1))\n");
	assert_touched("-- sh program", RR_EXIT_VIOLATED, "[[\"file\", \"app.log\", false]]");
}

/* Each way of writing, of programs with the library and without. */
Test(touched, each_way_of_writing_is_seen)
{
	static const struct {
		const char *call, *name;
	} ways[] = {
		{ "fclose(fopen(\"new\", \"w\"))", "/new" },
		{ "close(creat(\"new\", 0600))", "/new" },
		{ "mkdir(\"new\", 0700)", "/new" },
		{ "mkfifo(\"new\", 0600)", "/new" },
		{ "symlink(\"old\", \"new\")", "/new" },
		{ "link(\"old\", \"new\")", "/new" },
		{ "truncate(\"old\", 1)", "/old" },
		{ "unlink(\"old\")", "/old" },
		{ "chmod(\"old\", 0600)", "/old" },
		{ "utimensat(AT_FDCWD, \"old\", NULL, 0)", "/old" },
		{ "rename(\"old\", \"new\")", "/new" },
		/* By a descriptor, or by another name of it. */
		{ "fchmod(open(\"old\", O_RDONLY), 0600)", "/old" },
		{ "futimens(open(\"old\", O_RDONLY), NULL)", "/old" },
		{ "dup2(open(\"old\", O_RDONLY), 9); open(\"/proc/self/fd/9\", O_WRONLY)", "/old" },
		{ "dup2(open(\"old\", O_RDONLY), 9); open(\"/dev/fd/9\", O_RDWR)", "/old" },
		{ "creat(\"/proc/self/cwd/new\", 0600)", "/new" },
		/* State without a path. */
		{ "struct open_how h = { O_CREAT | O_WRONLY, 0600, RESOLVE_IN_ROOT }; "
		  "syscall(SYS_openat2, open(\".\", O_PATH), \"/new\", &h, sizeof(h))",
		  "(RESOLVE_IN_ROOT)" },
		{ "shmctl(shmget(0x72656472, 1, IPC_CREAT | 0600), IPC_RMID, NULL)", "or mq_open" },
		{ "semget(0x72656472, 0, 0)", "or mq_open" },
		{ "mq_open(\"/redrace-none\", O_RDONLY)", "or mq_open" },
	};

	for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
		char filter[200];

		cli_write("way.c",
			  "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <linux/openat2.h>\n"
			  "#include <mqueue.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
			  "#include <sys/sem.h>\n#include <sys/shm.h>\n#include <sys/stat.h>\n"
			  "#include <sys/syscall.h>\n#include <unistd.h>\n"
			  "int main(void) { %s; return system(\"" CLI "INCR c >/dev/null\"); }\n",
			  ways[i / 2].call);
		cr_assert_eq(cli_runf("cd $HERE; rm -rf new old; echo 1 >old; "
				      "cc -w %s -o way way.c 2>&1",
				      i % 2 ? "-static" : ""),
			     0, "%s", cli_output);
		cr_assert_eq(cli_run("cd $HERE; $REDRACE_ONCE check --no-cache --audit 1 "
				     "-o $HERE/result.json -- ./way 2>&1"),
			     RR_EXIT_INCONCLUSIVE, "%s: %s", ways[i / 2].call, cli_output);
		snprintf(filter, sizeof(filter), "[.outside[].name | endswith(\"%s\")] | any",
			 ways[i / 2].name);
		cli_assert_json(filter);
	}
}

/* State without a name is allowed with all, as the hint says. */
Test(touched, what_has_no_name_is_allowed_with_everything)
{
	cr_assert_eq(cli_run("cd $HERE; " CHECK "-- " PYTHON "-c 'import ctypes, os\n"
			     "ctypes.CDLL(None).semget(0x72656472, 0, 0)\n"
			     "os.system(\"" CLI "INCR c\")' 2>&1"),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cr_assert(strstr(cli_output, "'*'."), "%s", cli_output);
	cr_assert_eq(cli_run("cd $HERE; " CHECK "--allow-outside '*' -- " PYTHON
			     "-c 'import ctypes, os\n"
			     "ctypes.CDLL(None).semget(0x72656472, 0, 0)\n"
			     "os.system(\"" CLI "INCR c\")' 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cli_assert_json(".outside | length == 1 and .[0].kind == \"unknown\" and .[0].is_allowed");
}

/* Files that no other client sees: their own, in /proc, and calls that are refused. */
Test(touched, what_holds_no_state_does_not_count)
{
	cli_write("program", "echo x >/dev/null\n"
			     "echo x >/dev/stdout; echo x >/proc/self/fd/2\n"
			     "echo name >/proc/self/comm; chmod 600 /proc/self/fd/2\n"
			     "t=$(mktemp); echo x >$t\n"
			     "u=$HERE/own.$$; echo x >$u; mv $u $u.moved; rm $u.moved\n"
			     "mkdir -p $HERE\n"
			     "rm -f $HERE/nothing\n"
			     "mv $HERE/nothing $HERE/else 2>/dev/null\n"
			     "(: >$HERE/no/directory) 2>/dev/null\n" RIGHT "\n");
	assert_touched("-- sh program", RR_EXIT_OK, "[]");
	assert_touched("--no-cache -- sh program", RR_EXIT_OK, "[]");
	/* Where clients differ, another one may have read it. */
	cr_assert_eq(cli_run("cd $HERE; " CHECK "--client A='sh program' --client B='sh program' "
			     "2>&1"),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cli_assert_json("(.outside | length) > 0 and all(.outside[]; .name | contains(\"/own.\"))");
}

Test(touched, the_cache_of_python_does_not_count)
{
	cli_write("part.py", "def add():\n    import os\n    os.system('" CLI "INCR c')\n");
	cli_write("program.py", "import part\npart.add()\n");
	assert_touched("-- env -u PYTHONDONTWRITEBYTECODE " PYTHON "program.py", RR_EXIT_OK, "[]");
	cr_assert_eq(cli_run("ls $HERE/__pycache__/part.*"), 0);
	cli_write("program.py", "import part\nopen('__pycache__/note', 'w')\npart.add()\n");
	assert_touched("-- " PYTHON "program.py", RR_EXIT_INCONCLUSIVE,
		       "[[\"file\", \"note\", false]]");
}

/* Two clients make it and remove it: it is a lock. */
Test(touched, a_lock_counts)
{
	cli_write("program",
		  "mkdir $HERE/lock 2>/dev/null; " RIGHT "; rmdir $HERE/lock 2>/dev/null; true\n");
	cr_assert_eq(cli_run("cd $HERE; " CHECK "-- sh program 2>&1"), RR_EXIT_INCONCLUSIVE, "%s",
		     cli_output);
	cli_assert_json("[.outside[].name | endswith(\"/lock\")] == [true]");
}

Test(touched, what_belongs_to_a_file_is_allowed_with_it)
{
	cli_write("program", "echo x >$HERE/a.tmp; mv $HERE/a.tmp $HERE/a; : >$HERE/a-journal; "
			     "mkdir -p $HERE/d; : >$HERE/d/e; " RIGHT "\n");
	assert_touched("--allow-outside a --allow-outside $HERE/d -- sh program", RR_EXIT_OK,
		       "[[\"file\", \"a\", true], [\"file\", \"a-journal\", true], "
		       "[\"file\", \"a.tmp\", true], [\"file\", \"d\", true], "
		       "[\"file\", \"e\", true]]");
}

Test(touched, apps_and_requests_are_seen)
{
	cli_write(
		"app.py",
		"import http.server, os\n"
		"class Answers(http.server.BaseHTTPRequestHandler):\n"
		"    def do_GET(self):\n"
		"        os.system('" CLI "INCR c >/dev/null')\n"
		"        self.send_response(204)\n"
		"        self.end_headers()\n"
		"    def log_message(self, *words):\n"
		"        open('access.log', 'a').write('x')\n"
		"port = int(os.environ['PORT'])\n"
		"http.server.ThreadingHTTPServer(('127.0.0.1', port), Answers).serve_forever()\n");
	assert_touched("--app '" PYTHON "app.py' --request 'curl -sf {app} -o /dev/null'",
		       RR_EXIT_INCONCLUSIVE, "[[\"file\", \"access.log\", false]]");
	assert_touched("--app '" PYTHON "app.py' --allow-outside access.log "
		       "--request 'curl -sf {app} -o /dev/null'",
		       RR_EXIT_OK, "[[\"file\", \"access.log\", true]]");
}

/* Neither what fills the server nor what judges the data is a client. */
Test(touched, setup_and_check_do_not_count)
{
	assert_touched("--setup 'echo x >$HERE/filled; " CLI "SET c 1' "
		       "--check 'echo x >$HERE/judged' -- " RIGHT,
		       RR_EXIT_OK, "[]");
}

/* ---- Servers ------------------------------------------------------------------------------- */

Test(touched, a_server_takes_the_yes_away_by_name)
{
	char things[100];

	cli_write("serve.py", "import socket, sys\n"
			      "s = socket.create_server(('127.0.0.1', 0))\n"
			      "print(s.getsockname()[1], flush=True)\n"
			      "while True:\n"
			      "    c, _ = s.accept()\n"
			      "    c.recv(99)\n"
			      "    c.sendall(b'yes\\n')\n"
			      "    c.close()\n");
	cli_write("program.py", "import os, socket, sys\n"
				"s = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
				"s.sendall(b'hello\\n')\n"
				"assert s.recv(9) == b'yes\\n'\n"
				"os.system('" CLI "INCR c')\n");
	cr_assert_eq(cli_run("/usr/bin/python3 $HERE/serve.py >$HERE/port & echo $! >$HERE/pid; "
			     "until [ -s $HERE/port ]; do kill -0 $! && sleep 0.1 || break; done"),
		     0);
	cli_run("printf '[[\"server\", \"127.0.0.1:%s\", false]]' $(cat $HERE/port)");
	snprintf(things, sizeof(things), "%.90s", cli_output);
	assert_touched("-- " PYTHON "program.py 127.0.0.1 $(cat $HERE/port)", RR_EXIT_INCONCLUSIVE,
		       things);
	cli_run("printf '[[\"server\", \"127.0.0.1:%s\", true]]' $(cat $HERE/port)");
	snprintf(things, sizeof(things), "%.90s", cli_output);
	assert_touched("--allow-outside localhost:$(cat $HERE/port) -- " PYTHON
		       "program.py 127.0.0.1 $(cat $HERE/port)",
		       RR_EXIT_OK, things);
	cli_run("kill $(cat $HERE/pid)");
}

/* A server of the program's own, and one that is not there. */
Test(touched, own_servers_do_not_count)
{
	cli_write("program.py", "import os, socket, tempfile\n"
				"for family, at in ((socket.AF_INET, ('127.0.0.1', 0)),\n"
				"                   (socket.AF_UNIX, tempfile.mkdtemp() + '/s')):\n"
				"    l = socket.socket(family)\n"
				"    l.bind(at)\n"
				"    l.listen()\n"
				"    s = socket.socket(family)\n"
				"    s.connect(l.getsockname())\n"
				"try:\n"
				"    socket.create_connection(('127.0.0.1', 1))\n"
				"except ConnectionRefusedError:\n"
				"    pass\n"
				"try:\n"
				"    socket.getaddrinfo('nowhere.invalid', 80)\n"
				"except socket.gaierror:\n"
				"    pass\n"
				"os.system('" CLI "INCR c')\n");
	assert_touched("-- " PYTHON "program.py", RR_EXIT_OK, "[]");
}

/* ---- The verdict that is kept -------------------------------------------------------------- */

Test(touched, a_kept_verdict_says_the_same)
{
	static const char check[] = "cd $HERE; $REDRACE_ONCE check --cache $HERE/kept %s "
				    "-o $HERE/result.json -- sh program 2>&1";
	static const char same[] = ".kept.is_used and (.outside | length) == 1 and "
				   ".outside[0].clients == [\"A\", \"B\"]";

	cli_write("program", "echo x >>$HERE/app.log; " RIGHT "\n");
	for (int i = 0; i < 2; i++)
		cr_assert_eq(cli_runf(check, "--allow-outside app.log"), RR_EXIT_OK, "%s",
			     cli_output);
	cli_assert_names("app.log");
	cli_assert_json(same);
	cr_assert_eq(cli_runf(check, ""), RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cli_assert_json("(.kept.is_used | not) and .kept.earlier == \"none\"");
	cli_write("program",
		  "echo x >>$HERE/app.log; v=$(" CLI "GET c); " CLI "SET c $((v + 1))\n");
	for (int i = 0; i < 2; i++)
		cr_assert_eq(cli_runf(check, ""), RR_EXIT_VIOLATED, "%s", cli_output);
	cli_assert_names("app.log");
	cli_assert_json(same);
}

/* ---- --fresh ------------------------------------------------------------------------------- */

#define DATABASE                                    \
	"/usr/bin/python3 -c 'import sqlite3\n"     \
	"c = sqlite3.connect(\"data/app.db\")\n"    \
	"c.execute(\"create table t(n)\")\n"        \
	"c.execute(\"insert into t values (0)\")\n" \
	"c.commit()'"

static void make_database(void)
{
	if (cli_run("unshare -m true 2>/dev/null || unshare -Urm true") != 0)
		cli_skip("mount namespaces are not permitted here");
	cr_assert_eq(cli_run("cd $HERE && mkdir data code && " DATABASE), 0, "%s", cli_output);
	cli_write("race.py", "import os, sqlite3, subprocess, sys\n"
			     "def say(words):\n"
			     "    os.system('" CLI "' + words + ' >/dev/null')\n"
			     "c = sqlite3.connect('data/app.db', isolation_level=None)\n"
			     "if sys.argv[1] == 'late':\n"
			     "    say('INCR hits')\n"
			     "n = c.execute('select n from t').fetchone()[0]\n"
			     "say('INCR hits')\n"
			     "c.execute('update t set n = ?', (n + 1,))\n"
			     "say('SET n %%d' %% (n + 1))\n");
	cli_write("code/right.py", "import os, sqlite3\n"
				   "c = sqlite3.connect('data/app.db', isolation_level=None)\n"
				   "c.execute('update t set n = n + 1')\n"
				   "os.system('" CLI "INCR c >/dev/null')\n");
}

/* The user's own database is as it was. */
static void assert_untouched(void)
{
	cr_assert_eq(cli_run("cd $HERE; /usr/bin/python3 -c 'import sqlite3\n"
			     "c = sqlite3.connect(\"data/app.db\")\n"
			     "assert c.execute(\"select n from t\").fetchone()[0] == 0'; ls data"),
		     0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "app.db\n");
}

Test(touched, a_race_in_sqlite_is_found)
{
	make_database();
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(cli_runf("cd $HERE; $REDRACE_ONCE check --no-cache --audit 1 "
				      "-o $HERE/result.json --fresh data -- " PYTHON
				      "race.py %s 2>&1",
				      i ? "late" : "early"),
			     RR_EXIT_VIOLATED, "%s", cli_output);
		cli_assert_json(".findings[0].found_by == \"skeptic\" and "
				".findings[0].keys == [\"n\"]");
		assert_untouched();
	}
}

Test(touched, a_right_use_of_sqlite_is_a_yes_if_it_is_allowed)
{
	make_database();
	cr_assert_eq(cli_run("cd $HERE; " CHECK "--fresh data -- " PYTHON "code/right.py 2>&1"),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cli_assert_property("search.limit", "outside");
	cli_assert_json("[.outside[].name | endswith(\"data/app.db\")] | any");
	for (int i = 0; i < 2; i++)
		cr_assert_eq(cli_run("cd $HERE; $REDRACE_ONCE check --cache kept --fresh data "
				     "--allow-outside data/app.db -o $HERE/result.json -- " PYTHON
				     "code/right.py 2>&1"),
			     RR_EXIT_OK, "%s", cli_output);
	cli_assert_json(".kept.is_used");
	assert_untouched();
	/* A record is of what is in there. */
	cli_run("cd $HERE; echo more >data/more; /usr/bin/python3 -c 'import sqlite3\n"
		"c = sqlite3.connect(\"data/app.db\")\n"
		"c.execute(\"update t set n = 5\")\nc.commit()'");
	cr_assert_eq(cli_run("cd $HERE; $REDRACE_ONCE check --cache kept --fresh data "
			     "--allow-outside data/app.db -o $HERE/result.json -- " PYTHON
			     "code/right.py 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cli_assert_json(".kept.is_used | not");
}

/* In the directory itself, by a path from the root on, without the library, after --setup, and as a key
 * of a suite. */
Test(touched, each_run_begins_with_the_same)
{
	make_database();
	cli_write("count",
		  "n=$(cat $1 2>/dev/null); echo $((n + 1)) >$1; " CLI "SET n $((n + 1))\n");
	cr_assert_eq(cli_run("cd $HERE/data; $REDRACE_ONCE check --no-cache --clients 1 --fresh . "
			     "--allow-outside . --final 'GET n' 1 -- sh ../count here 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE_ONCE check --no-cache --clients 1 --fresh $HERE/data "
			     "--setup 'echo 7 >$HERE/data/there' --allow-outside $HERE/data "
			     "--final 'GET n' 8 -- sh $HERE/count $HERE/data/there 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cli_write("static.c",
		  "#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
		  "int main(void) { return open(\"data/once\", O_CREAT | O_EXCL, 0600) < 0 || "
		  "system(\"" CLI "INCR c >/dev/null\"); }\n");
	cr_assert_eq(cli_run("cd $HERE; cc -w -static -o static static.c && $REDRACE_ONCE check "
			     "--no-cache --clients 1 --fresh data --allow-outside data -- "
			     "./static 2>&1"),
		     RR_EXIT_OK, "%s", cli_output);
	cli_write("redrace.yaml", "checks:\n"
				  "  a:\n"
				  "    command: sh count data/there\n"
				  "    clients: 1\n"
				  "    fresh: data\n"
				  "    allow-outside: [data]\n"
				  "    check: test $(redis-cli GET n) = 1\n");
	cr_assert_eq(cli_run("cd $HERE; $REDRACE check --suite redrace.yaml 2>&1"), RR_EXIT_OK,
		     "%s", cli_output);
	assert_untouched();
}

Test(touched, a_schedule_is_replayed_with_its_directory)
{
	make_database();
	cli_write("program", "v=$(" CLI "GET c); : >>data/log; " CLI "SET c $((v + 1))\n");
	cr_assert_eq(cli_run("cd $HERE; $REDRACE_ONCE check --fresh data --save found.race -- "
			     "sh program 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
	cr_assert_eq(cli_run("cd $HERE; grep -q -- '--fresh data' found.race && "
			     "$REDRACE_ONCE check --replay found.race -- sh program 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
	assert_untouched();
}

Test(touched, without_mount_namespaces_it_is_an_error)
{
	char command[300];

	make_database();
	cr_assert_eq(cli_run("cc -o $HERE/withhold tests/check/programs/withhold.c 2>&1"), 0, "%s",
		     cli_output);
	snprintf(command, sizeof(command),
		 "$HERE/withhold %d $REDRACE_ONCE check --fresh $HERE/data -- " RIGHT
		 " 2>&1 >/dev/null",
		 SYS_unshare);
	cli_assert_one_line(command, RR_EXIT_INTERNAL, "--fresh");
}

/* ---- The options --------------------------------------------------------------------------- */

Test(touched, wrong_uses_are_one_line)
{
	static const char *const wrong[] = {
		"--allow-outside ''",
		"--allow-outside db:",
		"--allow-outside db:0",
		"--allow-outside db:65536",
		"--allow-outside :5432",
		"--allow-outside '[::1'",
		"--allow-outside unix:",
		"--allow-outside unix:a",
		"--allow-outside a:b:80",
		"$(for i in $(seq 17); do echo --allow-outside f$i; done)",
	};
	static const char *const places[] = { "''", "$HERE/none", "/dev/null", "/", "$HERE/large" };
	char command[200];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE_ONCE check %s -- true 2>&1 >/dev/null",
			 wrong[i]);
		cli_assert_one_line(command, RR_EXIT_USAGE, "--allow-outside");
	}
	cli_run("mkdir $HERE/large; truncate -s 65M $HERE/large/file");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(command, sizeof(command),
			 "$REDRACE_ONCE check --fresh %s -- true 2>&1 >/dev/null", places[i]);
		cli_assert_one_line(command, RR_EXIT_USAGE, "--fresh");
	}
}
