/* SPDX-License-Identifier: MIT */
/* The counter that every strategy adds to. */
#include "strategy.h"

bool rr_count_of(const struct rl_reply *reply, long long *value)
{
	*value = 0;
	return rl_reply_is_nil(reply) || rl_reply_number(reply, value);
}

enum rl_outcome rr_get_counter(struct rr_client *client, long long *value)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->data, &reply, "GET %s", client->counter);

	if (outcome != RL_OK)
		return outcome;
	return rr_count_of(&reply, value) ? RL_OK : RL_ERROR;
}

enum rl_outcome rr_set_counter(struct rr_client *client, long long value)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "SET %s %lld", client->counter, value);
}

enum rl_outcome rr_set_in_transaction(struct rr_client *client, long long value)
{
	struct rl_link *link = client->data;
	struct rl_reply executed;
	enum rl_outcome outcome = rl_queue(link, "MULTI");

	if (outcome == RL_OK)
		outcome = rl_queue(link, "SET %s %lld", client->counter, value);
	if (outcome == RL_OK)
		outcome = rl_exec(link, 2, &executed);
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&executed) ? RL_BUSY : RL_OK;
}

void rr_work(struct rr_client *client)
{
	if (client->hold_us > 0)
		rl_sleep_ns(client->data, client->hold_us * INT64_C(1000));
}

enum rl_outcome rr_get_add_set(struct rr_client *client)
{
	long long value;
	enum rl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RL_OK)
		return outcome;
	rr_work(client);
	return rr_set_counter(client, value + 1);
}
