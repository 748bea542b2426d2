/* SPDX-License-Identifier: MIT */
/*
 * The token lock:
 *
 *	SET key token NX PX ttl      the key is ours, or it is not
 *	... work ...
 *	EVALSHA compare-and-delete   gone, if it still holds our token
 */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "token.h"

struct rl_lock {
	struct rl_link *link;
	char token[RL_TOKEN_SIZE];
	char key[];
};

struct rl_lock *rl_lock_new(struct rl_link *link, const char *key)
{
	const size_t size = strlen(key) + 1;
	struct rl_lock *lock = calloc(1, sizeof(*lock) + size);

	if (!lock)
		return NULL;
	lock->link = link;
	memcpy(lock->key, key, size);
	return lock;
}

void rl_lock_free(struct rl_lock *lock)
{
	free(lock);
}

enum rl_outcome rl_lock_try(struct rl_lock *lock, long ttl_ms)
{
	struct rl_reply reply;
	enum rl_outcome outcome;

	if (!rl_token_fresh(lock->token))
		return rl_link_fail(lock->link, RL_ERROR, "no random bytes");
	outcome = rl_run(lock->link, &reply, "SET %s %s NX PX %ld", lock->key,
			 lock->token, ttl_ms);
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : RL_OK;
}

enum rl_outcome rl_lock_release(struct rl_lock *lock)
{
	struct rl_reply reply;
	const enum rl_outcome outcome =
		rl_run_script(lock->link, &reply, rl_compare_and_delete,
			      "1 %s %s", lock->key, lock->token);

	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_LOST;
}
