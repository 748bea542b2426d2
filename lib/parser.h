/* SPDX-License-Identifier: MIT */
/* hiredis's reply parser, filling an arena with struct rl_reply. */
#ifndef RL_PARSER_H
#define RL_PARSER_H

#include "arena.h"

struct redisReader;

/* Makes `reader` build its replies in `arena`: what it hands out is a struct
 * rl_reply, valid until the arena is reset. */
void rl_parser_attach(struct redisReader *reader, struct rl_arena *arena);

#endif
