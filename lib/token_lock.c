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
 *	                             another one: another client's
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "link.h"
#include "lock.h"
#include "renewer.h"
#include "script.h"

/* ---- Tokens ------------------------------------------------------------ */

enum { RANDOM_BYTES = (RDL_TOKEN_SIZE - 1) / 2 };

bool rdl_token_fresh(const struct rdl_link *link, char token[RDL_TOKEN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[RANDOM_BYTES];

	if (!rdl_random(link, bytes, sizeof(bytes)))
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

struct rdl_lock *rdl_lock_new(struct rdl_link *link, const char *key)
{
	const size_t size = strlen(key) + 1;
	const size_t fence_size = rdl_name_size(key, fence_suffix);
	struct rdl_lock *lock = calloc(1, sizeof(*lock) + size + fence_size);

	if (!lock)
		return NULL;
	lock->link = link;
	lock->hold.link = link;
	memcpy(lock->key, key, size);
	lock->fence = lock->key + size;
	rdl_name_beside(link, key, fence_suffix, lock->fence, fence_size);
	return lock;
}

void rdl_lock_free(struct rdl_lock *lock)
{
	if (lock)
		rdl_hold_detach(&lock->hold);
	free(lock);
}

bool rdl_lock_set_label(struct rdl_lock *lock, const char *label)
{
	return rdl_label_take(lock->label, label);
}

long rdl_lock_remaining_ms(const struct rdl_lock *lock)
{
	return rdl_hold_remaining_ms(&lock->hold);
}

const struct rdl_stats *rdl_lock_stats(const struct rdl_lock *lock)
{
	return &lock->hold.stats;
}

enum rdl_release_method rdl_lock_release_method(const struct rdl_lock *lock)
{
	return rdl_link_release_method(lock->link);
}

/* ---- A request that was not answered ----------------------------------- */

static bool is_our_token(const struct rdl_lock *lock, const struct rdl_reply *reply)
{
	return reply->type == RDL_REPLY_STRING && strcmp(reply->text, lock->token) == 0;
}

/* A server older than 7.0 does not know NX and GET together: only looks. */
static enum rdl_outcome look_whose(struct rdl_lock *lock)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(lock->link, &reply, "GET %s", lock->key);

	if (outcome != RDL_OK)
		return RDL_UNKNOWN;
	return is_our_token(lock, &reply) ? RDL_OK : RDL_BUSY;
}

enum rdl_outcome rdl_lock_resolve(struct rdl_lock *lock)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	rdl_hold_mark_indeterminate(&lock->hold);
	outcome = rdl_run(lock->link, &reply, "SET %s %s NX PX %ld GET", lock->key, lock->token,
			  lock->ttl_ms);
	if (outcome == RDL_ERROR && reply.type == RDL_REPLY_FAILED)
		return look_whose(lock);
	if (outcome != RDL_OK)
		return RDL_UNKNOWN;
	return rdl_reply_is_nil(&reply) || is_our_token(lock, &reply) ? RDL_OK : RDL_BUSY;
}

/* ---- Acquire ----------------------------------------------------------- */

static enum rdl_outcome delete_token(void *asked)
{
	const struct rdl_lock *lock = asked;

	return rdl_delete_if_equal(lock->link, lock->key, lock->token);
}

enum rdl_outcome rdl_lock_prepare(struct rdl_lock *lock, long ttl_ms)
{
	enum rdl_outcome outcome;

	rdl_link_fail(lock->link, RDL_OK, "%s", "");
	if (ttl_ms < 1)
		return rdl_link_fail(lock->link, RDL_ERROR, rdl_short_ttl, ttl_ms);
	if (rdl_lock_remaining_ms(lock) > 0)
		return RDL_BUSY;
	rdl_hold_detach(&lock->hold); /* it is lost */
	outcome = rdl_hold_take_back(lock->link, &lock->hold, delete_token, lock);
	if (outcome != RDL_OK)
		return outcome;
	lock->hold.indeterminate = false;
	if (!rdl_token_fresh(lock->link, lock->token))
		return rdl_link_fail(lock->link, RDL_ERROR, "no random bytes");
	rdl_label_append(lock->token, lock->label);
	lock->ttl_ms = ttl_ms;
	rdl_hold_ask(&lock->hold);
	return RDL_OK;
}

