/* SPDX-License-Identifier: MIT */
/*
 * The token lock of document 001: SET NX with a random value and a lease, released by a
 * script that compares before it deletes.
 *
 *	A> SET lock 6f1c... NX PX 10000                    => OK
 *	A> GET counter, SET counter
 *	A> EVAL "if GET(lock) == 6f1c... then DEL(lock)"   => 1, or 0: not ours any more
 *
 * Guarantees: one holder while every holder is faster than its lease; no client
 * deletes the lock of another (TL-9).
 * Does not guarantee: that a holder slower than its lease is alone (TL-10).
 *
 * The library's version: rdl_lock, lib/token_lock.c (lua-library.c).
 */
#include "strategy.h"

/* One script, because between a GET and a DEL the lock may change hands. */
static const char delifequals[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
				  "return redis.call('DEL', KEYS[1]) else return 0 end";

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run_script(client->data, &reply, delifequals,
							"1 %s %s", client->lock, client->token);

	return outcome == RDL_OK && reply.integer != 1 ? RDL_LOST : outcome;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (!rdl_token_fresh(client->data, client->token))
		return RDL_ERROR;
	outcome = rdl_run(client->data, &reply, "SET %s %s NX PX %ld", client->lock, client->token,
			  client->ttl_ms);
	if (outcome == RDL_UNKNOWN) /* no answer: if it is ours, release it */
		release(client);
	return outcome == RDL_OK && rdl_reply_is_nil(&reply) ? RDL_BUSY : outcome;
}

const struct rr_strategy rr_lua_delifequals = {
	.name = "lua-delifequals",
	.summary = "SET NX PX token, GET, SET, compare-and-delete script",
	.document = "001, 002",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set, /* as in none.c */
	.release = release,
};
