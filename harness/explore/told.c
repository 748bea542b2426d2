/* SPDX-License-Identifier: MIT */
/* Searches, and walks through that part of the graph that is told. */
#include "told.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What is known of a state is small; so are the graphs that a reader walks through. */
enum { TOLD_STATES_MAX = 6000 };

/* The same state is told twice if on some ways something has broken before it. */
struct told_key {
	uint32_t state, is_over;
};

static bool fail_telling(struct rr_told *told, const char *what)
{
	return told->error->kind || rr_error_set(told->error, RR_ERROR_INTERNAL, "%s", what);
}

/* ---- States ------------------------------------------------------------------ */

static unsigned told_flags(const struct rr_graph *graph, const struct told_key *key)
{
	const unsigned flags = graph->flags[key->state];

	return (flags & RR_STATE_FINAL ? RR_TOLD_FINAL : 0) |
	       (flags & RR_STATE_WRONG ? RR_TOLD_WRONG : 0) |
	       (flags & RR_STATE_STUCK ? RR_TOLD_STUCK : 0) | (key->is_over ? RR_TOLD_OVER : 0);
}

/* The number by which it is told. RR_NO_ID: told->error. */
static uint32_t tell_state(struct rr_told *told, uint32_t state, bool is_over)
{
	const struct told_key key = { state, is_over };
	bool is_new;
	const uint32_t id = rr_intern_put(&told->numbers, &key, sizeof(key), &is_new);

	if (id == RR_NO_ID) {
		rr_error_no_memory(told->error);
		return RR_NO_ID;
	}
	if (is_new && id >= TOLD_STATES_MAX) {
		rr_error_set(told->error, RR_ERROR_DATA,
			     "there are more than %d states to be told of", TOLD_STATES_MAX);
		return RR_NO_ID;
	}
	if (is_new) {
		rr_array_grow(&told->states, id, sizeof(*told->states));
		told->states[id] = (struct rr_told_state){
			.state = state,
			.flags = told_flags(told->graph, &key),
		};
		told->n_states = id + 1;
	}
	return id;
}

/* ---- Transitions --------------------------------------------------------------- */

static bool is_left_out(const struct rr_told *told, struct rr_transition transition,
			const char *cue)
{
	const char *left_out = told->config->without;
	const size_t length = strlen(cue);

	if (!rr_transition_is_fault(transition))
		return false;
	while (left_out && *left_out) {
		const size_t n = strcspn(left_out, " ");

		if (n == length && strncmp(left_out, cue, n) == 0)
			return true;
		left_out += n + strspn(left_out + n, " ");
	}
	return false;
}

static bool has_cue(const struct rr_told *told, uint32_t from, const char *cue)
{
	for (size_t i = told->states[from].first; i < told->n_edges; i++) {
		const json_t *move = json_array_get(told->moves, told->edges[i].move);

		if (strcmp(json_string_value(json_object_get(move, "cue")), cue) == 0)
			return true;
	}
	return false;
}

/* The number of a move, by what it is. */
static uint32_t number_of_move(struct rr_told *told, json_t *move)
{
	char *text = json_dumps(move, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_t *known = text ? json_object_get(told->lookup, text) : NULL;
	uint32_t number = (uint32_t)json_array_size(told->moves);

	if (known)
		number = (uint32_t)json_integer_value(known);
	else if (!text || json_object_set_new(told->lookup, text, json_integer(number)) ||
		 json_array_append(told->moves, move))
		number = RR_NO_ID;
	free(text);
	return number;
}

static bool add_told_edge(struct rr_told *told, uint32_t from, struct rr_transition transition,
			  const char *cue, const struct rr_graph_edge *edge)
{
	json_t *move = rr_told_move(told, transition, cue, edge->to);
	const uint32_t number = move ? number_of_move(told, move) : RR_NO_ID;
	const bool is_over = told->config->ends_broken && edge->broken;
	const uint32_t to = tell_state(told, edge->to, is_over);

	json_decref(move);
	if (to == RR_NO_ID)
		return false;
	if (number == RR_NO_ID)
		return rr_error_no_memory(told->error);
	if (has_cue(told, from, cue))
		return rr_error_set(told->error, RR_ERROR_DATA, "two moves are called '%s'", cue);
	rr_array_grow(&told->edges, told->n_edges, sizeof(*told->edges));
	told->edges[told->n_edges++] = (struct rr_told_edge){ to, number, edge->broken };
	return true;
}

/* All edges of a state of the graph, once more with their actions. NULL: told->error. */
static const struct rr_edges *look_again(struct rr_told *told, uint32_t state)
{
	const struct rr_graph *graph = told->graph;
	struct rr_product *product = graph->product;
	const struct rr_edges *edges = rr_product_expand_logged(product,
								rr_graph_key(graph, state));

	if (!edges)
		*told->error = product->error;
	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[graph->first[state] + i];

		if (memcmp(rr_graph_key(graph, edge->to), edges->all[i].key,
			   product->n_words * sizeof(uint32_t)) != 0) {
			fail_telling(told, "a transition has changed");
			return NULL;
		}
	}
	return edges;
}

