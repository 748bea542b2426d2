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

struct rdl_reentrant {
	struct rdl_lock *lock;
	unsigned depth;
	pid_t owner; /* the process whose levels these are */
};

struct rdl_reentrant *rdl_reentrant_new(struct rdl_link *link, const char *key)
{
	struct rdl_reentrant *reentrant = calloc(1, sizeof(*reentrant));

	if (!reentrant)
		return NULL;
	reentrant->lock = rdl_lock_new(link, key);
	if (reentrant->lock)
		return reentrant;
	free(reentrant);
	return NULL;
}

void rdl_reentrant_free(struct rdl_reentrant *reentrant)
{
	if (!reentrant)
		return;
	rdl_lock_free(reentrant->lock);
	free(reentrant);
}

unsigned rdl_reentrant_depth(const struct rdl_reentrant *reentrant)
{
	return reentrant->owner == rdl_process(reentrant->lock->link) ? reentrant->depth : 0;
}

long rdl_reentrant_remaining_ms(const struct rdl_reentrant *reentrant)
{
	return rdl_lock_remaining_ms(reentrant->lock);
}

bool rdl_reentrant_set_label(struct rdl_reentrant *reentrant, const char *label)
{
	return rdl_lock_set_label(reentrant->lock, label);
}

const struct rdl_stats *rdl_reentrant_stats(const struct rdl_reentrant *reentrant)
{
	return rdl_lock_stats(reentrant->lock);
}

/* After a fork the levels are the parent's, lost ones too. */
static void forget_the_parents(struct rdl_reentrant *reentrant)
{
	reentrant->depth = rdl_reentrant_depth(reentrant);
	reentrant->owner = rdl_process(reentrant->lock->link);
}

/* The outer level keeps its lease where that is the longer one. */
static enum rdl_outcome enter_again(struct rdl_reentrant *reentrant, long ttl_ms)
{
	const struct rdl_hold *hold = &reentrant->lock->hold;
	const long outer_ms = rdl_ttl_reaching_ms(rdl_now_ns(hold->link, RDL_CLOCK_MONOTONIC),
						  hold->until_ns);
	enum rdl_outcome outcome;

	if (ttl_ms < 1)
		return rdl_link_fail(reentrant->lock->link, RDL_ERROR, rdl_short_ttl, ttl_ms);
	outcome = rdl_lock_extend(reentrant->lock, ttl_ms > outer_ms ? ttl_ms : outer_ms);
	if (outcome == RDL_OK)
		reentrant->depth++;
	return outcome;
}

enum rdl_outcome rdl_reentrant_acquire(struct rdl_reentrant *reentrant, long ttl_ms,
				       const struct rdl_policy *policy)
{
	enum rdl_outcome outcome;

	forget_the_parents(reentrant);
	if (reentrant->depth > 0)
		return enter_again(reentrant, ttl_ms);
	outcome = rdl_lock_acquire(reentrant->lock, ttl_ms, policy);
	reentrant->depth = outcome == RDL_OK;
	return outcome;
}

enum rdl_outcome rdl_reentrant_try(struct rdl_reentrant *reentrant, long ttl_ms)
{
	return rdl_reentrant_acquire(reentrant, ttl_ms, NULL);
}

enum rdl_outcome rdl_reentrant_release(struct rdl_reentrant *reentrant)
{
	forget_the_parents(reentrant);
	if (reentrant->depth > 0)
		reentrant->depth--;
	if (reentrant->depth > 0) /* the outermost asks the server */
		return rdl_reentrant_remaining_ms(reentrant) > 0 ? RDL_OK : RDL_LOST;
	return rdl_lock_release(reentrant->lock);
}
