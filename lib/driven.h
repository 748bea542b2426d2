/* SPDX-License-Identifier: MIT */
/* What a driven link does differently; see driven.c. */
#ifndef RL_DRIVEN_H
#define RL_DRIVEN_H

#include "command.h"

/* Replies that have come and have not been received yet, oldest first. Nothing
 * is allocated for a link that runs free. */
struct rl_keep {
	struct rl_kept *first, *last;
	struct rl_kept *taken; /* received last: the caller may be reading it */
	struct rl_kept *spare;
};

/* Forgets what has not been received. */
void rl_keep_drop(struct rl_keep *keep);

void rl_keep_release(struct rl_keep *keep);

/* rl_queue_command() and rl_receive_until() for a link whose driver has a send. */
enum rl_outcome rl_driven_queue(struct rl_link *link,
				struct rl_command *command);
enum rl_outcome rl_driven_receive(struct rl_link *link, struct rl_reply *reply,
				  int64_t deadline_ns);

#endif
