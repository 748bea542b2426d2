/* SPDX-License-Identifier: MIT */
/*
 * INCR as a lock: who brings it to 1 has it. The winner alone sends EXPIRE,
 * which repairs the listing of document 004.
 *
 * 	A> INCR lock        => 1: held  B> INCR lock        => 2: wait
 * 	A> EXPIRE lock 10   => 1
 * 	A> GET counter, SET counter
 * 	A> DEL lock         => 1        B> INCR lock        => 1: held
 *
 * Guarantees: one holder while every holder is faster than its lease (IN-1).
 * Does not guarantee: that there is a lease; a client that dies after INCR
 * leaves a lock that stays for ever (IN-3). Nor an owner: the DEL of a slow
 * holder removes its successor's lock (IN-4).
 */
#include "strategy.h"

/* The winner's lease. */
static enum rdl_outcome expire(struct rr_client *client)
{
	struct rdl_reply reply;

	/* RACE: the lock has been there for a command, without an end (IN-3) */
	return rdl_run(client->data, &reply, "EXPIRE %s %ld", client->lock, client->ttl_ms / 1000);
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "INCR %s", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? expire(client) : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_incr_lock = {
	.name = "incr-lock",
	.summary = "INCR lock, EXPIRE if won, GET, SET, DEL",
	.document = "004",
	.group = RR_REPAIRED,
	.lock = { .kind = RR_LOCK_COUNTER, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
