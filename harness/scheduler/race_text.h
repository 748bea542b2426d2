/* SPDX-License-Identifier: MIT */
/* Words and replies as they are written in a race. */
#ifndef RR_RACE_TEXT_H
#define RR_RACE_TEXT_H

#include <stdio.h>

#include "driver.h"

/* A blank and the word, in quotes unless it is plain. */
void rr_write_word(FILE *file, const struct rl_word *word);

/* As redis-cli prints it, arrays on one line. */
void rr_write_reply(FILE *file, const struct rl_reply *reply);

#endif
