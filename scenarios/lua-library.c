/* SPDX-License-Identifier: MIT */
/*
 * The token lock of lua-delifequals.c as the library has it: rdl_lock
 * (lib/token_lock.c).
 *
 *	A> SET lock 6f1c... NX PX 10000          => OK
 *	A> GET counter, SET counter
 *	A> DELEX or DELIFEQ, where the server has one; else the script
 *
 * Guarantees what lua-delifequals does, and besides: a request whose reply was
 * lost is looked up before the next one, and a lock that outlived a fork is
 * nobody's.
 */
#include "strategy.h"

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = rdl_lock_new(client->data, client->lock);
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	const enum rdl_outcome outcome = rdl_lock_try(client->state, client->ttl_ms);

	if (outcome == RDL_UNKNOWN) /* no answer: if it is ours, give it back */
		rdl_lock_release(client->state);
	return outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	return rdl_lock_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rdl_lock_free(client->state);
}

const struct rr_strategy rr_lua_library = {
	.name = "lua-library",
	.summary = "lua-delifequals by the library: rdl_lock",
	.document = "-",
	.group = RR_BEYOND,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
};
