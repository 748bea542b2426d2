/* SPDX-License-Identifier: MIT */
/* The verdict that redrace check keeps for the next check: it holds as long as nothing has changed on
 * which it depends, and is not believed even then. */
#include "../cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a check writes is not where programs are: they list that directory. */
static void setup(void)
{
	cli_setup();
	/* Python writes what it has compiled next to it, as it does for users. */
	unsetenv("PYTHONDONTWRITEBYTECODE");
	cli_run("mkdir $HERE/out $HERE/in");
}

TestSuite(cache, .init = setup, .fini = cli_teardown, .timeout = 600);

#define CHECK "$REDRACE_ONCE check --cache $HERE/out/cache --audit 2 -o $HERE/out/report.json "
#define RIGHT CLI "INCR counter"
#define WRONG "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"

/* What the report says of a verdict that is kept. */
static bool says(const char *what)
{
	return cli_runf("jq -e '.cases[0].properties.kept | %s' $HERE/out/report.json >/dev/null",
			what) == 0;
}

/* `before` stands before the command: variables, limits. */
static void check_with(const char *before, const char *options, int code, bool is_used)
{
	static char said[sizeof(cli_output)];

	cr_assert_eq(cli_runf("%s " CHECK "%s 2>&1", before, options), code, "%s: %s", options,
		     cli_output);
	memcpy(said, cli_output, sizeof(said));
	cr_assert(says(is_used ? ".is_used" : ".is_used | not"), "used: %d, %s %s: %s", !is_used,
		  before, options, said);
	memcpy(cli_output, said, sizeof(said));
}

/* Three checks: the first one is made, and the verdict of the others is the one that was kept. */
static void check_keeps(const char *options, int code)
{
	check_with("", options, code, false);
	cr_assert(says(".is_kept and .why == null"), "%s", cli_output);
	check_with("", options, code, true);
	check_with("", options, code, true);
}

/* Nothing is kept, for a reason that holds `why`. */
static void check_keeps_nothing(const char *options, int code, const char *why)
{
	for (int i = 0; i < 2; i++) {
		check_with("", options, code, false);
		cr_assert_eq(cli_runf("jq -e '.cases[0].properties.kept | (.is_kept | not) and "
				      "(.why | contains(\"%s\"))' $HERE/out/report.json",
				      why),
			     0, "%s", cli_output);
	}
}

/* What has changed is noticed: no verdict of what was there before is tried in vain. */
static void check_notices(const char *before, const char *options, int code)
{
	check_with(before, options, code, false);
	cr_assert(says(".earlier != \"refuted\""), "%s", cli_output);
}

/* A verdict that is kept is no verdict of what was edited. */
static void check_edit(const char *options, int before, const char *edit, int after)
{
	check_with("", options, before, false);
	check_with("", options, before, true);
	cr_assert_eq(cli_run(edit), 0, "%s: %s", edit, cli_output);
	check_notices("", options, after);
	check_with("", options, after, true);
	check_with("", options, after, true);
}

/* ---- What is kept ---------------------------------------------------------------------- */

Test(cache, finding_is_replayed)
{
	cli_write("program", "%s\n", WRONG);
	check_keeps("-o $HERE/out/race.svg --save $HERE/out/x.race -- sh $HERE/program", 1);
	cr_assert_eq(
		cli_run("jq -e '.cases[0].properties | .known_as == [\"lost update (counter)\"] "
			"and .kinds == [\"lost_update\"] and .final_data == \"counter = \\\"1\\\"\" and "
			".kept.is_used and .clients == 2 and .final_states == 2 and "
			".wrong_final_states == 1 and .mend != null and .starts > 0' "
			"$HERE/out/report.json && test -s $HERE/out/race.svg && test -s $HERE/out/x.race"),
		0, "%s", cli_output);
}

/* A finding is replayed with the process ids with which it was found. */
Test(cache, process_ids_are_fixed_again)
{
	cli_write("program", CLI "RPUSH owners $$\n%s\n", WRONG);
	check_keeps("-- sh $HERE/program", 1);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.randomness | .has_fixed_pids and "
			     ".is_controlled' $HERE/out/report.json"),
		     0, "%s", cli_output);
}

Test(cache, skeptic_looks_at_a_yes_again)
{
	cli_write("program", "%s\n", RIGHT);
	check_keeps("--data-only -- sh $HERE/program", 0);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties | .found == null and .states > 0 and "
			     ".search.verdict == \"serializable\" and "
			     ".skeptic.verdict == \"agrees\" and .skeptic.schedules <= 3' "
			     "$HERE/out/report.json"),
		     0, "%s", cli_output);
}

