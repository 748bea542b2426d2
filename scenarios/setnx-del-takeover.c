/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock with the take-over that documents 000 and 003 warn of: who
 * finds a dead lock deletes it and begins again.
 *
 * 	C1> SETNX lock 1031   => 0      C2> SETNX lock 1031   => 0
 * 	C1> GET lock          => 1011   C2> GET lock          => 1011: dead
 * 	C1> DEL lock          => 1
 * 	C1> SETNX lock 1031   => 1: held
 * 	                                C2> DEL lock          => 1   C1's lock!
 * 	                                C2> SETNX lock 1031   => 1: held, too
 *
 * Guarantees: one holder as long as no lock is ever found dead.
 * Does not guarantee: one holder when two clients find the same dead lock; both
 * get it (SX-5). A slow holder deletes its successor's lock (GS-6).
 */
#include "timestamp.h"

static enum rdl_outcome take_over(struct rr_client *client)
{
	struct rdl_reply reply;
	/* RACE: the dead lock may have been replaced since the GET (SX-5) */
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "DEL %s", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	return rr_timestamp_set(client, rr_timestamp_end_s(client));
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	enum rdl_outcome outcome = rr_timestamp_set(client, rr_timestamp_end_s(client));

	if (outcome != RDL_BUSY)
		return outcome;
	outcome = rr_timestamp_find_dead(client);
	return outcome == RDL_OK ? take_over(client) : outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx_del_takeover = {
	.name = "setnx-del-takeover",
	.summary = "SETNX timestamp, GET, DEL, SETNX, ..., DEL",
	.document = "000, 003",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_TIMESTAMP, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
