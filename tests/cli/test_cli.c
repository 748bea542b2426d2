/* SPDX-License-Identifier: MIT */
/* The program as a user meets it: exit codes and messages. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli, .init = cli_setup, .fini = cli_teardown);

Test(cli, wrong_usage_is_64_in_one_line)
{
	static const struct {
		const char *arguments, *name;
	} wrong[] = {
		{ "bench nonne", "'none'" },
		{ "bench xyzzyxyzzy", "'xyzzyxyzzy'" },
		{ "bnech", "'bench'" },
		{ "bench --threads 0", "--threads" },
		{ "bench --threads -3", "--threads" },
		{ "bench --threads 2,x", "--threads: 'x'" },
		{ "bench --threads ,", "--threads" },
		{ "bench --threads 99999999999999999999", "--threads" },
		{ "bench --processes 200 --threads 200", "clients" },
		{ "bench --increments 0", "--increments" },
		{ "bench --repeats 1.5", "--repeats" },
		{ "bench --ttl-ms 1500 set-nx-ex", "--ttl-ms" },
		{ "bench --persistence sometimes", "--persistence" },
		{ "bench --pin here", "--pin" },
		{ "bench --redis localhost", "redis://" },
		{ "bench --redis ,", "--redis" },
		{ "bench --redis redis://a --pin same", "--pin same" },
		{ "bench --redis redis://a,redis://b,redis://b", "--redis" },
		{ "bench --redis redis://a --persistence rdb", "--persistence" },
		{ "bench --output ''", "--output" },
		{ "bench --redis-server ''", "--redis-server" },
		{ "list all", "list" },
		{ "demo now", "'now'" },
		{ "explore none --graph x.txt", "'x.txt'" },
		{ "explore none --processes 3", "--processes" },
		{ "explore none --processes 1 --crashes 1", "--processes" },
		{ "play none --processes 3", "--processes" },
		{ "report lost-update -o x.pdf", "'x.pdf'" },
		{ "game lost -o x.txt", "'x.txt'" },
	};
	char command[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE %s 2>&1", wrong[i].arguments);
		cli_assert_one_line(command, RR_EXIT_USAGE, wrong[i].name);
	}
}

Test(cli, more_threads_than_open_files_is_64)
{
	cli_assert_one_line("ulimit -n 100; $REDRACE bench none --threads 200 2>&1", RR_EXIT_USAGE,
			    "--threads");
}

Test(cli, missing_redis_is_69_in_one_line)
{
	cli_assert_one_line(
		"$REDRACE bench none --redis-server /no/such/program --output $HERE/r 2>&1",
		RR_EXIT_REDIS, "/no/such/program");
	cli_assert_one_line("$REDRACE bench none --redis-server false --output $HERE/r 2>&1",
			    RR_EXIT_REDIS, "'false'");
	cli_assert_one_line(
		"R=$(readlink -f $REDRACE); PATH=/nowhere $R bench none --output $HERE/r 2>&1",
		RR_EXIT_REDIS, "redis-server");
	cli_assert_one_line("$REDRACE bench none --redis unix://$HERE/none --output $HERE/r 2>&1",
			    RR_EXIT_REDIS, "/none");
	cli_assert_one_line("$REDRACE bench none --redis redis://127.0.0.1:1 --output $HERE/r 2>&1",
			    RR_EXIT_REDIS, "127.0.0.1:1");
}

/* The directory of servers is removed where hardly a file can be opened. */
Test(cli, few_open_files_leave_nothing)
{
	cli_run("mkdir $HERE/t; for n in 4 5 6 7 8 9 10; do (ulimit -n $n; TMPDIR=$HERE/t exec $REDRACE play lost-update) >$HERE/$n.out 2>&1; [ $? -ge 69 ] || echo $n; done");
	cr_assert_str_eq(cli_output, "", "not enough for a server: %s", cli_output);
	cli_run("ls $HERE/t");
	cr_assert_str_eq(cli_output, "", "%s", cli_output);
}

Test(cli, unwritable_results_are_74)
{
	cli_assert_one_line("$REDRACE bench none --output /proc/here 2>&1", RR_EXIT_FILE,
			    "/proc/here");
	cli_assert_one_line("$REDRACE list 2>&1 >/dev/full", RR_EXIT_FILE, "");
	cli_assert_one_line("$REDRACE bench incr --increments 100 --output $HERE/a 2>&1 >&-",
			    RR_EXIT_FILE, "");
	cr_assert_eq(cli_run("grep -c increments $HERE/a/runs.csv"), 0);
	cr_assert_str_eq(cli_output, "1\n", "the table went into the results");
}