Test(cache, findings_of_other_kinds_are_replayed)
{
	check_keeps("--crashes 1 -- sh examples/check/lease_later.sh", 1);
	check_keeps("--final 'GET c' 5 -- redis-cli -u {url} INCR c", 1);
	check_keeps("-- sh -c 'redis-cli -u {url} INCR c; redis-cli -u {url} GET c'", 1);
	check_keeps("--check 'test \"$(redis-cli -u {url} GET c)\" = 1' --data-only -- "
		    "redis-cli -u {url} INCR c",
		    1);
}

/* A lease of 10 s ends while its holder works: data are wrong, and in another schedule a client
 * releases the lock that the other one holds. One schedule is kept; all of them are not. */
Test(cache, one_schedule_does_not_show_all_that_was_found)
{
	cli_write("in/held.py", "%s",
		  "import raw\n"
		  "r = raw.Connection()\n"
		  "if r('SET', 'lock', 1, 'NX', 'EX', 10):\n"
		  "    n = int(r('GET', 'n') or 0)\n"
		  "    if n < 1: r('SET', 'n', n + 1); r('INCR', 'sold')\n"
		  "    r('DEL', 'lock')\n");
	check_keeps("--expiries 1 --data-only -- " CLI_PYTHON "in/held.py", 1);
	cr_assert_eq(
		cli_run("jq -e '.cases[0].properties | .kinds | contains([\"foreign_release\"])' "
			"$HERE/out/report.json"),
		0, "%s", cli_output);
	check_keeps_nothing("--expiries 1 --data-only --all -- " CLI_PYTHON "in/held.py", 1,
			    "several findings");
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.findings | map(.kind) | length == 2 and "
			     "contains([\"foreign_release\"])' $HERE/out/report.json"),
		     0, "%s", cli_output);
}

Test(cache, inconclusive_verdict_is_not_kept)
{
	cli_write("program", "echo there is no library; exit 1\n");
	check_with("", "-- sh $HERE/program", 2, false);
	cr_assert(says(".is_kept | not"));
	check_with("", "-- sh $HERE/program", 2, false);
}

Test(cache, other_options_are_another_check)
{
	cli_write("program", "%s\n", RIGHT);
	check_keeps("--data-only -- sh $HERE/program", 0);
	check_notices("", "--data-only --clients 3 -- sh $HERE/program", 0);
	check_notices("", "--data-only --final 'GET counter' 3 -- sh $HERE/program", 1);
	check_notices("", "--data-only --final 'GET counter' 2 -- sh $HERE/program", 0);
	check_with("", "--data-only -- sh $HERE/program", 0, true);
}

/* The fields that were left out are kept with the verdict; other fields make another check. */
Test(cache, what_is_ignored_is_kept)
{
	cli_write("program", "v=$(%s); %s >/dev/null\n", CLI "HGET h seen",
		  CLI "HSET h sold 1 seen $((v + 1))");
	check_keeps("--data-only --ignore h.seen -- sh $HERE/program", 0);
	cr_assert_eq(
		cli_run("jq -e '.cases[0].properties.ignored == [{pattern: \"h.seen\", keys: [], "
			"fields: [{key: \"h\", field: \"seen\"}]}]' $HERE/out/report.json"),
		0, "%s", cli_output);
	check_notices("", "--data-only --ignore h.sold -- sh $HERE/program", 1);
	check_with("", "--data-only --ignore h.sold -- sh $HERE/program", 1, true);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.ignored[0].fields[0].field == \"sold\"' "
			     "$HERE/out/report.json"),
		     0, "%s", cli_output);
}

Test(cache, other_place_or_limit_is_another_check)
{
	cli_write("program", "%s\n", WRONG);
	check_keeps("-- sh $HERE/program", 1);
	check_notices("cd $HERE; ", "-- sh $HERE/program", 1);
	check_notices("umask 027; ", "-- sh $HERE/program", 1);
	check_notices("ulimit -n 200; ", "-- sh $HERE/program", 1);
	check_with("", "-- sh $HERE/program", 1, true);
}

/* After a check that was made again although a verdict of its programs is there. */
static void assert_changed(const char *changed)
{
	cr_assert_eq(
		cli_runf("jq -ce '.cases[0].properties.kept | (.is_used | not) and .changed == %s and "
			 "(.again != null) == (.changed != [])' $HERE/out/report.json",
			 changed),
		0, "%s: %s", changed,
		(cli_run("jq -c .cases[0].properties.kept $HERE/out/report.json"), cli_output));
}

