/* SPDX-License-Identifier: MIT */
/* The end of a transaction: EXEC, and the replies to all that was queued. */
#include <stdio.h>

#include "link.h"

/* EXEC succeeds although a command of the transaction has failed. */
static enum rl_outcome outcome_of(struct rl_link *link,
				  const struct rl_reply *executed)
{
	if (executed->type != RL_REPLY_ARRAY)
		return RL_OK;
	for (size_t i = 0; i < executed->length; i++) {
		const struct rl_reply *reply = &executed->elements[i];

		if (reply->type == RL_REPLY_FAILED)
			return rl_link_fail(link, RL_ERROR, "%s", reply->text);
	}
	return RL_OK;
}

enum rl_outcome rl_exec(struct rl_link *link, unsigned n_queued,
			struct rl_reply *reply)
{
	char why[256] = ""; /* EXEC only says that something was refused */
	enum rl_outcome outcome = rl_queue(link, "EXEC");

	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (outcome == RL_OK)
		outcome = rl_flush(link);
	if (outcome != RL_OK)
		return outcome;
	while (n_queued-- > 0) {
		if (rl_receive(link, reply) == RL_ERROR && !why[0])
			snprintf(why, sizeof(why), "%s", rl_link_error(link));
	}
	outcome = rl_receive(link, reply);
	if (outcome == RL_OK)
		return outcome_of(link, reply);
	if (outcome == RL_ERROR && why[0])
		rl_link_fail(link, RL_ERROR, "%s", why);
	return outcome;
}