/* The disk is mounted where only that shell sees it, and is gone with it. */
Test(cli, full_disk_is_74_and_leaves_no_half_row)
{
	if (cli_run("unshare -m mount -t tmpfs -o size=16k tmpfs /mnt 2>&1") != 0)
		cli_skip("cannot mount a small tmpfs here");
	cr_assert_eq(cli_run("mkdir $HERE/full; unshare -m sh -c '"
			     "mount -t tmpfs -o size=16k tmpfs $HERE/full;"
			     "head -c 100000 /dev/zero >$HERE/full/fill 2>/dev/null;"
			     "$REDRACE bench none --increments 100 --output $HERE/full/r; code=$?;"
			     "find $HERE/full -name \".redrace*\" >$HERE/left;"
			     "exit $code' 2>&1"),
		     RR_EXIT_FILE, "%s", cli_output);
	cli_assert_names("/full/r");
	cr_assert_eq(cli_run("cat $HERE/left"), 0);
	cr_assert_str_eq(cli_output, "", "left behind: %s", cli_output);
}

/* Memory that is a file there was SIGBUS, or a program that is not deterministic. */
Test(cli, check_on_a_full_disk_says_so)
{
	if (cli_run("unshare -m mount -t tmpfs -o size=16k tmpfs /mnt 2>&1") != 0)
		cli_skip("cannot mount a small tmpfs here");
	for (int size = 4; size <= 32; size += 4) {
		cli_write(
			"run",
			"mount -t tmpfs -o size=%dk tmpfs /mnt; TMPDIR=/mnt $REDRACE check -- sh examples/check/counter.sh 2>&1 >/dev/null\n",
			size);
		cli_assert_one_line("unshare -m sh $HERE/run", RR_EXIT_FILE, "");
	}
}

/* By a script neither, whose text hides the name. */
Test(cli, a_race_does_not_reach_other_servers)
{
	cr_assert_eq(
		cli_run("printf '%s\\n' 'title t' 'clients A' "
			"'A> EVAL \"return redis.call(\\\"MIG\\\"..\\\"RATE\\\", \\\"127.0.0.1\\\", 1, \\\"\\\", 0, 1, \\\"KEYS\\\", \\\"k\\\")\" 0 => (error) *nknown*' "
			"'verdict nothing broken' >$HERE/a.race; $REDRACE play $HERE/a.race 2>&1"),
		0, "%s", cli_output);
}

#define JSON "-o $HERE/result.json 2>&1"
#define EXACT "$all.cases | map(.verdict == \"passed\" and .properties.lost == 0) | all"
#define LOSSY "$all.cases | map(.verdict == \"passed\" and .properties.lost > 0) | all"

Test(cli, lossy_loses_and_exact_is_exact)
{
	cr_assert_eq(cli_run("$REDRACE bench none --increments 20000 --output $HERE/a " JSON), 0,
		     "%s", cli_output);
	cli_assert_json(LOSSY);
	cr_assert_eq(cli_run("$REDRACE bench local-mutex --increments 5000 --output $HERE/b " JSON),
		     0);
	cli_assert_json(EXACT);
	cr_assert_eq(
		cli_run("$REDRACE bench local-mutex --processes 2 --threads 2 --increments 20000 --output $HERE/c " JSON),
		0);
	cli_assert_json(LOSSY);
}

/* The shortest failure of set-nx-ex under a pause is another one. */
Test(cli, explore_shows_the_invariant_that_is_asked_for)
{
	cr_assert_eq(cli_run("$REDRACE explore -o $HERE/result.json --pauses 1 --show ownership "
			     "set-nx-ex"),
		     0, "%s", cli_output);
	cli_assert_json(".shortest | .steps == 9 and (.breaks | index(\"ownership\") != null)");
	cli_assert_json(".transcript | contains(\"\\nverdict foreign release\")");
	/* That is not broken: it is the shortest of all. */
	cr_assert_eq(cli_run("$REDRACE explore -o $HERE/result.json --pauses 1 --show lease "
			     "set-nx-ex"),
		     0, "%s", cli_output);
	cli_assert_json(".shortest.steps == 9 and (.breaks | index(\"lease\") == null)");
	cli_assert_one_line("$REDRACE explore --show owner none 2>&1", 64, "'owner'");
}

Test(cli, graph_is_written_by_its_suffix)
{
	cr_assert_eq(
		cli_run("$REDRACE explore none --audit 0 --graph $HERE/g.dot --graph $HERE/g.json >/dev/null; grep -c '^digraph' $HERE/g.dot; grep -c '^{' $HERE/g.json"),
		0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "1\n1\n");
}

Test(cli, lossy_that_lost_nothing_is_2)
{
	cr_assert_eq(cli_run("$REDRACE bench none --threads 2 --increments 1 --output $HERE/a"),
		     RR_EXIT_INCONCLUSIVE, "%s", cli_output);
}

Test(cli, hold_longer_than_the_lease_is_2)
{
	cr_assert_eq(
		cli_run("$REDRACE bench lua-delifequals --ttl-ms 50 --hold-us 60000 --increments 4 --warmup 0 --output $HERE/a " JSON),
		RR_EXIT_INCONCLUSIVE, "%s", cli_output);
	cli_assert_json("$all.cases[0].verdict == \"inconclusive\"");
}

Test(cli, lease_that_runs_out_by_chance_is_2)
{
	cr_assert_eq(
		cli_run("$REDRACE bench lua-delifequals redlock --threads 4 --warmup 0 --ttl-ms 10 --hold-us 9990 --increments 40 --output $HERE/a"),
		RR_EXIT_INCONCLUSIVE, "%s", cli_output);
}

