/* SPDX-License-Identifier: MIT */
/* Asking for a fair lock and standing in its line until it is held. */
#include "driver.h"
#include "fair.h"

static int64_t left_ns(const struct rl_fair *fair, int64_t deadline_ns)
{
	return deadline_ns - rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
}

/* Whatever leaving found: the lock may have come to us in the meantime. */
static enum rl_outcome give_up(struct rl_fair *fair)
{
	enum rl_outcome outcome = RL_OK;

	if (fair->in_line)
		outcome = rl_fair_leave_line(fair);
	if (outcome == RL_UNKNOWN)
		outcome = rl_fair_leave_line(fair);
	fair->hold.waiting_ns = 0;
	return outcome == RL_OK || outcome == RL_LOST ? RL_BUSY : outcome;
}

/* Asks, and waits until it is time to ask again. */
static enum rl_outcome ask_and_stand(struct rl_fair *fair, long ttl_ms,
				     const struct rl_policy *policy,
				     int64_t deadline_ns)
{
	enum rl_outcome outcome = rl_fair_try(fair, ttl_ms);

	if (outcome == RL_BUSY && left_ns(fair, deadline_ns) > 0)
		outcome = rl_fair_stand(fair, left_ns(fair, deadline_ns),
					policy->cancel_fd);
	if (outcome != RL_OK ||
	    rl_hold_remaining_ms(&fair->hold) >= policy->least_ms)
		return outcome;
	rl_fair_release(fair);
	return RL_BUSY;
}

/* In line there is nothing to wait for any more. Out of it, after a lease that
 * was too short, it takes a pause: the next one might come as fast. */
static bool goes_on(struct rl_fair *fair, const struct rl_policy *policy,
		    unsigned n, int64_t deadline_ns)
{
	if (!fair->in_line)
		return rl_pause(fair->link, policy, n, deadline_ns);
	if (policy->cancel_fd && rl_wait(fair->link, policy->cancel_fd, 0))
		return false;
	return left_ns(fair, deadline_ns) > 0;
}

enum rl_outcome rl_fair_acquire(struct rl_fair *fair, long ttl_ms,
				const struct rl_policy *policy)
{
	const struct rl_policy once = { 0 };
	const int64_t start_ns = rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
	int64_t deadline_ns;

	policy = policy ? policy : &once;
	deadline_ns = start_ns + rl_fair_wait_ns(policy->wait_ms);
	for (unsigned n = 0;; n++) {
		enum rl_outcome outcome;

		if (rl_hold_remaining_ms(&fair->hold) > 0 && !fair->giving_back)
			return RL_BUSY;
		if (!fair->hold.waiting_ns)
			fair->hold.waiting_ns = start_ns;
		outcome = ask_and_stand(fair, ttl_ms, policy, deadline_ns);
		if (outcome != RL_BUSY)
			return outcome;
		if (!goes_on(fair, policy, n, deadline_ns))
			return give_up(fair);
	}
}
