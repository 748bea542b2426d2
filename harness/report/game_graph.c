/* SPDX-License-Identifier: MIT */
/*
 * What a level shows of the graph of its search (docs/formats.md): from the state that its
 * `begin` leads to, without the faults that it leaves out; and how many schedules go on
 * from each state to an end, and how many of them break something.
 *
 * Without loops that is the number of all paths. Who is refused may ask again and again,
 * so that there are loops, and paths without end: of those through a loop (a strongly
 * connected component) only the shortest from each state to each way out are counted.
 * A state from which not everybody can end is an end, and a bad one. So is a transition
 * that breaks something and stays within its loop.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "levels.h"

/* More than so many schedules are not counted. */
#define COUNT_MAX ((UINT64_C(1) << 53) - 1)

struct shown_edge {
	uint32_t to;
	json_int_t transition, broken;
};

/* How many schedules go on, and how many of them break something. */
struct count {
	uint64_t all, bad;
};

struct shown_state {
	uint32_t state; /* in the graph */
	unsigned flags;
	size_t first, n; /* of its edges */
	struct count count;
};

struct shown_graph {
	const struct rr_level *level;
	json_t *graph;
	uint32_t *numbers; /* shown states by those of the graph, two each: is it over? */
	struct shown_state *states;
	size_t n_states;
	struct shown_edge *edges;
	size_t n_edges;
	json_t *before; /* transitions that lead to the beginning */
	struct rr_error *error;
};

enum { LEVEL_OVER = 8 }; /* a state after a break, and nothing more is shown */

/* ---- The graph of the search --------------------------------------------------- */

static const json_t *graph_state(const struct shown_graph *shown, uint32_t state)
{
	return json_array_get(json_object_get(shown->graph, "states"), state);
}

static json_int_t number_at(const json_t *array, size_t i)
{
	return json_integer_value(json_array_get(array, i));
}

static const json_t *transition_at(const struct shown_graph *shown, json_int_t number)
{
	return json_array_get(json_object_get(shown->graph, "transitions"), (size_t)number);
}

static const char *word_of(const struct shown_graph *shown, json_int_t transition)
{
	return json_string_value(json_object_get(transition_at(shown, transition), "word"));
}

/* ---- What is shown ------------------------------------------------------------- */

static uint32_t show_state(struct shown_graph *shown, uint32_t state, bool is_over)
{
	uint32_t *number = &shown->numbers[2 * state + is_over];

	if (*number == UINT32_MAX) {
		*number = (uint32_t)shown->n_states;
		rr_array_grow(&shown->states, shown->n_states, sizeof(*shown->states));
		shown->states[shown->n_states++] = (struct shown_state){
			.state = state,
			.flags = (unsigned)number_at(graph_state(shown, state), 2) |
				 (is_over ? LEVEL_OVER : 0),
		};
	}
	return *number;
}

/* With the last answer of an app all is over, but for its end, which is nobody's choice. */
static uint32_t behind_notes(const struct shown_graph *shown, uint32_t state)
{
	const json_t *edges = json_array_get(graph_state(shown, state), 3);
	const json_t *edge = json_array_get(edges, 0);
	const json_t *steps = json_object_get(transition_at(shown, number_at(edge, 1)), "steps");
	const char *kind = json_string_value(json_object_get(json_array_get(steps, 0), "kind"));
	const bool is_note = shown->level->programs.is_app && json_array_size(edges) == 1 &&
			     json_array_size(steps) == 1 && strcmp(kind, "note") == 0;

	return is_note ? (uint32_t)number_at(edge, 0) : state;
}

static bool show_all(struct shown_graph *shown)
{
	char *words = rr_strdup(shown->level->begin ? shown->level->begin : ""), *rest = words;
	const json_t *edges, *edge = NULL;
	const char *word;
	uint32_t begin = 0;
	size_t k;

	while ((word = strtok_r(rest, " \n", &rest))) {
		edges = json_array_get(graph_state(shown, begin), 3);
		json_array_foreach(edges, k, edge) {
			if (strcmp(word_of(shown, number_at(edge, 1)), word) == 0)
				break;
		}
		if (k == json_array_size(edges)) {
			rr_error_set(
				shown->error, RR_ERROR_DATA,
				"the beginning cannot be reached: no client can do '%s' there: begin otherwise",
				word);
			break;
		}
		begin = (uint32_t)number_at(edge, 0);
		json_array_append(shown->before, json_array_get(edge, 1));
	}
	free(words);
	if (shown->error->kind)
		return false;
	show_state(shown, begin, false);
	for (size_t i = 0; i < shown->n_states; i++) {
		const struct shown_state state = shown->states[i];

		shown->states[i].first = shown->n_edges;
		json_array_foreach(json_array_get(graph_state(shown, state.state), 3), k, edge) {
			const json_int_t transition = number_at(edge, 1);
			const json_int_t broken = number_at(edge, 2);
			const uint32_t to = (uint32_t)number_at(edge, 0);

			if (state.flags & LEVEL_OVER ||
			    rr_has_word(shown->level->without, " ", word_of(shown, transition)))
				continue;
			rr_array_grow(&shown->edges, shown->n_edges, sizeof(*shown->edges));
			shown->edges[shown->n_edges++] = (struct shown_edge){
				.to = show_state(shown, behind_notes(shown, to),
						 shown->level->ends_broken && broken),
				.transition = transition,
				.broken = broken,
			};
		}
		shown->states[i].n = shown->n_edges - shown->states[i].first;
	}
	/* A reader walks through small graphs. */
	return shown->n_states <= RR_CHECKED_GAME_STATES ||
	       rr_error_set(
		       shown->error, RR_ERROR_DATA,
		       "there are more than %d states to be shown: with fewer clients or faults there are fewer",
		       RR_CHECKED_GAME_STATES);
}

