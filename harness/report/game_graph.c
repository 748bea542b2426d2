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

enum { LEVEL_OVER = 8 }; /* a state behind a break, and nothing more is shown */

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

static void show_edges(struct shown_graph *shown, size_t number)
{
	const struct shown_state state = shown->states[number];
	const json_t *edges = json_array_get(graph_state(shown, state.state), 3);
	const json_t *edge;
	size_t i;

	shown->states[number].first = shown->n_edges;
	json_array_foreach(edges, i, edge) {
		const json_int_t transition = number_at(edge, 1), broken = number_at(edge, 2);
		const bool is_over = shown->level->ends_broken && broken;

		if (state.flags & LEVEL_OVER ||
		    rr_has_word(shown->level->without, " ", word_of(shown, transition)))
			continue;
		rr_array_grow(&shown->edges, shown->n_edges, sizeof(*shown->edges));
		shown->edges[shown->n_edges++] = (struct shown_edge){
			.to = show_state(shown, behind_notes(shown, (uint32_t)number_at(edge, 0)),
					 is_over),
			.transition = transition,
			.broken = broken,
		};
	}
	shown->states[number].n = shown->n_edges - shown->states[number].first;
}

/* Where such a transition leads to. */
static bool follow_word(struct shown_graph *shown, const char *word, uint32_t *state)
{
	const json_t *edges = json_array_get(graph_state(shown, *state), 3);
	const json_t *edge;
	size_t i;

	json_array_foreach(edges, i, edge) {
		if (strcmp(word_of(shown, number_at(edge, 1)), word) != 0)
			continue;
		*state = (uint32_t)number_at(edge, 0);
		json_array_append(shown->before, json_array_get(edge, 1));
		return true;
	}
	return rr_error_set(shown->error, RR_ERROR_DATA,
			    "the beginning cannot be reached: nobody can do '%s' there", word);
}

static bool show_all(struct shown_graph *shown)
{
	char *words = rr_strdup(shown->level->begin ? shown->level->begin : ""), *rest = words;
	const char *word;
	uint32_t begin = 0;
	bool good = true;

	while (good && (word = strtok_r(rest, " \n", &rest)))
		good = follow_word(shown, word, &begin);
	free(words);
	if (good)
		show_state(shown, begin, false);
	for (size_t i = 0; good && i < shown->n_states; i++)
		show_edges(shown, i);
	/* A reader walks through small graphs. */
	if (good && shown->n_states > RR_CHECKED_GAME_STATES)
		return rr_error_set(shown->error, RR_ERROR_DATA,
				    "there are more than %d states to be shown",
				    RR_CHECKED_GAME_STATES);
	return good;
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

static void reach_in_loop(struct components *it, uint32_t from, uint32_t to, uint32_t *n_queue)
{
	const uint32_t distance = it->distance[from] + 1;

	if (!it->distance[to]) {
		it->distance[to] = distance;
		it->queue[(*n_queue)++] = to;
	}
	if (it->distance[to] == distance)
		it->paths[to] = add_counts(it->paths[to], it->paths[from]);
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

			if (it->of[edge->to] == it->of[from] && !edge->broken)
				reach_in_loop(it, from, edge->to, &n_queue);
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
	const json_t *all;
	json_t *used, *numbers;
};

static struct kept keep_of(const json_t *graph, const char *name)
{
	return (struct kept){ json_object_get(graph, name), json_array(), json_object() };
}

static json_t *keep(struct kept *kept, const json_t *number)
{
	char name[24];
	json_t *now;

	snprintf(name, sizeof(name), "%lld", (long long)json_integer_value(number));
	now = json_incref(json_object_get(kept->numbers, name));
	if (!now) {
		now = json_integer((json_int_t)json_array_size(kept->used));
		json_array_append(kept->used,
				  json_array_get(kept->all, (size_t)json_integer_value(number)));
		json_object_set(kept->numbers, name, now);
	}
	return now;
}

static json_t *keep_all(struct kept *kept, const json_t *numbers)
{
	json_t *all = json_array();

	for (size_t i = 0; i < json_array_size(numbers); i++)
		json_array_append_new(all, keep(kept, json_array_get(numbers, i)));
	return all;
}

static void put_kept(json_t *graph, const char *name, struct kept *kept)
{
	json_object_set_new(graph, name, kept->used);
	json_decref(kept->numbers);
}

/* "0,2": where they are in what is kept. */
static void print_numbers(FILE *out, struct kept *kept, const json_t *numbers)
{
	for (size_t i = 0; i < json_array_size(numbers); i++) {
		json_t *now = keep(kept, json_array_get(numbers, i));

		fprintf(out, "%s%lld", i ? "," : "", json_integer_value(now));
		json_decref(now);
	}
}

/* What a row of the page's table of states is made of. */
struct shown_rows {
	const struct shown_graph *shown;
	const json_t *states; /* of the whole graph */
	struct kept servers, clients, transitions;
};

/* A state of the graph as one short text, for there are thousands: servers, clients, flags,
 * ways on, bad ones, and its edges, "TO,TRANSITION[,BROKEN]": "0,1;2,1;0;14;6; 3,7 4,8,2". */
static json_t *state_row(struct shown_rows *rows, const struct shown_state *state)
{
	const json_t *row = json_array_get(rows->states, state->state);
	char *text;
	FILE *out = rr_open_text(&text);
	json_t *string;

	print_numbers(out, &rows->servers, json_array_get(row, 0));
	fputc(';', out);
	print_numbers(out, &rows->clients, json_array_get(row, 1));
	fprintf(out, ";%u;%llu;%llu;", state->flags, (unsigned long long)state->count.all,
		(unsigned long long)state->count.bad);
	for (size_t i = 0; i < state->n; i++) {
		const struct shown_edge *edge = &rows->shown->edges[state->first + i];
		struct kept *transitions = &rows->transitions;
		json_t *number = json_integer(edge->transition);
		json_t *now = keep(transitions, number);

		fprintf(out, " %u,%lld", edge->to, json_integer_value(now));
		if (edge->broken)
			fprintf(out, ",%lld", edge->broken);
		json_decref(now);
		json_decref(number);
	}
	fclose(out);
	string = json_string(text);
	free(text);
	return string;
}

/* Puts what is shown into shown->graph, and leaves out of its tables what is not. */
static void rr_shown_put_states(struct shown_graph *shown)
{
	json_t *graph = shown->graph, *states = json_array();
	struct shown_rows rows = {
		.shown = shown,
		.states = json_object_get(graph, "states"),
		.servers = keep_of(graph, "server_states"),
		.clients = keep_of(graph, "client_states"),
		.transitions = keep_of(graph, "transitions"),
	};

	json_object_set_new(graph, "before", keep_all(&rows.transitions, shown->before));
	for (size_t i = 0; i < shown->n_states; i++)
		json_array_append_new(states, state_row(&rows, &shown->states[i]));
	json_object_set_new(graph, "states", states);
	put_kept(graph, "server_states", &rows.servers);
	put_kept(graph, "client_states", &rows.clients);
	put_kept(graph, "transitions", &rows.transitions);
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
		rr_shown_put_states(&shown);
	}
	json_decref(shown.before);
	free(shown.numbers);
	free(shown.states);
	free(shown.edges);
	return good;
}
