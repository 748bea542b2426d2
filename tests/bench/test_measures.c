/* SPDX-License-Identifier: MIT */
/* Pure measuring: histogram, statistics, text, verdicts. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

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

Test(statistics, median_and_interval)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	struct rr_statistics s = rr_statistics_of(odd, 3, 1);

	cr_assert_float_eq(s.median, 2, 1e-9);
	cr_assert_float_eq(s.min, 1, 1e-9);
	cr_assert_float_eq(s.max, 3, 1e-9);
	cr_assert(s.low >= 1 && s.low <= 2 && s.high >= 2 && s.high <= 3);
	cr_assert_float_eq(rr_statistics_of(even, 4, 1).median, 2.5, 1e-9);
	s = rr_statistics_of(one, 1, 1);
	cr_assert(s.low == 7 && s.high == 7);
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