/* It is ours, but the reply took as long as the lease: its holder may not work on it,
 * and others should not wait for its end. */
static void give_back_spent(struct rdl_lock *lock)
{
	const bool was_indeterminate = lock->hold.indeterminate;

	rdl_hold_mark_indeterminate(&lock->hold);
	if (!rdl_link_has_batch(lock->link) && delete_token(lock) == RDL_OK)
		lock->hold.indeterminate = was_indeterminate;
}

enum rdl_outcome rdl_lock_conclude(struct rdl_lock *lock, enum rdl_outcome outcome)
{
	const bool spent = outcome == RDL_OK &&
			   rdl_lease_is_over(lock->link, lock->hold.sent_ns, lock->ttl_ms);

	if (outcome == RDL_UNKNOWN)
		rdl_hold_mark_indeterminate(&lock->hold);
	if (spent)
		outcome = RDL_BUSY;
	rdl_hold_answer(&lock->hold, outcome, lock->ttl_ms);
	if (spent)
		give_back_spent(lock);
	return outcome;
}

static enum rdl_outcome outcome_of_set(enum rdl_outcome outcome, const struct rdl_reply *reply)
{
	if (outcome != RDL_OK)
		return outcome;
	return rdl_reply_is_nil(reply) ? RDL_BUSY : RDL_OK;
}

enum rdl_outcome rdl_lock_queue_try(struct rdl_lock *lock, long ttl_ms)
{
	enum rdl_outcome outcome = rdl_lock_prepare(lock, ttl_ms);

	if (outcome != RDL_OK)
		return outcome;
	rdl_script_learn(lock->link, rdl_compare_and_delete);
	outcome = rdl_queue(lock->link, "SET %s %s NX PX %ld", lock->key, lock->token, ttl_ms);
	if (outcome == RDL_OK || outcome == RDL_UNKNOWN)
		rdl_hold_mark_indeterminate(&lock->hold); /* until it is answered */
	return outcome;
}

enum rdl_outcome rdl_lock_receive_try(struct rdl_lock *lock)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_receive(lock->link, &reply);

	if (outcome != RDL_UNKNOWN)
		lock->hold.indeterminate = false;
	return rdl_lock_conclude(lock, outcome_of_set(outcome, &reply));
}

enum rdl_outcome rdl_lock_try(struct rdl_lock *lock, long ttl_ms)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_lock_prepare(lock, ttl_ms);

	if (outcome != RDL_OK)
		return outcome;
	outcome = rdl_run(lock->link, &reply, "SET %s %s NX PX %ld", lock->key, lock->token,
			  ttl_ms);
	outcome = outcome_of_set(outcome, &reply);
	if (outcome == RDL_UNKNOWN)
		outcome = rdl_lock_resolve(lock);
	return rdl_lock_conclude(lock, outcome);
}

static enum rdl_outcome ask_token_lock(void *lock, long ttl_ms)
{
	return rdl_lock_try(lock, ttl_ms);
}

static enum rdl_outcome give_back_token_lock(void *lock)
{
	return rdl_lock_release(lock);
}

struct rdl_askable rdl_lock_askable(struct rdl_lock *lock)
{
	return (struct rdl_askable){ .lock = lock,
				     .link = lock->link,
				     .hold = &lock->hold,
				     .ask = ask_token_lock,
				     .give_back = give_back_token_lock };
}

enum rdl_outcome rdl_lock_acquire(struct rdl_lock *lock, long ttl_ms,
				  const struct rdl_policy *policy)
{
	const struct rdl_askable askable = rdl_lock_askable(lock);

	return rdl_acquire(&askable, ttl_ms, policy);
}

/* ---- While it is held -------------------------------------------------- */

