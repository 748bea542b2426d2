/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

int64_t rr_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double rr_clock_s(void)
{
	return (double)rr_clock_ns() / 1e9;
}
