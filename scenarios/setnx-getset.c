/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock of documents 000 and 003: the key holds the second at which the lock
 * expires, and GETSET decides which client takes over a dead one.
 *
 *	A> SETNX lock now+timeout+1    => 1: held
 *	A> GET lock                    => later than now, or nil: wait, SETNX again
 *	A> GETSET lock now+timeout+1   => earlier than now: held; else SETNX again
 *	A> DEL lock
 *
 * Guarantees: one holder while clocks agree, no client stalls and every holder is faster
 * than its lease.
 * Does not guarantee: anything else. A GETSET that answers nil leaves a lock without a holder
 * (GS-3), a stalled loser's an older timestamp (GS-4); a slow holder deletes another's (GS-6).
 *
 * The library has no version of it: rdl_lock compares tokens (lua-library.c).
 */
#include "strategy.h"

static long long now_s(const struct rr_client *client)
{
	return rdl_now_ns(client->data, RDL_CLOCK_REALTIME) / 1000000000;
}

/* Whole seconds, so one more for the begun one (GS-9). */
static long long end_s(const struct rr_client *client)
{
	return now_s(client) + client->ttl_ms / 1000 + 1;
}

static bool is_dead(const struct rr_client *client, const struct rdl_reply *end)
{
	long long second;

	return rdl_reply_number(end, &second) && second < now_s(client);
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX %s %lld", client->lock,
					   end_s(client));

	if (outcome != RDL_OK || reply.integer == 1)
		return outcome;
	outcome = rdl_run(client->data, &reply, "GET %s", client->lock);
	if (outcome != RDL_OK)
		return outcome;
	if (!is_dead(client, &reply))
		return RDL_BUSY; /* alive, or just released */
	/* RACE: the answer comes after the write has been done (GS-3, GS-4) */
	outcome = rdl_run(client->data, &reply, "GETSET %s %lld", client->lock, end_s(client));
	if (outcome != RDL_OK)
		return outcome;
	return is_dead(client, &reply) ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	/* RACE: after its lease, this is another client's lock (GS-6) */
	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx_getset = {
	.name = "setnx-getset",
	.summary = "SETNX timestamp, GET, GETSET, ..., DEL",
	.document = "000, 003",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_TIMESTAMP, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set, /* as in none.c */
	.release = release,
};
