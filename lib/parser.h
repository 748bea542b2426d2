/* SPDX-License-Identifier: MIT */
/* hiredis's reply parser, filling an arena with struct rl_reply. */
#ifndef RL_PARSER_H
#define RL_PARSER_H

#include <stdbool.h>
#include <stddef.h>

/* What a reply may have: more is no server that locks are kept on. */
enum { RL_REPLY_BYTES_MAX = 64 * 1024 * 1024, RL_REPLY_ELEMENTS_MAX = 1 << 20 };

/*
 * Memory for one reply: handed out piece by piece, taken back all at once.
 * Replies of ordinary size never reach malloc.
 */
struct rl_arena {
	struct rl_arena_chunk *chunks; /* overflow, newest first */
	size_t used;
	size_t n_elements; /* of all arrays together */
	bool is_too_much;  /* there were more than may be */
	_Alignas(max_align_t) char first[512];
};

/* `size` bytes, aligned for anything; NULL when out of memory. */
void *rl_arena_take(struct rl_arena *arena, size_t size);

/* Takes everything back. */
void rl_arena_reset(struct rl_arena *arena);

struct redisReader;

/* Makes `reader` build its replies in `arena`: what it hands out is a struct
 * rl_reply, valid until the arena is reset. */
void rl_parser_attach(struct redisReader *reader, struct rl_arena *arena);

#endif
