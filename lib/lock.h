/* SPDX-License-Identifier: MIT */
/* A token lock's inside, for the locks that are built on it. */
#ifndef RL_LOCK_H
#define RL_LOCK_H

#include "hold.h"

struct rl_lock {
	struct rl_link *link;
	struct rl_hold hold;
	long ttl_ms;        /* of the attempt on its way */
	bool indeterminate; /* the token may be there, or may arrive yet */
	pid_t token_owner;  /* the process whose token it is */
	bool giving_back;   /* a release got no answer: not to be held any more */
	char token[RL_TOKEN_SIZE];
	char *fence; /* the key of its fencing numbers */
	char key[];  /* followed by that of `fence` */
};

/* The token may be there, or may arrive yet. */
void rl_lock_mark_indeterminate(struct rl_lock *lock);

/* The reply to SET never came: asks whose token is there. One that landed
 * counts from when it was sent first; and a request may arrive yet, so that
 * the next attempt looks again whatever the answer. */
enum rl_outcome rl_lock_resolve(struct rl_lock *lock);

/* What rl_acquire() needs to know of it. */
struct rl_askable rl_lock_askable(struct rl_lock *lock);

/* Before an attempt: takes back a token that may be there, makes a new one.
 * RL_BUSY: it is held, by this very lock. */
enum rl_outcome rl_lock_prepare(struct rl_lock *lock, long ttl_ms);

/* After it: notes how it ended. */
enum rl_outcome rl_lock_conclude(struct rl_lock *lock, enum rl_outcome outcome);

#endif
