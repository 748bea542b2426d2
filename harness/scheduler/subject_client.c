/* SPDX-License-Identifier: MIT */
/* What a client of a subject does: one increment after another. */
#include "policy.h"
#include "subject_inside.h"

bool rr_subject_is_dead(const struct rr_subject_client *client)
{
	return rr_gate_is_dead(client->subject->gate, client->number);
}

static bool enter(struct rr_subject_client *client)
{
	if (rr_subject_is_dead(client))
		return false;
	if (client->subject->inside++ > 0)
		client->subject->overlaps++;
	rl_mark(client->client.data, RL_MARK_ENTER);
	return true;
}

static void leave(struct rr_subject_client *client)
{
	rl_mark(client->client.data, RL_MARK_LEAVE);
	client->subject->inside--;
}

/* The increment's write was answered, or was not. */
static enum rl_outcome acknowledge(struct rr_subject_client *client,
				   enum rl_outcome outcome)
{
	if (outcome == RL_OK && !rr_subject_is_dead(client))
		client->acknowledged++;
	return outcome;
}

static enum rl_outcome attempt_locked(struct rr_subject_client *client)
{
	const struct rr_strategy *strategy = client->subject->config.strategy;
	enum rl_outcome outcome = strategy->acquire(&client->client);
	enum rl_outcome released;
	bool inside;

	client->entered = outcome == RL_OK;
	if (outcome != RL_OK)
		return outcome == RL_UNKNOWN ? RL_LOST : outcome;
	inside = enter(client);
	outcome = strategy->increment(&client->client);
	if (!strategy->writes_at_release)
		acknowledge(client, outcome);
	if (inside)
		leave(client);
	released = strategy->release(&client->client);
	if (outcome == RL_OK && strategy->writes_at_release)
		return acknowledge(client, released);
	return outcome;
}

static enum rl_outcome attempt(struct rr_subject_client *client)
{
	const struct rr_strategy *strategy = client->subject->config.strategy;

	if (strategy->acquire)
		return attempt_locked(client);
	return acknowledge(client, strategy->increment(&client->client));
}

static bool was_refused(const struct rr_subject_client *client,
			enum rl_outcome outcome)
{
	const struct rr_subject_config *config = &client->subject->config;

	if (outcome == RL_UNKNOWN && config->repeats)
		return true;
	return rr_was_refused(config->strategy, outcome, client->entered);
}

/* Tries until it is neither refused nor dead. A wait is always as long, so that
 * a run can be repeated. */
static enum rl_outcome insist(struct rr_subject_client *client)
{
	const struct rr_wait *wait = &client->subject->config.strategy->wait;
	enum rl_outcome outcome = attempt(client);

	while (was_refused(client, outcome) && !rr_subject_is_dead(client)) {
		rl_sleep_ns(client->client.data,
			    rr_policy_wait_ns(RR_POLICY_SLEEP, wait, 0, NULL));
		outcome = attempt(client);
	}
	return outcome;
}

static void note(struct rr_subject_client *client, enum rl_outcome outcome)
{
	if (outcome == RL_OK)
		client->tally.ok++;
	else if (rr_subject_is_dead(client))
		client->tally.cut++;
	else if (outcome == RL_UNKNOWN)
		client->tally.unknown++;
	else
		client->tally.failed++;
}

void rr_subject_count_up(void *argument)
{
	struct rr_subject_client *client = argument;

	for (long i = 0; i < client->increments && !rr_subject_is_dead(client); i++)
		note(client, insist(client));
}
