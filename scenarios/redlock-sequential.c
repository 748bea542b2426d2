/* SPDX-License-Identifier: MIT */
/*
 * Redlock in the order document 002 gives it: one server after the other, each
 * with its own time-out. Compare redlock, which asks all of them at once.
 *
 *	A> 1: SET lock 6f1c... NX PX 10000    => OK
 *	A> 2: SET lock 6f1c... NX PX 10000    => OK
 *	...                                      and so on to 5
 *	   3 or more, and validity = ttl - time spent - drift > 0: held
 *	A> GET counter, SET counter
 *	A> 1, 2, ... 5: compare-and-delete, on every server that was asked
 *
 * Guarantees: what redlock does.
 * Does not guarantee more, and costs more: five round trips each way, and with
 * hung servers their time-outs one after the other, off the validity (RL-8).
 */
#include <stdlib.h>

#include "strategy.h"

enum { SERVERS = 5, NODE_TIMEOUT_MS = 50, DRIFT_MS = 2 };

struct state {
	char token[RL_TOKEN_SIZE];
};

static int64_t now_ms(const struct rr_client *client)
{
	return rl_now_ns(client->data, RL_CLOCK_MONOTONIC) / 1000000;
}

static enum rl_outcome open_lock(struct rr_client *client)
{
	for (size_t i = 0; i < client->n_lock_nodes; i++)
		rl_link_set_timeout(client->lock_nodes[i], NODE_TIMEOUT_MS);
	client->state = calloc(1, sizeof(struct state));
	return client->state ? RL_OK : RL_ERROR;
}

static enum rl_outcome ask(struct rr_client *client, size_t i)
{
	const struct state *state = client->state;
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->lock_nodes[i], &reply, "SET %s %s NX PX %ld",
					       client->lock, state->token, client->ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : RL_OK;
}

/* On every server: one whose answer was lost may have granted it. */
static enum rl_outcome release(struct rr_client *client)
{
	const struct state *state = client->state;
	size_t released = 0;

	for (size_t i = 0; i < client->n_lock_nodes; i++)
		released += rl_delete_if_equal(client->lock_nodes[i], client->lock, state->token) ==
			    RL_OK;
	return released > client->n_lock_nodes / 2 ? RL_OK : RL_LOST;
}

static enum rl_outcome acquire(struct rr_client *client)
{
	struct state *state = client->state;
	const int64_t start_ms = now_ms(client);
	size_t granted = 0, answered = 0;
	int64_t validity_ms;

	if (!rl_token_fresh(client->data, state->token))
		return RL_ERROR;
	for (size_t i = 0; i < client->n_lock_nodes; i++) {
		const enum rl_outcome outcome = ask(client, i);

		granted += outcome == RL_OK;
		answered += outcome == RL_OK || outcome == RL_BUSY;
	}
	validity_ms = client->ttl_ms - (now_ms(client) - start_ms + 1) - client->ttl_ms / 100 -
		      DRIFT_MS;
	if (granted > client->n_lock_nodes / 2 && validity_ms > 0)
		return RL_OK;
	release(client);
	return answered > client->n_lock_nodes / 2 ? RL_BUSY : RL_ERROR;
}

static void close_lock(struct rr_client *client)
{
	free(client->state);
}

static const char *error(const struct rr_client *client)
{
	(void)client;
	return "too few of the lock servers answered in time";
}

const struct rr_strategy rr_redlock_sequential = {
	.name = "redlock-sequential",
	.summary = "redlock, asking and releasing one server after the other",
	.document = "002",
	.group = RR_BEYOND,
	.lock = {
		.kind = RR_LOCK_QUORUM,
		.servers = SERVERS,
		.lease = RR_LEASE_IN_MS,
	},
	.breaks = {
		[RR_SLOW_WORK] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION,
		[RR_PAUSE] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION,
		[RR_LOST_REPLY] = RR_BREAKS_COUNT,
		[RR_RESTART] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION |
				RR_BREAKS_LEASE,
		[RR_SKEW] = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION |
				RR_BREAKS_LEASE,
	},
	.bounds = {
		/* With faults: two majorities of three are as good as of five. */
		{ .hazards = RR_ALL_HAZARDS, .clients = 2, .lock_servers = 3,
		  .increments = 1 },
		{ .hazards = 1U << RR_THREADS, .lock_servers = SERVERS },
		{ .hazards = 1U << RR_PROCESSES, .clients = 3 },
	},
	.wait = { .min_us = 2000, .max_us = 20000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
	.error = error,
};
