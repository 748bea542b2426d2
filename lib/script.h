/* SPDX-License-Identifier: MIT */
/* rl_run_script() in parts: for fan-outs, and with words of several formats. */
#ifndef RL_SCRIPT_H
#define RL_SCRIPT_H

#include "command.h"

/*
 * A script call whose words are put together by the caller: begin, append what
 * follows the script with rl_command_parse(), run as rl_run_script() does.
 */
void rl_script_begin(struct rl_command *command);
enum rl_outcome rl_run_script_command(struct rl_link *link, struct rl_reply *reply,
				      const char *source, struct rl_command *command);

/* Queues a script call; the reply may be one that rl_script_is_forgotten()
 * recognises, and then the script has not run: rl_run_script() it. */
enum rl_outcome rl_queue_script(struct rl_link *link, const char *source, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Asks for the hash now, for a pipeline that cannot stop for it later. */
void rl_script_learn(struct rl_link *link, const char *source);

/* Keeps the hash that SCRIPT LOAD answered, in the place of the oldest one when
 * there is no room; false when it did not answer one. */
bool rl_script_note(struct rl_link *link, const char *source, const struct rl_reply *loaded);

/* Does the link know its hash? */
bool rl_script_is_known(const struct rl_link *link, const char *source);

/* The script with this hash; NULL when the link does not know it. */
const char *rl_script_source(const struct rl_link *link, const char *sha1);

/* The server does not: the next use asks for the hash anew. */
void rl_script_forget(struct rl_link *link, const char *source);

/* Did the server answer that it does not know the hash (NOSCRIPT)? */
bool rl_script_is_forgotten(const struct rl_reply *reply);

#endif
