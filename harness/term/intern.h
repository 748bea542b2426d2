/* SPDX-License-Identifier: MIT */
/*
 * Values that are kept once each and known by a number: 0, 1, 2, ... in the order
 * in which they were first seen. Everything that the explorer compares (commands,
 * replies, states) is such a value, so that comparing is comparing numbers.
 */
#ifndef RR_INTERN_H
#define RR_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RR_NO_ID = UINT32_MAX };

struct rr_intern {
	uint32_t n;
	size_t n_bytes; /* of memory, in all */
	struct rr_intern_value {
		const void *bytes;
		uint32_t length, hash;
	} * values;
	uint32_t capacity, n_slots; /* n_slots is a power of 2 */
	uint32_t *slots;            /* number + 1, 0 = free */
	struct rr_intern_chunk *chunks;
};

/* The value's number, with *is_new set (unless NULL) if nobody has seen it before.
 * The bytes are copied. */
uint32_t rr_intern_put(struct rr_intern *intern, const void *bytes, size_t length, bool *is_new);

/* Its number if it was seen before, else RR_NO_ID. */
uint32_t rr_intern_find(const struct rr_intern *intern, const void *bytes, size_t length);

/* The value, aligned to 8 bytes; valid until the release. */
static inline const void *rr_intern_get(const struct rr_intern *intern, uint32_t id)
{
	return intern->values[id].bytes;
}

/* FNV-1a of a number's bytes, to go on with; the first hash is RR_HASH_START. */
#define RR_HASH_START UINT64_C(14695981039346656037)

uint64_t rr_hash_number(uint64_t hash, int64_t number);

/* All zero = empty; a release makes it so. */
void rr_intern_release(struct rr_intern *intern);

#endif
