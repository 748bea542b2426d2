/* SPDX-License-Identifier: MIT */
/*
 * SET with NX and EX: set and lease in one atomic command; DEL to release.
 *
 *	A> SET lock 1 NX EX 10   => OK       B> SET lock 1 NX EX 10  => (nil)
 *	A> GET counter, SET counter
 *	A> DEL lock              => 1        B> SET lock 1 NX EX 10  => OK
 *
 * Guarantees: one holder while every holder is faster than its lease; a
 * crashed holder's lock expires on its own.
 * Does not guarantee: that DEL removes our own lock. A holder that was slower
 * than its lease deletes the lock of the next one (TL-7).
 *
 * The library's version: rdl_lock, lib/token_lock.c (lua-library.c).
 */
#include "strategy.h"

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "SET %s 1 NX EX %ld",
						 client->lock, client->ttl_ms / 1000);

	return outcome == RDL_OK && rdl_reply_is_nil(&reply) ? RDL_BUSY : outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	/* RACE: after its lease, this is another client's lock (TL-7) */
	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_set_nx_ex = {
	.name = "set-nx-ex",
	.summary = "SET NX EX, GET, SET, DEL",
	.document = "001, 004",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set, /* as in none.c */
	.release = release,
};
