/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock of setnx-getset.c with the advice of document 000: the
 * holder looks at the lock before it deletes it.
 *
 * 	A> SETNX lock now+timeout+1   => 1: held
 * 	A> GET counter, SET counter
 * 	A> GET lock                   => what A wrote, and later than now
 * 	A> DEL lock
 * 	                              => anything else: not A's any more, leave it
 *
 * Guarantees: what setnx-getset does; and a holder that has noticed that it was
 * too slow leaves its successor's lock alone (GS-6).
 * Does not guarantee: that nothing happens between GET and DEL. A holder that
 * stalls there deletes its successor's lock all the same (GS-7).
 */
#include <stdlib.h>

#include "timestamp.h"

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = calloc(1, sizeof(long long)); /* the end we wrote */
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	return rr_timestamp_acquire(client, client->state);
}

/* Is it what we wrote, and not run out yet? */
static bool is_ours(const struct rr_client *client, const struct rdl_reply *reply)
{
	const long long *written_s = client->state;
	long long end_s;

	return rdl_reply_number(reply, &end_s) && end_s == *written_s &&
	       !rr_timestamp_is_dead(client, reply);
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "GET %s", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	if (!is_ours(client, &reply))
		return RDL_LOST;
	/* RACE: it may have become somebody else's since the GET (GS-7) */
	return rdl_run(client->data, &reply, "DEL %s", client->lock);
}

static void close_lock(struct rr_client *client)
{
	free(client->state);
}

const struct rr_strategy rr_setnx_getset_checked = {
	.name = "setnx-getset-checked",
	.summary = "SETNX timestamp, GET, GETSET, ..., GET, compare, DEL",
	.document = "000",
	.group = RR_REPAIRED,
	.lock = { .kind = RR_LOCK_TIMESTAMP, .lease = RR_LEASE_IN_SECONDS },
	.wait = { .min_us = 400, .max_us = 5000 },
	.open = open_lock,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
	.close = close_lock,
};
