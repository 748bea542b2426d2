/* SPDX-License-Identifier: MIT */
/* Locks that use keys of their own: tokens, queues, signs of life. */
#include <stdio.h>
#include <string.h>

#include "strangers.h"

#define ONE_EACH                   \
	(struct rr_explore_config) \
	{                          \
		.increments = 1    \
	}

static enum rdl_outcome set_lock(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "SET %s 1 NX PX %ld",
						 client->lock, client->ttl_ms);

	if (outcome != RDL_OK)
		return outcome;
	return reply.type == RDL_REPLY_STATUS ? RDL_OK : RDL_BUSY;
}

/* ---- A lock beside the lock's key ------------------------------------------ */

static enum rdl_outcome set_mine(struct rr_client *client)
{
	unsigned char token[4];
	struct rdl_reply reply;
	char key[100], text[16];
	enum rdl_outcome outcome;

	if (!rdl_random(client->data, token, sizeof(token)))
		return RDL_ERROR;
	snprintf(key, sizeof(key), "%s:mine", client->lock);
	snprintf(text, sizeof(text), "%02x%02x%02x%02x", token[0], token[1], token[2], token[3]);
	outcome = rdl_run(client->data, &reply, "SET %s %s NX PX %ld", key, text, client->ttl_ms);
	if (outcome != RDL_OK)
		return outcome;
	return reply.type == RDL_REPLY_STATUS ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome delete_mine(struct rr_client *client)
{
	struct rdl_reply reply;
	char key[100];

	snprintf(key, sizeof(key), "%s:mine", client->lock);
	return rdl_run(client->data, &reply, "DEL %s", key);
}

Test(strangers, lock_on_a_key_of_its_own_survives_a_crash)
{
	struct rr_strategy strategy = stranger_named("mine", set_mine);

	strategy.lock.lease = RR_LEASE_IN_MS;
	strategy.release = delete_mine;
	stranger_assert(&strategy, ONE_EACH, 0);
	stranger_assert(&strategy, ONE_CRASH, 0);
	stranger_assert(&strategy,
			(struct rr_explore_config){ .budget.of[RR_PAUSES] = 1, .separate = true },
			RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION);
}

/* ---- Many keys --------------------------------------------------------------- */

static enum rdl_outcome look_around(struct rr_client *client)
{
	enum rdl_outcome outcome = RDL_OK;
	struct rdl_reply reply;
	char key[20];

	for (int i = 0; i < 34 && outcome == RDL_OK; i++) {
		snprintf(key, sizeof(key), "other:%d", i);
		outcome = rdl_run(client->data, &reply, "EXISTS %s", key);
	}
	if (outcome == RDL_OK)
		outcome = rdl_run(client->data, &reply, "SETNX %s 1", client->lock);
	return stranger_won(outcome, &reply);
}

static enum rdl_outcome keep(struct rr_client *client)
{
	(void)client;
	return RDL_OK;
}

Test(strangers, deadlock_behind_many_other_keys)
{
	struct rr_strategy strategy = stranger_named("many-keys", look_around);

	stranger_assert(&strategy, ONE_EACH, 0);
	stranger_assert(&strategy, ONE_CRASH, RR_DEADLOCKS);
	strategy.release = keep;
	stranger_assert(&strategy, ONE_EACH, RR_DEADLOCKS);
}

/* ---- Signs of life ----------------------------------------------------------- */

static long sign_ms;

/* What somebody who was refused does besides. */
static enum rdl_outcome busy_after(enum rdl_outcome outcome)
{
	return outcome == RDL_UNKNOWN ? RDL_UNKNOWN : RDL_BUSY;
}

/* Who waits says so, with a lease that ends before the lock's or with it. */
static enum rdl_outcome set_or_give_a_sign(struct rr_client *client)
{
	const enum rdl_outcome outcome = set_lock(client);
	struct rdl_reply reply;

	return outcome != RDL_BUSY ?
		       outcome :
		       busy_after(rdl_run(client->data, &reply, "SET waiting 1 PX %ld", sign_ms));
}

Test(strangers, sign_of_a_waiter_keeps_nobody_waiting)
{
	struct rr_strategy strategy = stranger_named("signs-of-life", set_or_give_a_sign);

	strategy.lock.lease = RR_LEASE_IN_MS;
	for (sign_ms = 1000; sign_ms <= 25000; sign_ms *= 5) {
		stranger_assert(&strategy, ONE_EACH, 0);
		stranger_assert(&strategy, ONE_CRASH, 0);
	}
}

/* Who is refused puts the lock's own end off. */
static enum rdl_outcome set_or_renew(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = set_lock(client);

	if (outcome == RDL_BUSY)
		outcome = busy_after(rdl_run(client->data, &reply, "PEXPIRE %s %ld", client->lock,
					     client->ttl_ms));
	return outcome;
}

Test(strangers, waiter_that_puts_the_end_off_starves)
{
	struct rr_strategy strategy = stranger_named("renewed-by-all", set_or_renew);

	strategy.lock.lease = RR_LEASE_IN_MS;
	stranger_assert(&strategy, ONE_EACH, 0);
	stranger_assert(&strategy, ONE_CRASH, RR_STARVES);
}

/* Who is refused looks elsewhere many times before it gives up. */
static enum rdl_outcome set_or_look_around(struct rr_client *client)
{
	const enum rdl_outcome outcome = set_lock(client);
	struct rdl_reply reply;

