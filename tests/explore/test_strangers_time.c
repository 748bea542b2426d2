/* SPDX-License-Identifier: MIT */
/* Locks whose time is over when their value says so: no key of theirs ever expires. */
#include "strangers.h"

static long long lease_s;

static long long now_s(const struct rr_client *client)
{
	return rdl_now_ns(client->data, RDL_CLOCK_REALTIME) / 1000000000;
}

/* Is what was answered a time that is over? */
static bool is_over(const struct rr_client *client, const struct rdl_reply *reply)
{
	long long end_s;

	return rdl_reply_number(reply, &end_s) && end_s < now_s(client);
}

/* SETNX of the time at which the lock ends; one whose time is over is replaced. */
static enum rdl_outcome take_until(struct rr_client *client)
{
	const long long end_s = now_s(client) + lease_s;
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX %s %lld", client->lock,
					   end_s);

	if (outcome != RDL_OK || reply.integer == 1)
		return outcome;
	outcome = rdl_run(client->data, &reply, "GET %s", client->lock);
	if (outcome != RDL_OK || !is_over(client, &reply))
		return outcome != RDL_OK ? outcome : RDL_BUSY;
	outcome = rdl_run(client->data, &reply, "GETSET %s %lld", client->lock, end_s);
	return outcome != RDL_OK || is_over(client, &reply) ? outcome : RDL_BUSY;
}

/* On a real server too the next one comes in when the time is over: the paths that are
 * played for the verdict let so much of it pass. */
Test(strangers, lock_whose_value_says_when_it_ends_is_no_deadlock, .timeout = 600)
{
	static const long long leases_s[] = { 1, 60, 600, 80000 };
	const struct rr_strategy strategy = stranger_named("until", take_until);

	for (size_t i = 0; i < sizeof(leases_s) / sizeof(leases_s[0]); i++) {
		lease_s = leases_s[i];
		stranger_assert(&strategy, ONE_CRASH, 0);
	}
}

/* Nobody waits for longer than a day. */
Test(strangers, lock_that_ends_after_days_is_a_deadlock)
{
	const struct rr_strategy strategy = stranger_named("for-days", take_until);

	lease_s = 3L * 24 * 60 * 60;
	stranger_assert(&strategy, ONE_CRASH, RR_DEADLOCKS);
}
