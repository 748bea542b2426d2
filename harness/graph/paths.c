/* SPDX-License-Identifier: MIT */
/* Paths through the graph: the shortest to a failure, random ones, and the actions
 * that they consist of. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "graph.h"

enum {
	PATH_MAX_EDGES = 4000,
	TRY_MAX = 40,   /* steps of somebody who tries in vain */
	LOOP_TRIES = 20 /* random paths, until one has a loop */
};

/* As few of them as possible, and then as few transitions. Where time is spared, it passes as seldom as
 * possible before that. A fault in the schedule of a program is
 * one without which there is no finding. */
#define SWITCH (UINT64_C(1) << 32)
#define FAULT (UINT64_C(1) << 48)
#define PASSES (UINT64_C(1) << 40)

/* ---- The shortest path ----------------------------------------------------- */

/* Where a path has come to: the state, who made the last step, and whether what is
 * sought has been broken. */
struct place {
	uint32_t state;
	uint8_t last;
	uint8_t is_broken;
	uint16_t unused;
};

struct step {
	uint32_t before; /* a place's number */
	uint64_t edge;
	uint64_t cost; /* of programs faults; changes of client, and then transitions */
	bool is_done;
};

struct search {
	const struct rr_graph *graph;
	unsigned bits;
	const bool *goals; /* states; NULL = what breaks one of `bits` */
	bool spares_time;
	struct rr_intern places;
	struct step *steps;
	struct rr_heap heap; /* of places */
};

static bool reach_place(struct search *search, struct place place, uint32_t before, uint64_t edge,
			uint64_t cost)
{
	bool is_new;
	const uint32_t id = rr_intern_put(&search->places, &place, sizeof(place), &is_new);
	struct step *step;

	if (id == RR_NO_ID)
		return false;
	if (is_new)
		rr_array_grow(&search->steps, id, sizeof(*step));
	step = &search->steps[id];
	if (!is_new && (step->is_done || step->cost <= cost))
		return true;
	*step = (struct step){ before, edge, cost, false };
	rr_heap_push(&search->heap, cost, id);
	return true;
}

/* The path may end here. */
static bool is_goal(const struct search *search, const struct place *place)
{
	const struct rr_graph *graph = search->graph;
	const unsigned flags = rr_graph_is_expanded(graph, place->state) ?
				       graph->flags[place->state] :
				       RR_STATE_CUT;

	if (search->goals)
		return search->goals[place->state];
	if (rr_graph_broken_by(graph, place->state) & search->bits)
		return true;
	return place->is_broken && (flags & (RR_STATE_FINAL | RR_STATE_CUT | RR_STATE_STUCK));
}

static bool is_time(struct rr_transition transition)
{
	return transition.kind == RR_DO_WAIT || transition.kind == RR_DO_NEAR ||
	       transition.kind == RR_DO_WAKE;
}

static bool leave_place(struct search *search, uint32_t id, struct place place)
{
	const struct rr_graph *graph = search->graph;
	const uint64_t cost = search->steps[id].cost;

	if (!rr_graph_is_expanded(graph, place.state))
		return true;
	for (uint64_t i = graph->first[place.state]; i < rr_graph_last(graph, place.state); i++) {
		const struct rr_graph_edge *edge = &graph->edges[i];
		struct place next = { .state = edge->to,
				      .last = place.last,
				      .is_broken = place.is_broken };
		uint64_t more = 1;

		if (edge->to == place.state)
			continue;
		if (rr_transition_is_step(edge->transition)) {
			next.last = (uint8_t)(edge->transition.who + 1);
			if (place.last && place.last != next.last)
				more += SWITCH;
		} else if (rr_transition_is_fault(edge->transition)) {
			more += graph->product->config.program->run_ops ? FAULT : SWITCH;
		}
		if (search->spares_time &&
		    (is_time(edge->transition) ||
		     rr_product_times_out(graph->product, rr_graph_key(graph, place.state),
					  edge->transition)))
			more += PASSES;
		if (edge->broken & search->bits)
			next.is_broken = 1;
		if (!reach_place(search, next, id, i, cost + more))
			return false;
	}
	return true;
}

static void add_to_path(struct rr_path *path, uint64_t edge)
{
	rr_array_grow(&path->edges, path->n, sizeof(edge));
	path->edges[path->n++] = edge;
}