	for (int i = 0; i < 450 && outcome == RDL_BUSY; i++) {
		if (rdl_run(client->data, &reply, "EXISTS other") != RDL_OK)
			return RDL_ERROR;
	}
	return outcome;
}

Test(strangers, attempt_of_many_steps_is_refused_like_any_other)
{
	struct rr_strategy strategy = stranger_named("looks-around", set_or_look_around);

	strategy.lock.lease = RR_LEASE_IN_MS;
	stranger_assert(&strategy, ONE_EACH, 0);
	stranger_assert(&strategy, ONE_CRASH, 0);
}

/* ---- Tokens ------------------------------------------------------------------ */

static const char *fill_command, *pop_command, *give_command;

static enum rdl_outcome fill(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX filled 1");

	if (outcome != RDL_OK || reply.integer == 0)
		return outcome;
	return rdl_run(client->data, &reply, "%s tokens 1", fill_command);
}

static enum rdl_outcome pop(struct rr_client *client)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (pop_command[0] == 'B')
		outcome = rdl_run(client->data, &reply, "%s tokens 30", pop_command);
	else
		outcome = rdl_run(client->data, &reply, "%s tokens", pop_command);
	if (outcome != RDL_OK)
		return outcome;
	return reply.type == RDL_REPLY_NIL ? RDL_BUSY : RDL_OK;
}

static enum rdl_outcome give(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "%s tokens 1", give_command);
}

static struct rr_strategy tokens(const char *name, const char *put, const char *take)
{
	fill_command = give_command = put;
	pop_command = take;
	return (struct rr_strategy){
		.name = name,
		.lock = { .kind = RR_LOCK_KEY },
		.open = fill,
		.acquire = pop,
		.increment = rr_get_add_set,
		.release = give,
	};
}

Test(strangers, token_in_a_list)
{
	const struct rr_strategy strategy = tokens("lpop", "RPUSH", "LPOP");

	stranger_assert(&strategy, ONE_EACH, 0);
	stranger_assert(&strategy, ONE_CRASH, RR_DEADLOCKS);
}

Test(strangers, token_that_is_waited_for)
{
	const struct rr_strategy strategy = tokens("blpop", "RPUSH", "BLPOP");

	stranger_assert(&strategy, ONE_EACH, 0);
	stranger_assert(&strategy, ONE_CRASH, RR_DEADLOCKS);
}

/* Which member it takes is the server's choice: what was not seen may be wrong. */
Test(strangers, random_replies_are_never_called_safe)
{
	const struct rr_strategy strategy = tokens("spop", "SADD", "SPOP");
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&strategy, ONE_EACH, &result), RR_EXIT_OK, "%s",
		     result.error.text);
	cr_expect_eq(result.breaks, 0);
	cr_expect_eq(result.explored, RR_EXPLORED_RANDOM_REPLIES);
	cr_expect_str_eq(result.random_command, "SPOP");
	cr_expect_not(stranger_is_safe(&result));
	rr_explore_release(&result);
}

/* ---- Lock servers ------------------------------------------------------------- */

static enum rdl_outcome set_on_server(struct rr_client *client)
{
	struct rdl_reply reply;

	if (rdl_run(client->lock_nodes[0], &reply, "SET %s 1 NX PX %ld", client->lock,
		    client->ttl_ms) != RDL_OK)
		return RDL_ERROR;
	return reply.type == RDL_REPLY_STATUS ? RDL_OK : RDL_BUSY;
}

/* Whoever's it is. */
static enum rdl_outcome delete_on_server(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->lock_nodes[0], &reply, "DEL %s", client->lock);
}

/* What another one's DEL removes there a real server has removed, too: the path is gone
 * again, and its data are compared. A race of the data server alone does not show it. */
Test(strangers, anothers_lock_on_a_lock_server_is_removed)
{
	struct rr_strategy strategy = stranger_named("on-a-server", set_on_server);

	strategy.lock.servers = 1;
	strategy.lock.lease = RR_LEASE_IN_MS;
	strategy.release = delete_on_server;
	stranger_assert(&strategy,
			(struct rr_explore_config){ .budget.of[RR_PAUSES] = 1,
						    .separate = true,
						    .shows = RR_BREAKS_OWNERSHIP },
			RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION | RR_BREAKS_OWNERSHIP);
}