Test(cache, why_a_check_is_made_again_is_said)
{
	cli_write("program", "%s\n", RIGHT);
	check_with("", "--data-only -- sh $HERE/program", 0, false);
	assert_changed("[]");
	check_with("", "--data-only --crashes 1 -- sh $HERE/program", 0, false);
	assert_changed("[\"options\"]");
	check_with("NAME=x", "--data-only -- sh $HERE/program", 0, false);
	assert_changed("[\"environment\"]");
	check_with("umask 027; NAME=y", "--data-only -- sh $HERE/program", 0, false);
	assert_changed("[\"environment\",\"machine\"]");
	check_with("", "--data-only -- sh -c '" RIGHT "'", 0, false);
	assert_changed("[]");
	cli_write("program", "%s; true\n", RIGHT);
	check_with("", "--verbose --data-only -- sh $HERE/program", 0, false);
	cli_assert_prints("Checked again: the program changed");
	assert_changed("[\"program\"]");
	/* Who asks for more words asks for the same verdict. */
	check_with("", "--verbose --data-only -- sh $HERE/program", 0, true);
	cr_assert_null(strstr(cli_output, "Checked again"), "%s", cli_output);
	check_with("", "--data-only -- sh $HERE/program", 0, true);
}

/* A copy of redrace, with what stands next to it, and one byte more. */
Test(cache, another_redrace_makes_a_check_again)
{
	static const char check[] = "$HERE/made/redrace check --cache $HERE/out/cache --audit 2 "
				    "-o $HERE/out/report.json -- sh $HERE/program 2>&1";

	cli_write("program", "%s\n", WRONG);
	cr_assert_eq(
		cli_run("mkdir $HERE/made && cd $(dirname $(realpath $REDRACE_ONCE)) && "
			"cp redrace redrace-*.so redrace-node.cjs redrace-app $HERE/made 2>&1"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run(check), 1, "%s", cli_output);
	cr_assert_eq(cli_run(check), 1, "%s", cli_output);
	cr_assert(says(".is_used"), "%s", cli_output);
	cr_assert_eq(cli_run("echo >>$HERE/made/redrace"), 0);
	cr_assert_eq(cli_run(check), 1, "%s", cli_output);
	assert_changed("[\"redrace\"]");
}

Test(cache, random_values_do_not_matter)
{
	cli_write("program", "read token </proc/sys/kernel/random/uuid; %s\n",
		  CLI "SET key $token NX; " CLI "GET key >/dev/null");
	check_keeps("--data-only -- sh $HERE/program", 0);
}

/* ---- Edits ----------------------------------------------------------------------------- */

#define PYTHON "-- " CLI_PYTHON
#define PY_RIGHT "import raw\ndef work(): raw.Connection()('INCR', 'counter')\n"
#define PY_WRONG                                              \
	"import raw\ndef work():\n    r = raw.Connection()\n" \
	"    r('SET', 'counter', str(int(r('GET', 'counter') or 0) + 1))\n"

/* Python writes what it has compiled beside it. */
Test(cache, edit_of_a_handler)
{
	cli_write("in/handler.py", "%s", PY_RIGHT);
	cli_write("wrong.py", "%s", PY_WRONG);
	cli_write("in/program.py", "import handler\nhandler.work()\n");
	check_edit(PYTHON "in/program.py", 0, "cp $HERE/wrong.py $HERE/in/handler.py", 1);
}

/* It was looked for in vain, in the list of a directory. */
Test(cache, edit_by_a_file_that_shadows_another)
{
	cr_assert_eq(cli_run("mkdir $HERE/in/lib"), 0);
	cli_write("in/lib/handler.py", "%s", PY_RIGHT);
	cli_write("wrong", "%s", PY_WRONG);
	cli_write("in/program.py", "import sys\nsys.path.append(sys.path[0] + '/lib')\n"
				   "import handler\nhandler.work()\n");
	check_edit(PYTHON "in/program.py", 0, "cp $HERE/wrong $HERE/in/handler.py", 1);
}

Test(cache, edit_by_a_package_that_shadows_a_file)
{
	cli_write("in/handler.py", "%s", PY_RIGHT);
	cli_write("wrong", "%s", PY_WRONG);
	cli_write("in/program.py", "import handler\nhandler.work()\n");
	check_edit(PYTHON "in/program.py", 0,
		   "mkdir $HERE/in/handler && cp $HERE/wrong $HERE/in/handler/__init__.py", 1);
}

Test(cache, edit_of_pythonpath)
{
	static const char options[] = "-- /usr/bin/python3 -S $HERE/in/program.py";

	cr_assert_eq(cli_run("mkdir $HERE/one $HERE/two"), 0);
	cli_write("one/handler.py", "%s", PY_RIGHT);
	cli_write("two/handler.py", "%s", PY_WRONG);
	cli_write("in/program.py", "import handler\nhandler.work()\n");
#define PATH_OF(name) "PYTHONPATH=$HERE/" name ":$PYTHONPATH"
	check_notices(PATH_OF("one"), options, 0);
	check_with(PATH_OF("one"), options, 0, true);
	check_notices(PATH_OF("two"), options, 1);
	check_with(PATH_OF("two"), options, 1, true);
	check_with(PATH_OF("one"), options, 0, true);
}

Test(cache, edit_of_a_link_to_a_directory)
{
	cr_assert_eq(cli_run("mkdir $HERE/one $HERE/two; ln -s one $HERE/current"), 0);
	cli_write("one/work", "%s\n", RIGHT);
	cli_write("two/work", "%s\n", WRONG);
	check_edit("--data-only --client a='cd $HERE/current && sh ./work' "
		   "--client b='cd $HERE/current && sh ./work'",
		   0, "ln -sfn two $HERE/current", 1);
}

Test(cache, edit_of_the_text_of_a_link)
{
	cli_write("program", "case $(readlink $HERE/mode) in right) %s;; *) %s;; esac\n", RIGHT,
		  WRONG);
	cr_assert_eq(cli_run("ln -s right $HERE/mode"), 0);
	check_edit("--data-only -- sh $HERE/program", 0, "ln -sfn wrong $HERE/mode", 1);
}

Test(cache, edit_of_a_directory_that_is_listed)
{
	cr_assert_eq(cli_run("mkdir $HERE/autoload"), 0);
	cli_write("autoload/20-right.php", "<?php function work($r) { $r('INCR', 'counter'); }\n");
	cli_write("wrong",
		  "<?php function work($r) { $r('SET', 'counter', (int)$r('GET', 'counter') + "
		  "1); }\n");
	cli_write("program.php",
		  "<?php\n"
		  "$s = fsockopen('127.0.0.1', (int)getenv('REDIS_PORT'));\n"
		  "$r = function (...$words) use ($s) {\n"
		  "  fwrite($s, '*' . count($words) . \"\\r\\n\");\n"
		  "  foreach ($words as $w) fwrite($s, '$' . strlen($w) . \"\\r\\n$w\\r\\n\");\n"
		  "  $line = fgets($s);\n"
		  "  return $line[0] == '$' && $line[1] != '-' ? trim(fgets($s)) : 0;\n"
		  "};\n"
		  "foreach (scandir(__DIR__ . '/autoload') as $name)\n"
		  "  if (substr($name, -4) == '.php' && !function_exists('work'))\n"
		  "    include __DIR__ . '/autoload/' . $name;\n"
		  "work($r);\n");
	if (cli_run("command -v php") != 0)
		cli_skip("no php");
	check_edit("-- php -n $HERE/program.php", 0, "cp $HERE/wrong $HERE/autoload/10-wrong.php",
		   1);
}

Test(cache, edit_of_a_lua_file)
{
	cli_write("step.lua", "return redis.call('INCR', KEYS[1])\n");
	cli_write("wrong.lua",
		  "return redis.call('SET', KEYS[1], (redis.call('TIME')[1] + 0) * 0 + 1)\n");
	cli_write("program", "%s\n", REDIS_CLI "--eval $HERE/step.lua counter >/dev/null");
	check_edit("--data-only --final 'GET counter' 2 -- sh $HERE/program", 0,
		   "cp $HERE/wrong.lua $HERE/step.lua", 1);
}

Test(cache, edit_of_the_environment)
{
	cli_write("program", "if [ \"$MODE\" = right ]; then %s; else %s; fi\n", RIGHT, WRONG);
	check_notices("MODE=right", "--data-only -- sh $HERE/program", 0);
	check_with("MODE=right", "--data-only -- sh $HERE/program", 0, true);
	check_notices("MODE=wrong", "--data-only -- sh $HERE/program", 1);
	check_with("MODE=wrong", "--data-only -- sh $HERE/program", 1, true);
	check_with("MODE=right", "--data-only -- sh $HERE/program", 0, true);
}

/* Without opening it. */
Test(cache, edit_by_a_file_that_is_looked_for)
{
	cli_write("program", "[ -e $HERE/flag ] || exec %s\n%s\n", RIGHT, WRONG);
	check_edit("--data-only -- sh $HERE/program", 0, "touch $HERE/flag", 1);
}

Test(cache, edit_by_a_program_that_is_looked_for_on_path)
{
	cr_assert_eq(cli_run("mkdir $HERE/one $HERE/two"), 0);
	cli_write("two/count", "#!/bin/sh\n%s\n", RIGHT);
	cli_write("wrong", "#!/bin/sh\n%s\n", WRONG);
	cli_write("program", "exec count\n");
	cr_assert_eq(cli_run("chmod +x $HERE/two/count $HERE/wrong"), 0);
	check_notices("PATH=$HERE/one:$HERE/two:$PATH", "--data-only -- sh $HERE/program", 0);
	check_with("PATH=$HERE/one:$HERE/two:$PATH", "--data-only -- sh $HERE/program", 0, true);
	cr_assert_eq(cli_run("cp $HERE/wrong $HERE/one/count"), 0);
	check_notices("PATH=$HERE/one:$HERE/two:$PATH", "--data-only -- sh $HERE/program", 1);
	check_with("PATH=$HERE/one:$HERE/two:$PATH", "--data-only -- sh $HERE/program", 1, true);
}

/* The kernel opens what a script's first line names. */
Test(cache, edit_of_an_interpreter)
{
	cli_write("right", "#!/bin/sh\n%s\n", RIGHT);
	cli_write("wrong", "#!/bin/sh\n%s\n", WRONG);
	cli_write("run", "#!/bin/sh\n. $HERE/work\n");
	cr_assert_eq(cli_run("ln -s right $HERE/work; ln -s /bin/dash $HERE/shell; "
			     "printf '#!%s/shell\\n. %s/work\\n' $HERE $HERE >$HERE/program; "
			     "chmod +x $HERE/program"),
		     0);
	check_edit("--data-only -- $HERE/program", 0, "ln -sfn wrong $HERE/work", 1);
	cr_assert_eq(cli_run("ln -sfn /bin/bash $HERE/shell"), 0);
	check_notices("", "--data-only -- $HERE/program", 1);
}

/* It names the file to the kernel itself. */
Test(cache, edit_of_a_file_that_is_read_by_a_raw_system_call)
{
	cli_write(
		"raw.c", "%s",
		"#include <fcntl.h>\n#include <sys/syscall.h>\n"
		"static long call(long n, long a, long b, long c)\n{\n\tlong r;\n"
		"#ifdef __x86_64__\n"
		"\t__asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c)"
		" : \"rcx\", \"r11\", \"memory\");\n"
		"#else\n"
		"\tregister long x8 __asm__(\"x8\") = n, x0 __asm__(\"x0\") = a, "
		"x1 __asm__(\"x1\") = b, x2 __asm__(\"x2\") = c;\n"
		"\t__asm__ volatile(\"svc 0\" : \"+r\"(x0) : \"r\"(x8), \"r\"(x1), \"r\"(x2) : "
		"\"memory\");\n\tr = x0;\n"
		"#endif\n\treturn r;\n}\n"
		"int main(int argc, char **argv)\n{\n\tchar text[100];\n\t(void)argc;\n"
		"\tlong fd = call(SYS_openat, AT_FDCWD, (long)argv[1], O_RDONLY);\n"
		"\tlong n = call(SYS_read, fd, (long)text, sizeof(text));\n"
		"\treturn n < 1 || text[0] != 'r';\n}\n");
	cr_assert_eq(cli_run("cc -o $HERE/raw $HERE/raw.c 2>&1"), 0, "%s", cli_output);
	cli_write("mode", "right\n");
	cli_write("program", "cd $HERE; if ./raw mode; then %s; else %s; fi\n", RIGHT, WRONG);
	check_edit("--data-only -- sh $HERE/program", 0, "echo wrong >$HERE/mode", 1);
}

/* ---- Apps ------------------------------------------------------------------------------ */

/* GET or POST; counts as the body, or the file beside the app, says. */
static void write_app(const char *name, const char *otherwise)
{
	cli_write(name,
		  "import raw, served\n"
		  "def answer(_, body):\n"
		  "    r = raw.Connection()\n"
		  "    if (body.strip() or '%s') == 'right':\n"
		  "        r('INCR', 'counter')\n"
		  "    else:\n"
		  "        r('SET', 'counter', str(int(r('GET', 'counter') or 0) + 1))\n"
		  "    return ''\n"
		  "served.serve(answer)\n",
		  otherwise);
}

#define APP CLI_PYTHON

Test(cache, edit_of_the_data_file_of_curl, .timeout = 600)
{
	write_app("in/app.py", "right");
	cli_write("body", "right");
	check_edit("--app '" APP "in/app.py' --request 'curl -s --data @$HERE/body {app}/'", 0,
		   "printf wrong >$HERE/body", 1);
}

Test(cache, edit_of_a_request_script, .timeout = 600)
{
	write_app("in/app.py", "right");
	cli_write("request.sh", "curl -s -d right $1/\n");
	check_edit("--app '" APP "in/app.py' --request 'sh $HERE/request.sh {app}'", 0,
		   "echo 'curl -s -d wrong $1/' >$HERE/request.sh", 1);
}

Test(cache, edit_of_the_release_of_an_app, .timeout = 600)
{
	cr_assert_eq(cli_run("mkdir $HERE/r1 $HERE/r2; ln -s r1 $HERE/current"), 0);
	write_app("r1/app.py", "right");
	write_app("r2/app.py", "wrong");
	check_edit("--app '" APP "current/app.py' --request 'curl -s -d \"\" {app}/'", 0,
		   "ln -sfn r2 $HERE/current", 1);
}

/* ---- What is not known ----------------------------------------------------------------- */

Test(cache, configuration_from_localhost_keeps_nothing)
{
	cli_write("mode", "right\n");
	cli_write("program",
		  "case $(curl -s http://127.0.0.1:$(cat $HERE/port)/mode) in right) %s;; *) %s;; "
		  "esac\n",
		  RIGHT, WRONG);
	cli_write("serve.py", "import http.server, os, sys\nos.chdir(sys.argv[1])\n"
			      "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), "
			      "http.server.SimpleHTTPRequestHandler)\n"
			      "open('port.new', 'w').write(str(s.server_port))\n"
			      "os.rename('port.new', 'port')\ns.serve_forever()\n");
	cr_assert_eq(
		cli_run("/usr/bin/python3 $HERE/serve.py $HERE >/dev/null 2>&1 & echo $! >$HERE/pid; "
			"until [ -e $HERE/port ]; do kill -0 $! && sleep 0.1 || break; done"),
		0);
	check_keeps_nothing("--data-only --allow-outside localhost:$(cat $HERE/port) -- "
			    "sh $HERE/program",
			    0, "127.0.0.1:");
	cli_write("mode", "wrong\n");
	check_keeps_nothing("--data-only -- sh $HERE/program", 1, "127.0.0.1:");
	cli_run("kill $(cat $HERE/pid)");
}

Test(cache, file_that_is_read_and_written_keeps_nothing)
{
	cli_write("state", "0\n");
	cli_write("program", "read n <$HERE/state; echo $((n + 1)) >$HERE/state; %s\n", WRONG);
	check_keeps_nothing("-- sh $HERE/program", 1, "/state");
}

Test(cache, file_that_is_only_written_does_not_count)
{
	cli_write("program", "%s; echo done >>$HERE/log\n", WRONG);
	check_keeps("-- sh $HERE/program", 1);
}

Test(cache, directory_that_is_listed_and_grows_keeps_nothing)
{
	cr_assert_eq(cli_run("mkdir $HERE/jobs"), 0);
	cli_write("program", "for i in $HERE/jobs/*; do :; done; : >$HERE/jobs/$$; %s\n", WRONG);
	check_keeps_nothing("-- sh $HERE/program", 1, "/jobs");
}

Test(cache, static_program_keeps_nothing)
{
	cli_write(
		"static.c", "%s",
		"#include <arpa/inet.h>\n#include <stdlib.h>\n#include <string.h>\n"
		"#include <unistd.h>\n"
		"int main(void)\n{\n\tstruct sockaddr_in to = { .sin_family = AF_INET, .sin_port = "
		"htons(atoi(getenv(\"REDIS_PORT\"))), .sin_addr = { htonl(INADDR_LOOPBACK) } };\n"
		"\tint fd = socket(AF_INET, SOCK_STREAM, 0);\n\tchar reply[100];\n"
		"\tif (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)\n\t\treturn 1;\n"
		"\tif (write(fd, \"INCR n\\r\\n\", 8) != 8 || read(fd, reply, 100) < 1)\n"
		"\t\treturn 1;\n\treturn 0;\n}\n");
	if (cli_run("cc -static -o $HERE/static $HERE/static.c 2>&1") != 0)
		cli_skip("no static C library");
	check_keeps_nothing("-- $HERE/static", 0, "static");
}

/* ---- The environment of a job ---------------------------------------------------------- */

/* Programs are not given what differs from job to job. */
Test(cache, variables_of_a_job_are_not_given)
{
	cli_write("program", "echo \"run $GITHUB_RUN_ID$CI_JOB_ID$SSH_TTY$TERM\"; %s\n", WRONG);
	check_with("GITHUB_RUN_ID=1 CI_JOB_ID=2 SSH_TTY=3 TERM=xterm", "-- sh $HERE/program", 1,
		   false);
	check_with("GITHUB_RUN_ID=4 SSH_TTY=5 SHLVL=7", "-- sh $HERE/program", 1, true);
	cli_write("program", "[ -z \"$GITHUB_RUN_ID$CI_JOB_ID$SSH_TTY$TERM\" ] || exit 3; %s\n",
		  WRONG);
	check_with("GITHUB_RUN_ID=1 CI_JOB_ID=2 SSH_TTY=3 TERM=xterm", "-- sh $HERE/program", 1,
		   false);
}

Test(cache, variable_that_is_named_is_given_and_counts)
{
	static const char options[] = "--data-only --env GITHUB_REF -- sh $HERE/program";

	cli_write("program", "if [ \"$GITHUB_REF\" = right ]; then %s; else %s; fi\n", RIGHT,
		  WRONG);
	check_notices("GITHUB_REF=right", options, 0);
	check_with("GITHUB_REF=right", options, 0, true);
	check_notices("GITHUB_REF=wrong", options, 1);
	check_notices("GITHUB_REF=right", "--data-only -- sh $HERE/program", 1);
	cli_assert_one_line("$REDRACE_ONCE check --env A=B -- true 2>&1", 64, "--env");
}

/* ---- Records that are wrong ------------------------------------------------------------ */

/* Changes the verdict that was kept, and writes the digest of the file anew. */
static void poison(const char *change)
{
	cr_assert_eq(
		cli_runf(
			"/usr/bin/python3 tests/check/programs/poison.py $HERE/out/cache \"%s\" 2>&1",
			change),
		0, "%s", cli_output);
}

Test(cache, poisoned_finding_is_not_believed)
{
	cli_write("program", "%s\n", RIGHT);
	cli_write("wrong", "%s\n", WRONG);
	check_keeps("--data-only -- sh $HERE/program", 0);
	poison("r.update(found=1, schedule='A:GET B:GET A:SET B:SET', names=['lost update (counter)'])");
	check_with("", "--data-only -- sh $HERE/program", 0, false);
	cr_assert(says(".earlier == \"refuted\""), "%s", cli_output);
	check_with("", "--data-only -- sh $HERE/program", 0, true);
	/* Commands are no steps. */
	poison("r.update(found=1, schedule='A:FLUSHALL B:SHUTDOWN', names=[])");
	check_with("", "--data-only -- sh $HERE/program", 0, false);
	cr_assert(says(".earlier == \"refuted\""), "%s", cli_output);
}

Test(cache, poisoned_yes_is_not_believed)
{
	cli_write("program", "%s\n", WRONG);
	check_keeps("-- sh $HERE/program", 1);
	poison("r.update(found=0, text='serializable: all 8 states', day=0, properties={})");
	check_with("", "-- sh $HERE/program", 1, false);
	cr_assert(says(".earlier == \"refuted\""), "%s", cli_output);
	check_with("", "-- sh $HERE/program", 1, true);
	/* A known finding by another name would be let through by a suite. */
	poison("r.update(names=['stale read (other)'])");
	check_with("", "-- sh $HERE/program", 1, false);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.known_as == [\"lost update (counter)\"]' "
			     "$HERE/out/report.json"),
		     0, "%s", cli_output);
}

