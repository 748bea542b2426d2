/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { REPORT_EVERY = 64, WAY_MAX = 4000 };

/* So many commands on one server, and still no state that was there: something counts
 * up. The shortest ways of what comes to an end are shorter by far. */
enum {
	ENDLESS_DEPTH = 40,
	ENDLESS_DEPTH_EACH = 30, /* and for each increment */
	LOOK_FOR_COUNTERS = 3000
};

/* ---- Exploring ------------------------------------------------------------ */

static const uint32_t *key_of(const struct rr_graph *graph, uint32_t state)
{
	return rr_intern_get(&graph->states, state);
}

static uint32_t add_state(struct rr_graph *graph, const uint32_t *key)
{
	return rr_intern_put(&graph->states, key,
			     graph->product->n_words * sizeof(*key), NULL);
}

static bool add_edge(struct rr_graph *graph, struct rr_edge edge)
{
	if (graph->n_edges == graph->edges_capacity) {
		const uint64_t capacity = graph->edges_capacity ?
						  2 * graph->edges_capacity :
						  256;
		struct rr_edge *edges =
			realloc(graph->edges, capacity * sizeof(*edges));

		if (!edges)
			return false;
		graph->edges = edges;
		graph->edges_capacity = capacity;
	}
	graph->edges[graph->n_edges++] = edge;
	return true;
}

static bool note_edge(void *context, struct rr_transition move,
		      const uint32_t *next, unsigned broken)
{
	struct rr_graph *graph = context;
	const uint32_t to = add_state(graph, next);

	graph->breaks |= broken;
	graph->out_of_memory =
		to == RR_NO_ID ||
		!add_edge(graph, (struct rr_edge){ to, move, (uint8_t)broken });
	return !graph->out_of_memory;
}

static bool make_room(struct rr_graph *graph)
{
	const uint32_t n = graph->n_expanded;
	const uint32_t capacity =
		graph->states_capacity ? 2 * graph->states_capacity : 256;
	uint8_t *flags;
	uint64_t *first;

	if (n + 1 < graph->states_capacity)
		return true;
	flags = realloc(graph->flags, capacity);
	if (flags)
		graph->flags = flags;
	first = realloc(graph->first, capacity * sizeof(*first));
	if (first)
		graph->first = first;
	if (!flags || !first)
		return false;
	graph->states_capacity = capacity;
	return true;
}

/* Is the counter what the clients were told it is? */
static bool judge_count(struct rr_graph *graph, uint32_t state, unsigned *flags)
{
	struct rr_count count;

	if (!graph->product->config.strategy)
		return true;
	if (!rr_product_count(graph->product, key_of(graph, state), &count))
		return false;
	if (!count.is_number || count.value < count.least ||
	    count.value > count.most) {
		*flags |= RR_STATE_WRONG;
		graph->breaks |= RR_BREAKS_COUNT;
	}
	return true;
}

static bool expand(struct rr_graph *graph, uint32_t state)
{
	struct rr_product *product = graph->product;
	rr_state_key key;
	unsigned flags = 0;

	if (!make_room(graph))
		return !(graph->out_of_memory = true);
	memcpy(key, key_of(graph, state), product->n_words * sizeof(*key));
	graph->first[state] = graph->n_edges;
	if (!rr_product_expand(product, key, note_edge, graph, &flags))
		return false;
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

	return graph->states.n_bytes +
	       graph->edges_capacity * sizeof(*graph->edges) +
	       graph->states_capacity * (sizeof(*graph->first) + 1) +
	       product->parts.n_bytes + product->commons.n_bytes;
}

static double share_of(const struct rr_graph *graph)
{
	return graph->states.n ?
		       (double)graph->n_expanded / (double)graph->states.n :
		       0;
}

static bool is_endless(struct rr_graph *graph)
{
	struct rr_product *product = graph->product;
	const uint32_t n = graph->n_expanded;
	const uint32_t deepest =
		ENDLESS_DEPTH + ENDLESS_DEPTH_EACH *
					(uint32_t)product->n_clients *
					(uint32_t)product->config.increments;

	if (product->config.bounded || !product->config.strategy)
		return false;
	if (n < LOOK_FOR_COUNTERS || n % LOOK_FOR_COUNTERS == 0) {
		rr_state_key key;

		memcpy(key, key_of(graph, n - 1),
		       product->n_words * sizeof(*key));
		if (rr_product_counts_up(product, key))
			return true;
	}
	return product->tables[0]->depth > deepest ||
	       product->tables[1]->depth > deepest;
}

