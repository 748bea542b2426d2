/* SPDX-License-Identifier: MIT */
/* rdl_run_script() in parts: for fan-outs, and with words of several formats. */
#ifndef RDL_SCRIPT_H
#define RDL_SCRIPT_H

#include "command.h"

/*
 * A script call whose words are put together by the caller: begin, append what
 * follows the script with rdl_command_parse(), run as rdl_run_script() does.
 */
void rdl_script_begin(struct rdl_command *command);
enum rdl_outcome rdl_run_script_command(struct rdl_link *link, struct rdl_reply *reply,
					const char *source, struct rdl_command *command);

/* Queues a script call; the reply may be one that rdl_script_is_forgotten()
 * recognises, and then the script has not run: rdl_run_script() it. */
enum rdl_outcome rdl_queue_script(struct rdl_link *link, const char *source, const char *format,
				  ...) __attribute__((format(printf, 3, 4)));

/* Asks for the hash now, for a pipeline that cannot stop for it later. */
void rdl_script_learn(struct rdl_link *link, const char *source);

/* Keeps the hash that SCRIPT LOAD answered, in the place of the oldest one when
 * there is no room; false when it did not answer one. */
bool rdl_script_note(struct rdl_link *link, const char *source, const struct rdl_reply *loaded);

/* Does the link know its hash? */
bool rdl_script_is_known(const struct rdl_link *link, const char *source);

/* The script with this hash; NULL when the link does not know it. */
const char *rdl_script_source(const struct rdl_link *link, const char *sha1);

/* The server does not: the next use asks for the hash again. */
void rdl_script_forget(struct rdl_link *link, const char *source);

/* Did the server answer that it does not know the hash (NOSCRIPT)? */
bool rdl_script_is_forgotten(const struct rdl_reply *reply);

#endif
