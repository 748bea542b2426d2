/* SPDX-License-Identifier: MIT */
/* Arrays that grow by doubling. */
#ifndef RR_ARRAY_H
#define RR_ARRAY_H

#include <stddef.h>
#include <string.h>

#include "memory.h"

/* Makes room for element number `n` of an array that has `n` elements of `size` bytes
 * already. `array`: the address of the pointer to its first one. Its capacity is the
 * next power of 2. */
static inline void rr_array_grow(void *array, size_t n, size_t size)
{
	void *elements;

	if (n & (n - 1))
		return;
	memcpy(&elements, array, sizeof(elements));
	elements = rr_realloc(elements, n ? 2 * n : 1, size);
	memcpy(array, &elements, sizeof(elements));
}

static inline size_t rr_array_capacity(size_t n)
{
	size_t capacity = n > 0;

	while (capacity < n)
		capacity *= 2;
	return capacity;
}

#endif
