/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdlib.h>

struct rl_arena_chunk {
	struct rl_arena_chunk *next;
	_Alignas(max_align_t) char bytes[];
};

void *rl_arena_take(struct rl_arena *arena, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct rl_arena_chunk *chunk;
	void *piece;

	size = (size + align - 1) / align * align;
	if (size <= sizeof(arena->first) - arena->used) {
		piece = arena->first + arena->used;
		arena->used += size;
		return piece;
	}
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk->bytes;
}

void rl_arena_reset(struct rl_arena *arena)
{
	while (arena->chunks) {
		struct rl_arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->used = 0;
}