static void take_actions(struct rr_told *told, const struct rr_edge *edge)
{
	told->actions.n = 0;
	rr_product_keep_actions(told->graph->product, edge, &told->actions);
}

static bool tell_transitions(struct rr_told *told, uint32_t number)
{
	const struct rr_told_state state = told->states[number];
	const struct rr_edges *edges = NULL;
	bool good = true;

	told->states[number].first = told->n_edges;
	if (!(state.flags & RR_TOLD_OVER)) {
		edges = look_again(told, state.state);
		good = edges != NULL;
	}
	for (size_t i = 0; edges && i < edges->n && good; i++) {
		const struct rr_transition transition = edges->all[i].transition;
		char cue[RR_TOLD_CUE];

		take_actions(told, &edges->all[i]);
		rr_told_cue(told, transition, cue);
		good = is_left_out(told, transition, cue) ||
		       add_told_edge(told, number, transition, cue,
				     &told->graph->edges[told->graph->first[state.state] + i]);
	}
	told->states[number].n = told->n_edges - told->states[number].first;
	return good;
}

/* ---- The beginning -------------------------------------------------------------- */

/* Where such a move leads to from a state. */
static bool follow_cue(struct rr_told *told, const char *wanted, uint32_t *state)
{
	const struct rr_edges *edges = look_again(told, *state);

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;
		char cue[RR_TOLD_CUE];

		take_actions(told, &edges->all[i]);
		rr_told_cue(told, transition, cue);
		if (strcmp(cue, wanted) != 0)
			continue;
		*state = told->graph->edges[told->graph->first[*state] + i].to;
		json_array_append_new(told->before, rr_told_move(told, transition, cue, *state));
		return true;
	}
	return edges &&
	       rr_error_set(told->error, RR_ERROR_DATA,
			    "the beginning cannot be reached: nobody can do '%s' there", wanted);
}

/* The state that the beginning's moves lead to. */
static bool find_beginning(struct rr_told *told, uint32_t *state)
{
	const char *words = told->config->begin ? told->config->begin : "";
	bool good = true;

	*state = 0;
	while (good && *(words += strspn(words, " \n"))) {
		char cue[RR_TOLD_CUE];
		const size_t length = strcspn(words, " \n");

		snprintf(cue, sizeof(cue), "%.*s", (int)length, words);
		good = follow_cue(told, cue, state);
		words += length;
	}
	return good;
}

static bool walk_told(struct rr_told *told)
{
	uint32_t begin;
	bool good = find_beginning(told, &begin) && tell_state(told, begin, false) != RR_NO_ID;

	for (uint32_t i = 0; good && i < told->n_states; i++)
		good = tell_transitions(told, i);
	return good && (rr_told_count(told) || rr_error_no_memory(told->error));
}

/* ---- The whole -------------------------------------------------------------------- */

static void release_told(struct rr_told *told)
{
	rr_intern_release(&told->numbers);
	free(told->states);
	free(told->edges);
	free(told->actions.all);
	free(told->tokens);
	json_decref(told->moves);
	json_decref(told->lookup);
	json_decref(told->before);
}

struct wanted_graph {
	const struct rr_told_config *config;
	json_t *json;
};

static bool tell_graph(struct rr_search *search, struct wanted_graph *wanted)
{
	struct rr_told told = {
		.explorer = search,
		.graph = &search->graph,
		.config = wanted->config,
		.moves = json_array(),
		.lookup = json_object(),
		.before = json_array(),
		.error = &search->result->error,
	};

	if (!told.moves || !told.lookup || !told.before || !rr_told_name_tokens(&told) ||
	    !rr_graph_analyse(&search->graph))
		rr_error_no_memory(told.error);
	else if (walk_told(&told))
		wanted->json = rr_told_json(&told);
	release_told(&told);
	return wanted->json != NULL;
}

static bool conclude_told(struct rr_search *search, void *context)
{
	struct rr_error *error = &search->result->error;

	if (search->end == RR_GRAPH_STOPPED)
		return rr_error_interrupted(error);
	if (search->end != RR_GRAPH_WHOLE)
		return rr_error_set(error, RR_ERROR_DATA, "not all of its states were seen");
	return rr_search_audit(search) && tell_graph(search, context);
}

json_t *rr_explore_tell(struct rr_cluster *cluster, const struct rr_told_config *config,
			struct rr_error *error)
{
	struct wanted_graph wanted = { .config = config };
	struct rr_explore_result result;
	struct rr_search search;

	if (!rr_search_open(&search, cluster, &config->search, &result) ||
	    !rr_search_run(&search, conclude_told, &wanted))
		*error = result.error;
	rr_search_release(&search);
	return wanted.json;
}
