/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <stdlib.h>

#include "base/random.h"

enum { RESAMPLES = 1000, RESAMPLED_MAX = 1000 };

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of_sorted(const double *values, size_t n)
{
	return n % 2 ? values[n / 2] :
		       (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Percentile bootstrap: medians of samples drawn with replacement. */
static void set_interval(struct rr_statistics *statistics, const double *values,
			 size_t n, uint64_t seed)
{
	struct rr_random random = { seed };
	double medians[RESAMPLES], sample[RESAMPLED_MAX];

	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < n; j++)
			sample[j] = values[rr_random_below(&random, n)];
		qsort(sample, n, sizeof(*sample), by_value);
		medians[i] = median_of_sorted(sample, n);
	}
	qsort(medians, RESAMPLES, sizeof(*medians), by_value);
	statistics->low = medians[RESAMPLES * 25 / 1000];
	statistics->high = medians[RESAMPLES * 975 / 1000 - 1];
}

struct rr_statistics rr_statistics_of(double *values, size_t n, uint64_t seed)
{
	struct rr_statistics statistics = { .n = n };

	qsort(values, n, sizeof(*values), by_value);
	statistics.median = median_of_sorted(values, n);
	statistics.min = values[0];
	statistics.max = values[n - 1];
	statistics.low = statistics.high = statistics.median;
	if (n > 1 && n <= RESAMPLED_MAX)
		set_interval(&statistics, values, n, seed);
	return statistics;
}