/* The first edge of a state that is such a transition; graph->n_edges = none is. */
static uint64_t find_edge(const struct rr_graph *graph, uint32_t state, int client)
{
	uint64_t i = rr_graph_is_expanded(graph, state) ? graph->first[state] : graph->n_edges;
	const uint64_t end = rr_graph_is_expanded(graph, state) ? rr_graph_last(graph, state) : i;

	for (; i < end; i++) {
		const struct rr_transition transition = graph->edges[i].transition;

		if (client < 0 ? is_time(transition) :
				 rr_transition_is_own_step(transition) && transition.who == client)
			return i;
	}
	return graph->n_edges;
}

/* A client tries once: up to its next attempt, or to where it has been. */
static uint32_t try_once(const struct rr_graph *graph, struct rr_path *path, uint32_t state,
			 size_t client)
{
	uint32_t been[TRY_MAX];
	size_t n = 0;

	for (uint64_t edge;
	     n < TRY_MAX && (edge = find_edge(graph, state, (int)client)) != graph->n_edges;) {
		if (n > 0 && rr_product_client(graph->product, rr_graph_key(graph, state), client)
				     ->is_attempt)
			break;
		been[n++] = state;
		add_to_path(path, edge);
		state = graph->edges[edge].to;
		for (size_t i = 0; i < n; i++) {
			if (been[i] == state)
				return state;
		}
	}
	return state;
}

/* Everybody who is left does so, in vain. */
static uint32_t try_all_clients(const struct rr_graph *graph, struct rr_path *path, uint32_t state)
{
	for (size_t c = 0; c < graph->product->n_clients; c++)
		state = try_once(graph, path, state, c);
	return state;
}

static bool find_path(struct search search, struct rr_path *path)
{
	const struct place begin = { .state = 0 };
	bool good = reach_place(&search, begin, RR_NO_ID, 0, 0), found = false;
	uint32_t goal = RR_NO_ID;
	int last = -1;

	while (good && !found && search.heap.n > 0) {
		const uint32_t id = rr_heap_pop(&search.heap);
		const struct place place = *(const struct place *)rr_intern_get(&search.places, id);

		if (search.steps[id].is_done)
			continue;
		search.steps[id].is_done = true;
		goal = id;
		found = is_goal(&search, &place);
		good = found || leave_place(&search, id, place);
	}
	if (found) {
		path->n = 0;
		path->switches = 0;
		while (search.steps[goal].before != RR_NO_ID) {
			add_to_path(path, search.steps[goal].edge);
			goal = search.steps[goal].before;
		}
		for (size_t i = 0; i < path->n / 2; i++) {
			const uint64_t edge = path->edges[i];

			path->edges[i] = path->edges[path->n - 1 - i];
			path->edges[path->n - 1 - i] = edge;
		}
		for (size_t i = 0; i < path->n; i++) {
			const struct rr_transition transition =
				search.graph->edges[path->edges[i]].transition;

			if (!rr_transition_is_step(transition))
				continue;
			path->switches += last >= 0 && last != transition.who;
			last = transition.who;
		}
	}
	rr_intern_release(&search.places);
	free(search.steps);
	free(search.heap.entries);
	return found;
}

bool rr_graph_shortest(const struct rr_graph *graph, unsigned bits, struct rr_path *path)
{
	const bool found = find_path((struct search){ .graph = graph, .bits = bits }, path);

	if (found && bits & (RR_DEADLOCKS | RR_STARVES)) {
		uint32_t state = rr_graph_path_state(graph, path);
		uint64_t edge;

		/* Of one that is stuck: they try, time passes, and they try again. */
		state = try_all_clients(graph, path, state);
		edge = find_edge(graph, state, -1);
		if ((bits & RR_STARVES) && edge != graph->n_edges) {
			add_to_path(path, edge);
			try_all_clients(graph, path, graph->edges[edge].to);
		}
	}
	return found;
}

bool rr_graph_shortest_to(const struct rr_graph *graph, const bool *goals, struct rr_path *path)
{
	return find_path((struct search){ .graph = graph, .goals = goals }, path);
}

bool rr_graph_hastiest_to(const struct rr_graph *graph, const bool *goals, struct rr_path *path)
{
	return find_path((struct search){ .graph = graph, .goals = goals, .spares_time = true },
			 path);
}

/* ---- Random paths ---------------------------------------------------------- */

void rr_graph_random_path(const struct rr_graph *graph, uint64_t seed, struct rr_path *path)
{
	struct rr_random random = { seed };
	uint32_t state = 0;

	path->n = 0;
	while (path->n < PATH_MAX_EDGES && rr_graph_is_expanded(graph, state)) {
		const uint64_t n = graph->degree[state];
		const uint64_t edge = n ? graph->first[state] + rr_random_below(&random, n) : 0;

		if (n == 0)
			break;
		add_to_path(path, edge);
		state = graph->edges[edge].to;
	}
}

