/* SPDX-License-Identifier: MIT */
/* Pure measuring: histogram, statistics, text, verdicts. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/measures.h"
#include "base/random.h"
#include "base/text.h"

Test(histogram, knows_every_value_to_three_digits)
{
	struct rr_random random = { 7 };

	for (int i = 0; i < 20000; i++) {
		struct rr_histogram *h = calloc(1, sizeof(*h));
		const uint64_t value = rr_random_next(&random) >>
				       (24 + rr_random_below(&random, 40));
		uint64_t found;

		rr_histogram_record(h, value);
		h->max_ns = UINT64_MAX; /* look at the bucket, not the maximum */
		found = rr_histogram_quantile(h, 0.5);
		cr_assert_geq(found, value);
		cr_assert_leq((double)(found - value), (double)value / 1000, "%lu became %lu",
			      (unsigned long)value, (unsigned long)found);
		free(h);
		i += 20;
	}
}

Test(histogram, buckets_touch_and_do_not_overlap)
{
	for (size_t i = 0; i + 1 < RR_HISTOGRAM_BUCKETS; i++)
		cr_assert_eq(rr_histogram_highest(i) + 1, rr_histogram_lowest(i + 1));
}

Test(histogram, quantiles_of_known_values)
{
	struct rr_histogram *h = calloc(1, sizeof(*h));

	cr_assert_eq(rr_histogram_quantile(h, 0.5), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		rr_histogram_record(h, i);
	cr_assert_eq(rr_histogram_quantile(h, 0.5), 500);
	cr_assert_eq(rr_histogram_quantile(h, 0.99), 990);
	cr_assert_eq(rr_histogram_quantile(h, 1), 1000);
	cr_assert_eq(rr_histogram_quantile(h, 0), 1);
	cr_assert_eq(h->min_ns, 1);
	cr_assert_eq(h->max_ns, 1000);
	cr_assert_float_eq(rr_histogram_mean(h), 500.5, 1e-9);
	free(h);
}

Test(histogram, huge_values_count_at_the_top)
{
	struct rr_histogram *h = calloc(1, sizeof(*h));

	rr_histogram_record(h, UINT64_MAX);
	cr_assert_eq(h->count, 1);
	cr_assert_eq(h->max_ns, UINT64_MAX);
	free(h);
}

Test(histogram, merge_adds_up)
{
	struct rr_histogram *a = calloc(1, sizeof(*a));
	struct rr_histogram *b = calloc(1, sizeof(*b));

	rr_histogram_record(a, 10);
	rr_histogram_record(b, 5);
	rr_histogram_record(b, 20);
	rr_histogram_merge(a, b);
	cr_assert_eq(a->count, 3);
	cr_assert_eq(a->min_ns, 5);
	cr_assert_eq(a->max_ns, 20);
	cr_assert_eq(rr_histogram_quantile(a, 0.5), 10);
	free(a);
	free(b);
}

Test(histogram, knows_a_quantile_with_100_values_beyond)
{
	static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
	static const uint64_t needs[] = { 200, 1000, 10000, 100000 };
	struct rr_histogram *h = calloc(1, sizeof(*h));

	for (int i = 0; i < 4; i++) {
		h->count = needs[i] - 1;
		cr_assert_not(rr_histogram_knows(h, quantiles[i]));
		h->count = needs[i];
		cr_assert(rr_histogram_knows(h, quantiles[i]));
	}
	free(h);
}

/* A lock that one client hogs: 900 increments of 10 us by it, 1 of 9 ms by the client that waits. */
Test(histogram, time_counts_a_long_wait_as_much_as_many_short_ones)
{
	struct rr_histogram *h = calloc(1, sizeof(*h));
	double *longer = calloc(RR_HISTOGRAM_BUCKETS, sizeof(*longer));

	for (int i = 0; i < 900; i++)
		rr_histogram_record(h, 10000);
	rr_histogram_record(h, 9000000);
	cr_assert_leq(rr_histogram_quantile(h, 0.99), 10010);
	rr_histogram_time_longer(h, longer);
	cr_assert_float_eq(longer[rr_histogram_index(10000)], 0.5, 0.001);
	cr_assert_float_eq(longer[rr_histogram_index(9)], 1, 0.001);
	cr_assert_float_eq(longer[rr_histogram_index(9100000)], 0, 1e-9);
	cr_assert_leq(rr_histogram_time_quantile(h, 0.4), 10010);
	cr_assert_geq(rr_histogram_time_quantile(h, 0.6), 8990000);
	free(longer);
	free(h);
}

/* Of n = 6, 10 and 20 the 1st, 2nd and 6th value from either end; five have none. */
Test(statistics, intervals_have_their_coverage)
{
	static const struct {
		size_t n, rank;
		double coverage_pct;
	} known[] = { { 1, 1, 0 },        { 5, 1, 0 },         { 6, 1, 96.875 },
		      { 8, 1, 99.21875 }, { 9, 2, 96.09375 },  { 10, 2, 97.8516 },
		      { 20, 6, 95.8611 }, { 1000, 469, 95.37 } };
	size_t rank;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		cr_assert_float_eq(rr_interval_of(known[i].n, &rank), known[i].coverage_pct, 0.01,
				   "of %zu: %f", known[i].n, rr_interval_of(known[i].n, &rank));
		cr_assert_eq(rank, known[i].rank, "of %zu: rank %zu", known[i].n, rank);
	}
}

