/* SPDX-License-Identifier: MIT */
/* Two results directories compared: figures that are known by hand, and what is said
 * of directories written by hand. */
#include "../cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/compare.h"

TestSuite(comparing, .init = cli_setup, .fini = cli_teardown);

/* ---- The statistics ------------------------------------------------------- */

static void assert_test(const double *a, size_t n_a, const double *b, size_t n_b, double u,
			double p)
{
	struct rr_mann_whitney there, back;

	rr_mann_whitney(a, n_a, b, n_b, &there);
	rr_mann_whitney(b, n_b, a, n_a, &back);
	cr_assert_eq(there.u, u, "U is %g, not %g", there.u, u);
	cr_assert_eq(back.u, (double)(n_a * n_b) - u);
	cr_assert_float_eq(there.p, p, 1e-9, "p is %.12f, not %.12f", there.p, p);
	cr_assert_float_eq(back.p, p, 1e-9);
	cr_assert_float_eq(there.ratio * back.ratio, 1, 1e-9);
}

/* All 252 arrangements of five and five: one is as far apart, at either end. */
Test(mann_whitney, samples_apart)
{
	const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 6, 7, 8, 9, 10 };

	assert_test(a, 5, b, 5, 25, 2.0 / 252);
	assert_test(a, 3, b, 3, 9, 2.0 / 20);
	assert_test(a, 4, b, 4, 16, 2.0 / 70);
}

/* Of 70 arrangements 1 + 1 + 2 + 3 + 5 + 5 + 7 have a U of at most 6. */
Test(mann_whitney, samples_that_take_turns)
{
	const double a[] = { 1, 3, 5, 7 }, b[] = { 2, 4, 6, 8 };

	assert_test(a, 4, b, 4, 10, 2 * 24.0 / 70);
}

/* U = 2.5 + 3.5 + 4 + 4; variance 16 / 12 * (9 - (6 + 6) / (8 * 7)). */
Test(mann_whitney, ties_take_the_approximation)
{
	const double a[] = { 1, 2, 3, 4 }, b[] = { 3, 4, 5, 6 };
	const double deviation = sqrt(16.0 / 12 * (9 - 12.0 / 56));
	struct rr_mann_whitney test;

	assert_test(a, 4, b, 4, 14, erfc((6 - 0.5) / deviation / sqrt(2)));
	rr_mann_whitney(a, 4, b, 4, &test);
	cr_assert(!test.is_exact);
	cr_assert_float_eq(test.p, 0.108063, 1e-5);
}

Test(mann_whitney, all_equal_is_no_difference)
{
	const double a[] = { 2, 2, 2, 2 };

	assert_test(a, 4, a, 4, 8, 1);
}

/* Quotients 2, 4, 8 / 1, 2, 4: their median is 2; three runs have no interval. */
Test(mann_whitney, ratio_is_the_median_quotient)
{
	const double a[] = { 1, 2, 4 }, b[] = { 2, 4, 8 };
	const double five[] = { 10, 11, 12, 13, 14 };
	const double twice[] = { 20, 22, 24, 26, 28 };
	struct rr_mann_whitney test;

	rr_mann_whitney(a, 3, b, 3, &test);
	cr_assert_eq(test.ratio, 2);
	cr_assert(!test.has_interval);
	/* P(U <= 2) = 4 / 252, P(U <= 3) = 7 / 252 > 2.5 %: the third of 25. */
	rr_mann_whitney(five, 5, twice, 5, &test);
	cr_assert(test.has_interval);
	cr_assert_eq(test.ratio, 2);
	cr_assert_float_eq(test.low, 22.0 / 14, 1e-12, "%g", test.low);
	cr_assert_float_eq(test.high, 28.0 / 11, 1e-12, "%g", test.high);
}

/* 40 and 40 values: normal approximation and exact figures are near each other. */
Test(mann_whitney, large_samples_take_the_approximation)
{
	double a[40], b[40];
	struct rr_mann_whitney exact, test;

	for (int i = 0; i < 40; i++) {
		a[i] = 100 + 2 * i;
		b[i] = 121 + 2 * i;
	}
	rr_mann_whitney(a, 30, b, 30, &exact);
	cr_assert(exact.is_exact);
	rr_mann_whitney(a, 40, b, 40, &test);
	cr_assert(!test.is_exact);
	cr_assert(test.p < 0.01 && exact.p < 0.01, "%g %g", test.p, exact.p);
	cr_assert(test.has_interval && test.low > 1 && test.high < 1.5);
}

/* ---- Directories ---------------------------------------------------------- */

static const char header[] =
	"schema,strategy,expectation,threads,processes,increments,transport,placement,hold_us,ttl_ms,ok,lost,extra,lost_pct,verdict,wall_ns,lat_p50_ns,lat_p99_ns,commands,overlaps,policy,persistence,keys";

