/* SPDX-License-Identifier: MIT */
/*
 * Redlock, as document 002 gives it: the token lock on five independent servers,
 * asked one after the other with a time-out for each. It is held when a majority
 * granted it with time to spare. The counter lives on a sixth server.
 *
 *	A> 1: SET lock 6f1c... NX PX 10000    => OK
 *	A> 2: SET lock 6f1c... NX PX 10000    => OK
 *	...                                      and so on to 5
 *	   3 or more, and validity = ttl - time spent - drift > 0: held
 *	A> GET counter, SET counter
 *	A> 1, 2, ... 5: compare-and-delete, on every server that was asked
 *
 * Guarantees: one holder while every holder is faster than its validity and
 * clocks run alike, with any two of the five servers down.
 * Does not guarantee: safety when a server restarts empty inside a lease
 * (RL-11), or when a holder is paused past its validity (RL-13). It costs five
 * round trips each way, and the time-outs of hung servers add up (RL-8).
 *
 * The library's version: rl_quorum_try, lib/quorum.c, which asks all at once
 * (redlock-parallel.c).
 */
#include <stdlib.h>

#include "strategy.h"

enum { SERVERS = 5, NODE_TIMEOUT_MS = 50, DRIFT_MS = 2 };

static int64_t now_ms(const struct rr_client *client)
{
	return rl_now_ns(client->data, RL_CLOCK_MONOTONIC) / 1000000;
}

static enum rl_outcome open_lock(struct rr_client *client)
{
	for (size_t i = 0; i < client->n_lock_nodes; i++)
		rl_link_set_timeout(client->lock_nodes[i], NODE_TIMEOUT_MS);
	client->state = calloc(1, RL_TOKEN_SIZE);
	return client->state ? RL_OK : RL_ERROR;
}

/* On every server: one whose answer was lost may have granted it. Each deletes the key if it
 * still holds our token, in one script. */
static enum rl_outcome release(struct rr_client *client)
{
	size_t released = 0;

	for (size_t i = 0; i < client->n_lock_nodes; i++)
		released += rl_delete_if_equal(client->lock_nodes[i], client->lock,
					       client->state) == RL_OK;
	return released > client->n_lock_nodes / 2 ? RL_OK : RL_LOST;
}

static enum rl_outcome acquire(struct rr_client *client)
{
	const size_t quorum = client->n_lock_nodes / 2 + 1;
	const int64_t start_ms = now_ms(client);
	char *token = client->state;
	size_t granted = 0, answered = 0;
	int64_t validity_ms;

	if (!rl_token_fresh(client->data, token))
		return RL_ERROR;
	for (size_t i = 0; i < client->n_lock_nodes; i++) {
		struct rl_reply reply;

		if (rl_run(client->lock_nodes[i], &reply, "SET %s %s NX PX %ld", client->lock,
			   token, client->ttl_ms) != RL_OK)
			continue; /* no answer in time: the next server */
		answered++;
		granted += !rl_reply_is_nil(&reply);
	}
	/* What is left of the lease, less a begun millisecond and what clocks may drift apart. */
	validity_ms = client->ttl_ms - (now_ms(client) - start_ms + 1) - client->ttl_ms / 100 -
		      DRIFT_MS;
	if (granted >= quorum && validity_ms > 0)
		return RL_OK;
	release(client);
	return answered >= quorum ? RL_BUSY : RL_ERROR;
}

static void close_lock(struct rr_client *client)
{
	free(client->state);
}

static const char *error(const struct rr_client *client)
{
	(void)client;
	return "too few of the lock servers answered in time";
}

const struct rr_strategy rr_redlock = {
	.name = "redlock",
	.summary = "SET NX PX token on 5 servers in turn, GET, SET, release on all 5",
	.document = "002",
	.group = RR_EIGHT,
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