/* The coverage is what it says: of 4000 samples of a skewed distribution, about 97.9 % hold its median. */
Test(statistics, intervals_cover_the_median_so_often)
{
	struct rr_random random = { 11 };
	int covered = 0;

	for (int i = 0; i < 4000; i++) {
		double values[10];
		struct rr_statistics s;

		for (int j = 0; j < 10; j++)
			values[j] = -log(1 - (double)rr_random_below(&random, 1 << 30) / (1 << 30));
		s = rr_statistics_of(values, 10);
		covered += s.low <= log(2) && log(2) <= s.high;
	}
	cr_assert(covered > 0.97 * 4000 && covered < 0.987 * 4000, "%d of 4000", covered);
}

Test(statistics, median_and_range)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	double ten[] = { 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 };
	struct rr_statistics s = rr_statistics_of(odd, 3);

	cr_assert_float_eq(s.median, 2, 1e-9);
	cr_assert(s.low == 1 && s.high == 3 && s.min == 1 && s.max == 3 && s.coverage_pct == 0);
	cr_assert_float_eq(rr_statistics_of(even, 4).median, 2.5, 1e-9);
	s = rr_statistics_of(one, 1);
	cr_assert(s.low == 7 && s.high == 7);
	s = rr_statistics_of(ten, 10);
	cr_assert(s.low == 2 && s.high == 9 && s.min == 1 && s.max == 10 && s.median == 5.5);
}

Test(text, numbers_as_people_read_them)
{
	char buffer[RR_GROUPED_SIZE];
	long value;

	cr_assert_str_eq(rr_grouped(buffer, 0), "0");
	cr_assert_str_eq(rr_grouped(buffer, 999), "999");
	cr_assert_str_eq(rr_grouped(buffer, 100000), "100,000");
	cr_assert_str_eq(rr_grouped(buffer, -1234567), "-1,234,567");
	cr_assert_str_eq(rr_duration(buffer, 999), "999 ns");
	cr_assert_str_eq(rr_duration(buffer, 12345), "12.3 us");
	cr_assert_str_eq(rr_duration(buffer, 999999), "1.00 ms");
	cr_assert_str_eq(rr_duration(buffer, 2500000000), "2.50 s");
	cr_assert(rr_parse_number("10", 1, 10, &value) && value == 10);
	cr_assert_not(rr_parse_number("11", 1, 10, &value));
	cr_assert_not(rr_parse_number("0", 1, 10, &value));
	cr_assert_not(rr_parse_number("", 0, 10, &value));
	cr_assert_not(rr_parse_number("5x", 0, 10, &value));
	cr_assert_not(rr_parse_number("99999999999999999999", 0, 10, &value));
}

Test(text, nearest_name)
{
	static const char *const names[] = { "none", "incr", "redlock", "incr-loses-nothing",
					     "incr-lock" };

	cr_assert_str_eq(rr_nearest("redlok", names, 5), "redlock");
	cr_assert_str_eq(rr_nearest("nonne", names, 5), "none");
	cr_assert_str_eq(rr_nearest("incr-loses", names, 5), "incr-loses-nothing");
	cr_assert_null(rr_nearest("xyzzyxyzzy", names, 5));
}

/* ---- Disturbances ------------------------------------------------------------ */

/* On all processors, half a second of the second was busy and a tenth stolen. */
Test(disturbance, others_have_what_is_not_ours)
{
	const int64_t second = 1000000000, n = sysconf(_SC_NPROCESSORS_ONLN);
	const struct rr_machine_look before = { 0, 0, 0, 3, 2000000 };
	const struct rr_machine_look after = { second, n * second / 2, n * second / 10, 3,
					       2040000 };
	struct rr_disturbance d = { .measured_ns = 0 };

	rr_disturbance_add(&d, &before, &after, n * second / 4);
	cr_assert_float_eq(rr_disturbance_others_pct(&d), 25, 1e-6);
	cr_assert_float_eq(rr_disturbance_steal_pct(&d), 10, 1e-6);
	cr_assert(rr_disturbance_matters(&d));
	cr_assert(d.knows_throttling && d.throttled == 0);
	cr_assert(d.least_khz == 2000000 && d.most_khz == 2040000);
}

Test(disturbance, one_alone_is_enough)
{
	const int64_t second = 1000000000;
	const struct rr_machine_look before = { 0, 0, 0, 3, 2000000 };
	struct rr_machine_look after = { second, second / 2, 0, 3, 2000000 };
	struct rr_disturbance d = { .measured_ns = 0 };

	rr_disturbance_add(&d, &before, &after, second / 2);
	cr_assert_not(rr_disturbance_matters(&d));
	after.throttled = 4;
	rr_disturbance_add(&d, &before, &after, second / 2);
	cr_assert(rr_disturbance_matters(&d));
	d = (struct rr_disturbance){ .measured_ns = 0 };
	after.throttled = 3;
	after.frequency_khz = 1800000;
	rr_disturbance_add(&d, &before, &after, second / 2);
	cr_assert(rr_disturbance_matters(&d));
}