Test(cache, poisoned_text_moves_no_terminal)
{
	cli_write("program", "%s\n", RIGHT);
	check_keeps("--data-only -- sh $HERE/program", 0);
	poison("r.update(text='serializable\\033[2J')");
	check_with("", "--data-only -- sh $HERE/program", 0, false);
	cr_assert_null(strchr(cli_output, '\033'), "%s", cli_output);
}

Test(cache, broken_file_is_not_used)
{
	static const char *const ways[] = { "truncate -s -1", "truncate -s 20", "truncate -s 0",
					    "sed -i s/counter/cOunter/" };

	cli_write("program", "%s\n", WRONG);
	check_with("", "-- sh $HERE/program", 1, false);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		cr_assert_eq(cli_runf("%s $HERE/out/cache/*.check", ways[i]), 0);
		check_with("", "-- sh $HERE/program", 1, false);
		cr_assert(says(".earlier == \"broken\""), "%s", cli_output);
	}
	check_with("", "-- sh $HERE/program", 1, true);
}

/* ---- The file itself ------------------------------------------------------------------ */

Test(cache, only_its_owner_may_read_it)
{
	cli_write("program", "%s\n", WRONG);
	check_with("", "-- sh $HERE/program", 1, false);
	cr_assert_eq(cli_run("stat -c %a $HERE/out/cache $HERE/out/cache/*.check"), 0);
	cr_assert_str_eq(cli_output, "700\n600\n");
}

