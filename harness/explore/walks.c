/* SPDX-License-Identifier: MIT */
/*
 * Random paths through the product that find rare failures with a known probability,
 * for spaces too large to search: probabilistic concurrency testing (Burckhardt,
 * Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
 *
 * Each client has a random priority, and the highest of those that can go on goes on.
 * At depth - 1 random steps it gets a lower one than all others; so does whoever is
 * refused, for it would ask again for ever. A failure that needs `depth` pairs of
 * steps in a certain order, those of n clients and within the first k steps, is found
 * with a probability of at least 1 / (n k^(depth - 1)).
 *
 * Each fault of the budget comes before a random step of 2 k, so in half of the runs
 * at most: the probability to meet it where it is needed, and to choose it out of the
 * c that are possible, is another 1 / (2 k c).
 *
 * k is counted in a first run, in which the clients take turns: so a run depends on
 * its seed and the bounds alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "search.h"

enum { STEPS_MAX = 4000, FAULTS_MAX = 64 };

/* One path. */
struct walk {
	unsigned long run; /* its number: so it can be gone again */
	size_t n;          /* transitions */
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
	int64_t priorities[RR_RUN_CLIENTS];
	int64_t lowest;               /* the last that was given */
	size_t changes[RR_DEPTH_MAX]; /* before which steps */
	size_t n_faults, n_injected, faults[FAULTS_MAX];
	size_t widest; /* so many faults to choose from at once */
	struct walk walk, best;
};

/* ---- Drawing -------------------------------------------------------------- */

static struct rr_walks *new_walks(struct rr_product *product, const struct rr_random_config *config,
				  unsigned shows)
{
	struct rr_walks *walks = rr_calloc(1, sizeof(*walks));
	int sum = 0;

	walks->product = product;
	walks->config = *config;
	walks->shows = shows;
	for (int i = 0; i < RR_BUDGETS; i++)
		sum += rr_budget_rows[i].is_fault ? product->config.budget.of[i] : 0;
	walks->n_faults = sum < FAULTS_MAX ? (size_t)sum : FAULTS_MAX;
	walks->n_injected = walks->n_faults;
	walks->widest = 1;
	return walks;
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
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++)
		walks->priorities[i] = 1 + (int64_t)(rr_random_next(&walks->random) >> 2);
	for (int i = 1; i < walks->config.depth; i++)
		walks->changes[i] = 1 + rr_random_below(&walks->random, walks->n_steps);
	for (size_t i = 0; i < walks->n_faults; i++)
		walks->faults[i] = 1 + rr_random_below(&walks->random, 2 * walks->n_steps);
	qsort(walks->faults, walks->n_faults, sizeof(walks->faults[0]), compare_steps);
	walks->n_injected = 0;
}

/* ---- Picking -------------------------------------------------------------- */

/* Who can go on and comes first: in the first run by turns, then by priority. */
static int first_client(const struct rr_walks *walks, const struct rr_edges *edges)
{
	int first = -1;

	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (rr_transition_is_own_step(transition) &&
		    (first < 0 || walks->priorities[transition.who] > walks->priorities[first]))
			first = transition.who;
	}
	return first;
}

static void lower_priority(struct rr_walks *walks, int client)
{
	walks->priorities[client] = --walks->lowest;
}

/* A random step of the client that comes first; NULL: nobody can go on. */
static const struct rr_edge *pick_step(struct rr_walks *walks, const struct rr_edges *edges,
				       size_t step)
{
	const struct rr_edge *chosen = NULL;
	int client = first_client(walks, edges);
	size_t n = 0;

	for (int i = 1; i < walks->config.depth && client >= 0; i++) {
		if (walks->n_steps > 0 && walks->changes[i] == step) {
			lower_priority(walks, client);
			client = first_client(walks, edges);
		}
	}
	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (rr_transition_is_own_step(transition) && transition.who == client &&
		    rr_random_below(&walks->random, ++n) == 0)
			chosen = &edges->all[i];
	}
	return chosen;
}

/* A random fault, if one is due; what is nobody's: a late command, a notice, time that passes
 * by itself; or a step. */
static const struct rr_edge *pick_edge(struct rr_walks *walks, const struct rr_edges *edges,
				       size_t step)
{
	const struct rr_edge *fault = NULL, *free = NULL;
	size_t n = 0;

	for (size_t i = 0; i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (rr_transition_is_fault(transition))
			fault = rr_random_below(&walks->random, ++n) ? fault : &edges->all[i];
		else if (!free && !rr_transition_is_step(transition))
			free = &edges->all[i];
	}
	walks->widest = n > walks->widest ? n : walks->widest;
	if (fault && walks->n_injected < walks->n_faults &&
	    walks->faults[walks->n_injected] <= step) {
		walks->n_injected++;
		return fault;
	}
	return free ? free : pick_step(walks, edges, step);
}

/* ---- Runs ----------------------------------------------------------------- */

