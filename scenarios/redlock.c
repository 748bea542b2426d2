/* SPDX-License-Identifier: MIT */
/*
 * Redlock of document 002: the token lock on five independent servers, asked in order. A
 * majority of them, with time to spare, makes it held. The counter is on a sixth server.
 *
 *	A> 1, 2, ... 5: SET lock 6f1c... NX PX 10000    => OK, by 3 or more in time
 *	A> GET counter, SET counter
 *	A> 1, 2, ... 5: EVAL "if GET(lock) == 6f1c... then DEL(lock)"
 *
 * Guarantees: one holder while every holder is faster than its validity and clocks run alike,
 * with any two servers down.
 * Does not guarantee: safety when a server restarts empty (RL-11) or a holder is paused past
 * its validity (RL-13); or speed: the time-outs of hung servers add up (RL-8).
 *
 * The library's version: rdl_quorum, lib/quorum.c, asks all concurrently (redlock-parallel.c).
 */
#include "strategy.h"

enum { SERVERS = 5, NODE_TIMEOUT_MS = 50, DRIFT_MS = 2 };

/* One script, because between a GET and a DEL the lock may change hands. */
static const char delifequals[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
				  "return redis.call('DEL', KEYS[1]) else return 0 end";

static enum rdl_outcome open_lock(struct rr_client *client)
{
	for (size_t i = 0; i < client->n_lock_nodes; i++)
		rdl_link_set_timeout(client->lock_nodes[i], NODE_TIMEOUT_MS);
	return RDL_OK;
}

/* On every server: one whose answer was lost may have granted it. */
static enum rdl_outcome release(struct rr_client *client)
{
	size_t released = 0;
	struct rdl_reply reply;

	for (size_t i = 0; i < client->n_lock_nodes; i++)
		released += rdl_run_script(client->lock_nodes[i], &reply, delifequals, "1 %s %s",
					   client->lock, client->token) == RDL_OK &&
			    reply.integer == 1;
	return released > client->n_lock_nodes / 2 ? RDL_OK : RDL_LOST;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	const int64_t start_ns = rdl_now_ns(client->data, RDL_CLOCK_MONOTONIC);
	const size_t quorum = client->n_lock_nodes / 2 + 1;
	size_t granted = 0, answered = 0;
	struct rdl_reply reply;
	int64_t spent_ms, validity_ms;

	if (!rdl_token_fresh(client->data, client->token))
		return RDL_ERROR;
	for (size_t i = 0; i < client->n_lock_nodes; i++) {
		if (rdl_run(client->lock_nodes[i], &reply, "SET %s %s NX PX %ld", client->lock,
			    client->token, client->ttl_ms) != RDL_OK)
			continue; /* no answer in time: the next server */
		answered++;
		granted += !rdl_reply_is_nil(&reply);
	}
	spent_ms = (rdl_now_ns(client->data, RDL_CLOCK_MONOTONIC) - start_ns) / 1000000 + 1;
	validity_ms = client->ttl_ms - spent_ms - client->ttl_ms / 100 - DRIFT_MS;
	if (granted >= quorum && validity_ms > 0)
		return RDL_OK;
	release(client);
	return answered >= quorum ? RDL_BUSY : RDL_ERROR;
}

const struct rr_strategy rr_redlock = {
	.name = "redlock",
	.summary = "SET NX PX token on 5 servers in turn, GET, SET, release on all 5",
	.document = "002",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_QUORUM, .servers = SERVERS, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 2000, .max_us = 20000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set, /* as in none.c */
	.release = release,
};
