/* SPDX-License-Identifier: MIT */
/*
 * How many ways go on from each state to an end, and how many of them break something.
 *
 * Without loops that is the number of all paths. Who is refused may ask again and again,
 * so that there are loops, and paths without end: of those through a loop (a strongly
 * connected component) only the shortest from each state to each way out are counted.
 * A state from which not everybody can end is an end, and a bad one. So is a transition
 * that breaks something and stays within its loop.
 */
#include <stdlib.h>
#include <string.h>

#include "told.h"

/* Tarjan's search for strongly connected components, which finds them from the ends to
 * the beginning. */
struct components {
	struct rr_told *told;
	uint32_t *index, *low; /* of each state, from 1; 0 = not seen */
	uint32_t *of;          /* its component, from 1; 0 = none yet */
	uint32_t *open, n_open;
	uint32_t n_seen, n;
	/* Of one component: shortest paths from a state. */
	uint32_t *distance, *queue;
	uint64_t *paths;
};

static uint64_t add_ways(uint64_t a, uint64_t b)
{
	return a > RR_WAYS_MAX - b ? RR_WAYS_MAX : a + b;
}

static uint64_t multiply_ways(uint64_t a, uint64_t b)
{
	return b && a > RR_WAYS_MAX / b ? RR_WAYS_MAX : a * b;
}

static bool ends_way(const struct rr_told_state *state)
{
	return state->n == 0 || state->flags & (RR_TOLD_FINAL | RR_TOLD_STUCK | RR_TOLD_OVER);
}

/* A way that ends here; what has broken before it says its last transition. */
static struct rr_ways ways_at_end(const struct rr_told_state *state)
{
	return (struct rr_ways){
		.all = 1,
		.bad = (state->flags & (RR_TOLD_WRONG | RR_TOLD_STUCK)) != 0,
	};
}

/* Those that leave the component at a state, or end there. */
static struct rr_ways ways_out(const struct components *it, uint32_t at)
{
	const struct rr_told *told = it->told;
	const struct rr_told_state *state = &told->states[at];
	struct rr_ways sum = { 0 };

	if (ends_way(state))
		return ways_at_end(state);
	for (size_t i = 0; i < state->n; i++) {
		const struct rr_told_edge *edge = &told->edges[state->first + i];
		struct rr_ways ways = told->states[edge->to].ways;

		if (it->of[edge->to] == it->of[at])
			ways = (struct rr_ways){ edge->broken != 0, edge->broken != 0 };
		sum.all = add_ways(sum.all, ways.all);
		sum.bad = add_ways(sum.bad, edge->broken ? ways.all : ways.bad);
	}
	return sum;
}

/* ---- Within a loop ------------------------------------------------------------- */

static void reach_in_loop(struct components *it, uint32_t from, uint32_t to, uint32_t *n_queue)
{
	const uint32_t distance = it->distance[from] + 1;

	if (!it->distance[to]) {
		it->distance[to] = distance;
		it->queue[(*n_queue)++] = to;
	}
	if (it->distance[to] == distance)
		it->paths[to] = add_ways(it->paths[to], it->paths[from]);
}

/* The shortest paths to all states of its component, in order: it->queue. */
static uint32_t shortest_in_loop(struct components *it, uint32_t begin)
{
	const struct rr_told *told = it->told;
	uint32_t n_queue = 0;

	it->distance[begin] = 1;
	it->paths[begin] = 1;
	it->queue[n_queue++] = begin;
	for (uint32_t i = 0; i < n_queue; i++) {
		const uint32_t from = it->queue[i];
		const struct rr_told_state *state = &told->states[from];

		for (size_t j = 0; j < state->n && !ends_way(state); j++) {
			const struct rr_told_edge *edge = &told->edges[state->first + j];

			if (it->of[edge->to] == it->of[from] && !edge->broken)
				reach_in_loop(it, from, edge->to, &n_queue);
		}
	}
	return n_queue;
}

static void count_from(struct components *it, uint32_t begin)
{
	struct rr_told_state *state = &it->told->states[begin];
	const uint32_t n = shortest_in_loop(it, begin);
	struct rr_ways sum = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = it->queue[i];
		const struct rr_ways out = ways_out(it, at);

		sum.all = add_ways(sum.all, multiply_ways(it->paths[at], out.all));
		sum.bad = add_ways(sum.bad, multiply_ways(it->paths[at], out.bad));
		it->distance[at] = 0;
		it->paths[at] = 0;
	}
	state->ways = sum;
}

/* ---- Components ------------------------------------------------------------------ */

static void close_component(struct components *it, uint32_t root)
{
	uint32_t first = it->n_open;

	it->n++;
	do {
		first--;
		it->of[it->open[first]] = it->n;
	} while (it->open[first] != root);
	for (uint32_t i = first; i < it->n_open; i++)
		count_from(it, it->open[i]);
	it->n_open = first;
}

static void visit_state(struct components *it, uint32_t at)
{
	const struct rr_told *told = it->told;
	const struct rr_told_state *state = &told->states[at];

	it->index[at] = it->low[at] = ++it->n_seen;
	it->open[it->n_open++] = at;
	for (size_t i = 0; i < state->n; i++) {
		const uint32_t to = told->edges[state->first + i].to;

		if (!it->index[to])
			visit_state(it, to);
		if (!it->of[to] && it->low[to] < it->low[at])
			it->low[at] = it->low[to];
	}
	if (it->low[at] == it->index[at])
		close_component(it, at);
}

bool rr_told_count(struct rr_told *told)
{
	const size_t n = told->n_states;
	uint32_t *numbers = calloc(6 * n + 1, sizeof(*numbers));
	struct components it = {
		.told = told,
		.index = numbers,
		.low = numbers + n,
		.of = numbers + 2 * n,
		.open = numbers + 3 * n,
		.distance = numbers + 4 * n,
		.queue = numbers + 5 * n,
		.paths = calloc(n + 1, sizeof(*it.paths)),
	};
	const bool room = numbers && it.paths;

	if (room)
		visit_state(&it, 0);
	free(numbers);
	free(it.paths);
	return room;
}
