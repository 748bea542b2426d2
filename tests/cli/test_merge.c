/* SPDX-License-Identifier: MIT */
/* Shards of a run, put together: are they what the whole run is? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

TestSuite(merge, .init = cli_setup, .fini = cli_teardown);

/* Makes $HERE/1.json, 2.json, 3.json of the shards of a command,
 * and w.json of the whole. Its exit code stays in $HERE/code. */
static void run_shards(const char *command)
{
	char text[1200];

	snprintf(
		text, sizeof(text),
		"for i in 1 2 3; do $REDRACE %s --shard $i/3 -o $HERE/$i.json >$HERE/$i.txt || [ $? -le 2 ] || exit 100; done; "
		"code=0; $REDRACE %s -o $HERE/w.json >/dev/null || code=$?; echo $code >$HERE/code",
		command, command);
	cr_assert_eq(cli_run(text), 0, "%s", cli_output);
}

/* Sets `what` of jq's for the cases that are compared; needs jq. */
static void assert_merged(const char *what)
{
	char text[1200];

	snprintf(
		text, sizeof(text),
		"code=0; $REDRACE merge $HERE/2.json $HERE/1.json $HERE/3.json -o $HERE/m.json >/dev/null || code=$?; "
		"[ $code -eq $(cat $HERE/code) ] || exit 101; "
		"for f in w m; do jq -S '%s' $HERE/$f.json >$HERE/$f; done; diff $HERE/w $HERE/m || exit 102",
		what);
	cr_assert_eq(cli_run(text), 0, "%s", cli_output);
}

static bool has_jq(void)
{
	return cli_run("command -v jq >/dev/null") == 0;
}

#define CELLS \
	"matrix none setnx incr lua-delifequals --hazard threads --hazard crash --hazard restart"

Test(merge, matrix_is_the_whole_one)
{
	if (!has_jq())
		cli_skip("jq is not installed");
	run_shards(CELLS);
	assert_merged(".cases | map({suite, name, verdict, message, details, properties})");
	/* And not because one shard does everything. */
	cr_assert_eq(
		cli_run("jq -es 'map(.cases | length) == [3, 3, 2]' $HERE/1.json $HERE/2.json $HERE/3.json"),
		0, "%s", cli_output);
}

Test(merge, claims_are_the_whole_ones)
{
	if (!has_jq())
		cli_skip("jq is not installed");
	run_shards("claims TL-7,TX-2,SX-5,TL-1");
	assert_merged(
		".cases | map({suite, name, verdict, message, computed: .properties.computed})");
}

/* What is printed is one of the outputs; the file is another. */
Test(merge, files_are_written_though_nobody_reads_what_is_printed)
{
	run_shards("matrix incr --hazard threads --hazard crash --hazard restart");
	/* A pipe whose reader has gone before it is written to. */
	cr_assert_eq(cli_run("mkfifo $HERE/pipe; exec 3<>$HERE/pipe 4>$HERE/pipe 3<&-; "
			     "$REDRACE merge $HERE/[123].json -o $HERE/m.json >&4 2>$HERE/said; "
			     "echo $?; cat $HERE/said"),
		     0);
	cr_assert_str_eq(cli_output, "74\n");
	cr_assert_eq(cli_run("test -s $HERE/m.json"), 0);
}

/* ---- What is refused ---------------------------------------------------------- */

static void assert_refused(const char *files, const char *name)
{
	char command[400];

	snprintf(command, sizeof(command),
		 "P=$(realpath $REDRACE); cd $HERE && $P merge -o m.json %s 2>&1 >/dev/null",
		 files);
	cli_assert_one_line(command, 65, name);
	cr_assert_neq(cli_run("[ -e $HERE/m.json ]"), 0);
}

Test(merge, shards_that_are_missing_doubled_or_different_are_named)
{
	run_shards("matrix incr none --hazard threads --hazard processes");
	assert_refused("1.json 2.json", "3/3");
	assert_refused("2.json", "1/3, 3/3");
	cli_run("cp $HERE/2.json $HERE/2b.json");
	assert_refused("1.json 2.json 2b.json 3.json", "'2b.json'");
	assert_refused("1.json 2.json w.json", "'w.json'");
	cli_assert_one_line("$REDRACE merge $HERE/1.json $HERE/nothing 2>&1", 64, "nothing'");
	cli_run("$REDRACE matrix incr none --hazard threads --hazard processes --shard 3/4 -o $HERE/4.json");
	assert_refused("1.json 2.json 4.json", "'4.json'");
	cli_run("$REDRACE matrix incr none --hazard threads --hazard processes --max-states 5 --shard 3/3 -o $HERE/5.json");
	assert_refused("1.json 2.json 5.json", "max_states");
	cli_run("$REDRACE claims TL-7 --shard 3/3 -o $HERE/6.json");
	assert_refused("1.json 2.json 6.json", "'6.json'");
}

