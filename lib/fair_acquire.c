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

/* A lease that is too short already is given back. */
static enum rl_outcome keep(struct rl_fair *fair, enum rl_outcome outcome,
			    long least_ms)
{
	if (outcome != RL_OK || rl_hold_remaining_ms(&fair->hold) >= least_ms)
		return outcome;
	rl_fair_release(fair);
	return RL_BUSY;
}

/* Waits until it is time to ask again. Out of line, after a lease that was too
 * short, it takes a pause: the next one might come as fast. False: the time is
 * over, or somebody cancelled. */
static bool wait_on(struct rl_fair *fair, const struct rl_policy *policy,
		    unsigned n, int64_t deadline_ns, enum rl_outcome *outcome)
{
	if (!fair->in_line)
		return rl_pause(fair->link, policy, n, deadline_ns);
	if (left_ns(fair, deadline_ns) <= 0 ||
	    (policy->cancel_fd >= 0 && rl_wait(fair->link, policy->cancel_fd, 0)))
		return false;
	*outcome = keep(fair,
			rl_fair_stand(fair, left_ns(fair, deadline_ns),
				      policy->cancel_fd),
			policy->least_ms);
	return true;
}

static bool is_held(const struct rl_fair *fair)
{
	return !fair->giving_back && rl_hold_remaining_ms(&fair->hold) > 0;
}

enum rl_outcome rl_fair_acquire(struct rl_fair *fair, long ttl_ms,
				const struct rl_policy *policy)
{
	const struct rl_policy once = { .cancel_fd = -1 };
	const struct rl_policy *how = policy ? policy : &once;
	const int64_t start_ns = rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
	const int64_t deadline_ns = start_ns + rl_fair_wait_ns(how->wait_ms);
	enum rl_outcome outcome = RL_BUSY;

	if (is_held(fair))
		return RL_BUSY;
	for (unsigned n = 0; outcome == RL_BUSY; n++) {
		if (!fair->hold.waiting_ns)
			fair->hold.waiting_ns = start_ns;
		outcome = keep(fair, rl_fair_try(fair, ttl_ms), how->least_ms);
		if (outcome == RL_BUSY &&
		    !wait_on(fair, how, n, deadline_ns, &outcome))
			return give_up(fair);
	}
	return outcome;
}
