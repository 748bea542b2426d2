/* SPDX-License-Identifier: MIT */
/*
 * One mutex of the program's own around the whole read-modify-write.
 *
 *	A: lock
 *	A> GET counter      => "41"
 *	                              B: lock ... waits
 *	A> SET counter 42   => OK
 *	A: unlock
 *	                              B> GET counter      => "42"
 *
 * Guarantees: an exact count among the threads of one process.
 * Does not guarantee anything against a second process: that one has a mutex
 * of its own, and each is correct and useless against the other (LM-3).
 *
 * The library's version for several processes: rdl_lock (lua-library.c).
 */
#include "strategy.h"

static enum rdl_outcome acquire(struct rr_client *client)
{
	rdl_mutex_lock(client->data, client->mutex);
	return RDL_OK;
}

static enum rdl_outcome release(struct rr_client *client)
{
	rdl_mutex_unlock(client->data, client->mutex);
	return RDL_OK;
}

const struct rr_strategy rr_local_mutex = {
	.name = "local-mutex",
	.summary = "lock, GET, SET, unlock: one mutex in each process",
	.document = "000, 002",
	.group = RR_EIGHT,
	.lock = { .kind = RR_LOCK_MUTEX },
	.acquire = acquire,
	.increment = rr_get_add_set, /* as in none.c */
	.release = release,
};
