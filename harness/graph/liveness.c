/* SPDX-License-Identifier: MIT */
/* What can be said of a graph as a whole: from which states not everybody can finish
 * any more, what is broken how often and first, and how many paths there are. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph.h"

/* ---- Who can still finish ------------------------------------------------- */

/* Marks are spread to all states from which a marked one can be reached, without
 * faults. */
struct marking {
	const struct rr_graph *graph;
	/* Edges by where they lead to: those to state i are from[first[i]] up
	 * to the next one's first. */
	uint64_t *first;
	uint32_t *from;
	uint8_t *marks;
	uint32_t *todo, n_todo; /* marked states whose marks are to be spread */
};

/* Counts the edges into each state, sums up, and fills in from the back. */
static void reverse_edges(struct marking *marking)
{
	const struct rr_graph *graph = marking->graph;
	uint64_t *first = marking->first;

	for (uint64_t i = 0; i < graph->n_edges; i++) {
		if (!rr_transition_is_fault(graph->edges[i].transition))
			first[graph->edges[i].to]++;
	}
	for (uint32_t i = 1; i <= graph->states.n; i++)
		first[i] += first[i - 1];
	for (uint32_t i = graph->states.n; i-- > 0;) {
		for (uint64_t j = graph->first[i]; j < rr_graph_last(graph, i); j++) {
			const struct rr_graph_edge *edge = &graph->edges[j];

			if (!rr_transition_is_fault(edge->transition))
				marking->from[--first[edge->to]] = i;
		}
	}
}

static void mark_state(struct marking *marking, uint32_t state)
{
	if (marking->marks[state])
		return;
	marking->marks[state] = 1;
	marking->todo[marking->n_todo++] = state;
}

static void spread_marks(struct marking *marking)
{
	while (marking->n_todo > 0) {
		const uint32_t state = marking->todo[--marking->n_todo];
		const uint64_t end = marking->first[state + 1];

		for (uint64_t i = marking->first[state]; i < end; i++)
			mark_state(marking, marking->from[i]);
	}
}

/* Do servers hold something else, but for which commands block? (Without tables no two states are
 * the same.) */
static bool changes_servers(const struct rr_graph *graph, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < graph->product->n_servers; i++) {
		const struct rr_server_table *table = graph->product->tables[i];
		const uint32_t was = rr_graph_key(graph, from)[i], is = rr_graph_key(graph, to)[i];
		const struct rr_server_snapshot *a = &table->states[was], *b = &table->states[is];

		if (table->is_tree ? a->data != b->data || a->clock_ns != b->clock_ns :
				     !rr_server_table_are_alike(table, was, is))
			return true;
	}
	return false;
}

static bool can_change(const struct rr_graph *graph, uint32_t state)
{
	if (graph->flags[state] & RR_STATE_STARVED)
		return true;
	for (uint64_t i = graph->first[state]; i < rr_graph_last(graph, state); i++) {
		const struct rr_graph_edge *edge = &graph->edges[i];

		if (!rr_transition_is_fault(edge->transition) &&
		    changes_servers(graph, state, edge->to))
			return true;
	}
	return false;
}

/* ---- Counting ------------------------------------------------------------- */

