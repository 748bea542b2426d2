/* SPDX-License-Identifier: MIT */
/* Explores all states that can be reached. */
#include "graph.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/machine.h"

/* So many commands on one server, and still no state that was there: something counts
 * up. The shortest paths of what comes to an end are shorter by far. */
enum {
	ENDLESS_DEPTH = 40,
	ENDLESS_DEPTH_EACH = 30, /* and for each increment */
	LOOK_FOR_COUNTERS = 3000
};

/* A search of programs is judged before its end for the first time. */
enum { LOOK_STATES = 4096, LOOK_RUNS = 32 };

enum { GO_TURNS = 128 }; /* lanes are fewer */

enum { REPORT_EVERY = 64, REPORT_NS = 50 * 1000 * 1000 };

/* ---- The heap ------------------------------------------------------------------ */

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

/* ---- What is next ----------------------------------------------------------- */

/* It has been reached, perhaps with less than before. */
static void put_state(struct rr_graph *graph, uint32_t state, bool is_new,
		      struct rr_graph_place place)
{
	if (!graph->config.detour)
		return;
	if (is_new)
		rr_array_grow(&graph->places, state, sizeof(*graph->places));
	if (!is_new &&
	    (rr_graph_is_expanded(graph, state) || graph->places[state].cost <= place.cost))
		return;
	graph->places[state] = place;
	rr_heap_push(&graph->waiting, place.cost, state);
}

/* False: there is none. */
static bool take_state(struct rr_graph *graph, uint32_t *state)
{
	if (!graph->config.detour) {
		*state = graph->n_expanded;
		return *state < graph->states.n;
	}
	while (graph->waiting.n > 0) {
		*state = rr_heap_pop(&graph->waiting);
		if (!rr_graph_is_expanded(graph, *state))
			return true;
	}
	return false;
}

/* Whose turn a step is: the client's; of an app, which serves several requests at once, the
 * connection's or the thread's. Never 0. */
static uint16_t turn_of(const struct rr_graph *graph, struct rr_transition step)
{
	const bool is_app = graph->product->config.program->requests.n > 0;

	return (uint16_t)((step.who << 8) + 1 +
			  (is_app ? step.lane + (step.kind == RR_DO_GO ? GO_TURNS : 0) : 0));
}

/* Could whoever made the last step go on, and is in no loop? Then others preempt it. */
static uint16_t holder_of_turn(const struct rr_graph *graph, uint32_t state,
			       const struct rr_edges *edges)
{
	const uint16_t turn = graph->places[state].turn;

	if (!turn ||
	    rr_product_is_in_loop(graph->product, rr_graph_key(graph, state), (turn - 1) >> 8))
		return 0;
	for (size_t i = 0; i < edges->n; i++) {
		if (rr_transition_is_step(edges->all[i].transition) &&
		    turn_of(graph, edges->all[i].transition) == turn)
			return turn;
	}
	return 0;
}

/* ---- States and edges --------------------------------------------------------- */

static uint32_t add_graph_state(struct rr_graph *graph, const uint32_t *key, bool *is_new)
{
	const uint32_t state = rr_intern_put(&graph->states, key,
					     graph->product->n_words * sizeof(*key), is_new);

	if (!*is_new)
		return state;
	rr_array_grow(&graph->flags, state, sizeof(*graph->flags));
	rr_array_grow(&graph->first, state, sizeof(*graph->first));
	rr_array_grow(&graph->degree, state, sizeof(*graph->degree));
	graph->flags[state] = 0;
	graph->first[state] = 0;
	graph->degree[state] = 0;
	return state;
}