/* A machine that tells nothing; and a run too short for hundredths of a second. */
Test(disturbance, unknown_is_not_zero)
{
	const struct rr_machine_look before = { 0, -1, 0, -1, -1 },
				     after = { 1000000000, -1, 0, -1, -1 };
	const struct rr_machine_look early = { 0, 0, 0, 0, 0 },
				     late = { 100000000, 100000000, 0, 0, 0 };
	struct rr_disturbance d = { .measured_ns = 0 }, brief = { .measured_ns = 0 };

	rr_disturbance_add(&d, &before, &after, 5);
	rr_disturbance_add(&brief, &early, &late, 0);
	cr_assert(rr_disturbance_others_pct(&d) < 0 && rr_disturbance_steal_pct(&d) < 0);
	cr_assert(rr_disturbance_others_pct(&brief) < 0);
	cr_assert_not(d.knows_throttling || rr_disturbance_matters(&d));
}

/* ---- Verdicts ---------------------------------------------------------------- */

static enum rr_verdict judged(enum rr_promise promise, uint64_t ok, uint64_t unknown,
			      long long final)
{
	static struct rr_measurement m;

	m = (struct rr_measurement){ .run.strategy = rr_strategy_find("set-nx-ex"),
				     .promise = promise,
				     .run.ttl_ms = 10000,
				     .ok = ok,
				     .unknown = unknown,
				     .attempted = ok + unknown,
				     .final_value = final };
	rr_measurement_judge(&m);
	return m.verdict;
}

Test(verdict, is_two_sided)
{
	cr_assert_eq(judged(RR_EXACT, 100, 0, 100), RR_VERDICT_EXACT);
	cr_assert_eq(judged(RR_EXACT, 100, 0, 99), RR_VERDICT_VIOLATED);
	cr_assert_eq(judged(RR_EXACT, 100, 0, 101), RR_VERDICT_VIOLATED);
	cr_assert_eq(judged(RR_LOSSY, 100, 0, 60), RR_VERDICT_LOSSY);
	cr_assert_eq(judged(RR_LOSSY, 100, 0, 100), RR_VERDICT_INCONCLUSIVE);
}

Test(verdict, unknown_outcomes_widen_the_range)
{
	cr_assert_eq(judged(RR_EXACT, 98, 2, 98), RR_VERDICT_INCONCLUSIVE);
	cr_assert_eq(judged(RR_EXACT, 98, 2, 100), RR_VERDICT_INCONCLUSIVE);
	cr_assert_eq(judged(RR_EXACT, 98, 2, 97), RR_VERDICT_VIOLATED);
	cr_assert_eq(judged(RR_EXACT, 98, 2, 101), RR_VERDICT_VIOLATED);
}

Test(verdict, overlap_violates_although_the_count_is_right)
{
	struct rr_measurement *m = calloc(1, sizeof(*m));

	m->run.strategy = rr_strategy_find("lua-delifequals");
	m->promise = RR_EXACT;
	m->run.ttl_ms = 10000;
	m->ok = 10;
	m->final_value = 10;
	m->overlaps = 1;
	rr_measurement_judge(m);
	cr_assert_eq(m->verdict, RR_VERDICT_VIOLATED);
	m->overruns = 1;
	rr_measurement_judge(m);
	cr_assert_eq(m->verdict, RR_VERDICT_INCONCLUSIVE);
	free(m);
}

Test(verdict, one_client_is_always_promised_exact)
{
	const struct rr_strategy *none = rr_strategy_find("none");
	const struct rr_strategy *mutex = rr_strategy_find("local-mutex");

	cr_assert_eq(rr_promise_for(none, 1, 1), RR_EXACT);
	cr_assert_eq(rr_promise_for(none, 2, 1), RR_LOSSY);
	cr_assert_eq(rr_promise_for(mutex, 8, 1), RR_EXACT);
	cr_assert_eq(rr_promise_for(mutex, 1, 2), RR_LOSSY);
}

Test(verdict, worse_exit_wins)
{
	cr_assert_eq(rr_exit_worse(RR_EXIT_VIOLATED, RR_EXIT_REDIS), RR_EXIT_VIOLATED);
	cr_assert_eq(rr_exit_worse(RR_EXIT_FILE, RR_EXIT_REDIS), RR_EXIT_REDIS);
	cr_assert_eq(rr_exit_worse(RR_EXIT_INCONCLUSIVE, RR_EXIT_FILE), RR_EXIT_FILE);
	cr_assert_eq(rr_exit_worse(RR_EXIT_OK, RR_EXIT_INCONCLUSIVE), RR_EXIT_INCONCLUSIVE);
}
