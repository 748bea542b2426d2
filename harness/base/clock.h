/* SPDX-License-Identifier: MIT */
/* The program's own time, for limits and figures; never a race's. */
#ifndef RR_CLOCK_H
#define RR_CLOCK_H

#include <stdint.h>

/* Nanoseconds since 1970, as far as the machine knows. */
int64_t rr_clock_wall_ns(void);

/* Of the monotonic clock, in nanoseconds and in seconds. */
int64_t rr_clock_ns(void);
double rr_clock_s(void);

#endif
