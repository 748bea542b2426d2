/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock of documents 000 and 003: the key holds the second at
 * which the lock runs out, and GETSET decides who may take over a dead one.
 *
 *	C4> SETNX lock now+timeout+1    => 1: held
 *	                                => 0: somebody else's; look at it
 *	C4> GET lock                    => later than now: alive, wait
 *	                                => nil: just released, SETNX again
 *	                                => earlier than now: dead, take over
 *	C4> GETSET lock now+timeout+1   => earlier than now: held
 *	                                => anything else, nil too: retry
 *	...
 *	C4> DEL lock
 *
 * Guarantees: one holder while clocks agree, nobody stalls and every holder
 * is faster than its lease.
 * Does not guarantee: anything else. A GETSET that answers nil has created a
 * lock that nobody holds (GS-3); a stalled loser writes an older timestamp
 * over a live lock (GS-4); a slow holder deletes its successor's (GS-6).
 *
 * No production version: the library locks by a token, rl_lock in
 * lib/token_lock.c (lua-delifequals.c).
 */
#include "timestamp.h"

static enum rl_outcome acquire(struct rr_client *client)
{
	struct rl_reply reply;
	enum rl_outcome outcome = rl_run(client->data, &reply, "SETNX %s %lld", client->lock,
					 rr_timestamp_end_s(client));

	if (outcome != RL_OK || reply.integer == 1)
		return outcome;
	outcome = rl_run(client->data, &reply, "GET %s", client->lock);
	if (outcome != RL_OK)
		return outcome;
	if (!rr_timestamp_is_dead(client, &reply))
		return RL_BUSY; /* alive, or just released */
	/* RACE: the answer comes after the write has been done (GS-3, GS-4) */
	outcome = rl_run(client->data, &reply, "GETSET %s %lld", client->lock,
			 rr_timestamp_end_s(client));
	if (outcome != RL_OK)
		return outcome;
	return rr_timestamp_is_dead(client, &reply) ? RL_OK : RL_BUSY;
}

static enum rl_outcome release(struct rr_client *client)
{
	struct rl_reply reply;

	/* RACE: after its lease, this is somebody else's lock (GS-6) */
	return rl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx_getset = {
	.name = "setnx-getset",
	.summary = "SETNX timestamp, GET, GETSET, ..., DEL",
	.document = "000, 003",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_TIMESTAMP, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