Test(cache, files_that_were_touched_or_copied_are_the_same)
{
	cli_write("program", "%s\n", WRONG);
	check_with("", "-- sh $HERE/program", 1, false);
	cr_assert_eq(cli_run("touch $HERE/program && cp -p $HERE/program $HERE/other && "
			     "mv $HERE/other $HERE/program && mv $HERE/out/cache $HERE/out/kept && "
			     "cp -r $HERE/out/kept $HERE/out/cache"),
		     0);
	check_with("", "-- sh $HERE/program", 1, true);
}

Test(cache, two_checks_at_once_keep_one_file)
{
	cli_write("program", "%s\n", WRONG);
	cr_assert_eq(cli_run(CHECK "-- sh $HERE/program >$HERE/out/one 2>&1 & " CHECK
				   "-- sh $HERE/program >$HERE/out/two 2>&1; wait; "
				   "cat $HERE/out/one $HERE/out/two; ls $HERE/out/cache | wc -l"),
		     0, "%s", cli_output);
	cr_assert_str_eq(cli_output + strlen(cli_output) - 2, "1\n", "%s", cli_output);
	check_with("", "-- sh $HERE/program", 1, true);
}

/* Whenever it is killed, there is no half of a file. */
Test(cache, check_that_is_killed_leaves_no_half_of_a_file)
{
	cli_write("program", "%s\n", WRONG);
	check_with("", "-- sh $HERE/program", 1, false);
	for (int i = 1; i <= 12; i++) {
		cli_runf("rm -f $HERE/out/cache/*.check; timeout -s KILL 0.%02d " CHECK
			 "-- sh $HERE/program >/dev/null 2>&1",
			 8 * i);
		cr_assert_eq(cli_run(CHECK "-- sh $HERE/program 2>&1"), 1, "%s", cli_output);
		cr_assert(says(".earlier != \"broken\""), "%s", cli_output);
	}
	check_with("", "-- sh $HERE/program", 1, true);
}

