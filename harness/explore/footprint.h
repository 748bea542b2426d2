/* SPDX-License-Identifier: MIT */
/* What a step touches: two steps that do not conflict may change places. */
#ifndef RR_FOOTPRINT_H
#define RR_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

/* Bit i stands for a key on a server, a mutex, or the critical section. */
struct rr_footprint {
	uint64_t reads, writes;
	uint64_t changes; /* of `writes`, those whose values were certainly
			   * changed: not their leases alone, and not one of
			   * several keys of a script */
	bool all;   /* nobody knows: conflicts with everything */
	bool timed; /* depends on the time, or moves it */
};

static inline void rr_footprint_add(struct rr_footprint *sum,
				    const struct rr_footprint *other)
{
	sum->reads |= other->reads;
	sum->writes |= other->writes;
	sum->changes |= other->changes;
	sum->all = sum->all || other->all;
	sum->timed = sum->timed || other->timed;
}

/* Apart from time, which only steps that move it conflict about. */
static inline bool rr_footprint_conflicts(const struct rr_footprint *a,
					  const struct rr_footprint *b)
{
	return a->all || b->all || (a->writes & (b->reads | b->writes)) ||
	       (b->writes & a->reads);
}

#endif
