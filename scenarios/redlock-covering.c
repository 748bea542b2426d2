/* SPDX-License-Identifier: MIT */
/*
 * Redlock that is used only if what is left of its lease covers the work, as
 * document 002 says it may be. Otherwise it is released at once, and the next
 * attempt asks for twice the lease. Compare redlock, which begins in any case.
 *
 *	A> 1..5: SET lock 6f1c... NX PX 10000    => OK OK OK OK OK
 *	         9898 ms are left, the work takes 25000
 *	A> 1..5: EVAL compare-and-delete         on every server that was asked
 *	A> 1..5: SET lock 93b0... NX PX 20000    not enough, and released
 *	A> 1..5: SET lock a04e... NX PX 40000    39598 ms: held
 *	A> GET counter, work, SET counter
 *
 * Guarantees: what redlock does, and one holder while work takes no longer than
 * it was expected to, however long that is.
 * Does not guarantee: safety when a holder is paused past what is left (RL-13),
 * or when a server restarts empty (RL-11). A holder that crashes keeps the
 * others out for its longer lease.
 */
#include <limits.h>
#include <stdlib.h>

#include "strategy.h"

enum { SERVERS = 5, NODE_TIMEOUT_MS = 50 };

struct state {
	struct rdl_quorum *quorum;
	long ttl_ms; /* of the next attempt */
};

static enum rdl_outcome open_lock(struct rr_client *client)
{
	struct state *state = calloc(1, sizeof(*state));

	client->state = state;
	if (!state)
		return RDL_ERROR;
	state->ttl_ms = client->ttl_ms;
	state->quorum = rdl_quorum_new(client->lock_nodes, client->n_lock_nodes, client->lock,
				       NODE_TIMEOUT_MS);
	return state->quorum ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct state *state = client->state;
	const enum rdl_outcome outcome = rdl_quorum_try(state->quorum, state->ttl_ms);

	if (outcome != RDL_OK || rdl_quorum_remaining_ms(state->quorum) > client->hold_us / 1000)
		return outcome;
	rdl_quorum_release(state->quorum);
	if (state->ttl_ms <= LONG_MAX / 2)
		state->ttl_ms *= 2;
	return RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	const struct state *state = client->state;

	return rdl_quorum_release(state->quorum);
}

static void close_lock(struct rr_client *client)
{
	struct state *state = client->state;

	if (state)
		rdl_quorum_free(state->quorum);
	free(state);
}

static const char *error(const struct rr_client *client)
{
	const struct state *state = client->state;

	return state && state->quorum ? rdl_quorum_error(state->quorum) : "no memory";
}

const struct rr_strategy rr_redlock_covering = {
	.name = "redlock-covering",
	.summary = "redlock, released if what is left of its lease does not cover the work",
	.document = "002",
	.group = RR_REPAIRED,
	.lock = {
		.kind = RR_LOCK_QUORUM,
		.servers = SERVERS,
		.lease = RR_LEASE_IN_MS,
	},
	.wait = { .min_us = 2000, .max_us = 20000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
	.error = error,
};
