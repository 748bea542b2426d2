/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include <unistd.h>

#include "driver.h"
#include "span.h"

enum { DRIFT_PER_MILLE = 10, DRIFT_MIN_MS = 2 };

static int64_t now_ns(const struct rl_hold *hold)
{
	return rl_now_ns(hold->link, RL_CLOCK_MONOTONIC);
}

static void count(uint64_t buckets[RL_BUCKETS], int64_t duration_ns)
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
	hold->sent_ns = now_ns(hold);
	if (!hold->waiting_ns)
		hold->waiting_ns = hold->sent_ns;
	hold->stats.attempts++;
}

static void begin(struct rl_hold *hold)
{
	hold->held_ns = now_ns(hold);
	hold->owner = getpid();
	hold->stats.holds++;
	count(hold->stats.wait_us, hold->held_ns - hold->waiting_ns);
}

void rl_hold_answer(struct rl_hold *hold, enum rl_outcome outcome, long ttl_ms)
{
	if (outcome == RL_OK) {
		begin(hold);
		hold->until_ns = rl_lease_end_ns(hold->sent_ns, ttl_ms);
	}
	hold->stats.unknown += outcome == RL_UNKNOWN;
	hold->waiting_ns = 0;
}

void rl_hold_prolong(struct rl_hold *hold, int64_t sent_ns, long ttl_ms)
{
	hold->until_ns = rl_lease_end_ns(sent_ns, ttl_ms);
}

void rl_hold_doubt(struct rl_hold *hold, int64_t sent_ns, long ttl_ms)
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
	count(hold->stats.hold_us, now_ns(hold) - hold->held_ns);
	hold->held_ns = 0;
}

bool rl_hold_is_ours(const struct rl_hold *hold)
{
	return hold->held_ns && hold->owner == getpid();
}

long rl_hold_remaining_ms(const struct rl_hold *hold)
{
	int64_t left_ns;

	if (!rl_hold_is_ours(hold))
		return 0;
	left_ns = hold->until_ns - now_ns(hold);
	return left_ns > 0 ? (long)(left_ns / 1000000) : 0;
}
