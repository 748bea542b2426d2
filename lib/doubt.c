/* SPDX-License-Identifier: MIT */
/* A token lock whose request was sent and not answered. */
#include <string.h>
#include <unistd.h>

#include "lock.h"

void rl_lock_doubt(struct rl_lock *lock)
{
	lock->in_doubt = true;
	lock->doubter = getpid();
}

static bool is_our_token(const struct rl_lock *lock,
			 const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_STRING &&
	       strcmp(reply->text, lock->token) == 0;
}

/* A server older than 7.0 does not know NX and GET together: only looks. */
static enum rl_outcome look_whose(struct rl_lock *lock)
{
	struct rl_reply reply;
	const enum rl_outcome outcome =
		rl_run(lock->link, &reply, "GET %s", lock->key);

	if (outcome != RL_OK)
		return RL_UNKNOWN;
	return is_our_token(lock, &reply) ? RL_OK : RL_BUSY;
}

enum rl_outcome rl_lock_resolve(struct rl_lock *lock)
{
	struct rl_reply reply;
	enum rl_outcome outcome;

	rl_lock_doubt(lock);
	outcome = rl_run(lock->link, &reply, "SET %s %s NX PX %ld GET",
			 lock->key, lock->token, lock->ttl_ms);
	if (outcome == RL_ERROR && reply.type == RL_REPLY_FAILED)
		return look_whose(lock);
	if (outcome != RL_OK)
		return RL_UNKNOWN;
	return rl_reply_is_nil(&reply) || is_our_token(lock, &reply) ? RL_OK :
								       RL_BUSY;
}
