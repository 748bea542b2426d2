/* SPDX-License-Identifier: MIT */
/* The graph of states as Graphviz and as JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "graph.h"

enum { TEXT_SIZE = 200 };

/* A graph, and what of it lies on one shortest way to a failure. */
struct export {
	const struct rr_graph *graph;
	bool *is_on_way; /* edges */
};

static bool fails(const struct rr_graph *graph, uint32_t state)
{
	return rr_graph_is_expanded(graph, state) &&
	       graph->flags[state] & (RR_STATE_WRONG | RR_STATE_STUCK);
}

/* ---- In words ------------------------------------------------------------- */

static void client_text(const struct rr_graph *graph, uint32_t state,
			size_t client, char text[TEXT_SIZE])
{
	const uint32_t *key = rr_graph_key(graph, state);
	const struct rr_client_state *it =
		rr_product_client(graph->product, key, client);

	if (rr_product_part(graph->product, key, client)->is_crashed)
		snprintf(text, TEXT_SIZE, "has crashed");
	else
		rr_client_state_text(graph->product->config.program, it, text,
				     TEXT_SIZE);
}

static bool is_inside(const struct rr_graph *graph, uint32_t state,
		      size_t client)
{
	const uint32_t *key = rr_graph_key(graph, state);

	return !rr_product_part(graph->product, key, client)->is_crashed &&
	       rr_product_client(graph->product, key, client)->is_inside;
}

/* Whose command made the lock on a server; 0 = there is none, or nobody's. */
static char holder_of(const struct rr_graph *graph, uint32_t state,
		      size_t server)
{
	const struct rr_common *common =
		rr_product_common(graph->product, rr_graph_key(graph, state));

	return common->makers[server] < 0 ? 0 :
					    (char)('A' + common->makers[server]);
}

static void move_text(struct rr_transition move, char text[TEXT_SIZE])
{
	static const char *const verbs[] = {
		[RR_DO_EXECUTE] = "executes", [RR_DO_GO] = "goes on",
		[RR_DO_BEGIN] = "begins",     [RR_DO_LATE] = "late command",
		[RR_DO_NOTICE] = "is noticed", [RR_DO_RETURN] = "returns",
		[RR_DO_WAIT] = "time passes", [RR_DO_NEAR] = "time passes",
		[RR_DO_LOSE] = "reply lost",  [RR_DO_DROP] = "command lost",
		[RR_DO_CRASH] = "crashes",    [RR_DO_RESTART] = "restarts",
		[RR_DO_JUMP] = "clock jumps", [RR_DO_HALF] = "half a lease",
		[RR_DO_WHOLE] = "a lease ends",
		[RR_DO_PAUSE_HALF] = "a pause", [RR_DO_PAUSE] = "a pause",
	};
	const bool is_of_client = move.kind <= RR_DO_BEGIN ||
				  move.kind == RR_DO_NOTICE ||
				  (move.kind >= RR_DO_LOSE &&
				   move.kind <= RR_DO_CRASH);
	const bool is_of_server = move.kind == RR_DO_RETURN ||
				  move.kind == RR_DO_RESTART ||
				  move.kind == RR_DO_JUMP;

	if (is_of_client)
		snprintf(text, TEXT_SIZE, "%c %s", 'A' + move.who,
			 verbs[move.kind]);
	else if (is_of_server)
		snprintf(text, TEXT_SIZE, "server %d %s", move.who,
			 verbs[move.kind]);
	else
		snprintf(text, TEXT_SIZE, "%s", verbs[move.kind]);
}

/* The counter's value; false: it is no number. */
static bool counter_of(const struct rr_graph *graph, uint32_t state,
		       long long *value)
{
	struct rr_count count;
	const bool good = rr_product_count(graph->product,
					   rr_graph_key(graph, state), &count);

	*value = count.value;
	return good && count.is_number;
}

/* ---- Graphviz ------------------------------------------------------------- */

static void write_quoted(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
}

static void write_node(FILE *file, const struct rr_graph *graph,
		       uint32_t state)
{
	char text[TEXT_SIZE];
	long long counter;

	fprintf(file, "  s%u [label=\"", state);
	if (counter_of(graph, state, &counter))
		fprintf(file, "counter %lld", counter);
	for (size_t i = 0; i < graph->product->n_servers; i++) {
		if (holder_of(graph, state, i))
			fprintf(file, ", lock %c's",
				holder_of(graph, state, i));
	}
	for (size_t i = 0; i < graph->product->n_clients; i++) {
		client_text(graph, state, i, text);
		fprintf(file, "\\n%c%s: ", 'A' + (int)i,
			is_inside(graph, state, i) ? " (inside)" : "");
		write_quoted(file, text);
	}
	fprintf(file, "\"%s];\n",
		fails(graph, state) ? ", style=filled, fillcolor=salmon" : "");
}

