/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t rr_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t rr_clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

double rr_clock_s(void)
{
	return (double)rr_clock_ns() / 1e9;
}
