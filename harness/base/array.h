/* SPDX-License-Identifier: MIT */
/* Arrays that grow by doubling. */
#ifndef RR_ARRAY_H
#define RR_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for element number `n` of an array that has `n` elements of `size` bytes
 * already. `array`: the address of the pointer to its first one. Its capacity is the
 * next power of 2. False: out of memory, and the array is as it was. */
static inline bool rr_array_grow(void *array, size_t n, size_t size)
{
	void *elements;

	if (n & (n - 1))
		return true;
	memcpy(&elements, array, sizeof(elements));
	elements = realloc(elements, (n ? 2 * n : 1) * size);
	if (elements)
		memcpy(array, &elements, sizeof(elements));
	return elements != NULL;
}

static inline size_t rr_array_capacity(size_t n)
{
	size_t capacity = n > 0;

	while (capacity < n)
		capacity *= 2;
	return capacity;
}

#endif
