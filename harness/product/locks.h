/* SPDX-License-Identifier: MIT */
/*
 * Locks of checked programs and apps, and who holds them. Which keys are locks no name tells: a key
 * that one client's complete run creates and removes again, as another one's does, which is refused
 * and changes nothing else while the first one has it (explore/locks.c finds them).
 *
 * The holder is the client that gave the key its last value, until it removes the key, ends or
 * crashes, or the key expires. Whoever else removes it, gives it another value or puts its end off
 * breaks its ownership. So it is with a request to an app, which ends when it has its answer and
 * nothing of what it sent is on its way. Two things do not break it:
 *
 * - Another value, once time has passed since the holder's: a lock whose value is a time is made to
 *   be taken over then, and what tells that from force is only in its clients' code. The new client
 *   holds it, and what the old one does to it from then on counts.
 * - A time to live for a key that has none: that repairs what a crash might leave.
 */
#ifndef RR_LOCKS_H
#define RR_LOCKS_H

#include "server_table.h"

enum { RR_LOCKS_MAX = 16 };

struct rr_locks {
	size_t n;
	struct rr_lock_key {
		long long database;
		const char *name; /* the table's */
		size_t length;
		uint32_t clients; /* whose complete runs create and remove it, as bits: of
				   * apps requests (owners.h) */
	} all[RR_LOCKS_MAX];
};

/* A key of a server's state; texts are the table's. */
struct rr_server_key {
	long long database;
	const char *name, *dump;
	size_t length, dump_length;
	long long left_ms; /* until it ends; -1 = it does not */
};

/* The next key of a state, from *at on, which begins as 0. False: there are no more. */
bool rr_server_next_key(const struct rr_server_table *table, uint32_t state, size_t *at,
			struct rr_server_key *key);

/* A key by its name. False: it is not there. */
bool rr_server_find_key(const struct rr_server_table *table, uint32_t state,
			const struct rr_lock_key *lock, struct rr_server_key *key);

#endif