/* Why to stop before the end; RR_GRAPH_WHOLE = go on. */
static enum rr_graph_end look_up(struct rr_graph *graph)
{
	const struct rr_graph_config *config = &graph->config;
	const struct rr_product *product = graph->product;

	if (product->wants_absolute || product->wants_clock)
		return RR_GRAPH_AGAIN;
	if (graph->breaks & config->first_of)
		return RR_GRAPH_FIRST;
	if (is_endless(graph))
		return product->error.kind ? RR_GRAPH_FAILED : RR_GRAPH_ENDLESS;
	if (config->most && graph->states.n > config->most)
		return RR_GRAPH_MOST;
	if (graph->n_expanded % REPORT_EVERY)
		return RR_GRAPH_WHOLE;
	if (config->memory && rr_graph_bytes(graph) > config->memory)
		return RR_GRAPH_MEMORY;
	if (config->progress &&
	    !config->progress(config->context, graph->n_expanded,
			      share_of(graph)))
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

static enum rr_graph_end fail(struct rr_graph *graph)
{
	if (graph->out_of_memory)
		return RR_GRAPH_MEMORY;
	return needs_time(graph->product) ? RR_GRAPH_AGAIN : RR_GRAPH_FAILED;
}

enum rr_graph_end rr_graph_explore(struct rr_graph *graph,
				   struct rr_product *product,
				   const struct rr_graph_config *config)
{
	enum rr_graph_end end = RR_GRAPH_WHOLE;
	rr_state_key key;

	*graph = (struct rr_graph){ .product = product, .config = *config };
	if (!rr_product_begin(product, key))
		return RR_GRAPH_FAILED;
	add_state(graph, key);
	while (graph->n_expanded < graph->states.n && end == RR_GRAPH_WHOLE) {
		if (!expand(graph, graph->n_expanded))
			return fail(graph);
		end = look_up(graph);
	}
	if (end != RR_GRAPH_AGAIN && end != RR_GRAPH_STOPPED &&
	    needs_time(product))
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

/* ---- Who can still finish ------------------------------------------------- */

/* Edges by where they lead to. */
struct reverse {
	uint64_t *first;
	uint32_t *from;
};

static bool is_expanded(const struct rr_graph *graph, uint32_t state)
{
	return state < graph->n_expanded;
}

static void release_reverse(struct reverse *reverse)
{
	free(reverse->first);
	free(reverse->from);
}

/* Of those edges that are no faults. */
static bool make_reverse(const struct rr_graph *graph, struct reverse *reverse)
{
	const uint32_t n = graph->states.n;
	uint64_t sum = 0;

	reverse->first = calloc((size_t)n + 2, sizeof(*reverse->first));
	reverse->from = malloc((graph->n_edges + 1) * sizeof(*reverse->from));
	if (!reverse->first || !reverse->from)
		return false;
	for (uint64_t i = 0; i < graph->n_edges; i++) {
		if (!rr_transition_is_fault(graph->edges[i].move))
			reverse->first[graph->edges[i].to + 1]++;
	}
	for (uint32_t i = 0; i <= n; i++) {
		sum += reverse->first[i];
		reverse->first[i] = sum;
	}
	reverse->first[n + 1] = sum;
	for (uint32_t i = graph->n_expanded; i-- > 0;) {
		for (uint64_t j = graph->first[i]; j < graph->first[i + 1]; j++) {
			const struct rr_edge *edge = &graph->edges[j];

			if (!rr_transition_is_fault(edge->move))
				reverse->from[--reverse->first[edge->to + 1]] =
					i;
		}
	}
	/* Each first[i + 1] is where its own begin now. */
	return true;
}

static uint64_t begin_of(const struct reverse *reverse, uint32_t state)
{
	return reverse->first[state + 1];
}

static uint64_t end_of(const struct reverse *reverse, uint32_t state)
{
	return reverse->first[state + 2];
}

/* Marks all from which a marked state can be reached. `todo` holds those that are
 * marked already. */
static void mark_backwards(const struct reverse *reverse, uint8_t *marks,
			   uint32_t *todo, uint32_t n_todo)
{
	while (n_todo > 0) {
		const uint32_t state = todo[--n_todo];
		const uint64_t end = end_of(reverse, state);

		for (uint64_t i = begin_of(reverse, state); i < end; i++) {
			const uint32_t from = reverse->from[i];

			if (marks[from])
				continue;
			marks[from] = 1;
			todo[n_todo++] = from;
		}
	}
}

/* Whoever cannot reach an end is stuck. Bounds are no end that is known. */
static void mark_stuck(struct rr_graph *graph, const struct reverse *reverse,
		       uint8_t *marks, uint32_t *todo)
{
	const unsigned good = RR_STATE_FINAL | RR_STATE_CUT;
	const unsigned bad = RR_STATE_STARVED | RR_STATE_DEAD;
	uint32_t n_todo = 0;

	for (uint32_t i = 0; i < graph->states.n; i++) {
		marks[i] = !is_expanded(graph, i) ||
			   (graph->flags[i] & good &&
			    !(graph->flags[i] & bad));
		if (marks[i])
			todo[n_todo++] = i;
	}
	mark_backwards(reverse, marks, todo, n_todo);
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (!marks[i])
			graph->flags[i] |= RR_STATE_STUCK;
	}
}

/* Do servers hold something else? (Without tables no two states are the same.) */
static bool changes_servers(const struct rr_graph *graph, uint32_t from,
			    uint32_t to)
{
	for (size_t i = 0; i < graph->product->n_servers; i++) {
		const struct rr_server_table *table =
			rr_product_table(graph->product, i);
		const struct rr_server_snapshot *a =
			&table->states[key_of(graph, from)[i]];
		const struct rr_server_snapshot *b =
			&table->states[key_of(graph, to)[i]];

		if (a->data != b->data || a->clock_ns != b->clock_ns ||
		    (!table->is_tree && a->connections != b->connections))
			return true;
	}
	return false;
}

/* Of those that are stuck: can anything still change? If something always can, they
 * go on in vain for ever; else nobody can go on. */
static void tell_apart(struct rr_graph *graph, const struct reverse *reverse,
		       uint8_t *marks, uint32_t *todo)
{
	uint32_t n_todo = 0;

	memset(marks, 0, graph->states.n);
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (!(graph->flags[i] & RR_STATE_STUCK))
			continue;
		for (uint64_t j = graph->first[i]; j < graph->first[i + 1]; j++) {
			const struct rr_edge *edge = &graph->edges[j];

			if (!marks[i] && !rr_transition_is_fault(edge->move) &&
			    changes_servers(graph, i, edge->to)) {
				marks[i] = 1;
				todo[n_todo++] = i;
			}
		}
		if (graph->flags[i] & RR_STATE_STARVED && !marks[i]) {
			marks[i] = 1;
			todo[n_todo++] = i;
		}
	}
	mark_backwards(reverse, marks, todo, n_todo);
	n_todo = 0;
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		marks[i] = graph->flags[i] & RR_STATE_STUCK && !marks[i];
		if (marks[i]) {
			graph->flags[i] |= RR_STATE_DEAD;
			todo[n_todo++] = i;
		}
	}
	mark_backwards(reverse, marks, todo, n_todo);
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (graph->flags[i] & RR_STATE_STUCK && !marks[i])
			graph->flags[i] |= RR_STATE_STARVED;
	}
}

