/* SPDX-License-Identifier: MIT */
/* Random paths through the product, by priorities. */
#include "walks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/random.h"

enum { STEPS_MAX = 4000, FAULTS_MAX = 64 };

/* One path, as a graph of its own. */
struct walk {
	struct rr_graph graph;
	struct rr_path path;
	unsigned broken;
	int last, switches;
};

struct rr_walks {
	struct rr_product *product;
	struct rr_random_config config;
	unsigned shows;
	struct rr_random random;
	unsigned long begun; /* runs, the first one not counted */
	size_t n_steps;      /* k, 0 = this is the first run */
	int64_t priorities[RR_PRODUCT_CLIENTS];
	int64_t lowest;               /* the last that was given */
	size_t changes[RR_DEPTH_MAX]; /* before which steps */
	size_t n_faults, n_injected, faults[FAULTS_MAX];
	size_t widest; /* so many faults to choose from at once */
	struct walk walk, best;
};

/* ---- Paths ----------------------------------------------------------------- */

static void release_walk(struct walk *walk)
{
	rr_graph_release(&walk->graph);
	rr_path_release(&walk->path);
	*walk = (struct walk){ .last = -1 };
}

static void add_walk_step(struct rr_walks *walks, const struct rr_edge *edge)
{
	struct walk *walk = &walks->walk;
	struct rr_graph *graph = &walk->graph;
	const size_t size = walks->product->n_words * sizeof(uint32_t);

	rr_array_grow(&graph->edges, graph->n_edges, sizeof(*graph->edges));
	rr_array_grow(&walk->path.edges, walk->path.n, sizeof(*walk->path.edges));
	graph->edges[graph->n_edges] = (struct rr_graph_edge){
		rr_intern_put(&graph->states, edge->key, size, NULL), edge->transition, edge->broken
	};
	walk->path.edges[walk->path.n++] = graph->n_edges++;
	walk->broken |= edge->broken;
}

/* ---- Drawing -------------------------------------------------------------- */

static size_t n_faults_of(const struct rr_budget *budget)
{
	int sum = 0;

	for (int i = 0; i < RR_BUDGETS; i++)
		sum += rr_budget_rows[i].is_fault ? budget->of[i] : 0;
	return sum < FAULTS_MAX ? (size_t)sum : FAULTS_MAX;
}

struct rr_walks *rr_walks_new(struct rr_product *product, const struct rr_random_config *config,
			      unsigned shows)
{
	struct rr_walks *walks = rr_calloc(1, sizeof(*walks));

	walks->product = product;
	walks->config = *config;
	walks->shows = shows;
	walks->n_faults = n_faults_of(&product->config.budget);
	walks->n_injected = walks->n_faults;
	walks->widest = 1;
	walks->walk.last = walks->best.last = -1;
	return walks;
}

void rr_walks_free(struct rr_walks *walks)
{
	if (!walks)
		return;
	release_walk(&walks->walk);
	release_walk(&walks->best);
	free(walks);
}

static int compare_steps(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void draw_priorities(struct rr_walks *walks)
{
	walks->begun++;
	walks->random.state = walks->config.seed + walks->begun - 1;
	walks->lowest = 0;
	for (size_t i = 0; i < RR_PRODUCT_CLIENTS; i++)
		walks->priorities[i] = 1 + (int64_t)(rr_random_next(&walks->random) >> 2);
	for (int i = 1; i < walks->config.depth; i++)
		walks->changes[i] = 1 + rr_random_below(&walks->random, walks->n_steps);
	for (size_t i = 0; i < walks->n_faults; i++)
		walks->faults[i] = 1 + rr_random_below(&walks->random, 2 * walks->n_steps);
	qsort(walks->faults, walks->n_faults, sizeof(walks->faults[0]), compare_steps);
	walks->n_injected = 0;
}

/* ---- Picking -------------------------------------------------------------- */

/* A random one of those that are faults, or of those of `client`. */
static const struct rr_edge *pick_among(struct rr_walks *walks, const struct rr_edges *edges,
					bool faults, int client)
{
	const struct rr_edge *chosen = NULL;
	size_t n = 0;

	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (rr_transition_is_fault(transition) != faults ||
		    (!faults && (!rr_transition_is_step(transition) || transition.who != client)))
			continue;
		if (rr_random_below(&walks->random, ++n) == 0)
			chosen = &edges->all[i];
	}
	if (faults && n > walks->widest)
		walks->widest = n;
	return chosen;
}

/* Who can go on and comes first: in the first run by turns, then by priority. */
static int first_client(const struct rr_walks *walks, const struct rr_edges *edges)
{
	int first = -1;

	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (rr_transition_is_fault(transition) || !rr_transition_is_step(transition))
			continue;
		if (first < 0 || walks->priorities[transition.who] > walks->priorities[first])
			first = transition.who;
	}
	return first;
}

/* What is nobody's: a late command, a notice, time that passes by itself. */
static const struct rr_edge *find_free(const struct rr_edges *edges)
{
	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (!rr_transition_is_fault(transition) && !rr_transition_is_step(transition))
			return &edges->all[i];
	}
	return NULL;
}

static void lower_priority(struct rr_walks *walks, int client)
{
	walks->priorities[client] = --walks->lowest;
}

