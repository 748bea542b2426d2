/* SPDX-License-Identifier: MIT */
/*
 * A counting semaphore with one permit as a lock: the library's rdl_semaphore.
 * The key is a sorted set, token -> end of its lease by the server's clock.
 *
 *	A> EVAL "out with who has ended; ZCARD(lock) < 1? ZADD(lock, end, 6f1c...)"
 *	                                         => 1
 *	B> the same with b0a2...                 => 0      no permit is left
 *	A> GET counter, SET counter
 *	A> EVAL "out with who has ended; ZREM(lock, 6f1c...)"
 *	                                         => 1
 *
 * Guarantees: what the token lock does; who comes after a lease has ended takes
 * the ended token out, and nobody else's.
 * Does not guarantee: that a holder slower than its lease is alone (TL-10).
 */
#include "strategy.h"

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = rdl_semaphore_new(client->data, client->lock, 1);
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	const enum rdl_outcome outcome = rdl_semaphore_try(client->state, client->ttl_ms);

	if (outcome == RDL_UNKNOWN) /* no answer: if it is ours, give it back */
		rdl_semaphore_release(client->state);
	return outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	return rdl_semaphore_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rdl_semaphore_free(client->state);
}

const struct rr_strategy rr_semaphore_lease = {
	.name = "semaphore-lease",
	.summary = "semaphore of one permit, leases by the server's clock",
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
