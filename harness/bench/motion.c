/* SPDX-License-Identifier: MIT */
/*
 * Does a run still make progress? Two ways in which it does not:
 *
 * - nobody has finished an increment for 20 s and two leases, or 5 s and two leases where a dead
 *   holder may have the lock: deadlock;
 * - over five leases, and 20 s at the least, there were no more increments than
 *   leases ended. Then locks are not given back, and each increment waits until
 *   the lease before it has run out. A million of them would take weeks.
 */
#include "client.h"

enum {
	PATIENCE_MS = 20000,
	PATIENCE_WITH_DEAD_MS = 5000, /* some strategies are expected to get stuck */
	LEASES = 5,
	LEASE_MIN_MS = 1000, /* slower than that may be the server's fault */
};

static int64_t patience_ms(const struct rr_run *run)
{
	if (run->patience_ms)
		return run->patience_ms;
	return run->dead_holder ? PATIENCE_WITH_DEAD_MS : PATIENCE_MS;
}

struct rr_motion rr_motion_begin(int64_t now_ns)
{
	return (struct rr_motion){ .moved_ns = now_ns, .window_ns = now_ns };
}

const char *rr_motion_look(struct rr_motion *motion, const struct rr_run *run, uint64_t done,
			   int64_t now_ns)
{
	/* How long nothing may happen before it is called a deadlock: a dead holder's lease has to
	 * be able to run out. */
	const int64_t stall_ms = patience_ms(run) + 2 * run->ttl_ms + 2 * run->hold_us / 1000;
	const unsigned leases = run->strategy->lock.leases_max;
	int64_t lease_ms = run->ttl_ms * (leases ? leases : 1), window_ms;
	uint64_t increments;

	if (done < motion->done) /* the warm-up is over */
		*motion = rr_motion_begin(now_ns);
	if (done != motion->done)
		motion->moved_ns = now_ns;
	motion->done = done;
	if (now_ns - motion->moved_ns > stall_ms * INT64_C(1000000))
		return "no progress: deadlock";
	/* Where servers or holders are killed on purpose leases have to run out; work can be as slow as
	 * leases are; and so can the arrivals of an open loop. */
	if (!run->strategy->lock.lease || run->formation || run->kill_workers > 0 ||
	    run->rate_per_s > 0 || run->hold_us / 1000 * 2 >= run->ttl_ms)
		return NULL;
	/* Judges a window when it is over, and begins the next. Without any increment it is left to
	 * the other limit. */
	if (lease_ms < LEASE_MIN_MS)
		lease_ms = LEASE_MIN_MS;
	window_ms = (now_ns - motion->window_ns) / 1000000;
	if (window_ms < LEASES * lease_ms || window_ms < patience_ms(run))
		return NULL;
	increments = done - motion->window_done;
	motion->window_ns = now_ns;
	motion->window_done = done;
	if (increments == 0 || increments > (uint64_t)(window_ms / lease_ms) * (uint64_t)run->keys)
		return NULL;
	return "no progress: each increment waits for a lease to end";
}