static const struct rr_edge *pick_edge(struct rr_walks *walks, const struct rr_edges *edges,
				       size_t step)
{
	const struct rr_edge *edge = pick_among(walks, edges, true, -1);
	int client;

	if (edge && walks->n_injected < walks->n_faults &&
	    walks->faults[walks->n_injected] <= step) {
		walks->n_injected++;
		return edge;
	}
	edge = find_free(edges);
	if (edge)
		return edge;
	client = first_client(walks, edges);
	for (int i = 1; i < walks->config.depth && client >= 0; i++) {
		if (walks->n_steps > 0 && walks->changes[i] == step) {
			lower_priority(walks, client);
			client = first_client(walks, edges);
		}
	}
	return client < 0 ? NULL : pick_among(walks, edges, false, client);
}

/* In the first run all take turns, and whoever was refused lets all others go. */
static void let_others_go(struct rr_walks *walks, const struct rr_edge *edge)
{
	const int client = edge->transition.who;

	if (!rr_transition_is_step(edge->transition))
		return;
	if (walks->n_steps == 0 ||
	    rr_product_client(walks->product, edge->key, (size_t)client)->is_attempt)
		lower_priority(walks, client);
	if (walks->walk.last >= 0 && walks->walk.last != client)
		walks->walk.switches++;
	walks->walk.last = client;
}

/* ---- Runs ----------------------------------------------------------------- */

static bool judge_end(struct rr_walks *walks, const uint32_t *key, const struct rr_edges *edges)
{
	const unsigned flags = edges->flags;
	struct rr_count count;

	if (flags & RR_STATE_STARVED)
		walks->walk.broken |= RR_STARVES;
	else if (flags & RR_STATE_DEAD || (!flags && edges->n == 0))
		walks->walk.broken |= RR_DEADLOCKS;
	if (!(flags & RR_STATE_FINAL))
		return true;
	if (!rr_product_count(walks->product, key, &count))
		return false;
	if (!count.is_number || count.value < count.least || count.value > count.most)
		walks->walk.broken |= RR_BREAKS_COUNT;
	return true;
}

static bool run_walk(struct rr_walks *walks)
{
	struct rr_product *product = walks->product;
	const size_t size = product->n_words * sizeof(uint32_t);
	const struct rr_edges *edges = NULL;
	rr_state_key key;

	release_walk(&walks->walk);
	walks->walk.graph.product = product;
	if (!rr_product_begin(product, key, NULL))
		return false;
	rr_intern_put(&walks->walk.graph.states, key, size, NULL);
	for (size_t step = 1; step < STEPS_MAX; step++) {
		const struct rr_edge *edge;

		edges = rr_product_expand(product, key);
		if (!edges)
			return false;
		edge = pick_edge(walks, edges, step);
		if (!edge)
			break;
		let_others_go(walks, edge);
		add_walk_step(walks, edge);
		memcpy(key, edge->key, size);
	}
	return judge_end(walks, key, edges);
}

/* Which of two is to be shown? */
static bool is_better_walk(const struct rr_walks *walks, const struct walk *a, const struct walk *b)
{
	const unsigned x = rr_worst_invariant(a->broken, walks->shows);
	const unsigned y = rr_worst_invariant(b->broken, walks->shows);

	if (!y || x != y)
		return !y || x & walks->shows || (!(y & walks->shows) && x < y);
	if (a->switches != b->switches)
		return a->switches < b->switches;
	return a->path.n < b->path.n;
}

static void keep_walk(struct rr_walks *walks, struct rr_explore_result *result)
{
	const unsigned broken = walks->walk.broken;

	result->schedules++;
	result->transitions += walks->walk.path.n;
	for (int i = 0; i < RR_INVARIANTS; i++)
		result->broken[i] += broken >> i & 1;
	result->breaks |= broken;
	result->failing += broken != 0;
	if (!broken || !is_better_walk(walks, &walks->walk, &walks->best))
		return;
	release_walk(&walks->best);
	walks->best = walks->walk;
	walks->walk = (struct walk){ .last = -1 };
	result->seed = walks->config.seed + walks->begun - 1;
	result->switches = walks->best.switches;
	result->steps = walks->best.path.n;
	result->shortest_breaks = rr_worst_invariant(broken, walks->shows);
}

bool rr_walks_next(struct rr_walks *walks, struct rr_explore_result *result)
{
	const struct rr_product *product = walks->product;

	if (walks->n_steps == 0) {
		if (!run_walk(walks))
			return false;
		walks->n_steps = walks->walk.path.n ? walks->walk.path.n : 1;
	}
	if (walks->begun == walks->config.runs || product->wants_absolute || product->wants_clock)
		return false;
	draw_priorities(walks);
	if (!run_walk(walks) || product->wants_absolute || product->wants_clock)
		return false;
	keep_walk(walks, result);
	return true;
}

struct rr_random_bound rr_walks_bound(const struct rr_walks *walks, unsigned long runs)
{
	struct rr_random_bound bound = {
		.depth = walks->config.depth,
		.n_clients = walks->product->n_clients,
		.steps = walks->n_steps,
	};
	const double k = (double)bound.steps;

	bound.once = pow(k, 1 - bound.depth) / (double)bound.n_clients *
		     pow(2 * k * (double)walks->widest, -(double)walks->n_faults);
	bound.in_all = -expm1((double)runs * log1p(-bound.once));
	if (bound.once >= 1)
		bound.in_all = 1;
	return bound;
}

bool rr_walks_shortest(const struct rr_walks *walks, const struct rr_graph **graph,
		       const struct rr_path **path)
{
	*graph = &walks->best.graph;
	*path = &walks->best.path;
	return walks->best.broken != 0;
}
