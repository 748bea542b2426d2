/* SPDX-License-Identifier: MIT */
/*
 * Fencing:
 *
 *	if SET key token NX PX ttl then INCR key:fence     the grant's number
 *	the same again, its reply was lost: our token is there, GET key:fence
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

/* One script: a number minted after the grant could be overtaken. Where our token is there
 * already, the counter has its number still, since only a grant raises it. */
static const char grant_script[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then "
	"return tonumber(redis.call('GET', KEYS[2]) or redis.call('INCR', KEYS[2])) end "
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
	"return false end "
	"return redis.call('INCR', KEYS[2])";

#define RDL_ADMIT                                                      \
	"local highest = tonumber(redis.call('GET', KEYS[2]) or '0') " \
	"local number = tonumber(ARGV[1]) "                            \
	"if number < highest then return {0} end "                     \
	"if number > highest then redis.call('SET', KEYS[2], ARGV[1]) end "

/* One script each: between looking at the number and acting on it, a holder
 * with a higher one may come. */
static const char fenced_get[] = RDL_ADMIT "return {1, redis.call('GET', KEYS[1])}";
static const char fenced_set[] = RDL_ADMIT "redis.call('SET', KEYS[1], ARGV[2]) return {1}";

static enum rdl_outcome run_grant(struct rdl_lock *lock, struct rdl_reply *reply)
{
	return rdl_run_script(lock->link, reply, grant_script, "2 %s %s %s %ld", lock->key,
			      lock->fence, lock->token, lock->ttl_ms);
}

/* A reply that never came is asked for again. The first request may arrive yet, so that the next
 * attempt takes the token back whatever the answer. */
enum rdl_outcome rdl_lock_try_fenced(struct rdl_lock *lock, long ttl_ms, long long *number)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_lock_prepare(lock, ttl_ms);

	if (outcome != RDL_OK)
		return outcome;
	outcome = run_grant(lock, &reply);
	if (outcome == RDL_UNKNOWN) {
		rdl_hold_mark_indeterminate(&lock->hold);
		outcome = run_grant(lock, &reply) == RDL_OK ? RDL_OK : RDL_UNKNOWN;
	}
	if (outcome == RDL_OK && rdl_reply_is_nil(&reply))
		outcome = RDL_BUSY;
	if (outcome == RDL_OK)
		*number = reply.integer;
	return rdl_lock_conclude(lock, outcome);
}

struct fenced_ask {
	struct rdl_lock *lock;
	long long *number;
};

static enum rdl_outcome ask_fenced(void *asked, long ttl_ms)
{
	const struct fenced_ask *fenced = asked;

	return rdl_lock_try_fenced(fenced->lock, ttl_ms, fenced->number);
}

static enum rdl_outcome give_back_fenced(void *asked)
{
	const struct fenced_ask *fenced = asked;

	return rdl_lock_release(fenced->lock);
}

enum rdl_outcome rdl_lock_acquire_fenced(struct rdl_lock *lock, long ttl_ms,
					 const struct rdl_policy *policy, long long *number)
{
	struct fenced_ask fenced = { lock, number };
	const struct rdl_askable askable = { .lock = &fenced,
					     .link = lock->link,
					     .hold = &lock->hold,
					     .ask = ask_fenced,
					     .give_back = give_back_fenced };

	return rdl_acquire(&askable, ttl_ms, policy);
}

/* {0} = refused; {1} and, of a read, the value. */
static enum rdl_outcome outcome_of_admission(struct rdl_link *link, enum rdl_outcome outcome,
					     const struct rdl_reply *reply)
{
	if (outcome != RDL_OK)
		return outcome;
	if (reply->type != RDL_REPLY_ARRAY || reply->length < 1)
		return rdl_link_fail(link, RDL_ERROR, "not the reply that was expected");
	return reply->elements[0].integer == 1 ? RDL_OK : RDL_LOST;
}

/* KEY:fence; false, and an error, when it is too long. */
static bool name_fence(struct rdl_link *link, const char *key, char *fence, size_t size)
{
	if (rdl_name_beside(link, key, ":fence", fence, size))
		return true;
	rdl_link_fail(link, RDL_ERROR, "the key is longer than %zu bytes",
		      size - sizeof("{}:fence"));
	return false;
}

enum { FENCE_SIZE = 1024 };

enum rdl_outcome rdl_fenced_get(struct rdl_link *link, const char *key, long long number,
				struct rdl_reply *reply)
{
	char fence[FENCE_SIZE];
	enum rdl_outcome outcome;

	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	if (!name_fence(link, key, fence, sizeof(fence)))
		return RDL_ERROR;
	outcome = rdl_run_script(link, reply, fenced_get, "2 %s %s %lld", key, fence, number);
	outcome = outcome_of_admission(link, outcome, reply);
	if (outcome != RDL_OK)
		return outcome;
	if (reply->length < 2)
		*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	else
		*reply = reply->elements[1];
	return RDL_OK;
}

enum rdl_outcome rdl_fenced_set(struct rdl_link *link, const char *key, long long number,
				const char *value)
{
	char fence[FENCE_SIZE];
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (!name_fence(link, key, fence, sizeof(fence)))
		return RDL_ERROR;
	outcome = rdl_run_script(link, &reply, fenced_set, "2 %s %s %lld %s", key, fence, number,
				 value);
	return outcome_of_admission(link, outcome, &reply);
}
