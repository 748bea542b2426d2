/* SPDX-License-Identifier: MIT */
/*
 * Durations counted in a log-linear histogram: every recorded value is known
 * to three significant digits (better than 1 in 1024), from 1 ns to 18 minutes,
 * in constant memory. No pointers inside, so it may lie in shared memory.
 */
#ifndef RR_HISTOGRAM_H
#define RR_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
	RR_HISTOGRAM_SUB_BITS = 10,
	RR_HISTOGRAM_TOP_BIT = 40, /* values from 2^40 ns on count as 2^40 - 1 */
	RR_HISTOGRAM_BUCKETS =
		(RR_HISTOGRAM_TOP_BIT - RR_HISTOGRAM_SUB_BITS + 1)
		<< RR_HISTOGRAM_SUB_BITS,
};

struct rr_histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* exact; 0 while empty */
	uint64_t max_ns; /* exact */
	uint32_t buckets[RR_HISTOGRAM_BUCKETS];
};

void rr_histogram_record(struct rr_histogram *histogram, uint64_t value_ns);
void rr_histogram_merge(struct rr_histogram *into,
			const struct rr_histogram *from);

/* The smallest recorded value (its bucket's upper end, at most the maximum)
 * that at least `quantile` (0 to 1) of all values do not exceed. 0 if empty. */
uint64_t rr_histogram_quantile(const struct rr_histogram *histogram,
			       double quantile);

double rr_histogram_mean(const struct rr_histogram *histogram);

/* Bounds of bucket `index`: the lowest and highest value that counts there. */
uint64_t rr_histogram_lowest(size_t index);
uint64_t rr_histogram_highest(size_t index);

#endif
