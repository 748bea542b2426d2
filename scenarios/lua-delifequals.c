/* SPDX-License-Identifier: MIT */
/*
 * The token lock: SET NX with a random value and a lease, released by a
 * script that compares before it deletes. It is libredislock's rl_lock.
 *
 *	A> SET lock 6f1c... NX PX 10000          => OK
 *	A> GET counter, SET counter
 *	A> EVAL "if GET(lock) == 6f1c... then DEL(lock)"
 *	                                         => 1, or 0: not ours any more
 *
 * Guarantees: one holder while every holder is faster than its lease; nobody
 * ever deletes a lock that is not theirs (TL-9).
 * Does not guarantee: that a holder slower than its lease is alone. Its late
 * write goes through, and nothing in Redis notices (TL-10).
 */
#include "strategy.h"

static enum rl_outcome open_lock(struct rr_client *client)
{
	client->state = rl_lock_new(client->data, client->lock);
	return client->state ? RL_OK : RL_ERROR;
}

static enum rl_outcome acquire(struct rr_client *client)
{
	const enum rl_outcome outcome = rl_lock_try(client->state, client->ttl_ms);

	if (outcome == RL_UNKNOWN) /* no answer: if it is ours, give it back */
		rl_lock_release(client->state);
	return outcome;
}

static enum rl_outcome release(struct rr_client *client)
{
	return rl_lock_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rl_lock_free(client->state);
}

const struct rr_strategy rr_lua_delifequals = {
	.name = "lua-delifequals",
	.summary = "SET NX PX token, GET, SET, compare-and-delete script",
	.document = "001, 002",
	.group = RR_EIGHT,
	.is_basic = true,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.breaks = {
		[RR_SLOW_WORK] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION,
		[RR_PAUSE] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION,
		[RR_LOST_REPLY] = RR_BREAKS_COUNT,
		[RR_SKEW] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION |
				RR_BREAKS_LEASE,
	},
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
};
