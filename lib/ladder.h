/* SPDX-License-Identifier: MIT */
/*
 * The ladder of enum rl_release_method: which rung a link stands on. What it
 * does not know of its server is asked in the same write as the first command
 * that needs to know, so that finding out costs no wait of its own; that first
 * command goes out as EVAL, which needs no knowledge.
 */
#ifndef RL_LADDER_H
#define RL_LADDER_H

#include "redislock.h"

/* Queues the questions, unless all is known or replies are still to come. */
enum rl_outcome rl_ladder_ask(struct rl_link *link, const char *script,
			      bool deletes);

/* Reads the answers to those that were queued, if any. */
void rl_ladder_hear(struct rl_link *link, int64_t deadline_ns);

/* The rung for a command that deletes, or does not. */
enum rl_release_method rl_ladder_method(const struct rl_link *link,
					bool deletes);

/* The server has no such command, or does not let us: the next rung down.
 * False when the error is another one, or there is none left. */
bool rl_ladder_step_down(struct rl_link *link, enum rl_release_method method,
			 const struct rl_reply *refused);

#endif
