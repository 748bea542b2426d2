/* SPDX-License-Identifier: MIT */
#include "attempt.h"

#include <stdio.h>

static void tell(const struct rr_attempt *attempt, void (*hook)(void *context))
{
	if (hook)
		hook(attempt->context);
}

static bool is_confirmed(const struct rr_attempt *attempt)
{
	return !attempt->hooks->confirm || attempt->hooks->confirm(attempt->context);
}

/* The increment's write was answered, or was not. */
static enum rdl_outcome acknowledge(const struct rr_attempt *attempt, enum rdl_outcome outcome)
{
	if (outcome == RDL_OK && !is_confirmed(attempt))
		return RDL_UNKNOWN;
	if (outcome == RDL_OK)
		tell(attempt, attempt->hooks->acknowledge);
	return outcome;
}

enum rdl_outcome rr_attempt_make(struct rr_attempt *attempt)
{
	const struct rr_strategy *strategy = attempt->strategy;
	const struct rr_attempt_hooks *hooks = attempt->hooks;
	enum rdl_outcome outcome;

	attempt->released = RDL_OK;
	if (!strategy->acquire)
		return acknowledge(attempt, strategy->increment(attempt->client));
	outcome = strategy->acquire(attempt->client);
	if (outcome == RDL_OK && !is_confirmed(attempt)) {
		attempt->released = strategy->release(attempt->client);
		outcome = RDL_BUSY;
	}
	attempt->entered = outcome == RDL_OK;
	if (outcome != RDL_OK)
		return outcome == RDL_UNKNOWN ? RDL_LOST : outcome;
	tell(attempt, hooks->enter);
	rdl_mark(attempt->client->data, RDL_MARK_ENTER);
	outcome = hooks->increment ? hooks->increment(attempt->context) :
				     strategy->increment(attempt->client);
	if (!strategy->writes_at_release)
		outcome = acknowledge(attempt, outcome);
	rdl_mark(attempt->client->data, RDL_MARK_LEAVE);
	tell(attempt, hooks->leave);
	attempt->released = strategy->release(attempt->client);
	if (outcome == RDL_OK && strategy->writes_at_release)
		return acknowledge(attempt, attempt->released);
	return outcome;
}

/* ---- Between attempts ------------------------------------------------------ */

const char *const rr_policy_names[RR_POLICIES] = {
	[RR_POLICY_BACKOFF] = "backoff",
	[RR_POLICY_FAIL_FAST] = "fail-fast",
	[RR_POLICY_SLEEP] = "sleep",
	[RR_POLICY_DELAY_QUEUE] = "delay-queue",
};

static bool refuses(const struct rr_strategy *strategy)
{
	return strategy->wait.max_us > 0;
}

enum rr_policy rr_policy_for(enum rr_policy asked, const struct rr_strategy *strategy)
{
	return refuses(strategy) ? asked : RR_POLICY_BACKOFF;
}

const char *rr_policy_objection(enum rr_policy asked, const struct rr_strategy *strategy,
				long kills)
{
	const bool can_be_put_off = strategy->acquire && strategy->increment == rr_get_add_set;

	if (asked != RR_POLICY_BACKOFF && strategy->lock.kind == RR_LOCK_QUEUE)
		return "its clients wait in line and are woken";
	if (kills && !refuses(strategy))
		return "it never refuses a client, so no increment is queued and no worker can be killed at one";
	if (asked == RR_POLICY_DELAY_QUEUE && refuses(strategy) && !can_be_put_off)
		return "only GET, SET inside a lock can be queued";
	return NULL;
}

const char *rr_policy_text(enum rr_policy policy, const struct rr_strategy *strategy,
			   char text[RR_POLICY_TEXT_SIZE])
{
	const struct rr_wait *wait = &strategy->wait;

	if (!refuses(strategy))
		snprintf(text, RR_POLICY_TEXT_SIZE, "none");
	else if (policy == RR_POLICY_BACKOFF)
		snprintf(text, RR_POLICY_TEXT_SIZE, "backoff:%ld-%ldus", wait->min_us,
			 wait->max_us);
	else if (policy == RR_POLICY_SLEEP)
		snprintf(text, RR_POLICY_TEXT_SIZE, "sleep:%ldus", wait->min_us);
	else
		snprintf(text, RR_POLICY_TEXT_SIZE, "%s", rr_policy_names[policy]);
	return text;
}

int64_t rr_policy_wait_ns(enum rr_policy policy, const struct rr_wait *wait, uint64_t refusals,
			  struct rr_random *random)
{
	const int doublings = refusals < 20 ? (int)refusals : 20;
	int64_t limit_us = (int64_t)wait->min_us << doublings;

	if (policy == RR_POLICY_SLEEP)
		return wait->min_us * INT64_C(1000);
	if (limit_us > wait->max_us)
		limit_us = wait->max_us;
	if (limit_us == 0)
		return 0;
	return limit_us * 500 + (int64_t)rr_random_below(random, (uint64_t)limit_us * 500);
}
