/* SPDX-License-Identifier: MIT */
/* redrace claims as a user runs it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../cli.h"

TestSuite(claims, .init = cli_setup, .fini = cli_teardown);

/* Runs it where scenarios/races holds the one race `text`. */
static int run_with(const char *text, const char *arguments)
{
	char command[2000];

	snprintf(
		command, sizeof(command),
		"R=$(realpath $REDRACE); mkdir -p $HERE/scenarios/races; cd $HERE; printf '%%s' '%s' >scenarios/races/one.race; $R claims -o result.json %s 2>&1",
		text, arguments);
	return cli_run(command);
}

/* Of the only claim: its verdict, and how it stands. */
static void assert_standing(const char *verdict, const char *standing)
{
	char filter[200];

	snprintf(filter, sizeof(filter), "$all.cases[0].verdict == \"%s\" and .standing == \"%s\"",
		 verdict, standing);
	cli_assert_json(filter);
}

#define RACE(claim, reply, says)                                                          \
	"title t\nclaim " claim "\nclients A\nA> PING => " reply "\n" claim " says " says \
	"\nverdict nothing broken\n"

Test(claims, stand_when_their_races_say_so)
{
	cr_assert_eq(cli_run("$REDRACE claims -o $HERE/result.json SX-5,LU-1,TL-7 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_json("[$all.cases[] | [.properties.id, .verdict, .properties.standing]] == "
			"[[\"LU-1\", \"passed\", \"stands\"], [\"SX-5\", \"passed\", \"stands\"], "
			"[\"TL-7\", \"passed\", \"stands\"]]");
	cli_assert_json("(.observed | contains(\"lost 1\")) and "
			"($all.cases[2].properties.races | contains(\"overrun-delete\"))");
}

/* Nothing false is said of them where time really passes. */
Test(claims, without_the_library_of_the_clocks_races_that_need_time_are_skipped)
{
	cr_assert_eq(
		cli_run("mkdir $HERE/alone && cp $REDRACE $HERE/alone/ &&"
			"$HERE/alone/redrace claims -o $HERE/result.json LU-1,TL-18,SX-1 2>&1"),
		0, "%s", cli_output);
	cli_assert_names("redrace: ");
	cli_assert_json("[$all.cases[] | [.properties.id, .verdict]] == [[\"LU-1\", \"passed\"], "
			"[\"SX-1\", \"passed\"], [\"TL-18\", \"skipped\"]]");
	cli_assert_json(".races | contains(\"increments-in-turn\")");
	cr_assert_eq(cli_run("$HERE/alone/redrace claims TL-18 2>&1"), RR_EXIT_SKIPPED, "%s",
		     cli_output);
	cr_assert_eq(
		cli_run("$HERE/alone/redrace claims LU-1,LU-3 2>&1 | grep -c redrace-clock.so"), 0,
		"%s", cli_output);
	cr_assert_str_eq(cli_output, "1\n");
}

/* It is waited for once; --version, which it is asked for then, is no server. */
Test(claims, server_that_never_answers_is_started_once)
{
	cr_assert_eq(
		cli_run("printf '#!/bin/sh\necho $1 >>%s/starts\nexec sleep 1000\n' $HERE >$HERE/deaf && chmod +x $HERE/deaf &&"
			"$REDRACE claims TL-18 --redis-server $HERE/deaf 2>&1"),
		RR_EXIT_REDIS, "%s", cli_output);
	cr_assert_eq(cli_run("grep -c redis.conf $HERE/starts"), 0);
	cr_assert_str_eq(cli_output, "1\n");
}

/* It would be the script that is stopped, and the server that goes on. */
Test(claims, a_server_that_is_a_scripts_child_is_refused)
{
	cr_assert_eq(
		cli_run("printf '#!/bin/sh\nredis-server \"$@\"\n' >$HERE/parent && chmod +x $HERE/parent &&"
			"$REDRACE claims CC-3 --redis-server $HERE/parent 2>&1"),
		RR_EXIT_REDIS, "%s", cli_output);
	cli_assert_names("/parent'");
}

/* Also one that was killed as the race says, and was started again. */
Test(claims, a_race_whose_server_is_killed_by_others_has_no_verdict)
{
	cr_assert_eq(
		cli_run("printf 'title t\nclients A\nserver s aof=always\ndie-in-sync s\nA> SET a 1 => (closed)\nawait-end s\nrestart s\nA> BLPOP q 0 => [\"q\", \"v\"]\nverdict nothing broken\n' >$HERE/t.race; "
			"$REDRACE play $HERE/t.race >$HERE/out 2>$HERE/said & P=$!; "
			"waits() { for s in $HERE/redrace-*/*/redis.sock; do redis-cli -s $s CLIENT LIST 2>/dev/null | grep -q cmd=blpop && return; done; false; }; "
			"until waits; do sleep 0.05; done; "
			"kill -9 $(redis-cli -s $s INFO server | tr -d '\\r' | sed -n s/process_id://p); "
			"wait $P; echo $?; sed s,$HERE/,, $HERE/said"),
		0, "%s", cli_output);
	cr_assert_eq(strncmp(cli_output, "69\nredrace: t.race:1: ", 22), 0, "%s", cli_output);
}

/* What a script starts besides has the library of the clocks, too. */
Test(claims, a_script_may_start_something_beside_the_server)
{
	cr_assert_eq(
		cli_run("printf '#!/bin/sh\n{ sleep 0.02; sleep 0.05; sleep 1; } &\nexec redis-server \"$@\"\n' >$HERE/beside && chmod +x $HERE/beside &&"
			"$REDRACE claims CC-3 --redis-server $HERE/beside 2>&1"),
		0, "%s", cli_output);
}

/* What takes longer than a player listens, because a disk or the machine is slow, is no command
 * that waits. Whoever waits for a child of vfork(2) is in the state of one that waits for a
 * disk. */
Test(claims, a_slow_server_s_command_does_not_wait)
{
	cli_write("slow.c", "%s",
		  "#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
		  "int fdatasync(int fd) {\n\tconst struct timespec pause = { 0, 200000000 };\n"
		  "\tif (vfork() == 0) {\n\t\tsyscall(SYS_nanosleep, &pause, 0);\n"
		  "\t\t_exit(0);\n\t}\n\treturn syscall(SYS_fdatasync, fd);\n}\n");
	cli_write("slow", "%s",
		  "#!/bin/sh\nLD_PRELOAD=$HERE/slow.so:$LD_PRELOAD exec redis-server \"$@\"\n");
	cli_write("t.race", "%s",
		  "title t\nclients A\nserver redis aof=always\nA> SET a 1 => (waits)\nA < OK\n"
		  "verdict nothing broken\n");
	cr_assert_eq(cli_run("cc -D_GNU_SOURCE -shared -fPIC -o $HERE/slow.so $HERE/slow.c 2>&1 && "
			     "chmod +x $HERE/slow"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE play --redis-server $HERE/slow $HERE/t.race 2>&1"), 1, "%s",
		     cli_output);
	cli_assert_names("(waits)");
}

Test(claims, that_differ_are_named)
{
	cr_assert_eq(run_with(RACE("TL-1", "PONG", "progress"), "TL-1"), 0, "%s", cli_output);
	cr_assert_eq(run_with(RACE("TL-1", "PONG", "deadlock"), "TL-1"), 1, "%s", cli_output);
	assert_standing("failed", "differs");
	cli_assert_json(".recorded == \"true\" and .computed == \"false\"");
	cr_assert_eq(run_with(RACE("TL-1", "OK", "progress"), "TL-1"), 1, "%s", cli_output);
	assert_standing("failed", "not as written");
	cr_assert_eq(run_with(RACE("TL-1", "PONG", "progress"), "TL-2"), 1, "%s", cli_output);
	assert_standing("failed", "not shown");
}

Test(claims, whose_races_cannot_be_played_are_named)
{
	cr_assert_eq(
		run_with(
			"title t\nclaim TL-1\nclients A\nneeds NOSUCHCOMMAND\nA> PING\nverdict nothing broken\n",
			"TL-1"),
		77, "%s", cli_output);
	assert_standing("skipped", "skipped");
	cr_assert_eq(run_with(RACE("TL-1", "PONG", "progress") "dance\n", "TL-1"), 1, "%s",
		     cli_output);
	cli_assert_names("one.race:7:");
	cr_assert_eq(run_with(RACE("TL-1", "PONG", "progress"), "TL-1 --redis-server /bin/false"),
		     69, "%s", cli_output);
	assert_standing("error", "failed");
	cli_assert_property("exit_code", "69");
	cli_assert_names("TL-1");
	cli_assert_names("'/bin/false'");
}

Test(claims, can_be_chosen_and_formats_too)
{
	cli_assert_one_line("$REDRACE claims TL-99 2>&1 | head -n 1;"
			    "$REDRACE claims TL-99 2>/dev/null",
			    64, "'TL-99'");
	cli_assert_one_line("$REDRACE claims --format pdf 2>&1 | head -n 1;"
			    "$REDRACE claims --format pdf 2>/dev/null",
			    64, "--format 'pdf'");
	cr_assert_eq(cli_run("$REDRACE claims --jobs 0 2>&1"), 64);
	cr_assert_eq(cli_run("$REDRACE claims , 2>&1"), 64);
}

Test(claims, are_a_table_in_markdown)
{
	cr_assert_eq(
		cli_run("$REDRACE claims TL-7,LU-1 --format markdown -o $HERE/claims.md && cat $HERE/claims.md"),
		0, "%s", cli_output);
	cli_assert_names(
		"</a>TL-7 | A holder that outlives its lease deletes the lock of the next one | [001:53](documents.md#document-001), [004:44](documents.md#document-004) | true | ");
	cli_assert_names("| [overrun-delete](../scenarios/races/overrun-delete.race) |\n");
	cr_assert_eq(cli_run("$REDRACE claims TL-7 -o $HERE/no/such/claims.md 2>&1"), 74, "%s",
		     cli_output);
}

Test(claims, that_are_only_some_do_not_replace_the_document_of_all)
{
	cr_assert_eq(
		cli_run("echo old >$HERE/claims.md; $REDRACE claims TL-7 --docs $HERE 2>&1 && cat $HERE/claims.md"),
		0, "%s", cli_output);
	cli_assert_names("claims.md");
	cli_assert_names("\nold\n");
	cr_assert_eq(
		cli_run("P=$(dirname $(realpath $REDRACE)); cp -r Makefile make docs scenarios $HERE && cd $HERE && make -s -o all claims-doc B=$P ARGS='TL-7' 2>&1 && cmp docs/claims.md $OLDPWD/docs/claims.md 2>&1"),
		0, "%s", cli_output);
}

Test(claims, are_json)
{
	json_error_t error;
	json_t *root, *claim;

	cr_assert_eq(cli_run("$REDRACE claims TL-7,CC-1 --format json"), 0, "%s", cli_output);
	root = json_loads(cli_output, 0, &error);
	cr_assert_not_null(root, "%s: %s", error.text, cli_output);
	cr_assert_eq(json_array_size(json_object_get(root, "cases")), 2);
	claim = json_object_get(json_array_get(json_object_get(root, "cases"), 0), "properties");
	cr_assert_str_eq(json_string_value(json_object_get(claim, "id")), "CC-1");
	cr_assert(json_is_true(json_object_get(claim, "is_measured")));
	claim = json_array_get(json_object_get(root, "cases"), 1);
	cr_assert_str_eq(json_string_value(json_object_get(claim, "verdict")), "passed");
	claim = json_object_get(claim, "properties");
	cr_assert_str_eq(json_string_value(json_object_get(claim, "id")), "TL-7");
	cr_assert(json_is_false(json_object_get(claim, "is_measured")));
	cr_assert_str_eq(json_string_value(json_object_get(claim, "computed")), "true");
	cr_assert_str_eq(json_string_value(json_object_get(claim, "standing")), "stands");
	json_decref(root);
}

Test(claims, are_junit_and_tap)
{
	cr_assert_eq(run_with(RACE("TL-1", "\"a<b&\"", "progress"), "TL-1,TL-2 --format junit"), 1);
	cli_assert_names("tests=\"2\" failures=\"2\" errors=\"0\" ");
	cli_assert_names("&quot;a&lt;b&amp;&quot;");
	cr_assert_eq(
		cli_run("cd $HERE; ! command -v xmllint >/dev/null || $(cd - >/dev/null; realpath $REDRACE) claims TL-1 --format junit | xmllint --noout - 2>&1"),
		0, "%s", cli_output);
	cr_assert_eq(run_with(RACE("TL-1", "PONG", "progress"), "TL-1,TL-2 --format tap"), 1);
	cli_assert_names("TAP version 13\n1..2\nok 1 - claims TL-1: ");
	cli_assert_names("\nnot ok 2 - claims TL-2: ");
	cr_assert_eq(
		run_with(
			"title t\nclaim TL-1\nclients A\nneeds NOSUCHCOMMAND\nA> PING\nverdict nothing broken\n",
			"TL-1 --format tap"),
		77);
	cli_assert_names("\nok 1 - claims TL-1: ");
	cli_assert_names(" # SKIP ");
}

Test(claims, that_are_measured_show_figures)
{
	const int code = cli_run("$REDRACE claims -o $HERE/result.json LU-2,AT-1,CC-1,PL-3 2>&1");

	cr_assert_neq(code, 69, "%s", cli_output);
	cli_assert_json(
		"[$all.cases[].properties | .is_measured and (.observed | test(\"[0-9]\"))] | all");
	cli_assert_json("[$all.cases[].properties | select(.id == \"AT-1\").observed | "
			"contains(\"increments: 10,000\")] == [true]");
}

/* ---- Ends -------------------------------------------------------------------------- */

Test(claims, called_off_leave_what_is_known_and_nothing_else)
{
	cr_assert_eq(
		cli_run("$REDRACE claims >$HERE/out 2>&1 & P=$!; until ls $HERE | grep -q redrace-; do sleep 0.05; done; kill -INT $P; S=$(date +%s%N); wait $P; C=$?; E=$(date +%s%N); ls $HERE | grep redrace-; echo code $C after $(((E - S) / 1000000)) ms; tail -n 1 $HERE/out"),
		0, "%s", cli_output);
	cli_assert_names("code 130 after");
	cli_assert_names("132 claims:");
	cr_assert_null(strstr(cli_output, "redrace-"), "%s", cli_output);
}

Test(claims, killed_leave_nothing)
{
	cli_run("$REDRACE claims >/dev/null 2>&1 & P=$!; until ls $HERE | grep -q redrace-; do sleep 0.05; done; kill -9 $P && echo killed; wait $P 2>/dev/null; for i in $(seq 1200); do ls $HERE | grep -q redrace- || break; sleep 0.1; done; ls $HERE; for p in /proc/[0-9]*; do case $(readlink $p/cwd) in $HERE/*) echo process ${p#/proc/};; esac; done");
	cr_assert_str_eq(cli_output, "killed\n", "%s", cli_output);
}

/* What it was at is told at once, while there still is something to do. It waits for what
 * nobody sends. */
Test(claims, a_dead_worker_costs_its_race)
{
	cr_assert_eq(run_with(RACE("TL-7", "PONG", "progress"), "TL-7"), 0, "%s", cli_output);
	cli_write("scenarios/races/a.race", "%s",
		  "title t\nclaim TL-1\nclients A\nA> BLPOP q 0 => [\"q\", \"v\"]\n"
		  "TL-1 says progress\nverdict nothing broken\n");
	cr_assert_eq(
		cli_run("R=$(realpath $REDRACE); cd $HERE; $R claims --jobs 1 TL-1 TL-7 -o f.json >out 2>said & P=$!; "
			"waits() { for s in redrace-*/*/redis.sock; do redis-cli -s $s CLIENT LIST 2>/dev/null | grep -q cmd=blpop && return; done; false; }; "
			"until waits; do sleep 0.05; done; kill -KILL $(pgrep -P $P); wait $P; "
			"echo code $?; cat said; grep -c '\"verdict\": \"error\"' f.json"),
		0, "%s", cli_output);
	cr_assert_eq(strncmp(cli_output, "code 70\nredrace: a: ", 20), 0, "%s", cli_output);
	cli_assert_names("SIGKILL");
	cli_assert_names(" TL-1: ");
	cr_assert_str_eq(cli_output + strlen(cli_output) - 3, "\n1\n", "%s", cli_output);
}

/* The race hangs in a command that nobody answers. */
Test(claims, races_killed_in_the_middle_leave_nothing)
{
	cli_run("printf 'title t\\nclients A\\nservers n1 n2\\nA> SET x 1 => OK\\nA@n2> BLPOP q 0 => x\\nverdict nothing broken\\n' >$HERE/t.race; $REDRACE play $HERE/t.race >$HERE/out 2>&1 & P=$!; for i in $(seq 100); do ls $HERE/redrace-*/* >/dev/null 2>&1 && break; sleep 0.02; done; sleep 0.3; kill -9 $P && echo killed; wait $P 2>/dev/null; for i in $(seq 1200); do ls $HERE | grep -q redrace- || break; sleep 0.1; done; ls $HERE; for p in /proc/[0-9]*; do case $(readlink $p/cwd) in $HERE/*) echo process ${p#/proc/};; esac; done");
	cr_assert_str_eq(cli_output, "killed\nout\nt.race\n", "%s", cli_output);
}

/* How many are too few depends on what the test's own shell has open. */
Test(claims, too_few_open_files_are_no_interruption)
{
	cli_run("for n in 5 6 7 8 9 10 11 12 13 14; do (ulimit -n $n; exec $REDRACE claims TL-7) >$HERE/out 2>&1; echo code $?; done");
	cr_assert_not_null(strstr(cli_output, "code 70"), "%s", cli_output);
	cr_assert_null(strstr(cli_output, "code 130"), "%s", cli_output);
}