static void write_edge(FILE *file, const struct export *export, uint32_t from,
		       uint64_t number)
{
	const struct rr_edge *edge = &export->graph->edges[number];
	char text[TEXT_SIZE];

	move_text(edge->move, text);
	fprintf(file, "  s%u -> s%u [label=\"%s\"%s%s];\n", from, edge->to,
		text, edge->broken ? ", color=red" : "",
		export->is_on_way[number] ? ", penwidth=3" : "");
}

static void write_dot(FILE *file, const struct export *export)
{
	const struct rr_graph *graph = export->graph;

	fputs("digraph states {\n  node [shape=box, fontname=monospace];\n",
	      file);
	for (uint32_t i = 0; i < graph->states.n; i++)
		write_node(file, graph, i);
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		for (uint64_t j = graph->first[i]; j < graph->first[i + 1]; j++)
			write_edge(file, export, i, j);
	}
	fputs("}\n", file);
}

/* ---- JSON ----------------------------------------------------------------- */

static json_t *json_client(const struct rr_graph *graph, uint32_t state,
			   size_t client)
{
	char text[TEXT_SIZE];

	client_text(graph, state, client, text);
	return json_pack("{s:s%, s:s, s:b}", "name",
			 &(char){ (char)('A' + client) }, (size_t)1, "next",
			 text, "inside", is_inside(graph, state, client));
}

static json_t *json_state(const struct rr_graph *graph, uint32_t state)
{
	json_t *clients = json_array(), *holders = json_array();
	long long counter;
	const bool counts = counter_of(graph, state, &counter);

	for (size_t i = 0; i < graph->product->n_clients; i++)
		json_array_append_new(clients, json_client(graph, state, i));
	for (size_t i = 0; i < graph->product->n_servers; i++) {
		const char holder[2] = { holder_of(graph, state, i), '\0' };

		json_array_append_new(holders, holder[0] ? json_string(holder) :
							   json_null());
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:b}", "id", (int)state,
			 "counter",
			 counts ? json_integer(counter) : json_null(),
			 "clients", clients, "lock_of", holders, "fails",
			 fails(graph, state));
}

static json_t *json_edge(const struct export *export, uint32_t from,
			 uint64_t number)
{
	const struct rr_edge *edge = &export->graph->edges[number];
	json_t *broken = json_array();
	char text[TEXT_SIZE];

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (edge->broken >> i & 1)
			json_array_append_new(
				broken, json_string(rr_invariant_name(i)));
	}
	move_text(edge->move, text);
	return json_pack("{s:i, s:i, s:s, s:o, s:b}", "from", (int)from, "to",
			 (int)edge->to, "move", text, "breaks", broken,
			 "shortest", export->is_on_way[number]);
}

static void write_json(FILE *file, const struct export *export)
{
	const struct rr_graph *graph = export->graph;
	json_t *states = json_array(), *edges = json_array();
	json_t *whole = json_pack("{s:i, s:o, s:o}", "schema", 1, "states",
				  states, "transitions", edges);

	for (uint32_t i = 0; i < graph->states.n; i++)
		json_array_append_new(states, json_state(graph, i));
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		for (uint64_t j = graph->first[i]; j < graph->first[i + 1]; j++)
			json_array_append_new(edges, json_edge(export, i, j));
	}
	json_dumpf(whole, file, JSON_INDENT(1));
	fputc('\n', file);
	json_decref(whole);
}

/* ---- Files ---------------------------------------------------------------- */

static bool write_graph(const struct export *export, const char *path,
			void (*write)(FILE *file, const struct export *export),
			struct rr_error *error)
{
	char *text = NULL;
	size_t size;
	FILE *file;
	bool good;

	if (!path)
		return true;
	file = open_memstream(&text, &size);
	if (!file)
		return rr_error_no_memory(error);
	write(file, export);
	fclose(file);
	good = rr_files_replace(path, text, size, error);
	free(text);
	return good;
}

bool rr_graph_export(const struct rr_graph *graph, unsigned worst,
		     const char *dot, const char *json, struct rr_error *error)
{
	struct export export = { .graph = graph };
	struct rr_way way = { 0 };
	bool good;

	if (!dot && !json)
		return true;
	export.is_on_way = calloc(graph->n_edges + 1, sizeof(bool));
	if (!export.is_on_way)
		return rr_error_no_memory(error);
	if (worst && rr_graph_shortest(graph, worst, &way)) {
		for (size_t i = 0; i < way.n; i++)
			export.is_on_way[way.edges[i]] = true;
	}
	good = write_graph(&export, dot, write_dot, error) &&
	       write_graph(&export, json, write_json, error);
	rr_way_release(&way);
	free(export.is_on_way);
	return good;
}
