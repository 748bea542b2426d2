/* SPDX-License-Identifier: MIT */
/* Small repeatable random numbers (splitmix64): order, jitter, resampling. */
#ifndef RR_RANDOM_H
#define RR_RANDOM_H

#include <stdint.h>

struct rr_random {
	uint64_t state;
};

static inline uint64_t rr_random_next(struct rr_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* In [0, limit), limit > 0; the bias of the multiplication is below 2^-32 for
 * limits below 2^32. */
static inline uint64_t rr_random_below(struct rr_random *random, uint64_t limit)
{
	return (uint64_t)(((unsigned __int128)rr_random_next(random) * limit) >> 64);
}

#endif
