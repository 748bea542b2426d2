/* SPDX-License-Identifier: MIT */
/*
 * The re-entrant lock of document 001: a count in the client, and the key in
 * Redis is set and deleted by the outermost lock and unlock alone.
 *
 * 	A: lock      A> SET lock "" NX PX 10000   => OK        count 1
 * 	A: lock      (no command)                              count 2
 * 	A> GET counter, SET counter
 * 	A: unlock    (no command)                              count 1
 * 	A: unlock    A> DEL lock                  => 1         count 0
 *
 * Guarantees: one holder while every holder is faster than its lease; a holder
 * may lock again without waiting for itself (TL-12).
 * Does not guarantee: that a lock that was got is held. After its lease, lock
 * succeeds by counting while another client holds it (TL-13), and unlock
 * deletes that client's lock, which is as empty as its own (TL-14).
 */
#include <stdlib.h>

#include "strategy.h"

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = calloc(1, sizeof(unsigned)); /* the count */
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome lock(struct rr_client *client)
{
	unsigned *count = client->state;
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (*count > 0) {
		++*count; /* RACE: nobody asks whether it is held (TL-13) */
		return RDL_OK;
	}
	outcome = rdl_run(client->data, &reply, "SET %s %s NX PX %ld", client->lock, "",
			  client->ttl_ms);
	if (outcome != RDL_OK)
		return outcome;
	if (rdl_reply_is_nil(&reply))
		return RDL_BUSY;
	*count = 1;
	return RDL_OK;
}

static enum rdl_outcome unlock(struct rr_client *client)
{
	unsigned *count = client->state;
	struct rdl_reply reply;

	if (*count == 0)
		return RDL_LOST;
	if (--*count > 0)
		return RDL_OK;
	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

/* The section is in a function that takes the lock, too. */
static enum rdl_outcome increment(struct rr_client *client)
{
	enum rdl_outcome outcome = lock(client);

	if (outcome != RDL_OK)
		return outcome;
	outcome = rr_get_add_set(client);
	unlock(client);
	return outcome;
}

static void close_lock(struct rr_client *client)
{
	free(client->state);
}

const struct rr_strategy rr_reentrant_naive = {
	.name = "reentrant-naive",
	.summary = "SET NX PX once, lock again by counting, GET, SET, DEL",
	.document = "001",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = lock,
	.increment = increment,
	.release = unlock,
	.close = close_lock,
};
