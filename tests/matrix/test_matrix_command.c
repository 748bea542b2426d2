/* SPDX-License-Identifier: MIT */
/* redrace matrix as a user runs it. */
#include <stdio.h>

#include "../cli.h"

TestSuite(matrix_command, .init = cli_setup, .fini = cli_teardown);

Test(matrix_command, writes_all_formats_and_transcripts_from_one_run)
{
	cr_assert_eq(
		cli_run("$REDRACE matrix none incr --hazard threads --hazard lost-reply --save $HERE/m -o $HERE/m.md -o $HERE/m.html -o $HERE/m.json 2>&1 && ls $HERE/m"),
		0, "%s", cli_output);
	cli_assert_prints("4 cells: 4 as expected, 0 differ, 0 undecided");
	cli_assert_prints("incr-lost-reply.race\nnone-lost-reply.race\nnone-threads.race\n");
	cr_assert_eq(
		cli_run("grep -F '[count](matrix/none-threads.race)' $HERE/m.md && grep -c '<details id=' $HERE/m.html && grep '\"schema\": 4' $HERE/m.json"),
		0, "%s", cli_output);
	cli_assert_prints("\n3\n");
}

Test(matrix_command, saved_transcripts_replay)
{
	cr_assert_eq(
		cli_run("$REDRACE matrix none --hazard threads --hazard crash --save $HERE/m >$HERE/out && $REDRACE matrix --replay $HERE/m && $REDRACE play $HERE/m/none-crash.race"),
		0, "%s", cli_output);
	cli_assert_prints("all 2 transcripts play as written");
	cr_assert_eq(
		cli_run("sed -i 's/^verdict .*/verdict nothing broken/' $HERE/m/none-crash.race; $REDRACE matrix --replay $HERE/m 2>&1"),
		1, "%s", cli_output);
	cli_assert_prints("none-crash.race differs");
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
		"P=$(dirname $(realpath $REDRACE)); mkdir -p $HERE/results $HERE/old && cp -r Makefile README.md docs $HERE && cd $HERE && echo '| of the whole |' >>docs/matrix.md && echo '| of a friend |' >docs/matrix/friend.race && cp -r README.md docs old && make -s -o all matrix B=$P ARGS='%s' 2>&1",
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
	cli_assert_prints("\n1 cells: 1 as expected");
	cli_assert_prints(
		"computed only some of the strategies: docs/matrix.md and docs/matrix/ stay as they are\n");
	assert_documents_are_as_they_were();
	cr_assert_eq(cli_run("grep -c none-threads $HERE/results/matrix.json"), 0,
		     "the results are those of the part: %s", cli_output);
}

Test(matrix_command, wrong_use_is_named)
{
	cr_assert_eq(cli_run("$REDRACE matrix --hazard rain 2>&1"), 64);
	cli_assert_prints("no hazard 'rain'; ");
	cr_assert_eq(cli_run("$REDRACE matrix nosuch 2>&1"), 64);
	cli_assert_prints("no strategy 'nosuch'");
	cr_assert_eq(cli_run("$REDRACE matrix -o $HERE/m.pdf 2>&1"), 64);
	cli_assert_prints(".html");
	cr_assert_eq(cli_run("$REDRACE matrix --format pdf 2>&1"), 64);
	cr_assert_eq(cli_run("mkdir $HERE/m; $REDRACE matrix --replay $HERE/m 2>&1"), 64);
	cli_assert_prints("no transcripts in");
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

/* The first cell is there soon after the servers are, the last one takes far longer
 * than that. A file is not replaced by a part. */
Test(matrix_command, interrupt_prints_what_is_known)
{
	cr_assert_eq(
		cli_run("echo old >$HERE/m.md; $REDRACE matrix redlock none --hazard threads -o $HERE/m.md >$HERE/out 2>&1 & P=$!; N=0; until [ -n \"$(find $HERE -type s)\" ] || [ $N -gt 300 ]; do sleep 0.1; N=$((N+1)); done; sleep 3; kill -INT $P; wait $P; echo \"code $?\"; cat $HERE/out $HERE/m.md"),
		0, "%s", cli_output);
	cli_assert_prints("\nnone                 C-----");
	cli_assert_prints("code 130\n");
	cli_assert_prints("\nold\n");
}

/* One that dies leaves its cell; another one does the rest. */
Test(matrix_command, dead_worker_costs_one_cell)
{
	cr_assert_eq(
		cli_run("$REDRACE matrix incr redlock --hazard threads --jobs 1 >$HERE/out 2>&1 & P=$!; N=0; until [ -n \"$(find $HERE -type s)\" ] || [ $N -gt 300 ]; do sleep 0.1; N=$((N+1)); done; sleep 1; kill -KILL $(pgrep -P $P); wait $P; echo \"code $?\"; cat $HERE/out"),
		0, "%s", cli_output);
	cli_assert_prints("its process was killed by signal 9 (SIGKILL)");
	cli_assert_prints("\nincr                 safe ");
	cli_assert_prints("code 70\n");
}

/* The server answers for a moment, and is killed. */
Test(matrix_command, a_server_that_dies_is_said_in_one_line)
{
	cli_run("printf '#!/bin/sh\n(until redis-cli -s redis.sock PING >/dev/null 2>&1; do sleep 0.01; done; sleep 0.2; kill -9 $$) &\nexec redis-server \"$@\"\n' >$HERE/dies; chmod +x $HERE/dies");
	cli_assert_one_line(
		"$REDRACE matrix -j 1 --hazard pause --redis-server $HERE/dies fenced redlock reentrant 2>&1 >$HERE/out",
		RR_EXIT_REDIS, "could not be computed: ");
}