/* Files as another version, another server and a careless shard would write them. */
Test(merge, files_that_are_not_as_they_should_be_are_named)
{
	run_shards("matrix incr none --hazard threads --hazard processes");
	cli_run("cd $HERE && sed 's/\"version\": \"/&9/' 3.json >version.json; sed 's/\"redis_version\": \"/&9/' 3.json >server.json; "
		"sed '/\"suite\"/s/matrix[.]/&x/' 2.json >name.json; sed '/\"shard\"/q' 2.json >half.json; echo '<a/>' >a.xml; echo '[]' >list.json");
	assert_refused("1.json 2.json version.json", "version.json");
	assert_refused("1.json 2.json server.json", "server.json");
	assert_refused("1.json 3.json name.json", "'matrix.");
	assert_refused("1.json 3.json half.json", "'half.json'");
	assert_refused("1.json 3.json a.xml", "'a.xml'");
	assert_refused("1.json 3.json list.json", "'list.json'");
}

/* A shard that forgets its last case. */
Test(merge, a_case_that_is_dropped_is_noticed)
{
	if (!has_jq())
		cli_skip("jq is not installed");
	run_shards("matrix incr none --hazard threads --hazard processes");
	cli_run("jq 'del(.cases[-1])' $HERE/1.json >$HERE/less.json; jq '.properties.shard.cases |= with_entries(select(.value != 1))' $HERE/1.json >$HERE/least.json; jq '.cases += [.cases[0]]' $HERE/1.json >$HERE/more.json");
	assert_refused("less.json 2.json 3.json", "'less.json'");
	assert_refused("least.json 2.json 3.json", "least.json");
	assert_refused("more.json 2.json 3.json", "5 cases");
}

/* A shard whose file says that all is well and that a case failed. */
Test(merge, a_case_that_failed_is_not_overruled)
{
	if (!has_jq())
		cli_skip("jq is not installed");
	run_shards("matrix incr none --hazard threads --hazard processes");
	cli_run("jq '.cases[0].verdict = \"failed\"' $HERE/1.json >$HERE/failed.json; jq 'del(.properties.shard.exit_code)' $HERE/1.json >$HERE/silent.json; jq '.properties.shard.exit_code = 5' $HERE/1.json >$HERE/strange.json");
	cr_assert_eq(
		cli_run("P=$(realpath $REDRACE); cd $HERE && $P merge failed.json 2.json 3.json"),
		1, "%s", cli_output);
	assert_refused("silent.json 2.json 3.json", "'silent.json'");
	assert_refused("strange.json 2.json 3.json", "'strange.json'");
}

/* Nothing was done, because of a server: so says the whole. */
Test(merge, shards_that_were_broken_off_stay_so)
{
	cli_run("P=$(realpath $REDRACE); cd $HERE && $P matrix setnx incr --hazard threads --shard 1/2 -o 1.json;"
		"$P matrix setnx incr --hazard threads --redis-server /bin/false --shard 2/2 -o 2.json");
	cr_assert_eq(cli_run("$REDRACE merge $HERE/1.json $HERE/2.json 2>&1"), RR_EXIT_REDIS, "%s",
		     cli_output);
}

/* ---- Dealing -------------------------------------------------------------------- */

/* The one that takes longest alone, all others together. */
Test(merge, times_of_an_earlier_run_deal_evenly)
{
	if (!has_jq())
		cli_skip("jq is not installed");
	cr_assert_eq(
		cli_run("cells='matrix incr none --hazard threads --hazard processes'; $REDRACE $cells -o $HERE/w.json >/dev/null && "
			"jq '.cases[].seconds = 0.01 | .cases[2].seconds = 5' $HERE/w.json >$HERE/t.json && "
			"for i in 1 2; do $REDRACE $cells --shard $i/2 --times $HERE/t.json -o $HERE/$i.json >/dev/null || exit 1; done; "
			"$REDRACE merge $HERE/1.json $HERE/2.json -o $HERE/m.json >/dev/null && "
			"jq -cs 'map(.cases | length)' $HERE/1.json $HERE/2.json && jq -r '.cases[0].name' $HERE/1.json && jq '.cases | length' $HERE/m.json"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "[1,3]\nthreads\n4\n");
	cli_assert_one_line(
		"$REDRACE matrix incr --shard 1/2 --times $HERE/none.json 2>&1 >/dev/null", 64,
		"none.json");
	cli_assert_one_line("$REDRACE matrix incr --times $HERE/w.json 2>&1 >/dev/null", 64,
			    "--shard");
	cli_assert_one_line("$REDRACE matrix incr --shard 3/2 2>&1 >/dev/null", 64, "--shard");
}

/* More shards than cells: some have nothing to do. */
Test(merge, a_shard_may_be_empty)
{
	cr_assert_eq(
		cli_run("for i in 1 2 3; do $REDRACE claims TL-7 --shard $i/3 -o $HERE/$i.json >/dev/null || exit 1; done; $REDRACE merge $HERE/?.json | tail -n 1"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "redrace claims, 3 shards: 1 passed\n");
}
