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
	struct rl_lock *lock;
	long long value;   /* read along with the grant */
	bool write_queued; /* goes out with the release */
};

static enum rl_outcome open_lock(struct rr_client *client)
{
	struct state *state = calloc(1, sizeof(*state));

	client->state = state;
	if (!state)
		return RL_ERROR;
	state->lock = rl_lock_new(client->data, client->lock);
	return state->lock ? RL_OK : RL_ERROR;
}

static enum rl_outcome acquire(struct rr_client *client)
{
	struct state *state = client->state;
	enum rl_outcome outcome, read;
	struct rl_reply reply;

	outcome = rl_lock_queue_try(state->lock, client->ttl_ms);
	if (outcome == RL_OK)
		outcome = rl_queue(client->data, "GET %s", client->counter);
	if (outcome == RL_OK)
		outcome = rl_flush(client->data);
	if (outcome != RL_OK)
		return outcome;
	outcome = rl_lock_receive_try(state->lock);
	read = rl_receive(client->data, &reply);
	if (outcome != RL_OK)
		return outcome;
	if (read == RL_OK && rr_count_of(&reply, &state->value))
		return RL_OK;
	rl_lock_release(state->lock);
	return read == RL_OK ? RL_ERROR : read;
}

static enum rl_outcome increment(struct rr_client *client)
{
	struct state *state = client->state;
	enum rl_outcome outcome;

	rr_work(client);
	outcome = rl_queue(client->data, "SET %s %lld", client->counter, state->value + 1);
	state->write_queued = outcome == RL_OK;
	return outcome;
}

static enum rl_outcome write_and_release(struct rr_client *client)
{
	struct state *state = client->state;
	enum rl_outcome outcome = rl_lock_queue_release(state->lock);
	struct rl_reply reply;

	if (outcome == RL_OK)
		outcome = rl_flush(client->data);
	if (outcome != RL_OK)
		return outcome;
	outcome = rl_receive(client->data, &reply);
	client->given_back = rl_lock_receive_release(state->lock);
	return outcome;
}

static enum rl_outcome release(struct rr_client *client)
{
	struct state *state = client->state;
	const bool write_queued = state->write_queued;

	state->write_queued = false;
	return write_queued ? write_and_release(client) : rl_lock_release(state->lock);
}

static void close_lock(struct rr_client *client)
{
	struct state *state = client->state;

	if (state)
		rl_lock_free(state->lock);
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
