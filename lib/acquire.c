/* SPDX-License-Identifier: MIT */
/* Asking for a lock until it is held, the time is up, or somebody cancels. */
#include <sys/random.h>

#include "driver.h"
#include "hold.h"
#include "span.h"

enum { DOUBLINGS_MAX = 20, PAUSE_MIN_US = 400, PAUSE_MAX_US = 5000 };

/* Twelve days: doubled so often and in nanoseconds it is a number still. */
#define PAUSE_LIMIT_US (INT64_C(1) << 40)

static int64_t limited(long given_us, long otherwise_us)
{
	const int64_t us = given_us ? given_us : otherwise_us;

	return us < PAUSE_LIMIT_US ? us : PAUSE_LIMIT_US;
}

/* Between half of the n-th limit and all of it. */
static int64_t pause_ns(const struct rl_policy *policy, unsigned n)
{
	const int64_t least = limited(policy->pause_min_us, PAUSE_MIN_US);
	const int64_t most = limited(policy->pause_max_us, PAUSE_MAX_US);
	int64_t limit_us = least << (n < DOUBLINGS_MAX ? n : DOUBLINGS_MAX);
	uint32_t random = 0;

	if (limit_us > most)
		limit_us = most;
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = UINT32_MAX; /* no chance: the whole of it */
	return limit_us * 500 +
	       (int64_t)((double)limit_us * 500 * random / UINT32_MAX);
}

bool rl_pause(const struct rl_link *link, const struct rl_policy *policy,
	      unsigned n, int64_t deadline_ns)
{
	const int64_t left_ns =
		deadline_ns - rl_now_ns(link, RL_CLOCK_MONOTONIC);
	int64_t length_ns = pause_ns(policy, n);

	if (left_ns <= 0)
		return false;
	if (length_ns > left_ns)
		length_ns = left_ns;
	if (policy->cancel_fd >= 0)
		return !rl_wait(link, policy->cancel_fd, length_ns);
	rl_sleep_ns(link, length_ns);
	return true;
}

/* Asks once; a lease that is too short already is given back. */
static enum rl_outcome ask(const struct rl_askable *askable, long ttl_ms,
			   long least_ms)
{
	const enum rl_outcome outcome = askable->ask(askable->lock, ttl_ms);

	if (outcome != RL_OK ||
	    rl_hold_remaining_ms(askable->hold) >= least_ms)
		return outcome;
	askable->give_back(askable->lock);
	return RL_BUSY;
}

static bool is_final(const struct rl_askable *askable, enum rl_outcome outcome)
{
	if (outcome == RL_ERROR)
		return !askable->errors_pass;
	return outcome == RL_OK || outcome == RL_LOST;
}

enum rl_outcome rl_acquire(const struct rl_askable *askable, long ttl_ms,
			   const struct rl_policy *policy)
{
	const struct rl_policy once = { .cancel_fd = -1 };
	struct rl_hold *hold = askable->hold;
	struct rl_policy pauses = policy ? *policy : once;
	const int64_t start_ns = rl_now_ns(hold->link, RL_CLOCK_MONOTONIC);
	const int64_t deadline_ns =
		rl_deadline_after(start_ns, pauses.wait_ms);
	enum rl_outcome outcome;

	if (!pauses.pause_min_us)
		pauses.pause_min_us = askable->pause_min_us;
	if (!pauses.pause_max_us)
		pauses.pause_max_us = askable->pause_max_us;
	for (unsigned n = 0;; n++) {
		hold->waiting_ns = start_ns;
		outcome = ask(askable, ttl_ms, pauses.least_ms);
		if (is_final(askable, outcome) ||
		    !rl_pause(hold->link, &pauses, n, deadline_ns))
			return outcome;
		hold->stats.waits++;
	}
}
