/* SPDX-License-Identifier: MIT */
/*
 * A shard's share of a graph. All shards look at the same states at first, whole
 * layers of them, breadth first: the prefix. The states of the next layer, the
 * frontier, are dealt out, and each shard goes on from its own ones. Nothing is
 * left out: a path to a state behind the frontier leads through a last state of it,
 * and the shard that has that one follows the rest of the path.
 */
#include "graph.h"

enum { FRONTIER_EACH = 4 }; /* states of the frontier for each shard, at least */

/* In blocks: neighbours have most of what follows in common. */
static int owner_of_state(const struct rr_graph *graph, uint32_t state)
{
	const struct rr_graph_deal *deal = &graph->deal;
	const uint64_t n = deal->end - deal->prefix;

	return 1 + (int)((uint64_t)(state - deal->prefix) * (uint64_t)graph->config.share.of / n);
}

static bool is_on_frontier(const struct rr_graph *graph, uint32_t state)
{
	return graph->deal.is_done && state >= graph->deal.prefix && state < graph->deal.end;
}

bool rr_graph_is_elsewhere(const struct rr_graph *graph, uint32_t state)
{
	return is_on_frontier(graph, state) &&
	       owner_of_state(graph, state) != graph->config.share.index;
}

/* Fowler, Noll and Vo's, 1a. */
static uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
	return digest;
}

/* Of all transitions so far: the states are recognised alike where it is the same. */
static uint64_t digest_prefix(const struct rr_graph *graph)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325);

	for (uint64_t i = 0; i < graph->n_edges; i++) {
		const struct rr_edge *edge = &graph->edges[i];

		digest = digest_bytes(digest, &edge->to, sizeof(edge->to));
		digest = digest_bytes(digest, &edge->transition, sizeof(edge->transition));
		digest = digest_bytes(digest, &edge->broken, sizeof(edge->broken));
	}
	return digest_bytes(digest, graph->flags, graph->n_expanded);
}

void rr_graph_deal_out(struct rr_graph *graph)
{
	const struct rr_graph_share *share = &graph->config.share;
	struct rr_graph_deal *deal = &graph->deal;
	uint32_t n;

	if (share->of == 0 || deal->is_done || graph->n_expanded < deal->layer_end)
		return;
	deal->layer_end = graph->states.n;
	n = graph->states.n - graph->n_expanded;
	if (graph->n_expanded < share->prefix || n < FRONTIER_EACH * (uint32_t)share->of)
		return;
	deal->is_done = true;
	deal->prefix = graph->n_expanded;
	deal->end = graph->states.n;
	deal->transitions = graph->n_edges;
	deal->digest = digest_prefix(graph);
}

/* Back into the prefix or the frontier: a path may go through a state of another
 * shard on its way, which no shard sees as a whole. */
static unsigned long count_returns(const struct rr_graph *graph)
{
	unsigned long n = 0;

	for (uint32_t i = graph->deal.prefix; i < graph->n_expanded; i++) {
		for (uint64_t j = graph->first[i]; j < graph->first[i + 1]; j++)
			n += graph->edges[j].to < graph->deal.end && graph->edges[j].to != i;
	}
	return n;
}

void rr_graph_close_share(struct rr_graph *graph, const uint8_t *finishing)
{
	struct rr_graph_deal *deal = &graph->deal;

	for (uint32_t i = deal->prefix; i < deal->end; i++) {
		if (rr_graph_is_elsewhere(graph, i))
			continue;
		deal->own++;
		deal->open += !finishing[i];
	}
	deal->returns = count_returns(graph);
}
