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

enum { REPORT_EVERY = 64, REPORT_NS = 50 * 1000 * 1000 };

static uint32_t add_graph_state(struct rr_graph *graph, const uint32_t *key)
{
	return rr_intern_put(&graph->states, key, graph->product->n_words * sizeof(*key), NULL);
}

static void note_edge(struct rr_graph *graph, const struct rr_edge *edge)
{
	const uint32_t to = add_graph_state(graph, edge->key);

	graph->breaks |= edge->broken;
	rr_array_grow(&graph->edges, graph->n_edges, sizeof(*graph->edges));
	graph->edges[graph->n_edges++] = (struct rr_graph_edge){ to, edge->transition,
								 edge->broken };
}

/* Is the counter what the clients were told it is? */
static bool judge_count(struct rr_graph *graph, uint32_t state, unsigned *flags)
{
	struct rr_count count;

	if (!graph->product->config.strategy)
		return true;
	if (!rr_product_count(graph->product, rr_graph_key(graph, state), &count))
		return false;
	if (!count.is_number || count.value < count.least || count.value > count.most) {
		*flags |= RR_STATE_WRONG;
		graph->breaks |= RR_BREAKS_COUNT;
	}
	return true;
}

static bool expand_state(struct rr_graph *graph, uint32_t state)
{
	const struct rr_edges *edges;
	unsigned flags;

	rr_array_grow(&graph->flags, state, sizeof(*graph->flags));
	/* The next one's edges begin where this one's end. */
	rr_array_grow(&graph->first, (size_t)state + 1, sizeof(*graph->first));
	graph->first[state] = graph->n_edges;
	edges = rr_product_expand(graph->product, rr_graph_key(graph, state));
	for (size_t i = 0; edges && i < edges->n; i++)
		note_edge(graph, &edges->all[i]);
	if (!edges)
		return false;
	flags = edges->flags;
	if (flags & RR_STATE_FINAL && !judge_count(graph, state, &flags))
		return false;
	if (flags & RR_STATE_STARVED)
		graph->breaks |= RR_STARVES;
	if (flags & RR_STATE_DEAD)
		graph->breaks |= RR_DEADLOCKS;
	graph->flags[state] = (uint8_t)flags;
	graph->n_expanded = state + 1;
	graph->first[state + 1] = graph->n_edges;
	return true;
}

size_t rr_graph_bytes(const struct rr_graph *graph)
{
	const struct rr_product *product = graph->product;

	return graph->states.n_bytes + rr_array_capacity(graph->n_edges) * sizeof(*graph->edges) +
	       rr_array_capacity(graph->n_expanded) *
		       (sizeof(*graph->first) + sizeof(*graph->flags)) +
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

/* Looking at everything takes longer than many states do, and a state whose programs
 * have to be run first takes longer than all of that. */
static bool is_due(struct rr_graph *graph)
{
	const int64_t now_ns = rr_clock_ns();

	if (graph->n_expanded % REPORT_EVERY != 0 && now_ns - graph->reported_ns < REPORT_NS)
		return false;
	graph->reported_ns = now_ns;
	return true;
}

/* Why to stop before the end; RR_GRAPH_WHOLE = go on. */
static enum rr_graph_end why_to_stop(struct rr_graph *graph)
{
	const struct rr_graph_config *config = &graph->config;
	const struct rr_product *product = graph->product;

	if (product->wants_absolute || product->wants_clock ||
	    (product->config.key_use && product->config.key_use->is_wrong))
		return RR_GRAPH_AGAIN;
	if (graph->breaks & config->first_of)
		return RR_GRAPH_FIRST;
	if (is_endless(graph))
		return product->error.kind ? RR_GRAPH_FAILED : RR_GRAPH_ENDLESS;
	if (config->most && graph->states.n > config->most)
		return RR_GRAPH_MOST;
	if (config->broad && graph->states.n > config->broad)
		return RR_GRAPH_BROAD;
	if (!is_due(graph))
		return RR_GRAPH_WHOLE;
	if (config->memory && rr_graph_bytes(graph) > config->memory)
		return RR_GRAPH_MEMORY;
	if (config->progress && !config->progress(config->context, graph->n_expanded, 0))
		return RR_GRAPH_STOPPED;
	return RR_GRAPH_WHOLE;
}

static bool was_cut(const struct rr_graph *graph)
{
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (graph->flags[i] & RR_STATE_CUT)
			return true;
	}
	return false;
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
	product->wants_absolute |= needs;
	return needs;
}

static enum rr_graph_end failed_end(struct rr_graph *graph)
{
	return needs_time(graph->product) ? RR_GRAPH_AGAIN : RR_GRAPH_FAILED;
}

enum rr_graph_end rr_graph_explore(struct rr_graph *graph, struct rr_product *product,
				   const struct rr_graph_config *config)
{
	enum rr_graph_end end = RR_GRAPH_WHOLE;
	rr_state_key key;

	*graph = (struct rr_graph){ .product = product, .config = *config };
	if (!rr_product_begin(product, key, NULL))
		return RR_GRAPH_FAILED;
	add_graph_state(graph, key);
	while (graph->n_expanded < graph->states.n && end == RR_GRAPH_WHOLE) {
		if (!expand_state(graph, graph->n_expanded))
			return failed_end(graph);
		end = why_to_stop(graph);
	}
	if (end != RR_GRAPH_AGAIN && end != RR_GRAPH_STOPPED && needs_time(product))
		return RR_GRAPH_AGAIN;
	if (end == RR_GRAPH_WHOLE && was_cut(graph))
		end = RR_GRAPH_CUT;
	return end;
}

void rr_graph_release(struct rr_graph *graph)
{
	rr_intern_release(&graph->states);
	free(graph->flags);
	free(graph->first);
	free(graph->edges);
	*graph = (struct rr_graph){ 0 };
}
