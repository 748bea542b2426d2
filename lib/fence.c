/* SPDX-License-Identifier: MIT */
/*
 * Fencing:
 *
 *	if SET key token NX PX ttl then INCR key:fence     the grant's number
 *	if number < highest seen then refuse, else highest = number, GET
 *	if number < highest seen then refuse, else highest = number, SET
 *
 * The read raises the highest number as the write does. Otherwise a holder that
 * had lost its lease after reading could still write before its successor, who
 * has read too, does: both writes would be accepted, and one be lost.
 */
#include <stdio.h>

#include "link.h"
#include "lock.h"

/* One script: a number minted after the grant could be overtaken. */
static const char grant_script[] =
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
	"return false end "
	"return redis.call('INCR', KEYS[2])";

#define RL_ADMIT                                                       \
	"local highest = tonumber(redis.call('GET', KEYS[2]) or '0') " \
	"local number = tonumber(ARGV[1]) "                            \
	"if number < highest then return {0} end "                     \
	"if number > highest then redis.call('SET', KEYS[2], ARGV[1]) end "

/* One script each: between looking at the number and acting on it, a holder
 * with a higher one may come. */
static const char fenced_get[] = RL_ADMIT "return {1, redis.call('GET', KEYS[1])}";
static const char fenced_set[] = RL_ADMIT "redis.call('SET', KEYS[1], ARGV[2]) return {1}";

enum rl_outcome rl_lock_try_fenced(struct rl_lock *lock, long ttl_ms, long long *number)
{
	struct rl_reply reply;
	enum rl_outcome outcome = rl_lock_prepare(lock, ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	outcome = rl_run_script(lock->link, &reply, grant_script, "2 %s %s %s %ld", lock->key,
				lock->fence, lock->token, ttl_ms);
	if (outcome == RL_OK && rl_reply_is_nil(&reply))
		outcome = RL_BUSY;
	if (outcome == RL_OK)
		*number = reply.integer;
	return rl_lock_conclude(lock, outcome);
}

struct fenced_ask {
	struct rl_lock *lock;
	long long *number;
};

static enum rl_outcome ask_fenced(void *asked, long ttl_ms)
{
	const struct fenced_ask *fenced = asked;

	return rl_lock_try_fenced(fenced->lock, ttl_ms, fenced->number);
}

static enum rl_outcome give_back_fenced(void *asked)
{
	const struct fenced_ask *fenced = asked;

	return rl_lock_release(fenced->lock);
}

enum rl_outcome rl_lock_acquire_fenced(struct rl_lock *lock, long ttl_ms,
				       const struct rl_policy *policy, long long *number)
{
	struct fenced_ask fenced = { lock, number };
	const struct rl_askable askable = { .lock = &fenced,
					    .hold = &lock->hold,
					    .ask = ask_fenced,
					    .give_back = give_back_fenced };

	return rl_acquire(&askable, ttl_ms, policy);
}

/* {0} = refused; {1} and, of a read, the value. */
static enum rl_outcome outcome_of_admission(struct rl_link *link, enum rl_outcome outcome,
					    const struct rl_reply *reply)
{
	if (outcome != RL_OK)
		return outcome;
	if (reply->type != RL_REPLY_ARRAY || reply->length < 1)
		return rl_link_fail(link, RL_ERROR, "not the reply that was expected");
	return reply->elements[0].integer == 1 ? RL_OK : RL_LOST;
}

/* KEY:fence; false, and an error, when it is too long. */
static bool name_fence(struct rl_link *link, const char *key, char *fence, size_t size)
{
	if ((size_t)snprintf(fence, size, "%s:fence", key) < size)
		return true;
	rl_link_fail(link, RL_ERROR, "the key is longer than %zu bytes", size - sizeof(":fence"));
	return false;
}

enum { FENCE_SIZE = 1024 };

enum rl_outcome rl_fenced_get(struct rl_link *link, const char *key, long long number,
			      struct rl_reply *reply)
{
	char fence[FENCE_SIZE];
	enum rl_outcome outcome;

	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (!name_fence(link, key, fence, sizeof(fence)))
		return RL_ERROR;
	outcome = rl_run_script(link, reply, fenced_get, "2 %s %s %lld", key, fence, number);
	outcome = outcome_of_admission(link, outcome, reply);
	if (outcome != RL_OK)
		return outcome;
	if (reply->length < 2)
		*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	else
		*reply = reply->elements[1];
	return RL_OK;
}

enum rl_outcome rl_fenced_set(struct rl_link *link, const char *key, long long number,
			      const char *value)
{
	char fence[FENCE_SIZE];
	struct rl_reply reply;
	enum rl_outcome outcome;

	if (!name_fence(link, key, fence, sizeof(fence)))
		return RL_ERROR;
	outcome = rl_run_script(link, &reply, fenced_set, "2 %s %s %lld %s", key, fence, number,
				value);
	return outcome_of_admission(link, outcome, &reply);
}
