/* SPDX-License-Identifier: MIT */
/* Open loops: planned arrivals, how they end, and the stall that a closed loop hides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli.h"
#include "bench/measures.h"

TestSuite(open_loop, .init = cli_setup, .fini = cli_teardown, .timeout = 300);

/* ---- A server that stalls --------------------------------------------------- */

enum { STALL_US = 100000, STALLS = 3 };

struct stalls {
	struct support support;
	int n;
};

/* The watcher of a run, called four times a second: stops the server for a tenth of a second. */
static void stall(void *context, const struct rr_run *run, uint64_t done, int64_t elapsed_ns)
{
	struct stalls *stalls = context;

	(void)run;
	(void)elapsed_ns;
	if (done == 0 || stalls->n == STALLS)
		return;
	stalls->n++;
	support_inject(&stalls->support, 0, RR_FAULT_HANG);
	usleep(STALL_US);
	support_inject(&stalls->support, 0, RR_FAULT_RESUME);
}

/* Per cent of the increments that took longer than half of a stall. */
static double stalled_pct(const struct rr_histogram *latency)
{
	uint64_t longer = 0;

	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++) {
		if (rr_histogram_lowest(i) > STALL_US * 1000 / 2)
			longer += latency->buckets[i];
	}
	return 100 * (double)longer / (double)latency->count;
}

static double run_with_stalls(double rate_per_s, long increments, double *time_pct)
{
	struct stalls stalls = { .n = 0 };
	const struct rr_watcher watcher = { stall, &stalls };
	struct rr_spectra *spectra = calloc(1, sizeof(*spectra));
	struct rr_measurement *m = calloc(1, sizeof(*m));
	double *longer = calloc(RR_HISTOGRAM_BUCKETS, sizeof(*longer)), pct;
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct rr_run run;

	support_open(&stalls.support, 1);
	run = support_run(&stalls.support, rr_strategy_find("incr"), 2, increments);
	if (rate_per_s > 0)
		rr_run_open(&run, rate_per_s, 2, RR_ARRIVALS_EXPONENTIAL);
	cr_assert(rr_bench_run(&run, &stalls.support.session.signals, &watcher, m, spectra, &error),
		  "%s", error.text);
	cr_assert_geq(stalls.n, 1, "the run was over before the server could stall");
	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s", m->remark);
	pct = stalled_pct(&spectra->latency);
	rr_histogram_time_longer(&spectra->latency, longer);
	*time_pct = 100 * longer[rr_histogram_index(STALL_US * 1000 / 2)];
	support_close(&stalls.support);
	free(longer);
	free(spectra);
	free(m);
	return pct;
}

/* Each stall is one slow increment of each client in the closed loop, of which there are tens of
 * thousands; and every arrival of that time in the open one. */
Test(open_loop, a_stall_hides_in_a_closed_loop_and_not_in_an_open_one)
{
	double closed_time, open_time;
	const double closed = run_with_stalls(0, 60000, &closed_time);
	const double open = run_with_stalls(1000, 0, &open_time);

	cr_log_info(
		"longer than 50 ms: %.3f %% of increments in the closed loop (%.1f %% of the time), "
		"%.1f %% in the open one (%.1f %% of the time)",
		closed, closed_time, open, open_time);
	cr_assert_lt(closed, 0.5, "%.3f %%", closed);
	cr_assert_gt(open, 2.5, "%.3f %%", open);
	/* Weighted by time it shows in the closed loop, too. */
	cr_assert_gt(closed_time, 20 * closed, "%.3f %% of the time", closed_time);
}

/* ---- Arrivals ---------------------------------------------------------------- */

static struct rr_measurement *run_open(const char *strategy, int threads, double rate_per_s,
				       enum rr_arrivals arrivals, enum rr_policy policy)
{
	struct support support;
	struct rr_measurement *m;
	struct rr_run run;

	support_open(&support, 1);
	run = support_run(&support, rr_strategy_find(strategy), threads, 1);
	run.policy = policy;
	rr_run_open(&run, rate_per_s, 1, arrivals);
	m = support_measure(&support, &run);
	cr_assert_eq(m->attempted + m->undone, m->offered);
	cr_assert_eq(m->in_time + m->unfinished + m->failed + m->unknown, m->offered);
	cr_assert_eq(m->final_value, (long long)m->ok);
	support_close(&support);
	return m;
}

/* The seed decides, not the machine. */
Test(open_loop, arrivals_are_planned_by_the_seed)
{
	struct rr_measurement *a = run_open("incr", 3, 700, RR_ARRIVALS_EXPONENTIAL,
					    RR_POLICY_BACKOFF);
	struct rr_measurement *b = run_open("multi-watch", 3, 700, RR_ARRIVALS_EXPONENTIAL,
					    RR_POLICY_BACKOFF);
	struct rr_measurement *even = run_open("incr", 4, 400, RR_ARRIVALS_EVEN, RR_POLICY_BACKOFF);

	cr_assert_eq(a->offered, b->offered);
	/* 700 with a deviation of 26. */
	cr_assert(a->offered > 570 && a->offered < 830, "%lu", (unsigned long)a->offered);
	cr_assert_eq(even->offered, 400);
	free(a);
	free(b);
	free(even);
}

