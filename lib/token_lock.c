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

#include "compare.h"
#include "link.h"
#include "lock.h"
#include "script.h"

/* ---- Tokens ------------------------------------------------------------ */

enum { RANDOM_BYTES = (RL_TOKEN_SIZE - 1) / 2 };

bool rl_token_fresh(const struct rl_link *link, char token[RL_TOKEN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[RANDOM_BYTES];

	if (!rl_random(link, bytes, sizeof(bytes)))
		return false;
	for (int i = 0; i < RANDOM_BYTES; i++) {
		token[2 * i] = digits[bytes[i] >> 4];
		token[2 * i + 1] = digits[bytes[i] & 15];
	}
	token[2 * RANDOM_BYTES] = '\0';
	return true;
}

/* ---- Making and freeing ------------------------------------------------ */

static const char fence_suffix[] = ":fence";

struct rl_lock *rl_lock_new(struct rl_link *link, const char *key)
{
	const size_t size = strlen(key) + 1;
	struct rl_lock *lock = calloc(1, sizeof(*lock) + 2 * size + sizeof(fence_suffix));

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

/* ---- A request that was not answered ----------------------------------- */

void rl_lock_mark_indeterminate(struct rl_lock *lock)
{
	lock->indeterminate = true;
	lock->token_owner = rl_process(lock->link);
}

static bool is_our_token(const struct rl_lock *lock, const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_STRING && strcmp(reply->text, lock->token) == 0;
}

/* A server older than 7.0 does not know NX and GET together: only looks. */
static enum rl_outcome look_whose(struct rl_lock *lock)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(lock->link, &reply, "GET %s", lock->key);

	if (outcome != RL_OK)
		return RL_UNKNOWN;
	return is_our_token(lock, &reply) ? RL_OK : RL_BUSY;
}

enum rl_outcome rl_lock_resolve(struct rl_lock *lock)
{
	struct rl_reply reply;
	enum rl_outcome outcome;

	rl_lock_mark_indeterminate(lock);
	outcome = rl_run(lock->link, &reply, "SET %s %s NX PX %ld GET", lock->key, lock->token,
			 lock->ttl_ms);
	if (outcome == RL_ERROR && reply.type == RL_REPLY_FAILED)
		return look_whose(lock);
	if (outcome != RL_OK)
		return RL_UNKNOWN;
	return rl_reply_is_nil(&reply) || is_our_token(lock, &reply) ? RL_OK : RL_BUSY;
}

/* ---- Acquire ----------------------------------------------------------- */

/* May our token be there? Not in a child of the process that got it. */
static bool may_hold_token(const struct rl_lock *lock)
{
	return rl_hold_is_ours(&lock->hold) ||
	       (lock->indeterminate && lock->token_owner == rl_process(lock->link));
}

/* A token that was forgotten while it is there would keep ourselves out. */
static enum rl_outcome take_back_token(struct rl_lock *lock)
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
	if (may_hold_token(lock))
		outcome = take_back_token(lock);
	if (outcome != RL_OK)
		return outcome;
	lock->indeterminate = lock->giving_back = false;
	if (!rl_token_fresh(lock->link, lock->token))
		return rl_link_fail(lock->link, RL_ERROR, "no random bytes");
	lock->ttl_ms = ttl_ms;
	rl_hold_ask(&lock->hold);
	return RL_OK;
}

static bool is_lease_over(const struct rl_lock *lock, int64_t sent_ns, long ttl_ms)
{
	return rl_lease_end_ns(sent_ns, ttl_ms) <= rl_now_ns(lock->link, RL_CLOCK_MONOTONIC);
}

/* It is ours, but the reply took as long as the lease: nobody may work on it,
 * and others should not wait for its end. */
static void give_back_spent(struct rl_lock *lock)
{
	const bool was_indeterminate = lock->indeterminate;

	rl_lock_mark_indeterminate(lock);
	if (!rl_link_has_batch(lock->link) &&
	    rl_delete_if_equal(lock->link, lock->key, lock->token) == RL_OK)
		lock->indeterminate = was_indeterminate;
}

enum rl_outcome rl_lock_conclude(struct rl_lock *lock, enum rl_outcome outcome)
{
	const bool spent = outcome == RL_OK &&
			   is_lease_over(lock, lock->hold.sent_ns, lock->ttl_ms);