/* ---- Counting ------------------------------------------------------------- */

/* What a state breaks by being there. */
static unsigned broken_by(const struct rr_graph *graph, uint32_t state)
{
	const unsigned flags =
		is_expanded(graph, state) ? graph->flags[state] : 0;
	unsigned broken = 0;

	if (flags & RR_STATE_WRONG)
		broken |= RR_BREAKS_COUNT;
	if (flags & RR_STATE_DEAD)
		broken |= RR_DEADLOCKS;
	if (flags & RR_STATE_STARVED && !(flags & RR_STATE_DEAD))
		broken |= RR_STARVES;
	return broken;
}

static void count_broken(struct rr_graph *graph)
{
	memset(graph->broken, 0, sizeof(graph->broken));
	graph->breaks = 0;
	for (uint64_t i = 0; i < graph->n_edges; i++) {
		for (int bit = 0; bit < RR_INVARIANTS; bit++)
			graph->broken[bit] += graph->edges[i].broken >> bit & 1;
	}
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		const unsigned broken = broken_by(graph, i);

		for (int bit = 0; bit < RR_INVARIANTS; bit++)
			graph->broken[bit] += broken >> bit & 1;
	}
	for (int bit = 0; bit < RR_INVARIANTS; bit++)
		graph->breaks |= (unsigned)(graph->broken[bit] > 0) << bit;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The states in an order in which every move leads on; false: there is a loop. */
