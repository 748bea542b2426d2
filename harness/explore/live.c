/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <string.h>

struct wanted {
	struct rr_transition move;
	const uint32_t *next;
	size_t size;
	bool found;
};

/* The log keeps what belongs to the move that is wanted: nothing comes after. */
static bool find_move(void *context, struct rr_transition move,
		      const uint32_t *next, unsigned broken)
{
	struct wanted *wanted = context;

	(void)broken;
	wanted->found = memcmp(&move, &wanted->move, sizeof(move)) == 0 &&
			memcmp(next, wanted->next, wanted->size) == 0;
	return !wanted->found;
}

bool rr_live_actions(struct rr_product *product, const struct rr_graph *graph,
		     const struct rr_way *way, struct rr_actions *actions)
{
	const size_t size = product->n_words * sizeof(uint32_t);
	rr_state_key begin;
	uint32_t state = 0;
	bool good;

	*actions = (struct rr_actions){ 0 };
	product->log = actions;
	good = rr_product_begin(product, begin);
	product->log = NULL;
	for (size_t i = 0; i < way->n && good; i++) {
		const struct rr_edge *edge = &graph->edges[way->edges[i]];
		struct wanted wanted = {
			.move = edge->move,
			.next = rr_intern_get(&graph->states, edge->to),
			.size = size,
		};
		rr_state_key key;
		unsigned flags;

		memcpy(key, rr_intern_get(&graph->states, state), size);
		product->log = actions;
		rr_product_expand(product, key, find_move, &wanted, &flags);
		product->log = NULL;
		good = wanted.found && !product->error.kind;
		state = edge->to;
	}
	return good;
}