unsigned rr_graph_broken_by(const struct rr_graph *graph, uint32_t state)
{
	const unsigned flags = rr_graph_is_expanded(graph, state) ? graph->flags[state] : 0;
	unsigned broken = 0;

	if (flags & RR_STATE_WRONG)
		broken |= RR_BREAKS_COUNT;
	if (flags & RR_STATE_DEAD)
		broken |= RR_DEADLOCKS;
	if (flags & RR_STATE_STARVED && !(flags & RR_STATE_DEAD))
		broken |= RR_STARVES;
	return broken;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The states in an order in which every transition leads on; false: there is a loop. */
static bool sort_states(const struct rr_graph *graph, uint32_t *order, uint32_t *n_into)
{
	uint32_t n = 0;

	memset(n_into, 0, graph->states.n * sizeof(*n_into));
	for (uint64_t i = 0; i < graph->n_edges; i++)
		n_into[graph->edges[i].to]++;
	order[n++] = 0;
	for (uint32_t i = 0; i < n && n_into[0] == 0; i++) {
		const uint32_t state = order[i];

		for (uint64_t j = graph->first[state]; j < rr_graph_last(graph, state); j++) {
			if (--n_into[graph->edges[j].to] == 0)
				order[n++] = graph->edges[j].to;
		}
	}
	return n == graph->states.n;
}

void rr_graph_count_interleavings(struct rr_graph *graph)
{
	const size_t n = graph->states.n;
	uint32_t *order = rr_malloc(n * sizeof(*order));
	uint32_t *n_into = rr_malloc(n * sizeof(*n_into));
	uint64_t *all = rr_malloc(n * sizeof(*all));
	uint64_t *good = rr_malloc(n * sizeof(*good));

	if (graph->n_expanded == graph->states.n && sort_states(graph, order, n_into)) {
		uint64_t sum = 0, sum_good = 0;

		/* Paths to each state, all of them and those on which nothing was broken. */
		memset(all, 0, graph->states.n * sizeof(*all));
		memset(good, 0, graph->states.n * sizeof(*good));
		all[0] = good[0] = 1;
		for (uint32_t i = 0; i < graph->states.n; i++) {
			const uint32_t state = order[i];
			const bool is_end = graph->degree[state] == 0;

			if (rr_graph_broken_by(graph, state))
				good[state] = 0;
			for (uint64_t j = graph->first[state]; j < rr_graph_last(graph, state);
			     j++) {
				const struct rr_graph_edge *edge = &graph->edges[j];

				all[edge->to] = add_capped(all[edge->to], all[state]);
				if (!edge->broken)
					good[edge->to] = add_capped(good[edge->to], good[state]);
			}
			if (is_end) {
				sum = add_capped(sum, all[state]);
				sum_good = add_capped(sum_good, good[state]);
			}
		}
		graph->interleavings = sum;
		graph->failing_interleavings = sum - sum_good;
	}
	free(order);
	free(n_into);
	free(all);
	free(good);
}

void rr_graph_analyse(struct rr_graph *graph)
{
	const size_t n = graph->states.n;
	struct marking marking = {
		.graph = graph,
		.first = rr_calloc(n + 1, sizeof(*marking.first)),
		.from = rr_malloc((graph->n_edges + 1) * sizeof(*marking.from)),
		.marks = rr_calloc(n, 1),
		.todo = rr_malloc(n * sizeof(*marking.todo)),
	};

	reverse_edges(&marking);
	/* Whoever cannot reach an end is stuck. A bound may hide an end. */
	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (!rr_graph_is_expanded(graph, i) ||
		    (graph->flags[i] & (RR_STATE_FINAL | RR_STATE_CUT) &&
		     !(graph->flags[i] & (RR_STATE_STARVED | RR_STATE_DEAD))))
			mark_state(&marking, i);
	}
	spread_marks(&marking);
	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (!marking.marks[i])
			graph->flags[i] |= RR_STATE_STUCK;
	}
	/* Of those that are stuck: can anything still change? If something always can, they go on
	 * in vain for ever; else nobody can go on. */
	memset(marking.marks, 0, graph->states.n);
	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (graph->flags[i] & RR_STATE_STUCK && can_change(graph, i))
			mark_state(&marking, i);
	}
	spread_marks(&marking);
	for (uint32_t i = 0; i < graph->states.n; i++) {
		const bool is_dead = graph->flags[i] & RR_STATE_STUCK && !marking.marks[i];

		marking.marks[i] = 0;
		if (is_dead) {
			graph->flags[i] |= RR_STATE_DEAD;
			mark_state(&marking, i);
		}
	}
	spread_marks(&marking);
	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (graph->flags[i] & RR_STATE_STUCK && !marking.marks[i])
			graph->flags[i] |= RR_STATE_STARVED;
	}
	memset(graph->broken, 0, sizeof(graph->broken));
	graph->breaks = 0;
	for (uint64_t i = 0; i < graph->n_edges; i++) {
		for (int bit = 0; bit < RR_INVARIANTS; bit++)
			graph->broken[bit] += graph->edges[i].broken >> bit & 1;
	}
	for (uint32_t i = 0; i < graph->states.n; i++) {
		const unsigned broken = rr_graph_broken_by(graph, i);

		for (int bit = 0; bit < RR_INVARIANTS; bit++)
			graph->broken[bit] += broken >> bit & 1;
	}
	for (int bit = 0; bit < RR_INVARIANTS; bit++)
		graph->breaks |= (unsigned)(graph->broken[bit] > 0) << bit;
	free(marking.first);
	free(marking.from);
	free(marking.marks);
	free(marking.todo);
	rr_graph_count_interleavings(graph);
}

/* ---- The smallest findings ------------------------------------------------- */

static void note_broken(struct rr_smallest *smallest, unsigned broken, uint32_t steps,
			uint64_t paths)
{
	for (int bit = 0; broken >> bit && bit < RR_INVARIANTS; bit++) {
		struct rr_smallest *it = &smallest[bit];

		if (!(broken >> bit & 1) || (it->n && it->steps < steps))
			continue;
		*it = (struct rr_smallest){ steps,
					    it->n && it->steps == steps ? it->n + paths : paths };
	}
}

void rr_graph_smallest(const struct rr_graph *graph, struct rr_smallest *smallest)
{
	/* How far each state is from the beginning, and how many paths of that length lead there.
	 * States have the order in which they were found: the nearest come first. */
	uint32_t *steps;
	uint64_t *paths;

	if (!graph->breaks)
		return;
	steps = rr_calloc(graph->states.n, sizeof(*steps));
	paths = rr_calloc(graph->states.n, sizeof(*paths));
	paths[0] = 1;
	for (uint32_t i = 0; i < graph->states.n; i++) {
		for (uint64_t j = graph->first[i]; j < rr_graph_last(graph, i); j++) {
			const uint32_t to = graph->edges[j].to;

			if (!paths[to])
				steps[to] = steps[i] + 1;
			if (steps[to] == steps[i] + 1)
				paths[to] += paths[i];
		}
	}
	for (uint32_t i = 0; i < graph->states.n; i++) {
		note_broken(smallest, rr_graph_broken_by(graph, i), steps[i], paths[i]);
		for (uint64_t j = graph->first[i]; j < rr_graph_last(graph, i); j++)
			note_broken(smallest, graph->edges[j].broken, steps[i] + 1, paths[i]);
	}
	free(steps);
	free(paths);
}
