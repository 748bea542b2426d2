/* SPDX-License-Identifier: MIT */
/* A token lock's inside, for the locks that are built on it. */
#ifndef RDL_LOCK_H
#define RDL_LOCK_H

#include "hold.h"
#include "inspect.h"
#include "renewal.h"

struct rdl_lock {
	struct rdl_link *link;
	struct rdl_hold hold;
	long ttl_ms; /* of the attempt on its way */
	char label[RDL_LABEL_SIZE];
	char token[RDL_LABELLED_SIZE];
	char *fence; /* the key of its fencing numbers */
	char key[];  /* followed by that of `fence` */
};

/* The reply to SET never came: asks whose token is there. One that landed
 * counts from when it was sent first; and a request may arrive yet, so that
 * the next attempt looks again whatever the answer. */
enum rdl_outcome rdl_lock_resolve(struct rdl_lock *lock);

/* rdl_lock_extend() for whatever lock keeps `token` in `key`. */
enum rdl_outcome rdl_hold_extend(struct rdl_link *link, struct rdl_hold *hold, const char *key,
				 const char *token, long ttl_ms);

/* After a release: notes how it ended. */
enum rdl_outcome rdl_lock_conclude_release(struct rdl_lock *lock, enum rdl_outcome outcome);

/* What a renewer needs to know of it. */
struct rdl_renewable rdl_lock_renewable(struct rdl_lock *lock);

/* What rdl_acquire() needs to know of it. */
struct rdl_askable rdl_lock_askable(struct rdl_lock *lock);

/* Before an attempt: takes back a token that may be there, makes a new one.
 * RDL_BUSY: it is held, by this very lock. */
enum rdl_outcome rdl_lock_prepare(struct rdl_lock *lock, long ttl_ms);

/* After it: notes how it ended. */
enum rdl_outcome rdl_lock_conclude(struct rdl_lock *lock, enum rdl_outcome outcome);

#endif
