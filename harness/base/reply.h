/* SPDX-License-Identifier: MIT */
/* Words and replies as redis-cli has them, and as races and traces write them. */
#ifndef RR_REPLY_H
#define RR_REPLY_H

#include <stdio.h>

#include "driver.h"

/* In quotes, with the escapes of redis-cli. */
void rr_write_quoted(FILE *file, const char *text, size_t length);

/* In quotes unless it means itself without, wherever it stands in a line. */
void rr_write_bare_word(FILE *file, const char *text, size_t length);

/* Words as they are typed: with blanks in quotes; malloc'd. */
char *rr_join_words(const struct rl_word *words, size_t n);

/* As redis-cli prints it, arrays on one line. */
void rr_write_reply(FILE *file, const struct rl_reply *reply);

#endif
