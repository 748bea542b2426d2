/* SPDX-License-Identifier: MIT */
/* redrace matrix as a user runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../play/pseudo.h"

TestSuite(matrix_command, .init = cli_setup, .fini = cli_teardown);

Test(matrix_command, writes_all_formats_and_transcripts_from_one_run)
{
	cr_assert_eq(
		cli_run("$REDRACE matrix none incr --hazard threads --hazard lost-reply --save $HERE/m -o $HERE/m.md -o $HERE/m.html -o $HERE/m.json 2>&1 && ls $HERE/m"),
		0, "%s", cli_output);
	cli_assert_names("incr-lost-reply.race\nnone-lost-reply.race\nnone-threads.race\n");
	cr_assert_eq(
		cli_run("grep -F '[count](matrix/none-threads.race)' $HERE/m.md && grep -c '<details id=' $HERE/m.html && grep '\"schema\": 5' $HERE/m.json"),
		0, "%s", cli_output);
	cli_assert_names("\n3\n");
	cr_assert_eq(cli_run("jq -e '[.cases[].verdict] == [\"passed\", \"passed\", \"passed\", "
			     "\"passed\"]' $HERE/m.json"),
		     0, "%s", cli_output);
}

Test(matrix_command, saved_transcripts_replay)
{
	cr_assert_eq(
		cli_run("$REDRACE matrix none --hazard threads --hazard crash --save $HERE/m >$HERE/out && $REDRACE matrix --replay $HERE/m && $REDRACE play $HERE/m/none-crash.race"),
		0, "%s", cli_output);
	cli_assert_names(" 2 ");
	cr_assert_eq(
		cli_run("sed -i 's/^verdict .*/verdict nothing broken/' $HERE/m/none-crash.race; $REDRACE matrix --replay $HERE/m 2>&1"),
		1, "%s", cli_output);
	cli_assert_names("none-crash.race");
}

/* What does not fail any more has no transcript any more. */
Test(matrix_command, removes_old_transcripts_of_its_cells_only)
{
	cr_assert_eq(
		cli_run("mkdir $HERE/m; touch $HERE/m/incr-threads.race $HERE/m/incr-crash.race; $REDRACE matrix incr --hazard threads --save $HERE/m >$HERE/out && ls $HERE/m"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "incr-crash.race\n");
}

/* A copy of the documents, and `make matrix` in it with the program as it is. */
static void make_part(const char *arguments)
{
	char command[800];

	snprintf(
		command, sizeof(command),
		"P=$(dirname $(realpath $REDRACE)); mkdir -p $HERE/results $HERE/old && cp -r Makefile make README.md docs $HERE && cd $HERE && echo '| of the whole |' >>docs/matrix.md && echo '| of a friend |' >docs/matrix/friend.race && cp -r README.md docs old && make -s -o all matrix B=$P ARGS='%s' 2>&1",
		arguments);
	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
}

static void assert_documents_are_as_they_were(void)
{
	cr_assert_eq(
		cli_run("cd $HERE && diff -r docs old/docs 2>&1 && diff README.md old/README.md 2>&1"),
		0, "%s", cli_output);
}

Test(matrix_command, part_does_not_replace_the_documents_of_the_whole)
{
	make_part("none --hazard threads");
	cli_assert_names("docs/matrix.md");
	assert_documents_are_as_they_were();
	cr_assert_eq(cli_run("grep -c none-threads $HERE/results/matrix.json"), 0,
		     "the results are those of the part: %s", cli_output);
}

Test(matrix_command, wrong_use_is_named)
{
	cr_assert_eq(cli_run("$REDRACE matrix --hazard rain 2>&1"), 64);
	cli_assert_names("'rain'");
	cr_assert_eq(cli_run("$REDRACE matrix nosuch 2>&1"), 64);
	cli_assert_names("'nosuch'");
	cr_assert_eq(cli_run("$REDRACE matrix -o $HERE/m.pdf 2>&1"), 64);
	cli_assert_names("m.pdf");
	cr_assert_eq(cli_run("$REDRACE matrix --format pdf 2>&1"), 64);
	cr_assert_eq(cli_run("mkdir $HERE/m; $REDRACE matrix --replay $HERE/m 2>&1"), 64);
	cli_assert_names("/m'");
	cr_assert_eq(cli_run("$REDRACE matrix --redis-server /no/such none 2>&1"), 69);
}

Test(matrix_command, unwritable_file_is_74)
{
	cr_assert_eq(cli_run("$REDRACE matrix incr --hazard threads -o $HERE/no/such/m.md 2>&1"),
		     74, "%s", cli_output);
	cr_assert_eq(
		cli_run("touch $HERE/file; $REDRACE matrix none --hazard threads --save $HERE/file/m 2>&1"),
		74, "%s", cli_output);
}

/* The one cell is there soon, the other one takes far longer. A file is not replaced by a
 * part. */
Test(matrix_command, interrupt_prints_what_is_known)
{
	struct pseudo pseudo;

	cli_write("m.md", "old\n");
	pseudo_open_command(&pseudo, 100,
			    "matrix --jobs 2 none redlock-parallel --hazard threads -o $HERE/m.md");
	pseudo_await(&pseudo, "\033[K1 of 2, ");
	kill(pseudo.pid, SIGINT);
	cr_assert_eq(pseudo_close(&pseudo), 130, "%s", pseudo.screen);
	cr_assert_not_null(strstr(pseudo.screen, "\nnone                 C-----"), "%s",
			   pseudo.screen);
	cr_assert_eq(cli_run("cat $HERE/m.md"), 0);
	cr_assert_str_eq(cli_output, "old\n");
}

/* One that dies leaves its cell, which takes five seconds; that is told at once, and another one does
 * the rest. */
Test(matrix_command, dead_worker_costs_one_cell)
{
	static const char told[] = "redrace: redlock-parallel, threads: ";
	static const char *const sums[] = {
		"SIGKILL",
		"\nincr  ",
		"redlock-parallel, ",
		"SIGKILL",
	};
	struct pseudo pseudo;
	const char *at;

	pseudo_open_command(
		&pseudo, 100,
		"matrix --jobs 1 incr redlock-parallel --hazard threads -o $HERE/f.json");
	pseudo_await(&pseudo, "; redlock-parallel, threads: ");
	cr_assert_eq(cli_runf("kill -KILL $(pgrep -P %d)", (int)pseudo.pid), 0, "%s", cli_output);
	cr_assert_eq(pseudo_close(&pseudo), 70, "%s", pseudo.screen);
	cr_assert_not_null(at = strstr(pseudo.screen, told), "%s", pseudo.screen);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		at = strstr(at + 1, sums[i]);
		cr_assert_not_null(at, "no '%s' in: %s", sums[i], pseudo.screen);
	}
	cr_assert_eq(cli_run("grep -c '\"verdict\": \"error\"' $HERE/f.json"), 0);
	cr_assert_str_eq(cli_output, "1\n");
}

/* The server is killed when it is asked for something of a cell. */
Test(matrix_command, a_server_that_dies_is_said_in_one_line)
{
	cli_run("printf '#!/bin/sh\n(until redis-cli -s redis.sock INFO commandstats 2>/dev/null | grep -q cmdstat_eval; do sleep 0.01; done; kill -9 $$) &\nexec redis-server \"$@\"\n' >$HERE/dies; chmod +x $HERE/dies");
	cli_assert_one_line(
		"$REDRACE matrix -j 1 --hazard pause --redis-server $HERE/dies fenced redlock reentrant 2>&1 >$HERE/out",
		RR_EXIT_REDIS, "pause");
}
