/* SPDX-License-Identifier: MIT */
/* The graph of states as Graphviz and as JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "explore.h"
#include "graph.h"

enum { TEXT_SIZE = 200 };

static bool state_fails(const struct rr_graph *graph, uint32_t state)
{
	return rr_graph_is_expanded(graph, state) &&
	       graph->flags[state] & (RR_STATE_WRONG | RR_STATE_STUCK);
}

/* ---- In words ------------------------------------------------------------- */

static void client_text(const struct rr_graph *graph, uint32_t state, size_t client,
			char text[TEXT_SIZE])
{
	const uint32_t *key = rr_graph_key(graph, state);
	const struct rr_client_state *it = rr_product_client(graph->product, key, client);

	if (rr_product_part(graph->product, key, client)->is_crashed)
		snprintf(text, TEXT_SIZE, "has crashed");
	else
		rr_client_state_text(graph->product->config.program, it, text, TEXT_SIZE);
}

static bool is_inside(const struct rr_graph *graph, uint32_t state, size_t client)
{
	const uint32_t *key = rr_graph_key(graph, state);

	return !rr_product_part(graph->product, key, client)->is_crashed &&
	       rr_product_client(graph->product, key, client)->is_inside;
}

/* Whose command made the lock on a server; 0 = there is none, or nobody's. */
static char lock_maker(const struct rr_graph *graph, uint32_t state, size_t server)
{
	const struct rr_common *common = rr_product_common(graph->product,
							   rr_graph_key(graph, state));

	return common->makers[server] < 0 ? 0 : (char)('A' + common->makers[server]);
}

static void transition_text(struct rr_transition it, char text[TEXT_SIZE])
{
	static const char *const verbs[] = {
		[RR_DO_EXECUTE] = "executes",   [RR_DO_GO] = "goes on",
		[RR_DO_BEGIN] = "begins",       [RR_DO_LATE] = "late command",
		[RR_DO_NOTICE] = "is noticed",  [RR_DO_RETURN] = "returns",
		[RR_DO_WAIT] = "time passes",   [RR_DO_NEAR] = "time passes",
		[RR_DO_LOSE] = "reply lost",    [RR_DO_DROP] = "command lost",
		[RR_DO_CRASH] = "crashes",      [RR_DO_RESTART] = "restarts",
		[RR_DO_JUMP] = "clock jumps",   [RR_DO_HALF] = "half a lease",
		[RR_DO_WHOLE] = "a lease ends", [RR_DO_PAUSE_HALF] = "a pause",
		[RR_DO_PAUSE] = "a pause",
	};
	const bool is_of_client = it.kind <= RR_DO_BEGIN || it.kind == RR_DO_NOTICE ||
				  (it.kind >= RR_DO_LOSE && it.kind <= RR_DO_CRASH);
	const bool is_of_server = it.kind == RR_DO_RETURN || it.kind == RR_DO_RESTART ||
				  it.kind == RR_DO_JUMP;

	if (is_of_client)
		snprintf(text, TEXT_SIZE, "%c %s", 'A' + it.who, verbs[it.kind]);
	else if (is_of_server)
		snprintf(text, TEXT_SIZE, "server %d %s", it.who, verbs[it.kind]);
	else
		snprintf(text, TEXT_SIZE, "%s", verbs[it.kind]);
}

/* ---- JSON ----------------------------------------------------------------- */

static json_t *json_of_client(const struct rr_graph *graph, uint32_t state, size_t client)
{
	char text[TEXT_SIZE];

	client_text(graph, state, client, text);
	return json_pack("{s:s%, s:s, s:b}", "name", &(char){ (char)('A' + client) }, (size_t)1,
			 "next", text, "inside", is_inside(graph, state, client));
}

/* The counter's value; null: it is no number. */
static json_t *json_of_counter(const struct rr_graph *graph, uint32_t state)
{
	struct rr_count count;

	return rr_product_count(graph->product, rr_graph_key(graph, state), &count) &&
			       count.is_number ?
		       json_integer(count.value) :
		       json_null();
}

static json_t *json_of_state(const struct rr_graph *graph, uint32_t state)
{
	json_t *clients = json_array(), *makers = json_array();

	for (size_t i = 0; i < graph->product->n_clients; i++)
		json_array_append_new(clients, json_of_client(graph, state, i));
	for (size_t i = 0; i < graph->product->n_servers; i++) {
		const char maker[2] = { lock_maker(graph, state, i), '\0' };

		json_array_append_new(makers, maker[0] ? json_string(maker) : json_null());
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:b}", "id", (int)state, "counter",
			 json_of_counter(graph, state), "clients", clients, "lock_of", makers,
			 "fails", state_fails(graph, state));
}

