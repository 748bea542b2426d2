/* SPDX-License-Identifier: MIT */
/*
 * The token lock:
 *
 *	SET key token NX PX ttl      the key is ours, or it is not
 *	... work ...
 *	compare-and-delete           gone, if it still holds our token
 *
 * and when the reply to SET never came:
 *
 *	SET key token NX PX ttl GET  nil: ours now; our token: ours since then;
 *	                             another one: somebody else's
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "link.h"
#include "lock.h"
#include "script.h"

static const char fence_suffix[] = ":fence";

struct rl_lock *rl_lock_new(struct rl_link *link, const char *key)
{
	const size_t size = strlen(key) + 1;
	struct rl_lock *lock =
		calloc(1, sizeof(*lock) + 2 * size + sizeof(fence_suffix));

	if (!lock)
		return NULL;
	lock->link = link;
	lock->hold.link = link;
	memcpy(lock->key, key, size);
	lock->fence = lock->key + size;
	memcpy(lock->fence, key, size - 1);
	memcpy(lock->fence + size - 1, fence_suffix, sizeof(fence_suffix));
	return lock;
}

void rl_lock_free(struct rl_lock *lock)
{
	free(lock);
}

long rl_lock_remaining_ms(const struct rl_lock *lock)
{
	return rl_hold_remaining_ms(&lock->hold);
}

const struct rl_stats *rl_lock_stats(const struct rl_lock *lock)
{
	return &lock->hold.stats;
}

enum rl_release_method rl_lock_release_method(const struct rl_lock *lock)
{
	return rl_link_release_method(lock->link);
}

/* ---- Acquire ------------------------------------------------------------ */

/* May our token be there? Not in a child of the process that got it. */
static bool may_be_ours(const struct rl_lock *lock)
{
	return rl_hold_is_ours(&lock->hold) ||
	       (lock->in_doubt && lock->doubter == getpid());
}

/* A token that was forgotten while it is there would keep ourselves out. */
static enum rl_outcome take_back(struct rl_lock *lock)
{
	enum rl_outcome outcome;

	if (rl_link_has_batch(lock->link))
		return rl_link_fail(lock->link, RL_ERROR,
				    "an earlier token may be there: release "
				    "it before other commands are queued");
	outcome = rl_delete_if_equal(lock->link, lock->key, lock->token);
	if (outcome != RL_OK && outcome != RL_LOST)
		return outcome;
	rl_hold_end(&lock->hold, outcome);
	return RL_OK;
}

enum rl_outcome rl_lock_prepare(struct rl_lock *lock, long ttl_ms)
{
	enum rl_outcome outcome = RL_OK;

	if (ttl_ms < 1)
		return rl_link_fail(lock->link, RL_ERROR, rl_short_ttl, ttl_ms);
	if (!lock->giving_back && rl_hold_remaining_ms(&lock->hold) > 0)
		return RL_BUSY;
	if (may_be_ours(lock))
		outcome = take_back(lock);
	if (outcome != RL_OK)
		return outcome;
	lock->in_doubt = lock->giving_back = false;
	if (!rl_token_fresh(lock->link, lock->token))
		return rl_link_fail(lock->link, RL_ERROR, "no random bytes");
	lock->ttl_ms = ttl_ms;
	rl_hold_ask(&lock->hold);
	return RL_OK;
}

static bool is_over(const struct rl_lock *lock, int64_t sent_ns, long ttl_ms)
{
	return rl_lease_end_ns(sent_ns, ttl_ms) <=
	       rl_now_ns(lock->link, RL_CLOCK_MONOTONIC);
}

/* It is ours, but the reply took as long as the lease: nobody may work on it,
 * and others should not wait for its end. */
static void give_back_spent(struct rl_lock *lock)
{
	const bool doubted = lock->in_doubt;

	rl_lock_doubt(lock);
	if (!rl_link_has_batch(lock->link) &&
	    rl_delete_if_equal(lock->link, lock->key, lock->token) == RL_OK)
		lock->in_doubt = doubted;
}

enum rl_outcome rl_lock_conclude(struct rl_lock *lock, enum rl_outcome outcome)
{
	const bool spent = outcome == RL_OK &&
			   is_over(lock, lock->hold.sent_ns, lock->ttl_ms);

	if (outcome == RL_UNKNOWN)
		rl_lock_doubt(lock);
	if (spent)
		outcome = RL_BUSY;
	rl_hold_answer(&lock->hold, outcome, lock->ttl_ms);
	if (spent)
		give_back_spent(lock);
	return outcome;
}