static bool expand_state(struct rr_graph *graph, uint32_t state)
{
	struct rr_product *product = graph->product;
	const struct rr_edges *edges = rr_product_expand(product, rr_graph_key(graph, state),
							 false);
	const uint64_t first = graph->n_edges;
	unsigned flags;
	uint16_t holder;

	if (!edges)
		return false;
	flags = edges->flags | RR_STATE_KNOWN;
	/* Is the counter what the clients were told it is? */
	if (flags & RR_STATE_FINAL && product->config.strategy) {
		struct rr_count count;

		if (!rr_product_count(product, rr_graph_key(graph, state), &count))
			return false;
		if (rr_count_is_wrong(&count)) {
			flags |= RR_STATE_WRONG;
			graph->breaks |= RR_BREAKS_COUNT;
		}
	}
	holder = graph->config.detour ? holder_of_turn(graph, state, edges) : 0;
	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_edge *edge = &edges->all[i];
		bool is_new;
		const uint32_t to = add_graph_state(graph, edge->key, &is_new);

		graph->breaks |= edge->broken;
		rr_array_grow(&graph->edges, graph->n_edges, sizeof(*graph->edges));
		graph->edges[graph->n_edges++] = (struct rr_graph_edge){ to, edge->transition,
									 edge->broken };
		if (graph->config.detour) {
			const bool is_step = rr_transition_is_step(edge->transition);
			const bool preempts = is_step && holder &&
					      turn_of(graph, edge->transition) != holder;
			struct rr_graph_place place = graph->places[state];

			place.cost += 1 + (preempts || rr_transition_is_fault(edge->transition) ?
						   graph->config.detour :
						   0);
			if (is_step)
				place.turn = turn_of(graph, edge->transition);
			put_state(graph, to, is_new, place);
		}
	}
	if (flags & RR_STATE_STARVED)
		graph->breaks |= RR_STARVES;
	if (flags & RR_STATE_DEAD)
		graph->breaks |= RR_DEADLOCKS;
	graph->flags[state] = (uint8_t)flags;
	graph->first[state] = first;
	graph->degree[state] = (uint32_t)(graph->n_edges - first);
	graph->n_expanded++;
	return true;
}

size_t rr_graph_bytes(const struct rr_graph *graph)
{
	const struct rr_product *product = graph->product;

	return graph->states.n_bytes + rr_array_capacity(graph->n_edges) * sizeof(*graph->edges) +
	       rr_array_capacity(graph->states.n) *
		       (sizeof(*graph->first) + sizeof(*graph->degree) + sizeof(*graph->flags) +
			(graph->config.detour ? sizeof(*graph->places) : 0)) +
	       product->parts.n_bytes + product->commons.n_bytes;
}

static bool is_endless(struct rr_graph *graph)
{
	struct rr_product *product = graph->product;
	const uint32_t n = graph->n_expanded;
	const uint32_t deepest = ENDLESS_DEPTH + ENDLESS_DEPTH_EACH * (uint32_t)product->n_clients *
							 (uint32_t)product->config.increments;

	if (product->config.bounded || !product->config.strategy)
		return false;
	if ((n < LOOK_FOR_COUNTERS || n % LOOK_FOR_COUNTERS == 0) &&
	    rr_product_counts_up(product, rr_graph_key(graph, n - 1)))
		return true;
	return product->tables[0]->depth > deepest || product->tables[1]->depth > deepest;
}

unsigned long rr_graph_count_runs(const struct rr_product *product)
{
	unsigned long n = 0;

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_client_table *table = rr_product_client_table(product, i);

		n += table ? table->n_runs : 0;
	}
	return n;
}

static void look_later(struct rr_graph *graph, unsigned long n_runs)
{
	while (graph->look_states <= graph->n_expanded)
		graph->look_states *= 2;
	while (graph->look_runs <= n_runs)
		graph->look_runs *= 2;
}

/* Is there a finding among what has been seen? It is looked for each time when the search has
 * become twice as large. */
static bool has_found(struct rr_graph *graph)
{
	const unsigned long n_runs = rr_graph_count_runs(graph->product);

	if (!graph->config.has_found ||
	    (graph->n_expanded < graph->look_states && n_runs < graph->look_runs))
		return false;
	look_later(graph, n_runs);
	return graph->config.has_found(graph->config.search);
}

/* Why to stop before the end; RR_GRAPH_WHOLE = go on. */
static enum rr_graph_end why_to_stop(struct rr_graph *graph)
{
	const struct rr_graph_config *config = &graph->config;
	const struct rr_product *product = graph->product;
	int64_t now_ns;

