/* SPDX-License-Identifier: MIT */
/* Two samples of one figure: do they differ, and by how much? Mann and Whitney's U
 * asks only which of two values is larger, so no outlier decides alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare.h"
#include "measures.h"

/* Up to so many of each, all arrangements are counted. */
enum { EXACT_MAX = 30 };

/* ---- The exact distribution ---------------------------------------------- */

/*
 * Of all arrangements of n_a and n_b values without ties, the share that gives
 * each U from 0 to n_a * n_b. By the recursion of Mann and Whitney: the largest
 * value is of b, and then it is larger than all n_a of the others, or of a.
 */
static double *u_distribution(size_t n_a, size_t n_b)
{
	const size_t width = n_a * n_b + 1;
	double *share = rr_calloc((n_a + 1) * width, sizeof(*share));
	double *wanted;

	for (size_t i = 0; i <= n_a; i++)
		share[i * width] = 1;
	for (size_t j = 1; j <= n_b; j++) {
		for (size_t i = 1; i <= n_a; i++) {
			const double of_b = (double)j / (double)(i + j);
			double *row = share + i * width;
			const double *fewer = row - width;

			for (size_t u = width; u-- > 0;)
				row[u] = (u >= i ? of_b * row[u - i] : 0) + (1 - of_b) * fewer[u];
		}
	}
	wanted = rr_memdup(share + n_a * width, width * sizeof(*wanted));
	free(share);
	return wanted;
}

/* ---- The normal approximation -------------------------------------------- */

/* The sum of t^3 - t over groups of t equal values. */
static double tie_term(const double *a, size_t n_a, const double *b, size_t n_b)
{
	double all[2 * RR_SAMPLE_MAX], sum = 0;
	const size_t n = n_a + n_b;

	memcpy(all, a, n_a * sizeof(*a));
	memcpy(all + n_a, b, n_b * sizeof(*b));
	qsort(all, n, sizeof(*all), rr_by_value);
	for (size_t from = 0, to; from < n; from = to) {
		double t;

		for (to = from; to < n && all[to] == all[from]; to++)
			continue;
		t = (double)(to - from);
		sum += t * t * t - t;
	}
	return sum;
}

static double u_deviation(size_t n_a, size_t n_b, double ties)
{
	const double n = (double)(n_a + n_b);

	return sqrt((double)n_a * (double)n_b / 12 * (n + 1 - ties / (n * (n - 1))));
}

/* Two-sided, corrected for continuity. */
static double normal_p(double u, size_t n_a, size_t n_b, double ties)
{
	const double middle = (double)n_a * (double)n_b / 2;
	const double deviation = u_deviation(n_a, n_b, ties);
	const double off = fabs(u - middle) - 0.5;

	if (deviation == 0 || off <= 0)
		return 1;
	return erfc(off / deviation / sqrt(2));
}

/* ---- The whole ----------------------------------------------------------- */

/* How many quotients stand outside the interval at either end: the most that U
 * undercuts with 2.5 % at most. 0: not even the least and the largest do. */
static size_t quotients_outside(const double *distribution, size_t n_a, size_t n_b)
{
	const double middle = (double)n_a * (double)n_b / 2;
	double k, sum = 0;
	size_t outside = 0;

	if (!distribution) {
		k = floor(middle - 1.959964 * u_deviation(n_a, n_b, 0));
		return k > 0 ? (size_t)k : 0;
	}
	while ((sum += distribution[outside]) <= 0.025)
		outside++;
	return outside;
}

void rr_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
		     struct rr_mann_whitney *result)
{
	const double pairs = (double)n_a * (double)n_b;
	const double ties = tie_term(a, n_a, b, n_b);
	const bool is_small = n_a <= EXACT_MAX && n_b <= EXACT_MAX;
	double *distribution = is_small ? u_distribution(n_a, n_b) : NULL;
	double least, at_most = 0; /* how likely U is to be at most `least` */

	*result = (struct rr_mann_whitney){ .is_exact = is_small && ties == 0 };
	for (size_t i = 0; i < n_a; i++) {
		for (size_t j = 0; j < n_b; j++)
			result->u += b[j] > a[i] ? 1 : b[j] == a[i] ? 0.5 : 0;
	}
	least = result->u < pairs - result->u ? result->u : pairs - result->u;
	for (size_t i = 0; result->is_exact && (double)i <= least; i++)
		at_most += distribution[i];
	result->p = result->is_exact ? fmin(1, 2 * at_most) : normal_p(result->u, n_a, n_b, ties);
	if (is_small)
		result->least_p = 2 * distribution[0];

	/* Median and interval of all quotients b / a. */
	const size_t n = n_a * n_b;
	const size_t outside = quotients_outside(distribution, n_a, n_b);
	const size_t first = outside ? outside - 1 : 0;
	double *quotients = rr_calloc(n, sizeof(*quotients));

	for (size_t i = 0; i < n; i++)
		quotients[i] = b[i % n_b] / a[i / n_b];
	qsort(quotients, n, sizeof(*quotients), rr_by_value);
	result->ratio = n % 2 ? quotients[n / 2] : sqrt(quotients[n / 2 - 1] * quotients[n / 2]);
	result->has_interval = outside > 0;
	result->low = quotients[first];
	result->high = quotients[n - 1 - first];
	free(quotients);
	free(distribution);
}
