/* SPDX-License-Identifier: MIT */
#include "term.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { CHUNK_SIZE = 1 << 18, FIRST_SLOTS = 64 };

struct rr_intern_chunk {
	struct rr_intern_chunk *next;
	size_t used, size;
	_Alignas(8) unsigned char bytes[];
};

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

/* Two halves are mixed in turn, so that neither mixing waits for the one just before it. */
static uint32_t hash_of(const unsigned char *bytes, size_t length)
{
	uint64_t hash = length * UINT64_C(0x9e3779b97f4a7c15), other = ~hash;
	uint64_t words[2];

	for (; length >= 16; bytes += 16, length -= 16) {
		memcpy(words, bytes, 16);
		hash = mix(hash ^ words[0]);
		other = mix(other ^ words[1]);
	}
	memset(words, 0, sizeof(words));
	if (length)
		memcpy(words, bytes, length);
	return (uint32_t)mix(mix(hash ^ words[0]) ^ mix(other ^ words[1]) * 3);
}

uint64_t rr_hash_number(uint64_t hash, int64_t number)
{
	unsigned char bytes[sizeof(number)];

	memcpy(bytes, &number, sizeof(number));
	for (size_t i = 0; i < sizeof(bytes); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Where the value is, or the free slot where it would be. */
static uint32_t *find_slot(const struct rr_intern *intern, const void *bytes, size_t length,
			   uint32_t hash)
{
	uint32_t i = hash & (intern->n_slots - 1);

	for (;; i = (i + 1) & (intern->n_slots - 1)) {
		uint32_t *slot = &intern->slots[i];
		const struct rr_intern_value *value;

		if (*slot == 0)
			return slot;
		value = &intern->values[*slot - 1];
		if (value->hash == hash && value->length == length &&
		    memcmp(value->bytes, bytes, length) == 0)
			return slot;
	}
}

uint32_t rr_intern_find(const struct rr_intern *intern, const void *bytes, size_t length)
{
	if (intern->n_slots == 0)
		return RR_NO_ID;
	return *find_slot(intern, bytes, length, hash_of(bytes, length)) - 1;
}

/* ---- Growing -------------------------------------------------------------- */

static void *take_bytes(struct rr_intern *intern, size_t length)
{
	const size_t size = (length + 7) / 8 * 8;
	struct rr_intern_chunk *chunk = intern->chunks;
	void *bytes;

	if (!chunk || chunk->used + size > chunk->size) {
		const size_t room = intern->n < 1000 ? 4096 : CHUNK_SIZE;
		const size_t need = size > room ? size : room;

		chunk = rr_malloc(sizeof(*chunk) + need);
		*chunk = (struct rr_intern_chunk){ .next = intern->chunks, .size = need };
		intern->chunks = chunk;
		intern->n_bytes += sizeof(*chunk) + need;
	}
	bytes = chunk->bytes + chunk->used;
	chunk->used += size;
	return bytes;
}

uint32_t rr_intern_put(struct rr_intern *intern, const void *bytes, size_t length, bool *is_new)
{
	const uint32_t hash = hash_of(bytes, length);
	uint32_t *slot;
	void *copy;

	if (is_new)
		*is_new = false;
	if (intern->n >= intern->n_slots / 4 * 3) {
		const uint32_t n_slots = intern->n_slots ? 2 * intern->n_slots : FIRST_SLOTS;
		uint32_t *slots = rr_calloc(n_slots, sizeof(*slots));

		for (uint32_t i = 0; i < intern->n; i++) {
			uint32_t at = intern->values[i].hash & (n_slots - 1);

			while (slots[at])
				at = (at + 1) & (n_slots - 1);
			slots[at] = i + 1;
		}
		intern->n_bytes += (n_slots - intern->n_slots) * sizeof(*slots);
		free(intern->slots);
		intern->slots = slots;
		intern->n_slots = n_slots;
	}
	slot = find_slot(intern, bytes, length, hash);
	if (*slot)
		return *slot - 1;
	if (intern->n == RR_NO_ID - 1)
		rr_out_of_memory();
	if (intern->n == intern->capacity) {
		const uint32_t capacity = intern->capacity ? 2 * intern->capacity : 32;

		intern->values = rr_realloc(intern->values, capacity, sizeof(*intern->values));
		intern->n_bytes += (capacity - intern->capacity) * sizeof(*intern->values);
		intern->capacity = capacity;
	}
	copy = take_bytes(intern, length);
	if (length)
		memcpy(copy, bytes, length);
	intern->values[intern->n] = (struct rr_intern_value){ copy, (uint32_t)length, hash };
	*slot = ++intern->n;
	if (is_new)
		*is_new = true;
	return intern->n - 1;
}

void rr_intern_release(struct rr_intern *intern)
{
	while (intern->chunks) {
		struct rr_intern_chunk *chunk = intern->chunks;

		intern->chunks = chunk->next;
		free(chunk);
	}
	free(intern->values);
	free(intern->slots);
	*intern = (struct rr_intern){ 0 };
}
