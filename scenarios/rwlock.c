/* SPDX-License-Identifier: MIT */
/*
 * A read-write lock: the library's rdl_rwlock. A client looks at the counter as a reader, and
 * then writes as the writer, who reads again: between the two locks others may have written.
 *
 *	A> EVAL "no writer, no intent? ZADD(lock:readers, end, 6f1c...)"        => 1
 *	B> EVAL "no writer, no intent? ZADD(lock:readers, end, b0a2...)"        => 1  both read
 *	A> GET counter                                                          => "41"
 *	A> EVAL "ZREM(lock:readers, 6f1c...)"                                   => 1
 *	A> EVAL "no writer, no readers? SET(lock, 93d0...) PX 10000"            => 0  B reads
 *	B> EVAL "ZREM(lock:readers, b0a2...)"                                   => 1
 *	A> EVAL "no writer, no readers? SET(lock, 4e77...) PX 10000"            => 1
 *	A> GET counter, SET counter
 *	A> EVAL "compare-and-delete(lock, 4e77...)"                             => 1
 *
 * Guarantees: what the token lock does; a reader that died keeps writers out until its lease ends,
 * and no longer.
 * Does not guarantee: that a holder slower than its lease is alone (TL-10).
 */
#include "strategy.h"

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = rdl_rwlock_new(client->data, client->lock);
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome look(struct rr_client *client)
{
	long long value;
	enum rdl_outcome outcome = rdl_rwlock_read_try(client->state, client->ttl_ms);

	if (outcome == RDL_OK)
		outcome = rr_get_counter(client, &value);
	if (outcome == RDL_OK || outcome == RDL_UNKNOWN)
		rdl_rwlock_release(client->state);
	return outcome;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	enum rdl_outcome outcome = look(client);

	if (outcome != RDL_OK)
		return outcome;
	outcome = rdl_rwlock_write_try(client->state, client->ttl_ms);
	if (outcome == RDL_UNKNOWN) /* no answer: if it is ours, give it back */
		rdl_rwlock_release(client->state);
	return outcome;
}

static enum rdl_outcome release(struct rr_client *client)
{
	return rdl_rwlock_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rdl_rwlock_free(client->state);
}

const struct rr_strategy rr_rwlock = {
	.name = "rwlock",
	.summary = "read-write lock: read, then write and read again",
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