/* Far beyond what can be done: latencies are left out, and the count is exact all the same. */
Test(open_loop, a_rate_that_is_not_sustained_has_no_latencies)
{
	struct rr_measurement *m = run_open("set-nx-ex", 4, 1000000, RR_ARRIVALS_EXPONENTIAL,
					    RR_POLICY_BACKOFF);

	cr_assert_not(m->is_sustained);
	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s", m->remark);
	cr_assert_gt(m->undone, 0);
	cr_assert(m->times.p50 == 0 && m->times.max == 0);
	free(m);
}

/* Refused ones are neither done nor unfinished. */
Test(open_loop, refused_arrivals_count_apart)
{
	struct rr_measurement *m = run_open("lua-delifequals", 8, 200000, RR_ARRIVALS_EXPONENTIAL,
					    RR_POLICY_FAIL_FAST);

	cr_assert_gt(m->failed, 0);
	free(m);
}

Test(open_loop, sustained_is_99_percent_and_no_growing_backlog)
{
	cr_assert(rr_is_sustained(10000, 0, 0, 0, 2));
	cr_assert(rr_is_sustained(10000, 0, 100, 100, 2));
	cr_assert_not(rr_is_sustained(10000, 0, 101, 101, 2));
	/* It grew by 0.3 %, by 0.2 %; and by three of a thousand, of which four may be in flight. */
	cr_assert_not(rr_is_sustained(10000, 0, 10, 40, 2));
	cr_assert(rr_is_sustained(10000, 0, 10, 30, 2));
	cr_assert(rr_is_sustained(1000, 0, 0, 3, 4));
	cr_assert_not(rr_is_sustained(10000, 9000, 0, 11, 2));
	cr_assert_not(rr_is_sustained(100, 99, 0, 1, 2));
}

/* ---- As users run it ---------------------------------------------------------- */

/* A rate in per cent is that share of the capacity; two millions a second are beyond any. */
Test(open_loop, capacity_is_found_and_rates_follow_it)
{
	cr_assert_eq(
		cli_run("$REDRACE bench --rate 10%,2000000,100 --seconds-per-cell 1 -r 2 -t 2 incr"
			" --output $HERE/a -o $HERE/r.json >$HERE/table 2>&1; code=$?; cat $HERE/table; exit $code"),
		0, "%s", cli_output);
	cli_assert_prints("open loop");
	cli_assert_prints("not sustained");
	cli_assert_prints("Clients woke late by");
	cli_assert_prints("Capacity, the highest rate");
	cr_assert_eq(cli_run("sh tests/check_csv $HERE/a"), 0, "%s", cli_output);
	cli_write(
		"check.awk",
		"NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }\n"
		"{ c = $at[\"capacity_per_s\"]; rate[$at[\"rate_asked\"]] = $at[\"rate_per_s\"]\n"
		"  latency[$at[\"rate_asked\"]] = $at[\"lat_p50_ns_median\"] }\n"
		"END { off = rate[\"10%%\"] - c / 10\n"
		"  exit !(c > 0 && off ^ 2 < 4 && rate[100] == 100 && latency[2000000] == \"\") }\n");
	cr_assert_eq(
		cli_run("cat $HERE/a/summary.csv; awk -F, -f $HERE/check.awk $HERE/a/summary.csv"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run("ls $HERE/a/percentiles | grep 2000000"), 1, "%s", cli_output);
}

Test(open_loop, wrong_usage_is_64_in_one_line)
{
	static const char *const words[][2] = {
		{ "--rate 100 --increments 5", "--increments and --rate exclude each other" },
		{ "--rate 0", "--rate" },
		{ "--rate x%", "--rate" },
		{ "--rate 100,", "--rate" },
		{ "--rate 100 --threads 1,2", "one number of --threads" },
		{ "--rate 100 --wait delay-queue", "does not go with" },
		{ "--rate 100 --dead-holder", "does not go with" },
		{ "--arrivals even", "--arrivals is for --rate" },
		{ "--rate 100 --arrivals odd", "--arrivals" },
		{ "--seconds-per-cell 1 -n 5", "exclude each other" },
	};
	char command[200];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE bench incr -o $HERE/x %s 2>&1",
			 words[i][0]);
		cli_assert_one_line(command, RR_EXIT_USAGE, words[i][1]);
	}
}

/* As many increments as fit, found by a trial; all repeats of a strategy have the same number. */
Test(open_loop, cells_of_a_closed_loop_last_so_long)
{
	cr_assert_eq(
		cli_run("$REDRACE bench --seconds-per-cell 1 -r 2 none incr --output $HERE/a 2>&1 || [ $? = 2 ]"),
		0, "%s", cli_output);
	cli_assert_prints("1 s of each, 2 threads, 1 process, 2 repeats, closed loop");
	cr_assert_eq(
		cli_run("cut -d, -f4,8 $HERE/a/runs.csv | sed 1d | sort -u | grep -c ',[0-9][0-9]'"),
		0);
	cr_assert_str_eq(cli_output, "2\n");
	cr_assert_eq(
		cli_run("$REDRACE compare $HERE/a $HERE/a | grep -c 'no difference can be shown'"),
		0, "%s", cli_output);
}