	if (rr_beliefs_withdrawn(product->config.program->beliefs) & RR_BELIEFS_OF_STATES)
		return RR_GRAPH_AGAIN;
	if (graph->breaks & config->first_of)
		return RR_GRAPH_FIRST;
	if (has_found(graph))
		return RR_GRAPH_FOUND;
	if (is_endless(graph))
		return rr_product_failed(product) ? RR_GRAPH_FAILED : RR_GRAPH_ENDLESS;
	if (config->most && graph->states.n > config->most)
		return RR_GRAPH_MOST;
	if (config->most_runs && rr_graph_count_runs(product) > config->most_runs)
		return RR_GRAPH_MOST;
	if (config->broad && graph->states.n > config->broad)
		return RR_GRAPH_BROAD;
	/* Looking at everything takes longer than many states do, and a state whose programs have
	 * to be run first takes longer than all of that. */
	now_ns = rr_clock_ns();
	if (graph->n_expanded % REPORT_EVERY != 0 && now_ns - graph->reported_ns < REPORT_NS)
		return RR_GRAPH_WHOLE;
	graph->reported_ns = now_ns;
	if (config->memory && rr_graph_bytes(graph) > config->memory)
		return RR_GRAPH_MEMORY;
	return config->deadline && !rr_deadline_tell(config->deadline, graph->n_expanded, 0) ?
		       RR_GRAPH_STOPPED :
		       RR_GRAPH_WHOLE;
}

/* Does any server look at the time of day, which is no part of the states? Then one
 * question may have got two answers already. */
static bool needs_time(struct rr_product *product)
{
	const size_t n = 1 + (product->tables[1] != product->tables[0]);
	bool needs = false;

	if (product->config.absolute || product->tables[0]->is_tree)
		return false;
	for (size_t i = 0; i < n && !needs; i++)
		needs = product->tables[i]->differs ||
			(!product->tables[i]->error.kind &&
			 rr_server_table_tells_time(product->tables[i]));
	if (needs)
		rr_product_withdraw(product, RR_BELIEF_NO_DAY);
	return needs;
}

enum rr_graph_end rr_graph_explore(struct rr_graph *graph, struct rr_product *product,
				   const struct rr_graph_config *config)
{
	enum rr_graph_end end = RR_GRAPH_WHOLE;
	rr_state_key key;
	uint32_t state;
	bool is_new;

	*graph = (struct rr_graph){ .product = product,
				    .config = *config,
				    .look_states = LOOK_STATES,
				    .look_runs = LOOK_RUNS };
	if (!rr_product_begin(product, key, NULL))
		return RR_GRAPH_FAILED;
	look_later(graph, rr_graph_count_runs(product));
	put_state(graph, add_graph_state(graph, key, &is_new), true, (struct rr_graph_place){ 0 });
	while (end == RR_GRAPH_WHOLE && take_state(graph, &state)) {
		if (!expand_state(graph, state))
			return needs_time(product) ? RR_GRAPH_AGAIN : RR_GRAPH_FAILED;
		end = why_to_stop(graph);
	}
	if (end != RR_GRAPH_AGAIN && end != RR_GRAPH_STOPPED && needs_time(product))
		return RR_GRAPH_AGAIN;
	if (end == RR_GRAPH_WHOLE && config->asks_last && graph->look_runs > LOOK_RUNS &&
	    config->has_found(config->search))
		return RR_GRAPH_FOUND;
	for (uint32_t i = 0; i < graph->states.n && end == RR_GRAPH_WHOLE; i++)
		end = graph->flags[i] & RR_STATE_CUT ? RR_GRAPH_CUT : end;
	return end;
}

void rr_graph_release(struct rr_graph *graph)
{
	rr_intern_release(&graph->states);
	free(graph->waiting.entries);
	free(graph->places);
	free(graph->degree);
	free(graph->flags);
	free(graph->first);
	free(graph->edges);
	*graph = (struct rr_graph){ 0 };
}
