/* SPDX-License-Identifier: MIT */
/* Repeats of one figure, summed up. */
#ifndef RR_STATISTICS_H
#define RR_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

struct rr_statistics {
	size_t n;
	double median, min, max;
	double low, high; /* 95 % bootstrap interval of the median */
};

/* Sorts `values`. The interval is resampled 1000 times with `seed`; with one
 * value it is that value. n > 0. */
struct rr_statistics rr_statistics_of(double *values, size_t n, uint64_t seed);

#endif