static json_t *json_of_edge(const struct rr_graph *graph, uint32_t from, uint64_t number,
			    bool is_on_path)
{
	const struct rr_graph_edge *edge = &graph->edges[number];
	json_t *broken = json_array();
	char text[TEXT_SIZE];

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (edge->broken >> i & 1)
			json_array_append_new(broken, json_string(rr_invariant_name(i)));
	}
	transition_text(edge->transition, text);
	return json_pack("{s:i, s:i, s:s, s:o, s:b}", "from", (int)from, "to", (int)edge->to,
			 "move", text, "breaks", broken, "shortest", is_on_path);
}

static json_t *json_of_graph(const struct rr_graph *graph, const bool *is_on_path)
{
	json_t *states = json_array(), *edges = json_array();

	for (uint32_t i = 0; i < graph->states.n; i++)
		json_array_append_new(states, json_of_state(graph, i));
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		for (uint64_t j = graph->first[i]; j < graph->first[i + 1]; j++)
			json_array_append_new(edges, json_of_edge(graph, i, j, is_on_path[j]));
	}
	return json_pack("{s:i, s:o, s:o}", "schema", 1, "states", states, "transitions", edges);
}

static void write_json(FILE *file, const json_t *graph)
{
	json_dumpf(graph, file, JSON_INDENT(1));
	fputc('\n', file);
}

/* ---- Graphviz, made of the JSON --------------------------------------------- */

static const char *dot_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool dot_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static long long dot_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void write_quoted(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
}

static void write_node(FILE *file, const json_t *state)
{
	const json_t *item;
	size_t i;

	fprintf(file, "  s%lld [label=\"", dot_number(state, "id"));
	if (json_is_integer(json_object_get(state, "counter")))
		fprintf(file, "counter %lld", dot_number(state, "counter"));
	json_array_foreach(json_object_get(state, "lock_of"), i, item) {
		if (json_is_string(item))
			fprintf(file, ", lock %s's", json_string_value(item));
	}
	json_array_foreach(json_object_get(state, "clients"), i, item) {
		fprintf(file, "\\n%s%s: ", dot_text(item, "name"),
			dot_flag(item, "inside") ? " (inside)" : "");
		write_quoted(file, dot_text(item, "next"));
	}
	fprintf(file, "\"%s];\n",
		dot_flag(state, "fails") ? ", style=filled, fillcolor=salmon" : "");
}

static void write_dot(FILE *file, const json_t *graph)
{
	const json_t *item;
	size_t i;

	fputs("digraph states {\n  node [shape=box, fontname=monospace];\n", file);
	json_array_foreach(json_object_get(graph, "states"), i, item)
		write_node(file, item);
	json_array_foreach(json_object_get(graph, "transitions"), i, item)
		fprintf(file, "  s%lld -> s%lld [label=\"%s\"%s%s];\n", dot_number(item, "from"),
			dot_number(item, "to"), dot_text(item, "move"),
			json_array_size(json_object_get(item, "breaks")) ? ", color=red" : "",
			dot_flag(item, "shortest") ? ", penwidth=3" : "");
	fputs("}\n", file);
}

/* ---- Files ---------------------------------------------------------------- */

static bool write_graph(const json_t *graph, const char *path,
			void (*write)(FILE *file, const json_t *graph), struct rr_error *error)
{
	struct rr_draft draft;

	if (!path)
		return true;
	rr_draft_open(&draft);
	write(draft.out, graph);
	return rr_draft_replace(&draft, path, error);
}

bool rr_graph_export(const struct rr_graph *graph, unsigned worst, const char *dot,
		     const char *json, struct rr_error *error)
{
	struct rr_path path = { 0 };
	bool *is_on_path, good;
	json_t *whole;

	if (!dot && !json)
		return true;
	is_on_path = calloc(graph->n_edges + 1, sizeof(*is_on_path));
	if (!is_on_path)
		return rr_error_no_memory(error);
	if (worst && rr_graph_shortest(graph, worst, &path)) {
		for (size_t i = 0; i < path.n; i++)
			is_on_path[path.edges[i]] = true;
	}
	whole = json_of_graph(graph, is_on_path);
	good = write_graph(whole, dot, write_dot, error) &&
	       write_graph(whole, json, write_json, error);
	json_decref(whole);
	rr_path_release(&path);
	free(is_on_path);
	return good;
}
