/* SPDX-License-Identifier: MIT */
/* A reply of the library's as the text that a race has for it. */
#ifndef RR_REPLY_COPY_H
#define RR_REPLY_COPY_H

#include <stddef.h>

#include "redislock.h"

/* As rr_wire_read() would have it. False when out of memory. */
bool rr_reply_copy_text(const struct rl_reply *reply, char *text, size_t size);

#endif