static bool sort_states(const struct rr_graph *graph, uint32_t *order,
			uint32_t *n_into)
{
	uint32_t n = 0;

	memset(n_into, 0, graph->states.n * sizeof(*n_into));
	for (uint64_t i = 0; i < graph->n_edges; i++)
		n_into[graph->edges[i].to]++;
	order[n++] = 0;
	for (uint32_t i = 0; i < n && n_into[0] == 0; i++) {
		const uint32_t state = order[i];

		for (uint64_t j = graph->first[state];
		     j < graph->first[state + 1]; j++) {
			if (--n_into[graph->edges[j].to] == 0)
				order[n++] = graph->edges[j].to;
		}
	}
	return n == graph->states.n;
}

/* Ways to each state, all of them and those on which nothing was broken. */
static void count_ways(struct rr_graph *graph, const uint32_t *order,
		       uint64_t *all, uint64_t *good)
{
	uint64_t sum = 0, sum_good = 0;

	memset(all, 0, graph->states.n * sizeof(*all));
	memset(good, 0, graph->states.n * sizeof(*good));
	all[0] = good[0] = 1;
	for (uint32_t i = 0; i < graph->states.n; i++) {
		const uint32_t state = order[i];
		const bool is_end =
			graph->first[state] == graph->first[state + 1];

		if (broken_by(graph, state))
			good[state] = 0;
		for (uint64_t j = graph->first[state];
		     j < graph->first[state + 1]; j++) {
			const struct rr_edge *edge = &graph->edges[j];

			all[edge->to] = add_up(all[edge->to], all[state]);
			if (!edge->broken)
				good[edge->to] =
					add_up(good[edge->to], good[state]);
		}
		if (is_end) {
			sum = add_up(sum, all[state]);
			sum_good = add_up(sum_good, good[state]);
		}
	}
	graph->interleavings = sum;
	graph->failing_interleavings = sum - sum_good;
}

static bool count_interleavings(struct rr_graph *graph)
{
	const size_t n = graph->states.n;
	uint32_t *order = malloc(n * sizeof(*order));
	uint32_t *n_into = malloc(n * sizeof(*n_into));
	uint64_t *all = malloc(n * sizeof(*all));
	uint64_t *good = malloc(n * sizeof(*good));
	const bool room = order && n_into && all && good;

	if (room && graph->n_expanded == graph->states.n &&
	    sort_states(graph, order, n_into))
		count_ways(graph, order, all, good);
	free(order);
	free(n_into);
	free(all);
	free(good);
	return room;
}

bool rr_graph_analyse(struct rr_graph *graph)
{
	struct reverse reverse = { 0 };
	uint8_t *marks = malloc(graph->states.n);
	uint32_t *todo = malloc(graph->states.n * sizeof(*todo));
	const bool room = marks && todo && make_reverse(graph, &reverse);

	if (room) {
		mark_stuck(graph, &reverse, marks, todo);
		tell_apart(graph, &reverse, marks, todo);
		count_broken(graph);
	}
	release_reverse(&reverse);
	free(marks);
	free(todo);
	return room && count_interleavings(graph);
}

/* ---- The shortest way ----------------------------------------------------- */

/* Where a way has come to: the state, who made the last step, and whether what is
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
	uint64_t cost;   /* changes of client, and then moves */
	bool is_done;
};

struct search {
	const struct rr_graph *graph;
	unsigned bits;
	struct rr_intern places;
	struct step *steps;
	uint64_t *heap; /* cost << 32 | place is too narrow: places by number */
	uint32_t n_heap, heap_capacity;
};

static bool is_client_move(struct rr_transition move)
{
	return move.kind == RR_DO_EXECUTE || move.kind == RR_DO_GO ||
	       move.kind == RR_DO_BEGIN || move.kind == RR_DO_LOSE ||
	       move.kind == RR_DO_DROP;
}

