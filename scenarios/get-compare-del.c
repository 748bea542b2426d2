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
#include <string.h>

#include "strategy.h"

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "GET %s", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	if (!reply.text || strcmp(reply.text, client->token) != 0)
		return RDL_LOST;
	/* RACE: it may have become another client's since the GET (TL-8) */
	return rdl_run(client->data, &reply, "DEL %s", client->lock);
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
	if (outcome != RDL_OK)
		return outcome;
	return rdl_reply_is_nil(&reply) ? RDL_BUSY : RDL_OK;
}

const struct rr_strategy rr_get_compare_del = {
	.name = "get-compare-del",
	.summary = "SET NX PX token, GET, SET, GET, compare, DEL",
	.document = "001, 004",
	.group = RR_BROKEN,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