enum rdl_outcome rdl_hold_conclude_extend(struct rdl_link *link, struct rdl_hold *hold,
					  int64_t sent_ns, long ttl_ms, enum rdl_outcome outcome)
{
	if (outcome == RDL_OK)
		rdl_hold_prolong(hold, sent_ns, ttl_ms);
	else if (outcome != RDL_ERROR)
		rdl_hold_end(hold, outcome);
	if (outcome == RDL_UNKNOWN)
		rdl_hold_shorten(hold, sent_ns, ttl_ms);
	if (outcome == RDL_OK && rdl_lease_is_over(link, sent_ns, ttl_ms))
		return rdl_link_fail(link, RDL_UNKNOWN, "the lease was over before the reply came");
	return outcome;
}

enum rdl_outcome rdl_hold_extend(struct rdl_link *link, struct rdl_hold *hold, const char *key,
				 const char *token, long ttl_ms)
{
	const struct rdl_guarded guarded = { key, token, ttl_ms };
	const int64_t sent_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC);
	enum rdl_outcome outcome;

	if (ttl_ms < 1)
		return rdl_link_fail(link, RDL_ERROR, rdl_short_ttl, ttl_ms);
	if (!rdl_hold_is_ours(hold) || hold->giving_back)
		return RDL_LOST;
	outcome = rdl_guarded_run(link, &guarded, 0);
	return rdl_hold_conclude_extend(link, hold, sent_ns, ttl_ms, outcome);
}

enum rdl_outcome rdl_lock_extend(struct rdl_lock *lock, long ttl_ms)
{
	if (lock->hold.attachment)
		return rdl_link_fail(lock->link, RDL_ERROR, rdl_is_extended);
	return rdl_hold_extend(lock->link, &lock->hold, lock->key, lock->token, ttl_ms);
}

/* Its key and token do not change while it is held. */
static enum rdl_outcome renew_token(void *held, struct rdl_link *link, long ttl_ms)
{
	const struct rdl_lock *lock = held;

	return rdl_guarded_run(link, &(struct rdl_guarded){ lock->key, lock->token, ttl_ms }, 0);
}

struct rdl_renewable rdl_lock_renewable(struct rdl_lock *lock)
{
	return (struct rdl_renewable){ .lock = lock,
				       .link = lock->link,
				       .hold = &lock->hold,
				       .ttl_ms = lock->ttl_ms,
				       .renew = renew_token,
				       .lease = lock };
}

enum rdl_outcome rdl_renewer_add(struct rdl_renewer *renewer, struct rdl_lock *lock,
				 long hold_max_ms)
{
	const struct rdl_renewable renewable = rdl_lock_renewable(lock);

	return rdl_renewer_enter(renewer, &renewable, hold_max_ms);
}

/* ---- Release ----------------------------------------------------------- */

enum rdl_outcome rdl_lock_conclude_release(struct rdl_lock *lock, enum rdl_outcome outcome)
{
	lock->hold.giving_back = outcome != RDL_OK && outcome != RDL_LOST;
	rdl_hold_end(&lock->hold, outcome);
	return outcome;
}

enum rdl_outcome rdl_lock_release(struct rdl_lock *lock)
{
	rdl_hold_detach(&lock->hold);
	if (!rdl_hold_may_be_there(&lock->hold))
		return RDL_LOST;
	return rdl_lock_conclude_release(lock, delete_token(lock));
}

enum rdl_outcome rdl_lock_queue_release(struct rdl_lock *lock)
{
	const struct rdl_guarded guarded = { lock->key, lock->token, 0 };

	rdl_hold_detach(&lock->hold);
	if (!rdl_hold_may_be_there(&lock->hold))
		return RDL_LOST;
	lock->hold.giving_back = true;
	return rdl_guarded_queue(lock->link, &guarded);
}

enum rdl_outcome rdl_lock_receive_release(struct rdl_lock *lock)
{
	const struct rdl_guarded guarded = { lock->key, lock->token, 0 };

	return rdl_lock_conclude_release(lock, rdl_guarded_receive(lock->link, &guarded, 0));
}
