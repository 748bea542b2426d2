/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include <string.h>
#include <sys/random.h>

#include "link.h"

enum { DRIFT_PER_MILLE = 10, DRIFT_MIN_MS = 2 };

static int64_t hold_now_ns(const struct rdl_hold *hold)
{
	return rdl_now_ns(hold->link, RDL_CLOCK_MONOTONIC);
}

static void count_duration(uint64_t buckets[RDL_BUCKETS], int64_t duration_ns)
{
	uint64_t us = duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0;
	unsigned i = 0;

	while (us > 1 && i < RDL_BUCKETS - 1) {
		us >>= 1;
		i++;
	}
	buckets[i]++;
}

uint64_t rdl_stats_quantile(const uint64_t buckets[RDL_BUCKETS], double p)
{
	uint64_t total = 0, seen = 0;

	for (int i = 0; i < RDL_BUCKETS; i++)
		total += buckets[i];
	for (int i = 0; i < RDL_BUCKETS && total > 0; i++) {
		seen += buckets[i];
		if (seen > 0 && (double)seen >= p * (double)total)
			return UINT64_C(2) << i;
	}
	return 0;
}

int64_t rdl_lease_end_ns(int64_t sent_ns, long ttl_ms)
{
	const int64_t ttl_ns = rdl_span(ttl_ms, RDL_NS_PER_MS);

	return sent_ns + ttl_ns - ttl_ns / 1000 * DRIFT_PER_MILLE -
	       rdl_span(DRIFT_MIN_MS, RDL_NS_PER_MS);
}

bool rdl_lease_is_over(const struct rdl_link *link, int64_t sent_ns, long ttl_ms)
{
	return rdl_lease_end_ns(sent_ns, ttl_ms) <= rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
}

long rdl_ttl_reaching_ms(int64_t sent_ns, int64_t until_ns)
{
	const int64_t left_ns = until_ns - sent_ns + rdl_span(DRIFT_MIN_MS, RDL_NS_PER_MS);

	return (long)(left_ns / (1000 - DRIFT_PER_MILLE) * 1000 / RDL_NS_PER_MS) + 1;
}

void rdl_hold_ask(struct rdl_hold *hold)
{
	hold->sent_ns = hold_now_ns(hold);
	if (!hold->waiting_ns)
		hold->waiting_ns = hold->sent_ns;
	hold->stats.attempts++;
}

static void begin_hold(struct rdl_hold *hold)
{
	hold->held_ns = hold_now_ns(hold);
	hold->owner = rdl_process(hold->link);
	hold->stats.holds++;
	count_duration(hold->stats.wait_us, hold->held_ns - hold->waiting_ns);
}

void rdl_hold_answer(struct rdl_hold *hold, enum rdl_outcome outcome, long ttl_ms)
{
	hold->giving_back = false;
	if (outcome == RDL_OK) {
		begin_hold(hold);
		hold->until_ns = rdl_lease_end_ns(hold->sent_ns, ttl_ms);
	}
	hold->stats.unknown += outcome == RDL_UNKNOWN;
	hold->waiting_ns = 0;
}

void rdl_hold_prolong(struct rdl_hold *hold, int64_t sent_ns, long ttl_ms)
{
	hold->until_ns = rdl_lease_end_ns(sent_ns, ttl_ms);
}

void rdl_hold_shorten(struct rdl_hold *hold, int64_t sent_ns, long ttl_ms)
{
	const int64_t end_ns = rdl_lease_end_ns(sent_ns, ttl_ms);

	if (end_ns < hold->until_ns)
		hold->until_ns = end_ns;
}

void rdl_hold_expire(struct rdl_hold *hold)
{
	hold->until_ns = 0;
}

void rdl_hold_end(struct rdl_hold *hold, enum rdl_outcome outcome)
{
	hold->stats.unknown += outcome == RDL_UNKNOWN;
	if (outcome != RDL_OK && outcome != RDL_LOST)
		return;
	hold->giving_back = false;
	if (!hold->held_ns)
		return;
	hold->stats.lost += outcome == RDL_LOST;
	count_duration(hold->stats.hold_us, hold_now_ns(hold) - hold->held_ns);
	hold->held_ns = 0;
}

bool rdl_hold_is_ours(const struct rdl_hold *hold)
{
	return hold->held_ns && hold->owner == rdl_process(hold->link);
}

void rdl_hold_mark_indeterminate(struct rdl_hold *hold)
{
	hold->indeterminate = true;
	hold->token_owner = rdl_process(hold->link);
}

bool rdl_hold_may_be_there(const struct rdl_hold *hold)
{
	return rdl_hold_is_ours(hold) ||
	       (hold->indeterminate && hold->token_owner == rdl_process(hold->link));
}

enum rdl_outcome rdl_hold_take_back(struct rdl_link *link, struct rdl_hold *hold,
				    enum rdl_outcome (*remove)(void *lock), void *lock)
{
	enum rdl_outcome outcome = RDL_OK;

	if (!rdl_hold_may_be_there(hold))
		return RDL_OK;
	if (rdl_link_has_batch(link))
		return rdl_link_fail(link, RDL_ERROR,
				     "an earlier token may be there: release "
				     "it before other commands are queued");
	outcome = remove(lock);
	if (outcome == RDL_ERROR && (hold->indeterminate || hold->giving_back))
		return RDL_UNKNOWN; /* not asked, but the earlier request may be granted */
	if (outcome != RDL_OK && outcome != RDL_LOST)
		return outcome;
	rdl_hold_end(hold, outcome);
	return RDL_OK;
}

