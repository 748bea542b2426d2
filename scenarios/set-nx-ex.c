/* SPDX-License-Identifier: MIT */
/*
 * SET with NX and EX: set and lease in one atomic command; DEL to release.
 *
 *	A> SET lock 1 NX EX 10   => OK       B> SET lock 1 NX EX 10  => (nil)
 *	A> GET counter, SET counter
 *	A> DEL lock              => 1        B> SET lock 1 NX EX 10  => OK
 *
 * Guarantees: one holder while every holder is faster than its lease; a
 * crashed holder's lock goes away by itself.
 * Does not guarantee: that DEL removes our own lock. A holder that was slower
 * than its lease deletes the lock of whoever came after it (TL-7).
 */
#include "strategy.h"

static enum rl_outcome acquire(struct rr_client *client)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->data, &reply, "SET %s 1 NX EX %ld",
					       client->lock, client->ttl_ms / 1000);

	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : RL_OK;
}

static enum rl_outcome release(struct rr_client *client)
{
	struct rl_reply reply;

	/* RACE: after its lease, this is somebody else's lock (TL-7) */
	return rl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_set_nx_ex = {
	.name = "set-nx-ex",
	.summary = "SET NX EX, GET, SET, DEL",
	.document = "001, 004",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
