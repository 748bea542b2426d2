/* SPDX-License-Identifier: MIT */
/*
 * SETNX, and then a lease by EXPIRE, which the winner alone sends.
 *
 * 	A> SETNX lock 1     => 1        B> SETNX lock 1     => 0: wait
 * 	A> EXPIRE lock 10   => 1
 * 	A> GET counter, SET counter
 * 	A> DEL lock         => 1        B> SETNX lock 1     => 1
 *
 * Guarantees: one holder while every holder is faster than its lease; the lock
 * of a holder that crashed later on goes away by itself (TL-2).
 * Does not guarantee: that there is a lease. These are two commands, and the
 * lock of a client that dies between them, or whose EXPIRE is refused, stays
 * for ever (TL-3). DEL may remove a successor's lock (TL-7).
 */
#include "strategy.h"

/* The winner's lease. */
static enum rdl_outcome expire(struct rr_client *client)
{
	struct rdl_reply reply;

	/* RACE: the lock has been there for a command, without an end (TL-3) */
	return rdl_run(client->data, &reply, "EXPIRE %s %ld", client->lock, client->ttl_ms / 1000);
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX %s 1", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? expire(client) : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx_expire = {
	.name = "setnx-expire",
	.summary = "SETNX, EXPIRE if won, GET, SET, DEL",
	.document = "001",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
