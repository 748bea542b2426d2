/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock of documents 000 and 003: the key holds the second at
 * which the lock runs out, and GETSET decides who may take over a dead one.
 *
 *	C4> SETNX lock now+timeout+1    => 1: held
 *	                                => 0: somebody else's; look at it
 *	C4> GET lock                    => later than now: alive, wait
 *	                                => nil: just released, SETNX again
 *	                                => earlier than now: dead, take over
 *	C4> GETSET lock now+timeout+1   => earlier than now: held
 *	                                => anything else, nil too: retry
 *	...
 *	C4> DEL lock
 *
 * Guarantees: one holder while clocks agree, nobody stalls and every holder
 * is faster than its lease.
 * Does not guarantee: anything else. A GETSET that answers nil has created a
 * lock that nobody holds (GS-3); a stalled loser writes an older timestamp
 * over a live lock (GS-4); a slow holder deletes its successor's (GS-6).
 */
#include "strategy.h"

static long long now_s(const struct rr_client *client)
{
	return rl_now_ns(client->data, RL_CLOCK_REALTIME) / 1000000000;
}

/* now + timeout + 1: whole seconds, so one more for the begun one (GS-9). */
static long long lease_end_s(const struct rr_client *client)
{
	return now_s(client) + client->ttl_ms / 1000 + 1;
}

static bool is_dead(const struct rr_client *client, const struct rl_reply *end)
{
	long long end_s;

	return rl_reply_number(end, &end_s) && end_s < now_s(client);
}

/* RACE: the answer comes after the write has been done (GS-3, GS-4). */
static enum rl_outcome take_over(struct rr_client *client)
{
	struct rl_reply previous;
	const enum rl_outcome outcome =
		rl_run(client->data, &previous, "GETSET %s %lld", client->lock,
		       lease_end_s(client));

	if (outcome != RL_OK)
		return outcome;
	return is_dead(client, &previous) ? RL_OK : RL_BUSY;
}

static enum rl_outcome acquire(struct rr_client *client)
{
	struct rl_reply reply;
	enum rl_outcome outcome = rl_run(client->data, &reply, "SETNX %s %lld",
					 client->lock, lease_end_s(client));

	if (outcome != RL_OK || reply.integer == 1)
		return outcome;
	outcome = rl_run(client->data, &reply, "GET %s", client->lock);
	if (outcome != RL_OK)
		return outcome;
	return is_dead(client, &reply) ? take_over(client) : RL_BUSY;
}

static enum rl_outcome release(struct rr_client *client)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy rr_setnx_getset = {
	.name = "setnx-getset",
	.summary = "SETNX timestamp, GET, GETSET, ..., DEL",
	.document = "000, 003",
	.promise = {
		[RR_THREADS] = RR_EXACT,
		[RR_PROCESSES] = RR_EXACT,
		[RR_FAULTS] = RR_LOSSY,
	},
	.wait = { .min_us = 400, .max_us = 5000 },
	.round_trips = 4,
	.has_lease = true,
	.lease_in_seconds = true,
	.acquire = acquire,
	.increment = rr_get_add_set,
	.release = release,
};