Test(cache, directory_that_cannot_be_written_is_no_error)
{
	cli_write("program", "%s\n", WRONG);
	cli_write("file", "\n");
	cr_assert_eq(cli_run("$REDRACE_ONCE check --cache $HERE/file -o $HERE/out/report.json -- "
			     "sh $HERE/program 2>&1"),
		     1, "%s", cli_output);
	cr_assert(says("(.is_kept | not) and (.why | contains(\"/file cannot be\"))"), "%s",
		  cli_output);
	cr_assert_eq(cli_run("env -u XDG_CACHE_HOME -u HOME $REDRACE_ONCE check "
			     "-o $HERE/out/report.json -- sh $HERE/program 2>&1"),
		     1, "%s", cli_output);
	cr_assert(says("(.is_kept | not) and (.why | contains(\"HOME\"))"), "%s", cli_output);
}

Test(cache, no_cache_neither_reads_nor_writes)
{
	cli_write("program", "%s\n", WRONG);
	check_with("", "--no-cache -- sh $HERE/program", 1, false);
	cr_assert_neq(cli_run("test -e $HERE/out/cache"), 0);
	check_with("", "-- sh $HERE/program", 1, false);
	check_with("", "--no-cache -- sh $HERE/program", 1, false);
}

/* Most of the page of a program is room for the names of files, which the kernel asks about. */
Test(cache, files_are_noted_where_a_verdict_may_be_kept)
{
	static const struct {
		const char *options;
		bool notes;
	} cases[] = {
		{ "--cache $HERE/out/cache", true },
		{ "--no-cache", false },
		{ "--cache $HERE/file", false }, /* in no directory */
		{ "--game $HERE/out/game.html", false },
	};

	cli_write("file", "\n");
	cli_write("program", "stat -c %%s $REDRACE_PROGRAM_PAGE >$HERE/out/size; %s\n", WRONG);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(cli_runf("$REDRACE_ONCE check %s --audit 2 -- sh $HERE/program 2>&1",
				      cases[i].options),
			     1, "%s", cli_output);
		cr_assert_eq(cli_run("test $(cat $HERE/out/size) -gt 1000000") == 0, cases[i].notes,
			     "%s", cases[i].options);
	}
}

Test(cache, suite_keeps_a_verdict_for_each_check)
{
	cli_write("right", "%s\n", RIGHT);
	cli_write("wrong", "%s\n", WRONG);
	cli_write("redrace.yaml",
		  "checks:\n"
		  "  right:\n    command: sh $HERE/right\n    data-only: true\n"
		  "  wrong:\n    command: sh $HERE/wrong\n    expect: not serializable\n");
	for (int i = 0; i < 2; i++) {
		cli_run("cd $HERE && $REDRACE_ONCE check --cache $HERE/out/cache -o $HERE/out/report.json 2>&1");
		cr_assert_eq(cli_runf("jq -e '[.cases[].properties.kept.is_used] == [%s, %s]' "
				      "$HERE/out/report.json",
				      i ? "true" : "false", i ? "true" : "false"),
			     0, "%s", cli_output);
	}
	cr_assert_eq(cli_run("ls $HERE/out/cache/*.check | wc -l"), 0);
	cr_assert_str_eq(cli_output, "2\n");
}
