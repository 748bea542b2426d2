/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock with a take-over that is a transaction: the new timestamp
 * is written only if nobody has touched the dead lock since it was read.
 *
 * 	C4> SETNX lock now+timeout+1               => 1: held
 * 	                                           => 0: somebody else's
 * 	C4> WATCH lock, GET lock                   => alive, or nil: UNWATCH, wait
 * 	                                           => dead: take over
 * 	C4> MULTI, SET lock now+timeout+1, EXEC    => OK: held
 * 	                                           => nil: somebody was first
 * 	...
 * 	C4> DEL lock
 *
 * Guarantees: one of those who find a dead lock gets it, and the others write
 * nothing (GS-14): GS-1 to GS-5 are gone.
 * Does not guarantee: that a holder slower than its lease is alone, or that its
 * DEL removes its own lock (GS-6, GS-7); or anything when clocks differ (GS-8).
 */
#include <stdio.h>

#include "timestamp.h"

/* A new end for a dead lock; none for one that is alive or gone. */
static enum rdl_outcome renew_dead(void *context, const struct rdl_reply *end, char *value,
				   size_t size)
{
	const struct rr_client *client = context;

	if (!rr_timestamp_is_dead(client, end))
		return RDL_BUSY;
	snprintf(value, size, "%lld", rr_timestamp_end_s(client));
	return RDL_OK;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	const enum rdl_outcome outcome = rr_timestamp_set(client, rr_timestamp_end_s(client));

	if (outcome != RDL_BUSY)
		return outcome;
	return rdl_update_try(client->data, client->lock, renew_dead, client);
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	/* RACE: after its lease, this is somebody else's lock (GS-6) */
	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_watch_getset = {
	.name = "watch-getset",
	.summary = "SETNX timestamp, WATCH, GET, MULTI, SET, EXEC, ..., DEL",
	.document = "-",
	.group = RR_REPAIRED,
	.lock = { .kind = RR_LOCK_TIMESTAMP, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