/* Runs of "incr" that took so many milliseconds each for 1000 increments, the last of
 * them with so many lost. */
static void write_runs(const char *name, const int *ms, int n, long lost, const char *version,
		       const char *persistence)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "mkdir -p $HERE/%s", name);
	cr_assert_eq(cli_run(path), 0);
	snprintf(path, sizeof(path), "%s/%s/runs.csv", cli_home, name);
	file = fopen(path, "w");
	fprintf(file, "%s\n", header);
	for (int i = 0; i < n; i++) {
		const long gone = i == n - 1 ? lost : 0;

		fprintf(file,
			"2,incr,exact,2,1,1000,unix,same,0,10000,1000,%ld,0,%.4f,%s,%d000000,7000,%d000,1000,,none,%s,1\n",
			gone, (double)gone / 10, gone ? "violated" : "exact", ms[i], ms[i],
			persistence);
	}
	fclose(file);
	snprintf(path, sizeof(path), "%s/%s/env.json", cli_home, name);
	file = fopen(path, "w");
	fprintf(file,
		"{\"server\": {\"redis_version\": \"%s\"}, \"machine\": {\"cpu\": \"x\", \"cores\": 2, \"architecture\": \"x86_64\"}}\n",
		version);
	fclose(file);
}

static const int slow[] = { 20, 21, 22, 23, 24 }, fast[] = { 10, 11, 12, 13, 14 };

static void assert_compared(const char *arguments, int code, const char *part)
{
	char command[300];

	snprintf(command, sizeof(command),
		 "program=$(realpath $REDRACE) && cd $HERE && $program compare %s 2>&1", arguments);
	cr_assert_eq(cli_run(command), code, "%s: %s", arguments, cli_output);
	cr_assert(cli_says(cli_output, part), "%s: no '%s' in:\n%s", arguments, part, cli_output);
}

/* 1000 / 22 ms = 45,455 and 1000 / 12 ms = 83,333 per second. */
Test(comparing, says_what_is_faster_and_slower)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", fast, 5, 0, "7.0", "none");
	assert_compared("a b", 0, "No strategy that was exact counts wrongly now.");
	cr_assert(strstr(cli_output, "45,455     83,333   1.83"), "%s", cli_output);
	cr_assert(strstr(cli_output, "5 and 5 runs, p = 0.0079: faster"), "%s", cli_output);
	cr_assert(strstr(cli_output, "5 and 5 runs, p = 0.0079: shorter"), "%s", cli_output);
	assert_compared("b a", 0, "0.0079: SLOWER");
	assert_compared("--fail-if-slower b a", RR_EXIT_SLOW, "LONGER");
	assert_compared("--fail-if-slower a b", 0, "faster");
	assert_compared("--tolerance 90 a b", 0, "no difference that matters: below 90 %");
}

Test(comparing, no_difference_is_said_in_words)
{
	const int some[] = { 20, 22, 24, 26 }, others[] = { 21, 23, 25, 27 };

	write_runs("a", some, 4, 0, "7.0", "none");
	write_runs("b", others, 4, 0, "7.0", "none");
	assert_compared("a b", 0, "4 and 4 runs, p = 0.6857: no difference shown");
	write_runs("a", slow, 3, 0, "7.0", "none");
	write_runs("b", fast, 3, 0, "7.0", "none");
	assert_compared("a b", 0,
			"3 and 3 runs, p = 0.1000: no difference can be shown with so few runs");
}

/* Before all else, although it is faster, and although figures are not compared. */
Test(comparing, wrong_count_comes_first_and_is_1)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", fast, 5, 8, "7.0", "none");
	assert_compared(
		"a b", RR_EXIT_VIOLATED,
		"WRONG NOW: incr, 2 threads was exact, and 1 of 5 runs counted wrongly (up to 0.80 % lost)\n");
	cr_assert_lt(strstr(cli_output, "WRONG NOW"), strstr(cli_output, "faster"));
	assert_compared("b a", 0, "right now: incr, 2 threads");
	assert_compared("b b", RR_EXIT_VIOLATED, "still wrong: incr, 2 threads");
	write_runs("b", fast, 5, 8, "8.0", "none");
	assert_compared("a b", RR_EXIT_VIOLATED, "WRONG NOW");
}

Test(comparing, other_environments_are_not_compared)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", fast, 5, 0, "8.0", "none");
	assert_compared("a b", RR_EXIT_DATA,
			"Different server version: '7.0' and '8.0'\nFigures are not compared");
	cr_assert_null(strstr(cli_output, "faster"));
	assert_compared("--anyway a b", 0, "faster");
	write_runs("b", fast, 5, 0, "7.0", "always");
	assert_compared("a b", RR_EXIT_DATA, "Different persistence: 'none' and 'always'");
	cr_assert_eq(cli_run("rm $HERE/b/env.json"), 0);
	assert_compared("a b", RR_EXIT_DATA, "b has no env.json");
}

