/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include "base/array.h"

static bool is_cheaper(const struct rr_heap_entry *a, const struct rr_heap_entry *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->number < b->number;
}

void rr_heap_push(struct rr_heap *heap, uint64_t cost, uint32_t number)
{
	const struct rr_heap_entry entry = { cost, number };
	uint32_t i = heap->n;

	rr_array_grow(&heap->entries, i, sizeof(*heap->entries));
	heap->n++;
	for (; i > 0 && is_cheaper(&entry, &heap->entries[(i - 1) / 2]); i = (i - 1) / 2)
		heap->entries[i] = heap->entries[(i - 1) / 2];
	heap->entries[i] = entry;
}

uint32_t rr_heap_pop(struct rr_heap *heap)
{
	const uint32_t top = heap->entries[0].number;
	const struct rr_heap_entry last = heap->entries[--heap->n];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= heap->n)
			break;
		if (child + 1 < heap->n &&
		    is_cheaper(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!is_cheaper(&heap->entries[child], &last))
			break;
		heap->entries[i] = heap->entries[child];
		i = child;
	}
	heap->entries[i] = last;
	return top;
}