static bool is_before(const struct search *search, uint64_t a, uint64_t b)
{
	const struct step *x = &search->steps[a], *y = &search->steps[b];

	return x->cost != y->cost ? x->cost < y->cost : a < b;
}

static bool push(struct search *search, uint32_t place)
{
	uint32_t i = search->n_heap;

	if (i == search->heap_capacity) {
		const uint32_t capacity = i ? 2 * i : 64;
		uint64_t *heap =
			realloc(search->heap, capacity * sizeof(*heap));

		if (!heap)
			return false;
		search->heap = heap;
		search->heap_capacity = capacity;
	}
	search->n_heap++;
	for (; i > 0 && is_before(search, place, search->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		search->heap[i] = search->heap[(i - 1) / 2];
	search->heap[i] = place;
	return true;
}

static uint32_t pop(struct search *search)
{
	const uint32_t top = (uint32_t)search->heap[0];
	const uint64_t last = search->heap[--search->n_heap];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= search->n_heap)
			break;
		if (child + 1 < search->n_heap &&
		    is_before(search, search->heap[child + 1],
			      search->heap[child]))
			child++;
		if (!is_before(search, search->heap[child], last))
			break;
		search->heap[i] = search->heap[child];
		i = child;
	}
	search->heap[i] = last;
	return top;
}

static bool reach(struct search *search, struct place place, uint32_t before,
		  uint64_t edge, uint64_t cost)
{
	bool is_new;
	const uint32_t id =
		rr_intern_put(&search->places, &place, sizeof(place), &is_new);
	struct step *step;

	if (id == RR_NO_ID)
		return false;
	if (is_new && (id & (id - 1)) == 0) {
		struct step *steps =
			realloc(search->steps, (id ? 2 * (size_t)id : 1) *
						       sizeof(*steps));

		if (!steps)
			return false;
		search->steps = steps;
	}
	step = &search->steps[id];
	if (!is_new && (step->is_done || step->cost <= cost))
		return true;
	*step = (struct step){ before, edge, cost, false };
	return push(search, id);
}

/* The way may end here. */
static bool is_goal(const struct search *search, const struct place *place)
{
	const struct rr_graph *graph = search->graph;
	const unsigned flags = is_expanded(graph, place->state) ?
				       graph->flags[place->state] :
				       RR_STATE_CUT;

	if (broken_by(graph, place->state) & search->bits)
		return true;
	return place->is_broken &&
	       (flags & (RR_STATE_FINAL | RR_STATE_CUT | RR_STATE_STUCK));
}

static bool leave(struct search *search, uint32_t id, struct place place)
{
	const struct rr_graph *graph = search->graph;
	const uint64_t cost = search->steps[id].cost;

	if (!is_expanded(graph, place.state))
		return true;
	for (uint64_t i = graph->first[place.state];
	     i < graph->first[place.state + 1]; i++) {
		const struct rr_edge *edge = &graph->edges[i];
		struct place next = { .state = edge->to,
				      .last = place.last,
				      .is_broken = place.is_broken };
		uint64_t more = 1;

		if (edge->to == place.state)
			continue;
		if (is_client_move(edge->move)) {
			next.last = (uint8_t)(edge->move.who + 1);
			if (place.last && place.last != next.last)
				more += UINT64_C(1) << 32;
		} else if (rr_transition_is_fault(edge->move)) {
			more += UINT64_C(1) << 32; /* as few as possible */
		}
		if (edge->broken & search->bits)
			next.is_broken = 1;
		if (!reach(search, next, id, i, cost + more))
			return false;
	}
	return true;
}

static bool add_to_way(struct rr_way *way, uint64_t edge)
{
	if (way->n == way->capacity) {
		const size_t capacity = way->capacity ? 2 * way->capacity : 32;
		uint64_t *edges =
			realloc(way->edges, capacity * sizeof(*edges));

		if (!edges)
			return false;
		way->edges = edges;
		way->capacity = capacity;
	}
	way->edges[way->n++] = edge;
	return true;
}

static int count_switches(const struct rr_graph *graph,
			  const struct rr_way *way)
{
	int last = -1, n = 0;

	for (size_t i = 0; i < way->n; i++) {
		const struct rr_transition move = graph->edges[way->edges[i]].move;

		if (!is_client_move(move))
			continue;
		n += last >= 0 && last != move.who;
		last = move.who;
	}
	return n;
}

