/* SPDX-License-Identifier: MIT */
/*
 * The re-entrant lock:
 *
 *	level 1   SET key token NX PX ttl
 *	level 2   if GET(key) == token then PEXPIRE(key, ttl)   ours still?
 *	level 1   nothing
 *	level 0   compare-and-delete
 */
#include <stdlib.h>

#include "link.h"
#include "lock.h"

struct rl_reentrant {
	struct rl_lock *lock;
	unsigned depth;
	pid_t owner; /* the process whose levels these are */
};

struct rl_reentrant *rl_reentrant_new(struct rl_link *link, const char *key)
{
	struct rl_reentrant *reentrant = calloc(1, sizeof(*reentrant));

	if (!reentrant)
		return NULL;
	reentrant->lock = rl_lock_new(link, key);
	if (reentrant->lock)
		return reentrant;
	free(reentrant);
	return NULL;
}

void rl_reentrant_free(struct rl_reentrant *reentrant)
{
	if (!reentrant)
		return;
	rl_lock_free(reentrant->lock);
	free(reentrant);
}

unsigned rl_reentrant_depth(const struct rl_reentrant *reentrant)
{
	return reentrant->owner == rl_process(reentrant->lock->link) ? reentrant->depth : 0;
}

long rl_reentrant_remaining_ms(const struct rl_reentrant *reentrant)
{
	return rl_lock_remaining_ms(reentrant->lock);
}

const struct rl_stats *rl_reentrant_stats(const struct rl_reentrant *reentrant)
{
	return rl_lock_stats(reentrant->lock);
}

/* After a fork the levels are the parent's, lost ones too. */
static void forget_the_parents(struct rl_reentrant *reentrant)
{
	reentrant->depth = rl_reentrant_depth(reentrant);
	reentrant->owner = rl_process(reentrant->lock->link);
}

static enum rl_outcome enter_again(struct rl_reentrant *reentrant, long ttl_ms)
{
	const enum rl_outcome outcome = rl_lock_extend(reentrant->lock, ttl_ms);

	if (outcome == RL_OK)
		reentrant->depth++;
	return outcome;
}

enum rl_outcome rl_reentrant_acquire(struct rl_reentrant *reentrant, long ttl_ms,
				     const struct rl_policy *policy)
{
	enum rl_outcome outcome;

	forget_the_parents(reentrant);
	if (reentrant->depth > 0)
		return enter_again(reentrant, ttl_ms);
	outcome = rl_lock_acquire(reentrant->lock, ttl_ms, policy);
	reentrant->depth = outcome == RL_OK;
	return outcome;
}

enum rl_outcome rl_reentrant_try(struct rl_reentrant *reentrant, long ttl_ms)
{
	return rl_reentrant_acquire(reentrant, ttl_ms, NULL);
}

enum rl_outcome rl_reentrant_release(struct rl_reentrant *reentrant)
{
	forget_the_parents(reentrant);
	if (reentrant->depth > 0)
		reentrant->depth--;
	if (reentrant->depth > 0) /* the outermost asks the server */
		return rl_reentrant_remaining_ms(reentrant) > 0 ? RL_OK : RL_LOST;
	return rl_lock_release(reentrant->lock);
}
