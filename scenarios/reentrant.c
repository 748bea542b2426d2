/* SPDX-License-Identifier: MIT */
/*
 * Re-entrant, done right: the token lock with a count of levels that belongs to
 * its owner, and asks the server at every level whether it is still ours. It is
 * libredislock's rdl_reentrant; compare reentrant-naive.
 *
 *	A> SET lock 6f1c... NX PX 10000          => OK     level 1
 *	A> EVAL "if GET(lock) == 6f1c... then PEXPIRE(lock, 10000)"
 *	                                         => 1      level 2
 *	A> GET counter
 *	                                                   level 1
 *	A> SET counter
 *	A> compare-and-delete                    => 1      level 0
 *
 * Guarantees: what the token lock does; a level that is taken after the lock
 * was lost says so (compare TL-13), and nobody else's lock is deleted.
 * Does not guarantee: that a holder slower than its lease is alone (TL-10).
 */
#include "strategy.h"

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = rdl_reentrant_new(client->data, client->lock);
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	return rdl_reentrant_try(client->state, client->ttl_ms);
}

/* A part of the program that takes the lock for itself, held or not. */
static enum rdl_outcome read_counter(struct rr_client *client, long long *value)
{
	enum rdl_outcome outcome = rdl_reentrant_try(client->state, client->ttl_ms);

	if (outcome == RDL_LOST)
		return RDL_BUSY; /* nothing is stored, all over again */
	if (outcome != RDL_OK)
		return outcome == RDL_UNKNOWN ? RDL_BUSY : outcome;
	outcome = rr_get_counter(client, value);
	if (rdl_reentrant_release(client->state) == RDL_LOST && outcome == RDL_OK)
		return RDL_BUSY;
	return outcome;
}

/* Still in the critical section, one level further out. */
static enum rdl_outcome increment(struct rr_client *client)
{
	long long value;
	const enum rdl_outcome outcome = read_counter(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client);
	return rr_set_counter(client, value + 1);
}

static enum rdl_outcome release(struct rr_client *client)
{
	return rdl_reentrant_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rdl_reentrant_free(client->state);
}

const struct rr_strategy rr_reentrant = {
	.name = "reentrant",
	.summary = "lua-delifequals, taken twice; the second time checks and renews",
	.document = "001",
	.group = RR_REPAIRED,
	.lock = {
		.kind = RR_LOCK_KEY,
		.lease = RR_LEASE_IN_MS,
		.leases_max = 2,
	},
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = increment,
	.release = release,
	.close = close_lock,
};