static bool trace_back(const struct search *search, uint32_t id,
		       struct rr_way *way)
{
	size_t n = 0;

	way->n = 0;
	for (uint32_t at = id; search->steps[at].before != RR_NO_ID;
	     at = search->steps[at].before) {
		if (!add_to_way(way, search->steps[at].edge))
			return false;
	}
	for (n = 0; n < way->n / 2; n++) {
		const uint64_t edge = way->edges[n];

		way->edges[n] = way->edges[way->n - 1 - n];
		way->edges[way->n - 1 - n] = edge;
	}
	way->switches = count_switches(search->graph, way);
	return true;
}

static bool search_way(struct search *search, struct rr_way *way)
{
	const struct place begin = { .state = 0 };

	if (!reach(search, begin, RR_NO_ID, 0, 0))
		return false;
	while (search->n_heap > 0) {
		const uint32_t id = pop(search);
		const struct place place = *(const struct place *)
			rr_intern_get(&search->places, id);

		if (search->steps[id].is_done)
			continue;
		search->steps[id].is_done = true;
		if (is_goal(search, &place))
			return trace_back(search, id, way);
		if (!leave(search, id, place))
			return false;
	}
	return false;
}

/* The first edge of a state that is such a move; graph->n_edges = there is none. */
static uint64_t find_edge(const struct rr_graph *graph, uint32_t state,
			  int client)
{
	uint64_t i = is_expanded(graph, state) ? graph->first[state] :
						 graph->n_edges;
	const uint64_t end =
		is_expanded(graph, state) ? graph->first[state + 1] : i;

	for (; i < end; i++) {
		const struct rr_transition move = graph->edges[i].move;
		const bool is_time =
			move.kind == RR_DO_WAIT || move.kind == RR_DO_NEAR;

		if (client < 0 ? is_time :
				 is_client_move(move) &&
					 !rr_transition_is_fault(move) &&
					 move.who == client)
			return i;
	}
	return graph->n_edges;
}

/* Everybody who is left tries once, in vain. */
static uint32_t try_all(const struct rr_graph *graph, struct rr_way *way,
			uint32_t state)
{
	const struct rr_product *product = graph->product;

	for (size_t c = 0; c < product->n_clients; c++) {
		for (int n = 0; n < 40; n++) {
			const uint64_t edge = find_edge(graph, state, (int)c);

			if (edge == graph->n_edges ||
			    (n > 0 && rr_product_client(product,
							key_of(graph, state), c)
					      ->is_attempt))
				break;
			if (!add_to_way(way, edge))
				return state;
			state = graph->edges[edge].to;
		}
	}
	return state;
}

/* Of one that is stuck: they try, time passes, and they try again. */
static void show_in_vain(const struct rr_graph *graph, struct rr_way *way,
			 bool again)
{
	uint32_t state = way->n ? graph->edges[way->edges[way->n - 1]].to : 0;
	uint64_t edge;

	state = try_all(graph, way, state);
	edge = find_edge(graph, state, -1);
	if (!again || edge == graph->n_edges || !add_to_way(way, edge))
		return;
	try_all(graph, way, graph->edges[edge].to);
}

bool rr_graph_shortest(const struct rr_graph *graph, unsigned bits,
		       struct rr_way *way)
{
	struct search search = { .graph = graph, .bits = bits };
	const bool found = search_way(&search, way);

	if (found && bits & (RR_DEADLOCKS | RR_STARVES))
		show_in_vain(graph, way, bits & RR_STARVES);
	rr_intern_release(&search.places);
	free(search.steps);
	free(search.heap);
	return found;
}

/* ---- Random ways ---------------------------------------------------------- */

bool rr_graph_random_way(const struct rr_graph *graph, uint64_t seed,
			 struct rr_way *way)
{
	struct rr_random random = { seed };
	uint32_t state = 0;

	way->n = 0;
	while (way->n < WAY_MAX && is_expanded(graph, state)) {
		const uint64_t n = graph->first[state + 1] - graph->first[state];
		const uint64_t edge =
			n ? graph->first[state] + rr_random_below(&random, n) :
			    0;

		if (n == 0)
			break;
		if (!add_to_way(way, edge))
			return false;
		state = graph->edges[edge].to;
	}
	return true;
}

void rr_way_release(struct rr_way *way)
{
	free(way->edges);
	*way = (struct rr_way){ 0 };
}
