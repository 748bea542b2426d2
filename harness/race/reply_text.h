/* SPDX-License-Identifier: MIT */
/* Replies as text, and texts against patterns. */
#ifndef RR_REPLY_TEXT_H
#define RR_REPLY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct redisReply;

/* As redis-cli prints it, arrays on one line; cut off with ... when too long. */
void rr_reply_text(const struct redisReply *reply, char *text, size_t size);

/* What stands for a variable in a pattern: looks `name` up, or (when it has no
 * value yet) takes `value` for it. False: it has another one. */
struct rr_matcher {
	bool (*variable)(void *context, const char *name, size_t name_length,
			 const char *value, size_t length);
	void *context;
};

/*
 * Does `text` match `pattern`? * is any text, $name a variable, which ends where
 * the pattern goes on; 1 is short for (integer) 1. All else stands for itself.
 */
bool rr_reply_matches(const char *pattern, const char *text,
		      const struct rr_matcher *matcher);

/*
 * Makes a reply's text, in place, a pattern that it matches: what would mean
 * something else in a race ($, and outside of quotes ! and #) becomes *. A reply
 * that is compared as it is needs no pattern.
 */
void rr_reply_to_pattern(char *text);

#endif
