/* SPDX-License-Identifier: MIT */
/* The counter that every strategy adds to. */
#include "strategy.h"

bool rr_count_of(const struct rdl_reply *reply, long long *value)
{
	*value = 0;
	return rdl_reply_is_nil(reply) || rdl_reply_number(reply, value);
}

enum rdl_outcome rr_get_counter(struct rr_client *client, long long *value)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "GET %s", client->counter);

	if (outcome != RDL_OK)
		return outcome;
	return rr_count_of(&reply, value) ? RDL_OK : RDL_ERROR;
}

enum rdl_outcome rr_set_counter(struct rr_client *client, long long value)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "SET %s %lld", client->counter, value);
}

enum rdl_outcome rr_set_in_transaction(struct rr_client *client, long long value)
{
	struct rdl_link *link = client->data;
	struct rdl_reply executed;
	enum rdl_outcome outcome = rdl_queue(link, "MULTI");

	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "SET %s %lld", client->counter, value);
	if (outcome == RDL_OK)
		outcome = rdl_exec(link, 2, &executed);
	if (outcome != RDL_OK)
		return outcome;
	return rdl_reply_is_nil(&executed) ? RDL_BUSY : RDL_OK;
}

void rr_work(struct rr_client *client)
{
	if (client->hold_us > 0)
		rdl_sleep_ns(client->data, client->hold_us * INT64_C(1000));
}

enum rdl_outcome rr_get_add_set(struct rr_client *client)
{
	long long value;
	enum rdl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client);
	return rr_set_counter(client, value + 1);
}