/* ---- Counting ------------------------------------------------------------------ */

/* Tarjan's search for strongly connected components, which finds them from the ends to
 * the beginning. */
struct components {
	struct shown_graph *shown;
	uint32_t *index, *low; /* of each state, from 1; 0 = not seen */
	uint32_t *of;          /* its component, from 1; 0 = none yet */
	uint32_t *open, n_open;
	uint32_t n_seen, n;
	/* Of one component: shortest paths from a state. */
	uint32_t *distance, *queue;
	uint64_t *paths;
};

static uint64_t add_counts(uint64_t a, uint64_t b)
{
	return a > COUNT_MAX - b ? COUNT_MAX : a + b;
}

static uint64_t multiply_counts(uint64_t a, uint64_t b)
{
	return b && a > COUNT_MAX / b ? COUNT_MAX : a * b;
}

static bool is_end(const struct shown_state *state)
{
	return state->n == 0 || state->flags & (RR_GRAPH_FINAL | RR_GRAPH_STUCK | LEVEL_OVER);
}

/* Those that leave the component at a state, or end there: what has broken before an end
 * says its last transition. */
static struct count count_out(const struct components *it, uint32_t at)
{
	const struct shown_state *state = &it->shown->states[at];
	struct count sum = { 0 };

	if (is_end(state))
		return (struct count){ 1, (state->flags & (RR_GRAPH_WRONG | RR_GRAPH_STUCK)) != 0 };
	for (size_t i = 0; i < state->n; i++) {
		const struct shown_edge *edge = &it->shown->edges[state->first + i];
		struct count count = it->shown->states[edge->to].count;

		if (it->of[edge->to] == it->of[at])
			count = (struct count){ edge->broken != 0, edge->broken != 0 };
		sum.all = add_counts(sum.all, count.all);
		sum.bad = add_counts(sum.bad, edge->broken ? count.all : count.bad);
	}
	return sum;
}

/* The shortest paths to all states of its component, in order: it->queue. */
static uint32_t find_shortest(struct components *it, uint32_t begin)
{
	uint32_t n_queue = 0;

	it->distance[begin] = 1;
	it->paths[begin] = 1;
	it->queue[n_queue++] = begin;
	for (uint32_t i = 0; i < n_queue; i++) {
		const uint32_t from = it->queue[i];
		const struct shown_state *state = &it->shown->states[from];

		for (size_t j = 0; j < state->n && !is_end(state); j++) {
			const struct shown_edge *edge = &it->shown->edges[state->first + j];
			const uint32_t to = edge->to;

			if (it->of[to] != it->of[from] || edge->broken)
				continue;
			if (!it->distance[to]) {
				it->distance[to] = it->distance[from] + 1;
				it->queue[n_queue++] = to;
			}
			if (it->distance[to] == it->distance[from] + 1)
				it->paths[to] = add_counts(it->paths[to], it->paths[from]);
		}
	}
	return n_queue;
}

static void close_component(struct components *it, uint32_t root)
{
	uint32_t first = it->n_open;

	it->n++;
	do {
		first--;
		it->of[it->open[first]] = it->n;
	} while (it->open[first] != root);
	for (uint32_t i = first; i < it->n_open; i++) {
		uint32_t begin = it->open[i];
		const uint32_t n = find_shortest(it, begin);
		struct count sum = { 0 };

		for (uint32_t j = 0; j < n; j++) {
			const uint32_t at = it->queue[j];
			const struct count out = count_out(it, at);

			sum.all = add_counts(sum.all, multiply_counts(it->paths[at], out.all));
			sum.bad = add_counts(sum.bad, multiply_counts(it->paths[at], out.bad));
			it->distance[at] = 0;
			it->paths[at] = 0;
		}
		it->shown->states[begin].count = sum;
	}
	it->n_open = first;
}

