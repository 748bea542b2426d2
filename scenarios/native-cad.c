/* SPDX-License-Identifier: MIT */
/*
 * The token lock released by one command, where the server has one: what Lua
 * was needed for is built in now.
 *
 *	A> SET lock 6f1c... NX PX 10000        => OK
 *	A> GET counter, SET counter
 *	A> DELEX lock IFEQ 6f1c...             => 1    Redis 8.4
 *	A> DELIFEQ lock 6f1c...                => 1    Valkey 9.0
 *	A> SET lock "" IFEQ 6f1c... PX 1       => OK   Valkey 8.1: gone in 1 ms
 *
 * Guarantees: what lua-delifequals does, without a script that the server may
 * forget or forbid (TL-11).
 * Does not guarantee: that a holder slower than its lease is alone (TL-10).
 */
#include <stdlib.h>

#include "strategy.h"

enum means { NONE, DELEX, DELIFEQ, SET_IFEQ };

static bool has_command(struct rdl_link *link, const char *name)
{
	struct rdl_reply reply;

	return rdl_run(link, &reply, "COMMAND INFO %s", name) == RDL_OK &&
	       reply.type == RDL_REPLY_ARRAY && reply.length == 1 &&
	       reply.elements[0].type == RDL_REPLY_ARRAY;
}

/* SET's options are not listed; only a server that knows them takes them. */
static bool has_set_ifeq(struct rdl_link *link, const char *key)
{
	struct rdl_reply reply;

	return rdl_run(link, &reply, "SET %s %s IFEQ %s PX 1", key, "", "") == RDL_OK;
}

static enum means means_of(struct rdl_link *link, const char *spare_key)
{
	if (has_command(link, "DELEX"))
		return DELEX;
	if (has_command(link, "DELIFEQ"))
		return DELIFEQ;
	return has_set_ifeq(link, spare_key) ? SET_IFEQ : NONE;
}

static const char *lacks(struct rdl_link *data, const char *spare_key)
{
	return means_of(data, spare_key) == NONE ? "no DELEX, DELIFEQ or SET ... IFEQ" : NULL;
}

static enum rdl_outcome open_lock(struct rr_client *client)
{
	enum means *means = calloc(1, sizeof(*means));

	client->state = means;
	if (!means)
		return RDL_ERROR;
	*means = means_of(client->data, client->lock);
	return RDL_OK;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (!rdl_token_fresh(client->data, client->token))
		return RDL_ERROR;
	outcome = rdl_run(client->data, &reply, "SET %s %s NX PX %ld", client->lock, client->token,
			  client->ttl_ms);
	return outcome == RDL_OK && rdl_reply_is_nil(&reply) ? RDL_BUSY : outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	const enum means *means = client->state;
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (*means == DELEX)
		outcome = rdl_run(client->data, &reply, "DELEX %s IFEQ %s", client->lock,
				  client->token);
	else if (*means == DELIFEQ)
		outcome = rdl_run(client->data, &reply, "DELIFEQ %s %s", client->lock,
				  client->token);
	else
		outcome = rdl_run(client->data, &reply, "SET %s %s IFEQ %s PX 1", client->lock, "",
				  client->token);
	if (outcome != RDL_OK)
		return outcome;
	return reply.type == RDL_REPLY_STATUS || reply.integer == 1 ? RDL_OK : RDL_LOST;
}

static void close_lock(struct rr_client *client)
{
	free(client->state);
}

const struct rr_strategy rr_native_cad = {
	.name = "native-cad",
	.summary = "SET NX PX token, GET, SET, DELEX or DELIFEQ or SET IFEQ",
	.document = "-",
	.group = RR_BEYOND,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
	.lacks = lacks,
};
