/* SPDX-License-Identifier: MIT */
/* What the timestamp locks have in common. */
#include "timestamp.h"

static long long now_s(const struct rr_client *client)
{
	return rdl_now_ns(client->data, RDL_CLOCK_REALTIME) / 1000000000;
}

/* now + timeout + 1: whole seconds, so one more for the begun one (GS-9). */
long long rr_timestamp_end_s(const struct rr_client *client)
{
	return now_s(client) + client->ttl_ms / 1000 + 1;
}

bool rr_timestamp_is_dead(const struct rr_client *client, const struct rdl_reply *end)
{
	long long end_s;

	return rdl_reply_number(end, &end_s) && end_s < now_s(client);
}

enum rdl_outcome rr_timestamp_set(struct rr_client *client, long long end_s)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX %s %lld",
						 client->lock, end_s);

	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? RDL_OK : RDL_BUSY;
}

enum rdl_outcome rr_timestamp_find_dead(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "GET %s", client->lock);

	if (outcome != RDL_OK)
		return outcome;
	return rr_timestamp_is_dead(client, &reply) ? RDL_OK : RDL_BUSY;
}

/* RACE: the answer comes after the write has been done (GS-3, GS-4). */
static enum rdl_outcome take_over(struct rr_client *client, long long end_s)
{
	struct rdl_reply previous;
	const enum rdl_outcome outcome = rdl_run(client->data, &previous, "GETSET %s %lld",
						 client->lock, end_s);

	if (outcome != RDL_OK)
		return outcome;
	return rr_timestamp_is_dead(client, &previous) ? RDL_OK : RDL_BUSY;
}

enum rdl_outcome rr_timestamp_acquire(struct rr_client *client, long long *end_s)
{
	enum rdl_outcome outcome;

	*end_s = rr_timestamp_end_s(client);
	outcome = rr_timestamp_set(client, *end_s);
	if (outcome != RDL_BUSY)
		return outcome;
	outcome = rr_timestamp_find_dead(client);
	if (outcome != RDL_OK)
		return outcome;
	*end_s = rr_timestamp_end_s(client);
	return take_over(client, *end_s);
}
