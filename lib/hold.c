/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include <sys/random.h>

#include "link.h"

enum { DRIFT_PER_MILLE = 10, DRIFT_MIN_MS = 2 };

static int64_t hold_now_ns(const struct rl_hold *hold)
{
	return rl_now_ns(hold->link, RL_CLOCK_MONOTONIC);
}

static void count_duration(uint64_t buckets[RL_BUCKETS], int64_t duration_ns)
{
	uint64_t us = duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0;
	unsigned i = 0;

	while (us > 1 && i < RL_BUCKETS - 1) {
		us >>= 1;
		i++;
	}
	buckets[i]++;
}

uint64_t rl_stats_quantile(const uint64_t buckets[RL_BUCKETS], double p)
{
	uint64_t total = 0, seen = 0;

	for (int i = 0; i < RL_BUCKETS; i++)
		total += buckets[i];
	for (int i = 0; i < RL_BUCKETS && total > 0; i++) {
		seen += buckets[i];
		if (seen > 0 && (double)seen >= p * (double)total)
			return UINT64_C(2) << i;
	}
	return 0;
}

int64_t rl_lease_end_ns(int64_t sent_ns, long ttl_ms)
{
	const int64_t ttl_ns = rl_span(ttl_ms, RL_NS_PER_MS);

	return sent_ns + ttl_ns - ttl_ns / 1000 * DRIFT_PER_MILLE -
	       rl_span(DRIFT_MIN_MS, RL_NS_PER_MS);
}

void rl_hold_ask(struct rl_hold *hold)
{
	hold->sent_ns = hold_now_ns(hold);
	if (!hold->waiting_ns)
		hold->waiting_ns = hold->sent_ns;
	hold->stats.attempts++;
}

static void begin_hold(struct rl_hold *hold)
{
	hold->held_ns = hold_now_ns(hold);
	hold->owner = rl_process(hold->link);
	hold->stats.holds++;
	count_duration(hold->stats.wait_us, hold->held_ns - hold->waiting_ns);
}

void rl_hold_answer(struct rl_hold *hold, enum rl_outcome outcome, long ttl_ms)
{
	if (outcome == RL_OK) {
		begin_hold(hold);
		hold->until_ns = rl_lease_end_ns(hold->sent_ns, ttl_ms);
	}
	hold->stats.unknown += outcome == RL_UNKNOWN;
	hold->waiting_ns = 0;
}

void rl_hold_prolong(struct rl_hold *hold, int64_t sent_ns, long ttl_ms)
{
	hold->until_ns = rl_lease_end_ns(sent_ns, ttl_ms);
}

void rl_hold_shorten(struct rl_hold *hold, int64_t sent_ns, long ttl_ms)
{
	const int64_t end_ns = rl_lease_end_ns(sent_ns, ttl_ms);

	if (end_ns < hold->until_ns)
		hold->until_ns = end_ns;
}

void rl_hold_expire(struct rl_hold *hold)
{
	hold->until_ns = 0;
}

void rl_hold_end(struct rl_hold *hold, enum rl_outcome outcome)
{
	hold->stats.unknown += outcome == RL_UNKNOWN;
	if (!hold->held_ns || (outcome != RL_OK && outcome != RL_LOST))
		return;
	hold->stats.lost += outcome == RL_LOST;
	count_duration(hold->stats.hold_us, hold_now_ns(hold) - hold->held_ns);
	hold->held_ns = 0;
}

bool rl_hold_is_ours(const struct rl_hold *hold)
{
	return hold->held_ns && hold->owner == rl_process(hold->link);
}

long rl_hold_remaining_ms(const struct rl_hold *hold)
{
	int64_t left_ns;

	if (!rl_hold_is_ours(hold))
		return 0;
	left_ns = hold->until_ns - hold_now_ns(hold);
	return left_ns > 0 ? (long)(left_ns / 1000000) : 0;
}

/* ---- Asking until it is held ------------------------------------------- */

enum { DOUBLINGS_MAX = 20, PAUSE_MIN_US = 400, PAUSE_MAX_US = 5000 };

/* Twelve days: doubled so often and in nanoseconds it is a number still. */
#define PAUSE_LIMIT_US (INT64_C(1) << 40)

static int64_t limit_pause_us(long given_us, long otherwise_us)
{
	const int64_t us = given_us ? given_us : otherwise_us;

	return us < PAUSE_LIMIT_US ? us : PAUSE_LIMIT_US;
}

/* Between half of the n-th limit and all of it. */
static int64_t choose_pause_ns(const struct rl_policy *policy, unsigned n)
{
	const int64_t least = limit_pause_us(policy->pause_min_us, PAUSE_MIN_US);
	const int64_t most = limit_pause_us(policy->pause_max_us, PAUSE_MAX_US);
	int64_t limit_us = least << (n < DOUBLINGS_MAX ? n : DOUBLINGS_MAX);
	uint32_t random = 0;

	if (limit_us > most)
		limit_us = most;
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = UINT32_MAX; /* no chance: the whole of it */
	return limit_us * 500 + (int64_t)((double)limit_us * 500 * random / UINT32_MAX);
}

bool rl_pause(const struct rl_link *link, const struct rl_policy *policy, unsigned n,
	      int64_t deadline_ns)
{
	const int64_t left_ns = deadline_ns - rl_now_ns(link, RL_CLOCK_MONOTONIC);
	int64_t length_ns = choose_pause_ns(policy, n);

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
static enum rl_outcome ask_once(const struct rl_askable *askable, long ttl_ms, long least_ms)
{
	const enum rl_outcome outcome = askable->ask(askable->lock, ttl_ms);

	if (outcome != RL_OK || rl_hold_remaining_ms(askable->hold) >= least_ms)
		return outcome;
	askable->give_back(askable->lock);
	return RL_BUSY;
}

static bool ends_asking(const struct rl_askable *askable, enum rl_outcome outcome)
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
	const int64_t deadline_ns = rl_deadline_after(start_ns, pauses.wait_ms);
	enum rl_outcome outcome;

	if (!pauses.pause_min_us)
		pauses.pause_min_us = askable->pause_min_us;
	if (!pauses.pause_max_us)
		pauses.pause_max_us = askable->pause_max_us;
	for (unsigned n = 0;; n++) {
		hold->waiting_ns = start_ns;
		outcome = ask_once(askable, ttl_ms, pauses.least_ms);
		if (ends_asking(askable, outcome) || !rl_pause(hold->link, &pauses, n, deadline_ns))
			return outcome;
		hold->stats.waits++;
	}
}