Test(cli, document_of_strategies_is_current)
{
	cr_assert_eq(
		cli_run("$REDRACE list --format markdown >$HERE/rows && sed -n '/^## /,$p' docs/strategies.md | diff - $HERE/rows"),
		0, "docs/strategies.md is old, make accept: %s", cli_output);
	cr_assert_eq(cli_run("grep -c '^| \\[' $HERE/rows"), 0, "%s", cli_output);
	cr_assert_gt(atoi(cli_output), 8);
}

/* Every strategy is in one group; the eight of the documents are the first. */
Test(cli, list_groups_the_strategies)
{
	size_t n = 0;

	for (size_t i = 0; i < rr_n_strategies; i++)
		n += rr_strategies[i]->group == RR_EIGHT;
	cr_assert_eq(n, 8);
	cr_assert_eq(
		cli_run("$REDRACE list -f markdown | sed -n 's/^| \\[`\\([^`]*\\).*/\\1/p' | head -8 | paste -sd' ' -"),
		0, "%s", cli_output);
	cr_assert_str_eq(
		cli_output,
		"none local-mutex setnx-getset set-nx-ex lua-delifequals multi-watch incr redlock\n");
	cli_run("$REDRACE list -f markdown | grep '^| \\[' | sort -u | grep -c .");
	cr_assert_eq((size_t)atoi(cli_output), rr_n_strategies, "%s", cli_output);
}

/* One that the user may not run does not keep the others from running. */
Test(cli, forbidden_commands_skip_the_strategy)
{
	struct support support;
	struct rdl_link *link;
	struct rdl_reply reply;

	support_open(&support, 1);
	link = support_link(&support, 0);
	cr_assert_eq(rdl_run(link, &reply, "ACL SETUSER default -@scripting"), RDL_OK);
	setenv("SOCK", support.cluster.servers[0].address.host, 1);
	cr_assert_eq(
		cli_run("$REDRACE bench --redis unix://$SOCK lua-incr fenced incr --repeats 2 --increments 100 --output $HERE/a " JSON),
		0, "%s", cli_output);
	cli_assert_json("[$all.cases[] | select(.name | test(\"^incr\") | not).verdict] | "
			"unique == [\"skipped\"]");
	cli_assert_json("[$all.cases[] | select(.name | test(\"^incr\")).verdict] | "
			"unique == [\"passed\"]");
	cli_assert_one_line(
		"$REDRACE bench --redis unix://$SOCK lua-incr --increments 100 --output $HERE/b 2>&1",
		RR_EXIT_SKIPPED, "'eval'");
	rdl_link_free(link);
	support_close(&support);
}

/* How many strategies the server has everything for. */
static size_t n_possible(void)
{
	struct support support;
	size_t n = 0;

	support_open(&support, 1);
	for (size_t i = 0; i < rr_n_strategies; i++)
		n += !support_lacks(&support, rr_strategies[i]);
	support_close(&support);
	return n;
}

/* Two repeats of two numbers of threads, for every strategy. */
Test(cli, rows_add_up)
{
	const size_t n = n_possible();
	char rows[32], files[64];

	snprintf(rows, sizeof(rows), "%zu rows add up", 4 * n);
	snprintf(files, sizeof(files), "%zu\n%zu\n1\n", 6 * n, 2 * n + 1);
	cr_assert_eq(
		cli_run("$REDRACE bench --all-strategies --increments 300 --warmup 10 --repeats 2 --threads 1,3 --output $HERE/a >/dev/null;"
			"sh tests/check_csv $HERE/a"),
		0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, rows), "%s", cli_output);
	cr_assert_eq(cli_run("ls $HERE/a/percentiles | wc -l; wc -l <$HERE/a/summary.csv; "
			     "grep -c '\"commit\"' $HERE/a/env.json"),
		     0);
	cr_assert_str_eq(cli_output, files);
}

/* The program and what it stands beside; with the flags of the Makefile the stack is
 * guarded, too. */
Test(cli, nothing_is_bound_late)
{
	static const char *const ends[] = { "", "-app", "-clock.so", "-program.so" };

	if (cli_run("readelf --version") != 0)
		cli_skip("readelf is not installed");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		cr_expect_eq(cli_runf("readelf -dW ${REDRACE}%s | grep 'FLAGS.*NOW'", ends[i]), 0,
			     "%s: %s", ends[i], cli_output);
		cr_expect_eq(cli_runf("readelf -lW ${REDRACE}%s | grep GNU_RELRO", ends[i]), 0);
		cr_expect_eq(cli_runf("readelf -W --dyn-syms ${REDRACE}%s | grep __stack_chk_fail",
				      ends[i]),
			     0, "%s", ends[i]);
	}
	/* What it was compiled with stands in its results; not with -O0, which cannot. */
	cr_assert_eq(cli_run("$REDRACE bench incr -n 100 -o $HERE/b"), 0, "%s", cli_output);
	if (cli_run("grep _FORTIFY_SOURCE $HERE/b/env.json") == 0)
		cr_expect_eq(cli_run("readelf -W --dyn-syms $REDRACE | grep _chk@"), 0);
}
