/* SPDX-License-Identifier: MIT */
/* What the timestamp locks have in common. */
#include "timestamp.h"

static long long now_s(const struct rr_client *client)
{
	return rl_now_ns(client->data, RL_CLOCK_REALTIME) / 1000000000;
}

/* now + timeout + 1: whole seconds, so one more for the begun one (GS-9). */
long long rr_timestamp_end_s(const struct rr_client *client)
{
	return now_s(client) + client->ttl_ms / 1000 + 1;
}

bool rr_timestamp_is_dead(const struct rr_client *client, const struct rl_reply *end)
{
	long long end_s;

	return rl_reply_number(end, &end_s) && end_s < now_s(client);
}

enum rl_outcome rr_timestamp_set(struct rr_client *client, long long end_s)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->data, &reply, "SETNX %s %lld", client->lock,
					       end_s);

	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_BUSY;
}

enum rl_outcome rr_timestamp_find_dead(struct rr_client *client)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->data, &reply, "GET %s", client->lock);

	if (outcome != RL_OK)
		return outcome;
	return rr_timestamp_is_dead(client, &reply) ? RL_OK : RL_BUSY;
}

/* RACE: the answer comes after the write has been done (GS-3, GS-4). */
static enum rl_outcome take_over(struct rr_client *client, long long end_s)
{
	struct rl_reply previous;
	const enum rl_outcome outcome = rl_run(client->data, &previous, "GETSET %s %lld",
					       client->lock, end_s);

	if (outcome != RL_OK)
		return outcome;
	return rr_timestamp_is_dead(client, &previous) ? RL_OK : RL_BUSY;
}

enum rl_outcome rr_timestamp_acquire(struct rr_client *client, long long *end_s)
{
	enum rl_outcome outcome;

	*end_s = rr_timestamp_end_s(client);
	outcome = rr_timestamp_set(client, *end_s);
	if (outcome != RL_BUSY)
		return outcome;
	outcome = rr_timestamp_find_dead(client);
	if (outcome != RL_OK)
		return outcome;
	*end_s = rr_timestamp_end_s(client);
	return take_over(client, *end_s);
}
