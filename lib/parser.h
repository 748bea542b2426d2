/* SPDX-License-Identifier: MIT */
/* hiredis's reply parser, filling an arena with struct rdl_reply. */
#ifndef RDL_PARSER_H
#define RDL_PARSER_H

#include <stdbool.h>
#include <stddef.h>

/* What a reply may have: more is no server that locks are kept on. */
enum { RDL_REPLY_BYTES_MAX = 64 * 1024 * 1024, RDL_REPLY_ELEMENTS_MAX = 1 << 20 };

/*
 * Memory for one reply: handed out piece by piece, taken back all at once.
 * Replies of ordinary size never reach malloc.
 */
struct rdl_arena {
	struct rdl_arena_chunk *chunks; /* overflow, newest first */
	size_t used;
	size_t n_elements; /* of all arrays together */
	bool is_too_much;  /* there were more than may be */
	_Alignas(max_align_t) char first[512];
};

/* `size` bytes, aligned for anything; NULL when out of memory. */
void *rdl_arena_take(struct rdl_arena *arena, size_t size);

/* Takes everything back. */
void rdl_arena_reset(struct rdl_arena *arena);

struct redisReader;

/* Makes `reader` build its replies in `arena`: what it hands out is a struct
 * rdl_reply, valid until the arena is reset. */
void rdl_parser_attach(struct redisReader *reader, struct rdl_arena *arena);

#endif
