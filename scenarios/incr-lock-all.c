/* SPDX-License-Identifier: MIT */
/*
 * INCR as a lock, with EXPIRE sent by everybody, as document 004 prints it.
 *
 * 	A> INCR lock        => 1: held  B> INCR lock        => 2
 * 	A> EXPIRE lock 10   => 1        B> EXPIRE lock 10   => 1   A's lock!
 * 	A> GET counter, SET counter
 * 	A> DEL lock         => 1        B> INCR lock        => 1: held
 *
 * Guarantees: one holder while every holder is faster than its lease. A lock
 * without an end (IN-3) gets one from the next client that asks.
 * Does not guarantee: that the lock of a crashed holder ever runs out. Clients
 * that ask more often than once per lease keep it alive for ever (IN-2).
 */
#include "strategy.h"

static enum rdl_outcome expire(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "EXPIRE %s %ld", client->lock, client->ttl_ms / 1000);
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(client->data, &reply, "INCR %s", client->lock);
	const bool won = outcome == RDL_OK && reply.integer == 1;

	if (outcome == RDL_OK)
		outcome = expire(client); /* RACE: a loser's, too (IN-2) */
	if (outcome != RDL_OK)
		return outcome;
	return won ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_incr_lock_all = {
	.name = "incr-lock-all",
	.summary = "INCR lock, EXPIRE, GET, SET, DEL",
	.document = "004",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_COUNTER, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