/* Its actions and its end go to `schedule`, which may be NULL. */
static bool run_walk(struct rr_walks *walks, struct rr_schedule *schedule)
{
	struct rr_product *product = walks->product;
	const size_t size = product->n_words * sizeof(uint32_t);
	const struct rr_edges *edges = NULL;
	rr_state_key key;
	unsigned flags;
	struct rr_count count;

	walks->walk = (struct walk){ .run = walks->begun, .last = -1 };
	if (!rr_product_begin(product, key, schedule ? &schedule->actions : NULL))
		return false;
	for (size_t step = 1; step < STEPS_MAX; step++) {
		const struct rr_edge *edge;
		int client;

		edges = rr_product_expand(product, key, false);
		if (!edges)
			return false;
		edge = pick_edge(walks, edges, step);
		if (!edge)
			break;
		if (schedule)
			edge = rr_product_take(product, key, edge->transition);
		if (!edge)
			return false;
		if (schedule)
			rr_product_keep_actions(product, edge, &schedule->actions);
		/* In the first run all take turns, and whoever was refused lets all others go. */
		client = edge->transition.who;
		if (rr_transition_is_step(edge->transition)) {
			if (walks->n_steps == 0 ||
			    rr_product_client(walks->product, edge->key, (size_t)client)->is_attempt)
				lower_priority(walks, client);
			if (walks->walk.last >= 0 && walks->walk.last != client)
				walks->walk.switches++;
			walks->walk.last = client;
		}
		walks->walk.n++;
		walks->walk.broken |= edge->broken;
		memcpy(key, edge->key, size);
	}
	if (schedule)
		memcpy(schedule->end, key, size);
	flags = edges->flags;
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

/* Which of two is to be shown? */
static bool is_better_walk(const struct rr_walks *walks, const struct walk *a, const struct walk *b)
{
	const unsigned x = rr_worst_invariant(a->broken, walks->shows);
	const unsigned y = rr_worst_invariant(b->broken, walks->shows);

	if (!y || x != y)
		return !y || x & walks->shows || (!(y & walks->shows) && x < y);
	if (a->switches != b->switches)
		return a->switches < b->switches;
	return a->n < b->n;
}

/* The next way, into `result`. False: all have been, the product has to begin again, or
 * product->error. */
static bool walk_next(struct rr_walks *walks, struct rr_explore_result *result)
{
	const struct rr_beliefs *beliefs = walks->product->config.program->beliefs;
	unsigned broken;

	if (walks->n_steps == 0) {
		if (!run_walk(walks, NULL))
			return false;
		walks->n_steps = walks->walk.n ? walks->walk.n : 1;
	}
	if (walks->begun == walks->config.runs || rr_beliefs_withdrawn(beliefs))
		return false;
	draw_priorities(walks);
	if (!run_walk(walks, NULL) || rr_beliefs_withdrawn(beliefs))
		return false;
	broken = walks->walk.broken;
	result->schedules++;
	result->transitions += walks->walk.n;
	for (int i = 0; i < RR_INVARIANTS; i++)
		result->broken[i] += broken >> i & 1;
	result->breaks |= broken;
	result->failing += broken != 0;
	if (broken && is_better_walk(walks, &walks->walk, &walks->best)) {
		walks->best = walks->walk;
		result->seed = walks->config.seed + walks->begun - 1;
		result->shortest_breaks = rr_worst_invariant(broken, walks->shows);
	}
	return true;
}

/* What is known about how likely a failure would have been found. */
static struct rr_random_bound bound_of(const struct rr_walks *walks, unsigned long runs)
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

enum rr_graph_end rr_search_walk(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_explore_result *result = search->result;
	bool goes_on = true;

	search->walks = new_walks(&search->product, &config->random, config->shows);
	*result = (struct rr_explore_result){ .explored = RR_EXPLORED_RANDOM };
	while (goes_on && walk_next(search->walks, result))
		goes_on = rr_deadline_tell(&search->deadline, result->schedules,
					   (double)result->schedules / (double)config->random.runs);
	if (rr_product_failed(&search->product))
		return RR_GRAPH_FAILED;
	if (rr_beliefs_withdrawn(&search->beliefs) & RR_BELIEFS_OF_STATES)
		return RR_GRAPH_AGAIN;
	return goes_on ? RR_GRAPH_WHOLE : RR_GRAPH_STOPPED;
}

enum rr_going rr_search_conclude_walks(struct rr_search *search, void *unused)
{
	struct rr_walks *walks = search->walks;
	struct rr_schedule schedule = { .switches = walks->best.switches,
					.steps = walks->best.n,
					.broken = walks->best.broken };
	enum rr_going going = RR_GO_ON;

	(void)unused;
	if (search->end == RR_GRAPH_STOPPED)
		search->result->explored = RR_EXPLORED_STOPPED;
	search->result->bound = bound_of(walks, search->result->schedules);
	if (search->result->failing) {
		/* Of those that failed, the shortest that breaks what is worst, gone again. */
		walks->begun = walks->best.run - 1;
		draw_priorities(walks);
		going = run_walk(walks, &schedule) ? rr_search_show(search, &schedule) :
						     rr_search_stop(search, &search->product.error);
	}
	rr_schedule_release(&schedule);
	return going;
}
