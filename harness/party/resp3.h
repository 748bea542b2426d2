/* SPDX-License-Identifier: MIT */
/*
 * Replies as a server gives them to who has said HELLO 3. Here they are all kept as RESP2
 * has them; what RESP3 makes of one depends on the command that it answers.
 */
#ifndef RR_RESP3_H
#define RR_RESP3_H

#include <stdio.h>

#include "driver.h"

/* Is it known what RESP3 makes of its reply? */
bool rr_resp3_is_known(const struct rdl_command *command);

void rr_resp3_write(FILE *file, const struct rdl_command *command, const struct rdl_reply *reply);

/* A message, or what a command that subscribes is answered. */
void rr_resp3_write_push(FILE *file, const struct rdl_reply *message);

/* What EXEC says of `n` commands that were queued. */
void rr_resp3_write_exec(FILE *file, const struct rdl_command *const *queued, size_t n,
			 const struct rdl_reply *reply);

#endif
