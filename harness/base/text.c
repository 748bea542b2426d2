/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *rr_grouped(char buffer[RR_GROUPED_SIZE], long long value)
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%lld", value);
	char *to = buffer;

	for (int i = 0; i < length; i++) {
		*to++ = digits[i];
		if (digits[i] != '-' && i < length - 1 &&
		    (length - 1 - i) % 3 == 0)
			*to++ = ',';
	}
	*to = '\0';
	return buffer;
}

const char *rr_duration(char buffer[RR_GROUPED_SIZE], uint64_t value_ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)value_ns;
	size_t unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, RR_GROUPED_SIZE, "%.*f %s",
		 value < 9.995 && unit ? 2 : value < 99.95 && unit ? 1 : 0,
		 value, units[unit]);
	return buffer;
}

bool rr_parse_number(const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && *value >= min &&
	       *value <= max;
}

/* Levenshtein's distance, for words of up to 63 letters. */
static size_t distance(const char *a, const char *b)
{
	const size_t n = strlen(b);
	size_t row[64];

	if (n >= 64)
		return n;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

const char *rr_nearest(const char *name, const char *const names[],
		       size_t n_names)
{
	const char *nearest = NULL;
	size_t best = strlen(name) / 2 + 1;

	for (size_t i = 0; i < n_names; i++) {
		const size_t d = distance(name, names[i]);

		if (d <= best && (!nearest || d < best)) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}