Test(comparing, wrong_usage_in_one_line)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	cli_assert_one_line("$REDRACE compare $HERE/a 2>&1", RR_EXIT_USAGE,
			    "two results directories");
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/a $HERE/a 2>&1", RR_EXIT_USAGE,
			    "not more");
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/none 2>&1", RR_EXIT_USAGE,
			    "none/runs.csv");
	cr_assert_eq(
		cli_run("mkdir $HERE/d && sed 's/,incr,/,none,/' $HERE/a/runs.csv >$HERE/d/runs.csv"),
		0);
	assert_compared("a d", RR_EXIT_DATA, "no strategy in common");
	cr_assert_eq(
		cli_run("mkdir $HERE/c && echo schema,strategy >$HERE/c/runs.csv && echo 1,incr >>$HERE/c/runs.csv"),
		0);
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/c 2>&1", RR_EXIT_DATA, "no column");
	cr_assert_eq(
		cli_run("mkdir $HERE/e && sed 's/,7000,/,1e99,/' $HERE/a/runs.csv >$HERE/e/runs.csv"),
		0);
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/e 2>&1", RR_EXIT_DATA,
			    "runs.csv:2: lat_p50_ns: expected a number up to ");
	cr_assert_eq(
		cli_run("mkdir $HERE/f && sed 's/,7000,/,nan,/' $HERE/a/runs.csv >$HERE/f/runs.csv"),
		0);
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/f 2>&1", RR_EXIT_DATA, "found 'nan'");
	cr_assert_eq(cli_run("echo 1 >>$HERE/a/runs.csv"), 0);
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/a 2>&1", RR_EXIT_DATA,
			    "runs.csv:7: not as many fields");
}

/* Every format has the same results, and is whole in files; what proves nothing is not passed. */
Test(comparing, results_are_cases_in_every_format)
{
	if (cli_run("command -v jq >/dev/null") != 0)
		cli_skip("jq is not installed");
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", fast, 5, 8, "7.0", "none");
	write_runs("c", slow, 3, 0, "7.0", "none");
	assert_compared(
		"-o x.txt -o x.json -o x.xml -o x.tap a b >out 2>&1; code=$?; cmp out x.txt && exit $code;",
		RR_EXIT_VIOLATED, "");
	cr_assert_eq(
		cli_run("cd $HERE; jq -r '.command, (.cases[] | [.suite, .name, .verdict, .message] | join(\"|\"))' x.json; "
			"grep -c '<failure ' x.xml; grep -c '^not ok' x.tap; ls -A | wc -l"),
		0);
	cr_assert_str_eq(
		cli_output,
		"redrace compare\n"
		"compare.count|incr, 2 threads|failed|was exact, and 1 of 5 runs counted wrongly (up to 0.80 % lost)\n"
		"compare.environment|servers, machines and settings|passed|are the same\n"
		"compare.rate|incr, 2 threads|passed|faster: 45,455 and 83,333, 1.83 times, p = 0.0079\n"
		"compare.p99|incr, 2 threads|passed|shorter: 22.0 us and 12.0 us, 0.55 times, p = 0.0079\n"
		"1\n1\n8\n");
	assert_compared(
		"--fail-if-slower -f github b a", RR_EXIT_SLOW,
		"::error title=redrace compare.rate%3A incr%2C 2 threads::SLOWER: 83,333 and 45,455");
	assert_compared("-f tap b a", 0, "passed");
	assert_compared("-f tap c c", 0, "# SKIP no difference can be shown with so few runs");
	assert_compared("-f json a none", RR_EXIT_USAGE, "none/runs.csv");
}

/* A link to a device is written to; what was there stays when nothing can be compared. */
Test(comparing, a_file_that_cannot_be_written_is_74)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/a -o $HERE/no/x.json 2>&1",
			    RR_EXIT_FILE, "cannot write");
	cr_assert_eq(cli_run("ln -s /dev/full $HERE/f.json; echo old >$HERE/x.json"), 0);
	cli_assert_one_line("$REDRACE compare $HERE/a $HERE/a -o $HERE/f.json 2>&1 >/dev/null",
			    RR_EXIT_FILE, "No space left");
	cr_assert_eq(
		cli_run("$REDRACE compare $HERE/a $HERE/none -o $HERE/x.json; cat $HERE/x.json"),
		0);
	cr_assert_str_eq(cli_output, "old\n");
}

