/* SPDX-License-Identifier: MIT */
/*
 * Waiters stand in line and are woken, in order; nobody polls. It is
 * libredislock's rdl_fair. The grant carries the read, the write carries the
 * release.
 *
 *	A> EVAL ask                      => held, counter is "41"
 *	B> EVAL ask                      => in line behind A; waits for a message
 *	A> SET counter 42 + EVAL give-back: the lock is B's, PUBLISH tells it
 *	B< yours, counter is "42"
 *
 * Guarantees: what the token lock does; first come, first served; a waiter that
 * died is passed over, since nobody receives the message.
 * Does not guarantee: that a holder slower than its lease is alone (TL-10). The
 * lock is handed from one to the next even while the next is still asleep:
 * order costs throughput.
 */
#include <stdlib.h>

#include "strategy.h"

enum { WAIT_MS = 500 };

struct state {
	struct rdl_fair *lock;
	long long value;   /* came along with the grant */
	bool write_queued; /* goes out with the release */
};

static enum rdl_outcome open_lock(struct rr_client *client)
{
	struct state *state = calloc(1, sizeof(*state));

	client->state = state;
	if (!state)
		return RDL_ERROR;
	state->lock = rdl_fair_new(client->data, client->lock, client->counter);
	return state->lock ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct state *state = client->state;
	enum rdl_outcome outcome = rdl_fair_try(state->lock, client->ttl_ms);

	if (outcome == RDL_BUSY)
		outcome = rdl_fair_wait(state->lock, WAIT_MS);
	if (outcome == RDL_OK && !rr_count_of(rdl_fair_carried(state->lock), &state->value)) {
		rdl_fair_release(state->lock);
		return RDL_ERROR;
	}
	return outcome;
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
	enum rdl_outcome outcome = rdl_fair_queue_release(state->lock);
	struct rdl_reply reply;

	if (outcome == RDL_OK)
		outcome = rdl_flush(client->data);
	if (outcome != RDL_OK)
		return outcome;
	outcome = rdl_receive(client->data, &reply);
	client->given_back = rdl_fair_receive_release(state->lock);
	return outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct state *state = client->state;
	const bool write_queued = state->write_queued;

	state->write_queued = false;
	return write_queued ? write_and_release(client) : rdl_fair_release(state->lock);
}

static void close_lock(struct rr_client *client)
{
	struct state *state = client->state;

	if (state)
		rdl_fair_free(state->lock);
	free(state);
}

const struct rr_strategy rr_fair_queue = {
	.name = "fair-queue",
	.summary = "token lock handed on to the first in line, who is woken",
	.document = "001",
	.group = RR_BEYOND,
	.lock = { .kind = RR_LOCK_QUEUE, .lease = RR_LEASE_IN_MS },
	.connections = 1,
	.writes_at_release = true,
	.open = open_lock,
	.acquire = acquire,
	.increment = increment,
	.release = release,
	.close = close_lock,
};
