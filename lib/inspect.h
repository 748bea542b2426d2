/* SPDX-License-Identifier: MIT */
/* Looking at a lock from outside, in two parts, and labels. */
#ifndef RDL_INSPECT_H
#define RDL_INSPECT_H

#include "redislock.h"

/* A token and the label behind it: HEX, or HEX@LABEL. */
enum { RDL_LABELLED_SIZE = RDL_TOKEN_SIZE + RDL_LABEL_SIZE };

/* Keeps a label that was given; NULL = none. False: it is not a valid one. */
bool rdl_label_take(char label[RDL_LABEL_SIZE], const char *given);

/* Puts it behind a token that has room for RDL_LABEL_SIZE more bytes; "" = none. */
void rdl_label_append(char *token, const char *label);

/* rdl_inspect() in two parts, for pipelines and fan-outs; rdl_receive_until()'s deadline. */
enum rdl_outcome rdl_inspect_queue(struct rdl_link *link, const char *key);
enum rdl_outcome rdl_inspect_receive(struct rdl_link *link, struct rdl_holder *holder,
				     int64_t deadline_ns);

#endif
