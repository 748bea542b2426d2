/* SPDX-License-Identifier: MIT */
/* Small helpers for what users type and read. */
#ifndef RR_TEXT_H
#define RR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RR_GROUPED_SIZE = 32 };

/* 100000 -> "100,000". */
const char *rr_grouped(char buffer[RR_GROUPED_SIZE], long long value);

/* 12345 ns -> "12.3 us"; three digits, in the unit that fits. */
const char *rr_duration(char buffer[RR_GROUPED_SIZE], uint64_t value_ns);

/* A whole decimal number in [min, max]; false otherwise. */
bool rr_parse_number(const char *text, long min, long max, long *value);

/* The n_names' one that is nearest to `name`; NULL when none is near. */
const char *rr_nearest(const char *name, const char *const names[],
		       size_t n_names);

#endif
