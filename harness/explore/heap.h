/* SPDX-License-Identifier: MIT */
/* Numbers with their costs, of which the cheapest comes out first: of several the lowest. */
#ifndef RR_HEAP_H
#define RR_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct rr_heap {
	struct rr_heap_entry {
		uint64_t cost;
		uint32_t number;
	} * entries;
	uint32_t n;
};

void rr_heap_push(struct rr_heap *heap, uint64_t cost, uint32_t number);
/* There is one. */
uint32_t rr_heap_pop(struct rr_heap *heap);

#endif
