/* SPDX-License-Identifier: MIT */
/*
 * The token lock in two round trips instead of four: the request for the lock
 * carries the read along, the write carries the release.
 *
 *	A> SET lock 6f1c... NX PX 10000    B> SET lock a093... NX PX 10000
 *	A> GET counter                     B> GET counter
 *	            => OK, "41"                        => (nil), "41"
 *	                                      refused, so what was read is
 *	A> SET counter 42                     thrown away; B asks again
 *	A> compare-and-delete
 *	            => OK, 1
 *
 * Guarantees: what lua-delifequals does. The commands of one connection are
 * executed in their order, so that the read comes after the grant and the
 * write before the release.
 * Does not guarantee: that a holder slower than its lease is alone (TL-10).
 */
#include <stdlib.h>

#include "strategy.h"

struct state {
	struct rdl_lock *lock;
	long long value;   /* read along with the grant */
	bool write_queued; /* goes out with the release */
};

static enum rdl_outcome open_lock(struct rr_client *client)
{
	struct state *state = calloc(1, sizeof(*state));

	client->state = state;
	if (!state)
		return RDL_ERROR;
	state->lock = rdl_lock_new(client->data, client->lock);
	return state->lock ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct state *state = client->state;
	enum rdl_outcome outcome, read;
	struct rdl_reply reply;

	outcome = rdl_lock_queue_try(state->lock, client->ttl_ms);
	if (outcome == RDL_OK)
		outcome = rdl_queue(client->data, "GET %s", client->counter);
	if (outcome == RDL_OK)
		outcome = rdl_flush(client->data);
	if (outcome != RDL_OK)
		return outcome;
	outcome = rdl_lock_receive_try(state->lock);
	read = rdl_receive(client->data, &reply);
	if (outcome != RDL_OK)
		return outcome;
	if (read == RDL_OK && rr_count_of(&reply, &state->value))
		return RDL_OK;
	rdl_lock_release(state->lock);
	return read == RDL_OK ? RDL_ERROR : read;
}

static enum rdl_outcome increment(struct rr_client *client)
{
	struct state *state = client->state;
	enum rdl_outcome outcome;

	rr_work(client);
	outcome = rdl_queue(client->data, "SET %s %lld", client->counter, state->value + 1);
	state->write_queued = outcome == RDL_OK;
	return outcome;
}

static enum rdl_outcome write_and_release(struct rr_client *client)
{
	struct state *state = client->state;
	enum rdl_outcome outcome = rdl_lock_queue_release(state->lock);
	struct rdl_reply reply;

	if (outcome == RDL_OK)
		outcome = rdl_flush(client->data);
	if (outcome != RDL_OK)
		return outcome;
	outcome = rdl_receive(client->data, &reply);
	client->given_back = rdl_lock_receive_release(state->lock);
	return outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct state *state = client->state;
	const bool write_queued = state->write_queued;

	state->write_queued = false;
	return write_queued ? write_and_release(client) : rdl_lock_release(state->lock);
}

static void close_lock(struct rr_client *client)
{
	struct state *state = client->state;

	if (state)
		rdl_lock_free(state->lock);
	free(state);
}

const struct rr_strategy rr_lua_pipelined = {
	.name = "lua-pipelined",
	.summary = "SET NX PX token + GET, SET + compare-and-delete script",
	.document = "001, 002",
	.group = RR_BEYOND,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_MS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.writes_at_release = true,
	.open = open_lock,
	.acquire = acquire,
	.increment = increment,
	.release = release,
	.close = close_lock,
};