static enum rl_outcome answer_of(enum rl_outcome outcome,
				 const struct rl_reply *reply)
{
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(reply) ? RL_BUSY : RL_OK;
}

enum rl_outcome rl_lock_queue_try(struct rl_lock *lock, long ttl_ms)
{
	enum rl_outcome outcome = rl_lock_prepare(lock, ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	rl_script_learn(lock->link, rl_compare_and_delete);
	outcome = rl_queue(lock->link, "SET %s %s NX PX %ld", lock->key,
			   lock->token, ttl_ms);
	if (outcome == RL_OK || outcome == RL_UNKNOWN)
		rl_lock_doubt(lock); /* until it is answered */
	return outcome;
}

enum rl_outcome rl_lock_receive_try(struct rl_lock *lock)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_receive(lock->link, &reply);

	if (outcome != RL_UNKNOWN)
		lock->in_doubt = false;
	return rl_lock_conclude(lock, answer_of(outcome, &reply));
}

enum rl_outcome rl_lock_try(struct rl_lock *lock, long ttl_ms)
{
	struct rl_reply reply;
	enum rl_outcome outcome = rl_lock_prepare(lock, ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	outcome = rl_run(lock->link, &reply, "SET %s %s NX PX %ld", lock->key,
			 lock->token, ttl_ms);
	outcome = answer_of(outcome, &reply);
	if (outcome == RL_UNKNOWN)
		outcome = rl_lock_resolve(lock);
	return rl_lock_conclude(lock, outcome);
}

static enum rl_outcome ask(void *lock, long ttl_ms)
{
	return rl_lock_try(lock, ttl_ms);
}

static enum rl_outcome give_back(void *lock)
{
	return rl_lock_release(lock);
}

struct rl_askable rl_lock_askable(struct rl_lock *lock)
{
	return (struct rl_askable){ .lock = lock,
				    .hold = &lock->hold,
				    .ask = ask,
				    .give_back = give_back };
}

enum rl_outcome rl_lock_acquire(struct rl_lock *lock, long ttl_ms,
				const struct rl_policy *policy)
{
	const struct rl_askable askable = rl_lock_askable(lock);

	return rl_acquire(&askable, ttl_ms, policy);
}

/* ---- While it is held ------------------------------------------------------ */

enum rl_outcome rl_lock_extend(struct rl_lock *lock, long ttl_ms)
{
	const int64_t sent_ns = rl_now_ns(lock->link, RL_CLOCK_MONOTONIC);
	enum rl_outcome outcome;

	if (ttl_ms < 1)
		return rl_link_fail(lock->link, RL_ERROR, rl_short_ttl, ttl_ms);
	if (!rl_hold_is_ours(&lock->hold))
		return RL_LOST;
	outcome = rl_expire_if_equal(lock->link, lock->key, lock->token,
				     ttl_ms);
	if (outcome == RL_OK)
		rl_hold_prolong(&lock->hold, sent_ns, ttl_ms);
	else if (outcome != RL_ERROR)
		rl_hold_end(&lock->hold, outcome);
	if (outcome == RL_UNKNOWN)
		rl_hold_doubt(&lock->hold, sent_ns, ttl_ms);
	if (outcome == RL_OK && is_over(lock, sent_ns, ttl_ms))
		return rl_link_fail(lock->link, RL_UNKNOWN,
				    "the lease was over before the reply came");
	return outcome;
}

/* ---- Release ------------------------------------------------------------------ */

static enum rl_outcome released(struct rl_lock *lock, enum rl_outcome outcome)
{
	lock->giving_back = outcome != RL_OK && outcome != RL_LOST;
	rl_hold_end(&lock->hold, outcome);
	return outcome;
}

enum rl_outcome rl_lock_release(struct rl_lock *lock)
{
	if (!may_be_ours(lock))
		return RL_LOST;
	return released(lock, rl_delete_if_equal(lock->link, lock->key,
						 lock->token));
}

enum rl_outcome rl_lock_queue_release(struct rl_lock *lock)
{
	if (!may_be_ours(lock))
		return RL_LOST;
	return rl_queue_delete_if_equal(lock->link, lock->key, lock->token);
}

enum rl_outcome rl_lock_receive_release(struct rl_lock *lock)
{
	return released(lock,
			rl_receive_delete_if_equal(lock->link, lock->key,
						   lock->token, 0));
}
