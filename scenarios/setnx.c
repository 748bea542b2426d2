/* SPDX-License-Identifier: MIT */
/*
 * SETNX, and DEL to release: the first lock of every tutorial. It has no lease.
 *
 * 	A> SETNX lock 1   => 1: held    B> SETNX lock 1   => 0: wait
 * 	A> GET counter, SET counter
 * 	A> DEL lock       => 1          B> SETNX lock 1   => 1: held
 *
 * Guarantees: one holder, however slow it is (TL-1).
 * Does not guarantee: that the lock is ever free again. A holder that dies
 * takes it along, and nobody gets in any more (SX-3).
 */
#include "strategy.h"

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	/* RACE: a holder that dies holds it for ever (SX-3) */
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX %s 1", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx = {
	.name = "setnx",
	.summary = "SETNX, GET, SET, DEL",
	.document = "001, 002, 004",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_KEY },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