void rr_graph_lockstep_path(const struct rr_graph *graph, size_t first, struct rr_path *path)
{
	const size_t n_clients = graph->product->n_clients;
	size_t turn = first % n_clients;
	uint32_t state = 0;

	path->n = 0;
	while (path->n < PATH_MAX_EDGES && rr_graph_is_expanded(graph, state) &&
	       graph->degree[state] > 0) {
		uint64_t edge = graph->n_edges;

		for (size_t i = 0; i < n_clients && edge == graph->n_edges; i++, turn++)
			edge = find_edge(graph, state, (int)(turn % n_clients));
		if (edge == graph->n_edges)
			edge = graph->first[state];
		add_to_path(path, edge);
		state = graph->edges[edge].to;
	}
}

/* `at` is 0 for all states, before and after: of those on the path, how long that is there, and one
 * more. False: the path has no loop, or does not come to an end. */
static bool walk_with_loop(const struct rr_graph *graph, struct rr_random *random, int rounds,
			   uint32_t *at, struct rr_path *path)
{
	uint32_t state = 0;
	size_t n_fixed = 0; /* edges, up to the end of the loop */
	bool has_ended = false;

	at[0] = 1;
	path->n = 0;
	for (int steps = 0; steps < PATH_MAX_EDGES && rr_graph_is_expanded(graph, state); steps++) {
		const uint64_t n = graph->degree[state];
		const uint64_t edge = n ? graph->first[state] + rr_random_below(random, n) : 0;
		const uint32_t to = graph->edges[edge].to;
		const size_t start = at[to] - (size_t)1;

		has_ended = n == 0;
		if (has_ended)
			break;
		if (!at[to]) {
			add_to_path(path, edge);
			at[to] = (uint32_t)path->n + 1;
			state = to;
		} else if (n_fixed == 0) {
			const size_t length = path->n + 1 - start;

			add_to_path(path, edge);
			for (size_t i = length * ((size_t)rounds - 1); i > 0; i--)
				add_to_path(path, path->edges[path->n - length]);
			n_fixed = path->n;
			state = to;
		} else if (to == state || start >= n_fixed) {
			/* Another loop is left out; so is what leads back to before the first. */
			while (path->n > start && path->n > n_fixed)
				at[graph->edges[path->edges[--path->n]].to] = 0;
			at[to] = (uint32_t)path->n + 1;
			state = to;
		}
	}
	at[0] = 0;
	for (size_t i = 0; i < path->n; i++)
		at[graph->edges[path->edges[i]].to] = 0;
	return n_fixed > 0 && has_ended;
}

void rr_graph_looping_path(const struct rr_graph *graph, uint64_t seed, int rounds,
			   struct rr_path *path)
{
	uint32_t *at = rr_calloc(graph->states.n, sizeof(*at));
	struct rr_random random = { seed };
	bool loops = false;

	for (int i = 0; i < LOOP_TRIES && !loops; i++)
		loops = walk_with_loop(graph, &random, rounds, at, path);
	free(at);
	if (!loops)
		rr_graph_random_path(graph, seed, path);
}

void rr_path_release(struct rr_path *path)
{
	free(path->edges);
	*path = (struct rr_path){ 0 };
}

/* ---- What a path breaks and consists of ------------------------------------------------ */

unsigned rr_graph_path_breaks(const struct rr_graph *graph, const struct rr_path *path)
{
	unsigned broken = 0;
	uint32_t state = 0;

	for (size_t i = 0; i < path->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[path->edges[i]];

		broken |= edge->broken;
		state = edge->to;
	}
	return broken | rr_graph_broken_by(graph, state);
}

bool rr_graph_actions(const struct rr_graph *graph, const struct rr_path *path,
		      struct rr_actions *actions)
{
	struct rr_product *product = graph->product;
	const size_t size = product->n_words * sizeof(uint32_t);
	rr_state_key begin;
	uint32_t state = 0;
	bool good;

	*actions = (struct rr_actions){ 0 };
	good = rr_product_begin(product, begin, actions);
	for (size_t i = 0; i < path->n && good; i++) {
		const struct rr_graph_edge *on = &graph->edges[path->edges[i]];
		const struct rr_edge *edge = rr_product_take(product, rr_graph_key(graph, state),
							     on->transition);

		good = edge && memcmp(edge->key, rr_graph_key(graph, on->to), size) == 0;
		if (good)
			rr_product_keep_actions(product, edge, actions);
		state = on->to;
	}
	return good;
}