/* As golang.org/design/14313-benchmark-format has it. */
Test(comparing, gobench_is_what_benchstat_reads)
{
	write_runs("a", slow, 1, 0, "7.0", "none");
	assert_compared("--format gobench -o a.txt -o g a >out; cmp out a.txt", 0, "");
	assert_compared("--format gobench -o a.json a", RR_EXIT_USAGE,
			"'a.json' would be of another format");
	assert_compared("--format gobench a", 0,
			"goos: linux\ngoarch: amd64\npkg: redrace\ncpu: x\n");
	cr_assert(
		strstr(cli_output,
		       "BenchmarkIncrement/strategy=incr/wait=none/processes=1/threads=2 \t1000\t20000.0 ns/op\t7000 p50-ns\t20000 p99-ns\t1.0000 commands/op\t0 lost\n"),
		"%s", cli_output);
}

/* What bench writes can be compared: with itself, without a difference. */
Test(comparing, reads_what_bench_writes, .timeout = 600)
{
	cr_assert_eq(
		cli_run("$REDRACE bench none incr --increments 5000 --repeats 4 --output $HERE/a >$HERE/t || [ $? = 2 ]"),
		0);
	assert_compared("a a", 0, "incr, 2 threads");
	cr_assert(strstr(cli_output, "4 and 4 runs, p = 1.0000: no difference shown"), "%s",
		  cli_output);
}

/* Of a server that somebody else measured. */
Test(comparing, shows_nothing_but_text)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", slow, 5, 0, "\\u001b[31m7.2", "none");
	assert_compared("a b", RR_EXIT_DATA, "'7.0' and '\\x1b[31m7.2'");
	write_runs("b", fast, 5, 0, "7.0", "\x1b[31mnone");
	assert_compared("a b", RR_EXIT_DATA, "'none' and '\\x1b[31mnone'");
	cr_assert_eq(cli_run("cp -r $HERE/a \"$HERE/$(printf 'd\\033[2J')\""), 0);
	assert_compared("a \"$(printf 'd\\033[2J')\"", 0, "B: d\\x1b[2J, 5 runs");
	cr_assert_null(strchr(cli_output, '\033'));
	for (size_t i = 0; i < 4; i++) {
		static const char *const formats[] = { "json", "junit", "tap", "github" };
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "-f %s a b", formats[i]);
		assert_compared(arguments, RR_EXIT_DATA, "x1b[31mnone");
		cr_assert_null(strchr(cli_output, '\033'));
	}
}

Test(comparing, names_of_strategies_may_be_long)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", slow, 5, 0, "7.0", "none");
	cr_assert_eq(cli_run("name=$(printf '%0500d' 7) && cd $HERE && "
			     "sed -i \"s/^2,incr,exact,2,1,/2,$name,exact,2,2,/\" [ab]/runs.csv"),
		     0);
	assert_compared("a b", 0, "00000000, 2 threads x 2 processes");
}

/* Alike in all that is listed, and two machines all the same. */
Test(comparing, two_machines_are_refused_unless_told)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", fast, 5, 0, "7.0", "none");
	assert_compared("a b", RR_EXIT_OK, "faster");
	cr_assert_eq(cli_run("sed -i 's/\"cpu\"/\"id\": \"1a\", &/' $HERE/a/env.json"), 0);
	assert_compared("a b", RR_EXIT_OK, "faster");
	cr_assert_eq(cli_run("sed -i 's/\"cpu\"/\"id\": \"2b\", &/' $HERE/b/env.json"), 0);
	assert_compared("a b", RR_EXIT_DATA, "Different machine: '1a' and '2b'");
	assert_compared("--anyway a b", RR_EXIT_OK, "faster");
}

Test(comparing, a_disturbed_run_is_named)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	write_runs("b", fast, 5, 0, "7.0", "none");
	cr_assert_eq(
		cli_run("sed -i 's/}$/, \"disturbance\": {\"disturbed\": true}}/' $HERE/b/env.json"),
		0);
	assert_compared("a b", RR_EXIT_OK, "b was measured on a disturbed machine");
}

/* The same rate is compared with itself. */
Test(comparing, rates_of_open_loops_are_kept_apart)
{
	write_runs("a", slow, 5, 0, "7.0", "none");
	cr_assert_eq(
		cli_run("sed -i '1s/$/,loop,increments_per_s,rate_asked,sustained/; 2,$s/$/,open,900,80%,yes/; 3s/80%,yes/95%,no/' $HERE/a/runs.csv; cp -r $HERE/a $HERE/b"),
		0);
	assert_compared("a b", RR_EXIT_OK, "incr, 2 threads, rate 80% ");
	assert_compared("a b", RR_EXIT_OK, "4 and 4 runs");
	assert_compared("a b", RR_EXIT_OK, "1 and 1 runs");
}
