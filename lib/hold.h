/* SPDX-License-Identifier: MIT */
/*
 * What every lock keeps about itself: is it held, by which process, for how
 * long still, and what it has been through. Times are of the monotonic clock.
 */
#ifndef RL_HOLD_H
#define RL_HOLD_H

#include <stdint.h>
#include <sys/types.h>

#include "redislock.h"

struct rl_hold {
	const struct rl_link *link; /* whose clock counts */
	int64_t waiting_ns;         /* since when it is being asked for; 0 = is not */
	int64_t held_ns;            /* since when it is held; 0 = it is not */
	int64_t sent_ns;            /* when the attempt that counts was begun */
	int64_t until_ns;           /* when the lease ends, drift taken off */
	pid_t owner;                /* the process that holds it */
	struct rl_stats stats;
};

/* An attempt is about to be sent. */
void rl_hold_ask(struct rl_hold *hold);

/* It came to an end: RL_OK begins a hold of ttl_ms from the attempt on. */
void rl_hold_answer(struct rl_hold *hold, enum rl_outcome outcome, long ttl_ms);

/* Another ttl_ms from `sent_ns` on. */
void rl_hold_prolong(struct rl_hold *hold, int64_t sent_ns, long ttl_ms);

/* Perhaps ttl_ms from `sent_ns` on: nobody knows, so the earlier end counts. */
void rl_hold_shorten(struct rl_hold *hold, int64_t sent_ns, long ttl_ms);

/* A release, or an extension, said that it is ours no more, or (RL_UNKNOWN)
 * nothing at all. */
void rl_hold_end(struct rl_hold *hold, enum rl_outcome outcome);

/* Held, and by this process? */
bool rl_hold_is_ours(const struct rl_hold *hold);

/* 0 = nothing, or not ours. */
long rl_hold_remaining_ms(const struct rl_hold *hold);

/* When a lease of ttl_ms that was asked for at `sent_ns` ends, drift taken off:
 * 1 % of it, for clocks that differ in speed, and 2 ms for how exactly servers
 * expire keys. */
int64_t rl_lease_end_ns(int64_t sent_ns, long ttl_ms);

/* Why a ttl below 1 ms is refused; a format with %ld. */
#define rl_short_ttl "a lease of %ld ms: the shortest is 1 ms"

/* The lease is known to be over, whatever it was thought to last. */
void rl_hold_expire(struct rl_hold *hold);

/* ---- Times ------------------------------------------------------------- */

/* Milliseconds that a caller gave, in a finer unit, without ever wrapping. */
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

/* ---- Asking until it is held ------------------------------------------- */

/* What rl_acquire() needs to know of a lock. */
struct rl_askable {
	void *lock;
	struct rl_hold *hold;
	enum rl_outcome (*ask)(void *lock, long ttl_ms);
	enum rl_outcome (*give_back)(void *lock);
	long pause_min_us, pause_max_us; /* where the policy says 0 */
	bool errors_pass;                /* an RL_ERROR is asked again as well */
};

enum rl_outcome rl_acquire(const struct rl_askable *askable, long ttl_ms,
			   const struct rl_policy *policy);

/* The n-th pause of a policy, not beyond `deadline_ns`. False: no time is left,
 * or somebody cancelled. */
bool rl_pause(const struct rl_link *link, const struct rl_policy *policy, unsigned n,
	      int64_t deadline_ns);

#endif
