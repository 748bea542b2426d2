/* SPDX-License-Identifier: MIT */
/*
 * The token lock with a fencing number: every grant gets a higher one, and the
 * store refuses whoever comes with a lower one than it has seen. It is
 * libredislock's rdl_lock_try_fenced, rdl_fenced_get and rdl_fenced_set.
 *
 *	A> EVAL "SET lock NX PX; INCR lock:fence"   => 33
 *	A> EVAL "33 >= highest seen? GET counter"   => "41"
 *	   A stalls, its lease runs out
 *	B> EVAL "SET lock NX PX; INCR lock:fence"   => 34
 *	B> EVAL "34 >= highest seen? GET counter"   => "41", highest is 34
 *	A> EVAL "33 >= highest seen? SET counter"   => refused, A starts again
 *	B> EVAL "34 >= highest seen? SET counter"   => OK
 *
 * Guarantees: an exact count, whoever stalls or crashes, as long as the highest
 * number seen is kept beside the counter.
 * Does not guarantee: exclusion. A stalled holder is not kept from working,
 * only its write from landing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "strategy.h"

struct state {
	struct rdl_lock *lock;
	long long number; /* of the last grant */
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

	return rdl_lock_try_fenced(state->lock, client->ttl_ms, &state->number);
}

static enum rdl_outcome read_and_write(struct rr_client *client, long long number)
{
	struct rdl_reply reply;
	char next[24];
	long long value;
	enum rdl_outcome outcome = rdl_fenced_get(client->data, client->counter, number, &reply);

	if (outcome != RDL_OK)
		return outcome;
	if (!rr_count_of(&reply, &value))
		return RDL_ERROR;
	rr_work(client);
	snprintf(next, sizeof(next), "%lld", value + 1);
	return rdl_fenced_set(client->data, client->counter, number, next);
}

/* Refused, because a later holder was here: nothing stored, again. */
static enum rdl_outcome increment(struct rr_client *client)
{
	const struct state *state = client->state;
	const enum rdl_outcome outcome = read_and_write(client, state->number);

	return outcome == RDL_LOST ? RDL_BUSY : outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	const struct state *state = client->state;

	return rdl_lock_release(state->lock);
}

static void close_lock(struct rr_client *client)
{
	struct state *state = client->state;

	if (state)
		rdl_lock_free(state->lock);
	free(state);
}

const struct rr_strategy rr_fenced = {
	.name = "fenced",
	.summary = "token lock with a number; GET and SET refuse a lower one",
	.document = "001, 002",
	.group = RR_BEYOND,
	.lock = {
		.kind = RR_LOCK_KEY,
		.lease = RR_LEASE_IN_MS,
		.is_fenced = true,
	},
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = increment,
	.release = release,
	.close = close_lock,
};
