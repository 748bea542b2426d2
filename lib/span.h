/* SPDX-License-Identifier: MIT */
/* Milliseconds that a caller gave, in a finer unit, without ever wrapping. */
#ifndef RL_SPAN_H
#define RL_SPAN_H

#include <stdint.h>

enum { RL_NS_PER_MS = 1000000, RL_US_PER_MS = 1000 };

/* `ms` in units of which a millisecond has `per_ms`. A quarter of the range is
 * the longest there is: 73 years of nanoseconds, and adding a clock's reading
 * does not wrap either. */
static inline int64_t rl_span(long ms, int64_t per_ms)
{
	const int64_t most = INT64_MAX / 4 / per_ms;

	if (ms > most)
		return most * per_ms;
	return (ms < -most ? -most : ms) * per_ms;
}

/* When `ms` from `start_ns` on are over. */
static inline int64_t rl_deadline_after(int64_t start_ns, long ms)
{
	return start_ns + rl_span(ms, RL_NS_PER_MS);
}

#endif
