/* SPDX-License-Identifier: MIT */
/*
 * The token lock, released in two commands: GET, compare here, DEL. Document
 * 004 ends with it; document 001 says why it is not enough.
 *
 * 	A> SET lock 6f1c... NX PX 10000   => OK
 * 	A> GET counter, SET counter
 * 	A> GET lock                       => 6f1c...: ours
 * 	A> DEL lock                       => 1
 *
 * Guarantees: one holder while every holder is faster than its lease; a holder
 * that finds another token leaves it alone.
 * Does not guarantee: that nothing happens between GET and DEL. When the lease
 * runs out there, the next client's lock is deleted (TL-8).
 */
#include <stdlib.h>
#include <string.h>

#include "strategy.h"

static enum rl_outcome open_lock(struct rr_client *client)
{
	client->state = calloc(1, RL_TOKEN_SIZE);
	return client->state ? RL_OK : RL_ERROR;
}

static enum rl_outcome release(struct rr_client *client)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->data, &reply, "GET %s", client->lock);

	if (outcome != RL_OK)
		return outcome;
	if (!reply.text || strcmp(reply.text, client->state) != 0)
		return RL_LOST;
	/* RACE: it may have become somebody else's since the GET (TL-8) */
	return rl_run(client->data, &reply, "DEL %s", client->lock);
}

static enum rl_outcome acquire(struct rr_client *client)
{
	char *token = client->state;
	struct rl_reply reply;
	enum rl_outcome outcome;

	if (!rl_token_fresh(client->data, token))
		return RL_ERROR;
	outcome = rl_run(client->data, &reply, "SET %s %s NX PX %ld", client->lock, token,
			 client->ttl_ms);
	if (outcome == RL_UNKNOWN) /* no answer: if it is ours, give it back */
		release(client);
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : RL_OK;
}

static void close_lock(struct rr_client *client)
{
	free(client->state);
}

const struct rr_strategy rr_get_compare_del = {
	.name = "get-compare-del",
	.summary = "SET NX PX token, GET, SET, GET, compare, DEL",
	.document = "001, 004",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
};
