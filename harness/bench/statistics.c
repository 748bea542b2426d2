/* SPDX-License-Identifier: MIT */
/* Durations in a histogram, and repeats of one figure summed up: computed,
 * without any input or output. */
#include <math.h>
#include <stdlib.h>

#include "measures.h"

enum { SUB_COUNT = 1 << RR_HISTOGRAM_SUB_BITS, RANGE_MAX = 5 };

/* ---- The histogram ------------------------------------------------------- */

/*
 * Values below 2^11 have a bucket each; from there on every power of two is
 * cut into 2^10 equal buckets.
 */
size_t rr_histogram_index(uint64_t value)
{
	int shift;

	if (value < 2 * SUB_COUNT)
		return (size_t)value;
	shift = 63 - __builtin_clzll(value) - RR_HISTOGRAM_SUB_BITS;
	return ((size_t)shift << RR_HISTOGRAM_SUB_BITS) + (size_t)(value >> shift);
}

uint64_t rr_histogram_lowest(size_t index)
{
	int shift;

	if (index < 2 * SUB_COUNT)
		return index;
	shift = (int)(index >> RR_HISTOGRAM_SUB_BITS) - 1;
	return (uint64_t)(index - ((size_t)shift << RR_HISTOGRAM_SUB_BITS)) << shift;
}

uint64_t rr_histogram_highest(size_t index)
{
	return rr_histogram_lowest(index + 1) - 1;
}

void rr_histogram_record(struct rr_histogram *histogram, uint64_t value_ns)
{
	const uint64_t top = (UINT64_C(1) << RR_HISTOGRAM_TOP_BIT) - 1;

	histogram->buckets[rr_histogram_index(value_ns > top ? top : value_ns)]++;
	if (histogram->count == 0 || value_ns < histogram->min_ns)
		histogram->min_ns = value_ns;
	if (value_ns > histogram->max_ns)
		histogram->max_ns = value_ns;
	histogram->count++;
	histogram->sum_ns += value_ns;
}

void rr_histogram_merge(struct rr_histogram *into, const struct rr_histogram *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

uint64_t rr_histogram_quantile(const struct rr_histogram *histogram, double quantile)
{
	uint64_t wanted = (uint64_t)ceil(quantile * (double)histogram->count);
	uint64_t seen = 0;

	if (wanted == 0)
		wanted = 1;
	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen >= wanted) {
			const uint64_t value = rr_histogram_highest(i);

			return value < histogram->max_ns ? value : histogram->max_ns;
		}
	}
	return histogram->max_ns;
}

double rr_histogram_mean(const struct rr_histogram *histogram)
{
	return histogram->count ? (double)histogram->sum_ns / (double)histogram->count : 0;
}

bool rr_histogram_knows(const struct rr_histogram *histogram, double quantile)
{
	return (double)histogram->count * (1 - quantile) > RR_QUANTILE_BEYOND - 1e-6;
}

/* The time spent in all values of a bucket, each treated as its middle. */
static double time_of_bucket(const struct rr_histogram *histogram, size_t index)
{
	const double middle =
		((double)rr_histogram_lowest(index) + (double)rr_histogram_highest(index)) / 2;

	return histogram->buckets[index] ? (double)histogram->buckets[index] * middle : 0;
}

void rr_histogram_time_longer(const struct rr_histogram *histogram,
			      double longer[RR_HISTOGRAM_BUCKETS])
{
	double all = 0, rest;

	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++)
		all += time_of_bucket(histogram, i);
	rest = all;
	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++) {
		rest -= time_of_bucket(histogram, i);
		longer[i] = rest > 0 ? rest / all : 0;
	}
}

uint64_t rr_histogram_time_quantile(const struct rr_histogram *histogram, double share)
{
	double seen = 0, all = 0;

	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++)
		all += time_of_bucket(histogram, i);
	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++) {
		seen += time_of_bucket(histogram, i);
		if (seen > 0 && seen >= share * all)
			return rr_histogram_highest(i) < histogram->max_ns ?
				       rr_histogram_highest(i) :
				       histogram->max_ns;
	}
	return histogram->max_ns;
}

/* ---- Statistics ---------------------------------------------------------- */

int rr_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of_sorted(const double *values, size_t n)
{
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double rr_interval_of(size_t n, size_t *rank)
{
	/* P(fewer than k of n fall below the median), each with probability 1/2: k grows as long as
	 * both tails together stay within 5 %. */
	double term = pow(0.5, (double)n), tail = 0, outside = 0;

	*rank = 1;
	if (n <= RANGE_MAX)
		return 0;
	for (size_t k = 1; 2 * k <= n; k++) {
		tail += term;
		if (2 * tail > 0.05)
			break;
		*rank = k;
		outside = 2 * tail;
		term *= (double)(n - k + 1) / (double)k;
	}
	return 100 * (1 - outside);
}

struct rr_statistics rr_statistics_of(double *values, size_t n)
{
	struct rr_statistics statistics = { .n = n };
	size_t rank;

	qsort(values, n, sizeof(*values), rr_by_value);
	statistics.median = median_of_sorted(values, n);
	statistics.min = values[0];
	statistics.max = values[n - 1];
	statistics.coverage_pct = rr_interval_of(n, &rank);
	statistics.low = values[rank - 1];
	statistics.high = values[n - rank];
	return statistics;
}
