/* SPDX-License-Identifier: MIT */
#include "attempt.h"

static void tell(const struct rr_attempt *attempt, void (*hook)(void *context))
{
	if (hook)
		hook(attempt->context);
}

/* The increment's write was answered, or was not. */
static enum rl_outcome acknowledge(const struct rr_attempt *attempt,
				   enum rl_outcome outcome)
{
	if (outcome == RL_OK)
		tell(attempt, attempt->hooks->acknowledge);
	return outcome;
}

static enum rl_outcome increment_inside(const struct rr_attempt *attempt)
{
	const struct rr_attempt_hooks *hooks = attempt->hooks;
	enum rl_outcome outcome;

	tell(attempt, hooks->enter);
	rl_mark(attempt->client->data, RL_MARK_ENTER);
	outcome = hooks->increment ?
			  hooks->increment(attempt->context) :
			  attempt->strategy->increment(attempt->client);
	if (!attempt->strategy->writes_at_release)
		acknowledge(attempt, outcome);
	rl_mark(attempt->client->data, RL_MARK_LEAVE);
	tell(attempt, hooks->leave);
	return outcome;
}

enum rl_outcome rr_attempt_make(struct rr_attempt *attempt)
{
	const struct rr_strategy *strategy = attempt->strategy;
	enum rl_outcome outcome;

	attempt->released = RL_OK;
	if (!strategy->acquire)
		return acknowledge(attempt,
				   strategy->increment(attempt->client));
	outcome = strategy->acquire(attempt->client);
	attempt->entered = outcome == RL_OK;
	if (outcome != RL_OK)
		return outcome == RL_UNKNOWN ? RL_LOST : outcome;
	outcome = increment_inside(attempt);
	attempt->released = strategy->release(attempt->client);
	if (outcome == RL_OK && strategy->writes_at_release)
		return acknowledge(attempt, attempt->released);
	return outcome;
}