static void visit_state(struct components *it, uint32_t at)
{
	const struct shown_state *state = &it->shown->states[at];

	it->index[at] = it->low[at] = ++it->n_seen;
	it->open[it->n_open++] = at;
	for (size_t i = 0; i < state->n; i++) {
		const uint32_t to = it->shown->edges[state->first + i].to;

		if (!it->index[to])
			visit_state(it, to);
		if (!it->of[to] && it->low[to] < it->low[at])
			it->low[at] = it->low[to];
	}
	if (it->low[at] == it->index[at])
		close_component(it, at);
}

static void count_all(struct shown_graph *shown)
{
	const size_t n = shown->n_states;
	uint32_t *numbers = rr_calloc(6 * n, sizeof(*numbers));
	struct components it = {
		.shown = shown,
		.index = numbers,
		.low = numbers + n,
		.of = numbers + 2 * n,
		.open = numbers + 3 * n,
		.distance = numbers + 4 * n,
		.queue = numbers + 5 * n,
		.paths = rr_calloc(n, sizeof(*it.paths)),
	};

	visit_state(&it, 0);
	free(numbers);
	free(it.paths);
}

/* ---- Rows of the page, with only what they use of the graph's tables ------- */

/* A list of which only what is used is kept, in the order in which it is come by. */
struct kept {
	const char *name;
	const json_t *all;
	json_t *used;
	json_int_t *numbers; /* where each is in `used`, from 1; 0 = not there yet */
};

static json_int_t keep(struct kept *kept, json_int_t number)
{
	json_int_t *now = &kept->numbers[number];

	if (!*now) {
		json_array_append(kept->used, json_array_get(kept->all, (size_t)number));
		*now = (json_int_t)json_array_size(kept->used);
	}
	return *now - 1;
}

/* Puts what is shown into shown->graph, and leaves out of its tables what is not. */
static void put_states(struct shown_graph *shown)
{
	enum { SERVERS, CLIENTS, TRANSITIONS, TABLES };
	struct kept tables[TABLES] = { { .name = "server_states" },
				       { .name = "client_states" },
				       { .name = "transitions" } };
	json_t *graph = shown->graph, *states = json_array(), *before = json_array(), *number;
	size_t k;

	for (size_t i = 0; i < TABLES; i++) {
		struct kept *kept = &tables[i];

		kept->all = json_object_get(graph, kept->name);
		kept->used = json_array();
		kept->numbers = rr_calloc(json_array_size(kept->all), sizeof(*kept->numbers));
	}
	json_array_foreach(shown->before, k, number)
		json_array_append_new(before, json_integer(keep(&tables[TRANSITIONS],
								json_integer_value(number))));
	json_object_set_new(graph, "before", before);
	/* A state is one short text, for there are thousands: servers, clients, flags, ways on, bad
	 * ones, and its edges, "TO,TRANSITION[,BROKEN]": "0,1;2,1;0;14;6; 3,7 4,8,2". */
	for (size_t i = 0; i < shown->n_states; i++) {
		const struct shown_state *state = &shown->states[i];
		const json_t *row = graph_state(shown, state->state);
		char *text;
		FILE *out = rr_open_text(&text);

		for (size_t table = SERVERS; table <= CLIENTS; table++) {
			json_array_foreach(json_array_get(row, table), k, number)
				fprintf(out, "%s%lld", k ? "," : "",
					keep(&tables[table], json_integer_value(number)));
			fputc(';', out);
		}
		fprintf(out, "%u;%llu;%llu;", state->flags, (unsigned long long)state->count.all,
			(unsigned long long)state->count.bad);
		for (k = 0; k < state->n; k++) {
			const struct shown_edge *edge = &shown->edges[state->first + k];

			fprintf(out, " %u,%lld", edge->to,
				keep(&tables[TRANSITIONS], edge->transition));
			if (edge->broken)
				fprintf(out, ",%lld", edge->broken);
		}
		fclose(out);
		json_array_append_new(states, json_string(text));
		free(text);
	}
	json_object_set_new(graph, "states", states);
	for (size_t i = 0; i < TABLES; i++) {
		json_object_set_new(graph, tables[i].name, tables[i].used);
		free(tables[i].numbers);
	}
}

/* ---- The whole --------------------------------------------------------------- */

bool rr_level_show(const struct rr_level *level, json_t *graph, struct rr_error *error)
{
	const size_t n = json_array_size(json_object_get(graph, "states"));
	struct shown_graph shown = {
		.level = level,
		.graph = graph,
		.numbers = rr_malloc(2 * n * sizeof(*shown.numbers)),
		.before = json_array(),
		.error = error,
	};
	bool good;

	memset(shown.numbers, 0xff, 2 * n * sizeof(*shown.numbers));
	good = show_all(&shown);
	if (good) {
		count_all(&shown);
		put_states(&shown);
	}
	json_decref(shown.before);
	free(shown.numbers);
	free(shown.states);
	free(shown.edges);
	return good;
}