	if (outcome == RL_UNKNOWN)
		rl_lock_mark_indeterminate(lock);
	if (spent)
		outcome = RL_BUSY;
	rl_hold_answer(&lock->hold, outcome, lock->ttl_ms);
	if (spent)
		give_back_spent(lock);
	return outcome;
}

static enum rl_outcome outcome_of_set(enum rl_outcome outcome, const struct rl_reply *reply)
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
	outcome = rl_queue(lock->link, "SET %s %s NX PX %ld", lock->key, lock->token, ttl_ms);
	if (outcome == RL_OK || outcome == RL_UNKNOWN)
		rl_lock_mark_indeterminate(lock); /* until it is answered */
	return outcome;
}

enum rl_outcome rl_lock_receive_try(struct rl_lock *lock)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_receive(lock->link, &reply);

	if (outcome != RL_UNKNOWN)
		lock->indeterminate = false;
	return rl_lock_conclude(lock, outcome_of_set(outcome, &reply));
}

enum rl_outcome rl_lock_try(struct rl_lock *lock, long ttl_ms)
{
	struct rl_reply reply;
	enum rl_outcome outcome = rl_lock_prepare(lock, ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	outcome = rl_run(lock->link, &reply, "SET %s %s NX PX %ld", lock->key, lock->token, ttl_ms);
	outcome = outcome_of_set(outcome, &reply);
	if (outcome == RL_UNKNOWN)
		outcome = rl_lock_resolve(lock);
	return rl_lock_conclude(lock, outcome);
}

static enum rl_outcome ask_token_lock(void *lock, long ttl_ms)
{
	return rl_lock_try(lock, ttl_ms);
}

static enum rl_outcome give_back_token_lock(void *lock)
{
	return rl_lock_release(lock);
}

struct rl_askable rl_lock_askable(struct rl_lock *lock)
{
	return (struct rl_askable){ .lock = lock,
				    .hold = &lock->hold,
				    .ask = ask_token_lock,
				    .give_back = give_back_token_lock };
}

enum rl_outcome rl_lock_acquire(struct rl_lock *lock, long ttl_ms, const struct rl_policy *policy)
{
	const struct rl_askable askable = rl_lock_askable(lock);

	return rl_acquire(&askable, ttl_ms, policy);
}

/* ---- While it is held -------------------------------------------------- */

enum rl_outcome rl_lock_extend(struct rl_lock *lock, long ttl_ms)
{
	const struct rl_guarded guarded = { lock->key, lock->token, ttl_ms };
	const int64_t sent_ns = rl_now_ns(lock->link, RL_CLOCK_MONOTONIC);
	enum rl_outcome outcome;

	if (ttl_ms < 1)
		return rl_link_fail(lock->link, RL_ERROR, rl_short_ttl, ttl_ms);
	if (!rl_hold_is_ours(&lock->hold))
		return RL_LOST;
	outcome = rl_guarded_run(lock->link, &guarded, 0);
	if (outcome == RL_OK)
		rl_hold_prolong(&lock->hold, sent_ns, ttl_ms);
	else if (outcome != RL_ERROR)
		rl_hold_end(&lock->hold, outcome);
	if (outcome == RL_UNKNOWN)
		rl_hold_shorten(&lock->hold, sent_ns, ttl_ms);
	if (outcome == RL_OK && is_lease_over(lock, sent_ns, ttl_ms))
		return rl_link_fail(lock->link, RL_UNKNOWN,
				    "the lease was over before the reply came");
	return outcome;
}

/* ---- Release ----------------------------------------------------------- */

static enum rl_outcome conclude_release(struct rl_lock *lock, enum rl_outcome outcome)
{
	lock->giving_back = outcome != RL_OK && outcome != RL_LOST;
	rl_hold_end(&lock->hold, outcome);
	return outcome;
}

enum rl_outcome rl_lock_release(struct rl_lock *lock)
{
	if (!may_hold_token(lock))
		return RL_LOST;
	return conclude_release(lock, rl_delete_if_equal(lock->link, lock->key, lock->token));
}

enum rl_outcome rl_lock_queue_release(struct rl_lock *lock)
{
	const struct rl_guarded guarded = { lock->key, lock->token, 0 };

	return may_hold_token(lock) ? rl_guarded_queue(lock->link, &guarded) : RL_LOST;
}

enum rl_outcome rl_lock_receive_release(struct rl_lock *lock)
{
	const struct rl_guarded guarded = { lock->key, lock->token, 0 };

	return conclude_release(lock, rl_guarded_receive(lock->link, &guarded, 0));
}
