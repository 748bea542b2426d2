/* SPDX-License-Identifier: MIT */
/*
 * Memory for one reply: handed out piece by piece, taken back all at once.
 * Replies of ordinary size never reach malloc.
 */
#ifndef RL_ARENA_H
#define RL_ARENA_H

#include <stddef.h>

struct rl_arena {
	struct rl_arena_chunk *chunks; /* overflow, newest first */
	size_t used;
	_Alignas(max_align_t) char first[512];
};

/* `size` bytes, aligned for anything; NULL when out of memory. */
void *rl_arena_take(struct rl_arena *arena, size_t size);

/* Takes everything back. */
void rl_arena_reset(struct rl_arena *arena);

#endif