long rdl_hold_lease_ms(const struct rdl_hold *hold)
{
	int64_t left_ns;

	if (!rdl_hold_is_ours(hold))
		return 0;
	left_ns = rdl_hold_until_ns(hold) - hold_now_ns(hold);
	return left_ns > 0 ? (long)(left_ns / 1000000) : 0;
}

long rdl_hold_remaining_ms(const struct rdl_hold *hold)
{
	return hold->giving_back ? 0 : rdl_hold_lease_ms(hold);
}

/* ---- Asking until it is held ------------------------------------------- */

enum { DOUBLINGS_MAX = 20, PAUSE_MIN_US = 400, PAUSE_MAX_US = 5000 };

/* Twelve days: doubled so often and in nanoseconds it is a number still. */
#define PAUSE_LIMIT_US (INT64_C(1) << 40)

static int64_t limit_pause_us(long given_us, long otherwise_us)
{
	const int64_t us = given_us > 0 ? given_us : otherwise_us;

	return us < PAUSE_LIMIT_US ? us : PAUSE_LIMIT_US;
}

/* Between half of the n-th limit and all of it. */
int64_t rdl_pause_ns(const struct rdl_policy *policy, unsigned n)
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

bool rdl_pause(const struct rdl_link *link, const struct rdl_policy *policy, unsigned n,
	       int64_t deadline_ns)
{
	const int64_t left_ns = deadline_ns - rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	int64_t length_ns = rdl_pause_ns(policy, n);

	if (left_ns <= 0)
		return false;
	if (length_ns > left_ns)
		length_ns = left_ns;
	if (policy->cancel_fd)
		return !rdl_wait(link, *policy->cancel_fd, length_ns);
	rdl_sleep_ns(link, length_ns);
	return true;
}

/* Asks once; a lease that is too short already is released. */
static enum rdl_outcome ask_once(const struct rdl_askable *askable, long ttl_ms, long least_ms)
{
	const enum rdl_outcome outcome = askable->ask(askable->lock, ttl_ms);

	if (outcome != RDL_OK || rdl_hold_remaining_ms(askable->hold) >= least_ms)
		return outcome;
	askable->give_back(askable->lock);
	return RDL_BUSY;
}

bool rdl_is_worth_waiting(const struct rdl_link *link, const struct rdl_policy *policy)
{
	return !policy->fails_fast &&
	       (link->reason == RDL_REASON_UNREACHABLE || link->reason == RDL_REASON_LOADING);
}

/* A server that is gone for a moment is waited for like a holder, unless the policy says not. */
static bool ends_asking(const struct rdl_askable *askable, const struct rdl_policy *policy,
			enum rdl_outcome outcome)
{
	if (outcome == RDL_ERROR && !askable->errors_pass)
		return !askable->link || !rdl_is_worth_waiting(askable->link, policy);
	return outcome == RDL_OK || outcome == RDL_LOST;
}

struct rdl_policy rdl_policy_of(const struct rdl_policy *given)
{
	struct rdl_policy policy = { 0 };

	if (given)
		memcpy(&policy, given,
		       given->size && given->size < sizeof(policy) ? given->size : sizeof(policy));
	return policy;
}

void rdl_link_set_patience(struct rdl_link *link, struct rdl_patience *patience,
			   const struct rdl_policy *policy, int64_t deadline_ns)
{
	const int64_t least_ns = rdl_deadline_after(rdl_kernel_ns(), RDL_GRACE_MS);
	const bool is_limited = policy && (policy->wait_ms > 0 || policy->cancel_fd);

	link->patience = NULL;
	if (!is_limited || rdl_is_driven(link))
		return;
	patience->cancel_fd = policy->cancel_fd ? *policy->cancel_fd : -1;
	patience->until_ns = policy->wait_ms <= 0   ? INT64_MAX :
			     deadline_ns > least_ns ? deadline_ns :
						      least_ns;
	link->patience = patience;
}

static void limit_waits(const struct rdl_askable *askable, struct rdl_patience *patience,
			const struct rdl_policy *policy, int64_t deadline_ns)
{
	if (askable->link)
		rdl_link_set_patience(askable->link, patience, policy, deadline_ns);
	else if (askable->limit)
		askable->limit(askable->lock, patience, policy, deadline_ns);
}

enum rdl_outcome rdl_acquire(const struct rdl_askable *askable, long ttl_ms,
			     const struct rdl_policy *policy)
{
	struct rdl_hold *hold = askable->hold;
	struct rdl_policy pauses = rdl_policy_of(policy);
	struct rdl_patience patience;
	const int64_t start_ns = rdl_now_ns(hold->link, RDL_CLOCK_MONOTONIC);
	const int64_t deadline_ns = rdl_deadline_after(start_ns, pauses.wait_ms);
	enum rdl_outcome outcome;

	if (pauses.pause_min_us <= 0)
		pauses.pause_min_us = askable->pause_min_us;
	if (pauses.pause_max_us <= 0)
		pauses.pause_max_us = askable->pause_max_us;
	for (unsigned n = 0;; n++) {
		hold->waiting_ns = start_ns;
		limit_waits(askable, &patience, &pauses, deadline_ns);
		outcome = ask_once(askable, ttl_ms, pauses.least_ms);
		limit_waits(askable, NULL, NULL, 0);
		if (ends_asking(askable, &pauses, outcome) ||
		    !rdl_pause(hold->link, &pauses, n, deadline_ns))
			return outcome;
		hold->stats.waits++;
	}
}
