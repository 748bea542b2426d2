/* SPDX-License-Identifier: MIT */
/*
 * Redlock that asks all five servers at once and waits for all of them: the
 * library's version, rdl_quorum (lib/quorum.c). redlock.c has the steps of it,
 * one server after the other.
 *
 *	A> 1..5: SET lock 6f1c... NX PX 10000    => OK OK OK (lost) OK
 *	         3 or more, and validity = ttl - time spent - drift > 0: held
 *	A> GET counter, SET counter
 *	A> 1..5: EVAL compare-and-delete         on every server that was asked
 *
 * Guarantees: one holder while every holder is faster than its validity and
 * clocks run alike, with any two of the five servers down.
 * Does not guarantee: safety when a server restarts empty inside a lease
 * (RL-11), or when a holder is paused past its validity (RL-13).
 */
#include "strategy.h"

enum { SERVERS = 5, NODE_TIMEOUT_MS = 50 };

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = rdl_quorum_new(client->lock_nodes, client->n_lock_nodes, client->lock,
				       NODE_TIMEOUT_MS);
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	return rdl_quorum_try(client->state, client->ttl_ms);
}

static enum rdl_outcome release(struct rr_client *client)
{
	return rdl_quorum_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rdl_quorum_free(client->state);
}

static const char *error(const struct rr_client *client)
{
	return rdl_quorum_error(client->state);
}

const struct rr_strategy rr_redlock_parallel = {
	.name = "redlock-parallel",
	.summary = "redlock, asking and releasing all servers at once",
	.document = "-",
	.group = RR_BEYOND,
	.lock = {
		.kind = RR_LOCK_QUORUM,
		.servers = SERVERS,
		.lease = RR_LEASE_IN_MS,
	},
	.wait = { .min_us = 2000, .max_us = 20000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
	.error = error,
};
