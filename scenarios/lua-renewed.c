/* SPDX-License-Identifier: MIT */
/*
 * The token lock with a watchdog, as document 002 asks for: while the work goes
 * on, a second thread extends the lease. It is libredislock's rdl_renewed.
 *
 *	A> SET lock 6f1c... NX PX 10000          => OK
 *	   every third of a lease, on a connection of its own:
 *	A'> EVAL "if GET(lock) == 6f1c... then PEXPIRE(lock, 10000)"  => 1
 *	A> GET counter, work, still held? SET counter
 *	   the watchdog is stopped, and has ended
 *	A> compare-and-delete                    => 1
 *
 * Guarantees: work may take longer than a lease, up to LEASES_MAX of them; a
 * holder that crashes takes its watchdog along, and the lease runs out.
 * Does not guarantee: anything for a holder that stands still together with
 * its watchdog, after it looked and before its write arrives (TL-16).
 */
#include "strategy.h"

enum { LEASES_MAX = 10 };

static enum rdl_outcome open_lock(struct rr_client *client)
{
	client->state = rdl_renewed_new(client->data, client->lock, LEASES_MAX * client->ttl_ms);
	return client->state ? RDL_OK : RDL_ERROR;
}

static enum rdl_outcome acquire(struct rr_client *client)
{
	return rdl_renewed_try(client->state, client->ttl_ms);
}

static enum rdl_outcome increment(struct rr_client *client)
{
	long long value;
	enum rdl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client);
	if (rdl_renewed_check(client->state) != RDL_OK)
		return RDL_BUSY; /* lost: nothing is stored, all over again */
	return rr_set_counter(client, value + 1);
}

static enum rdl_outcome release(struct rr_client *client)
{
	return rdl_renewed_release(client->state);
}

static void close_lock(struct rr_client *client)
{
	rdl_renewed_free(client->state);
}

const struct rr_strategy rr_lua_renewed = {
	.name = "lua-renewed",
	.summary = "lua-delifequals, and a thread that extends the lease",
	.document = "002",
	.group = RR_REPAIRED,
	.lock = {
		.kind = RR_LOCK_KEY,
		.lease = RR_LEASE_IN_MS,
		.leases_max = LEASES_MAX,
		.has_renewer = true,
	},
	.wait = { .min_us = 400, .max_us = 5000 },
	.connections = 1,
	.open = open_lock,
	.acquire = acquire,
	.increment = increment,
	.release = release,
	.close = close_lock,
};
