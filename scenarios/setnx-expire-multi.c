/* SPDX-License-Identifier: MIT */
/*
 * SETNX and EXPIRE in one transaction, as document 004 suggests: nobody can die
 * between them any more.
 *
 * 	A> MULTI, SETNX lock 1, EXPIRE lock 10, EXEC   => [1, 1]: held
 * 	B> MULTI, SETNX lock 1, EXPIRE lock 10, EXEC   => [0, 1]: wait
 * 	A> GET counter, SET counter
 * 	A> DEL lock                                    => 1
 *
 * Guarantees: one holder while every holder is faster than its lease; never a
 * lock without an end.
 * Does not guarantee: that the lock of a crashed holder runs out. EXPIRE is
 * executed although SETNX was refused, so that clients that ask keep the lock
 * alive (IN-6). DEL may remove a successor's lock (TL-7).
 */
#include "strategy.h"

/* The reply to EXEC: what SETNX and EXPIRE answered. */
static enum rdl_outcome setnx_and_expire(struct rr_client *client, struct rdl_reply *executed)
{
	struct rdl_link *link = client->data;
	enum rdl_outcome outcome = rdl_queue(link, "MULTI");

	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "SETNX %s 1", client->lock);
	if (outcome == RDL_OK) /* RACE: if SETNX is refused, too (IN-6) */
		outcome = rdl_queue(link, "EXPIRE %s %ld", client->lock, client->ttl_ms / 1000);
	return outcome == RDL_OK ? rdl_exec(link, 3, executed) : outcome;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply executed;
	const enum rdl_outcome outcome = setnx_and_expire(client, &executed);

	if (outcome != RDL_OK)
		return outcome;
	if (executed.type != RDL_REPLY_ARRAY || executed.length != 2)
		return RDL_ERROR;
	return executed.elements[0].integer == 1 ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx_expire_multi = {
	.name = "setnx-expire-multi",
	.summary = "MULTI, SETNX, EXPIRE, EXEC, GET, SET, DEL",
	.document = "004",
	.group = RR_REPAIRED,
	.lock = { .kind = RR_LOCK_KEY, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
