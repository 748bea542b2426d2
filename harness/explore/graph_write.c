/* SPDX-License-Identifier: MIT */
/* The graph of a search in a file: JSON, or Graphviz, which is made of it; and kept for the
 * result. */
#include <jansson.h>

#include "base/files.h"
#include "search.h"

/* ---- Graphviz ----------------------------------------------------------------- */

/* The number'th of a list that `list` names by their numbers. */
static const json_t *named(const json_t *graph, const char *list, const json_t *number)
{
	return json_array_get(json_object_get(graph, list), (size_t)json_integer_value(number));
}

/* Lines end flush left. */
static void write_quoted(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		if (*text == '\n')
			fputs("\\l", file);
		else
			fputc(*text, file);
	}
}

static void write_dot(FILE *file, const json_t *graph)
{
	const json_t *state;
	size_t i;

	fputs("digraph states {\n  node [shape=box, fontname=monospace];\n", file);
	json_array_foreach(json_object_get(graph, "states"), i, state) {
		const long long flags = json_integer_value(json_array_get(state, 2));
		const json_t *servers = json_object_get(graph, "servers");
		const json_t *clients = json_object_get(graph, "clients");
		const json_t *item, *edge;
		size_t j;

		fprintf(file, "  s%zu [label=\"", i);
		json_array_foreach(json_array_get(state, 0), j, item) {
			const json_t *server = named(graph, "server_states", item);
			const char *maker = json_string_value(json_object_get(server, "lock_of"));

			if (json_array_size(servers) > 1)
				fprintf(file,
					"%s: ", json_string_value(json_array_get(servers, j)));
			write_quoted(file, json_string_value(json_object_get(server, "data")));
			if (maker)
				fprintf(file, "the lock is %s's\\l", maker);
		}
		json_array_foreach(json_array_get(state, 1), j, item) {
			const json_t *client = named(graph, "client_states", item);

			fprintf(file, "%s%s: ", json_string_value(json_array_get(clients, j)),
				json_is_true(json_object_get(client, "inside")) ? " (inside)" : "");
			write_quoted(file, json_string_value(json_object_get(client, "next")));
			fputs("\\l", file);
		}
		fprintf(file, "\"%s];\n",
			flags & (RR_GRAPH_WRONG | RR_GRAPH_STUCK) ?
				", style=filled, fillcolor=salmon" :
				"");
		json_array_foreach(json_array_get(state, 3), j, edge) {
			const json_t *transition = named(graph, "transitions",
							 json_array_get(edge, 1));

			fprintf(file, "  s%zu -> s%lld [label=\"", i,
				json_integer_value(json_array_get(edge, 0)));
			write_quoted(file, json_string_value(json_object_get(transition, "word")));
			fprintf(file, "\"%s%s];\n",
				json_integer_value(json_array_get(edge, 2)) ? ", color=red" : "",
				json_array_size(edge) > 3 ? ", penwidth=3" : "");
		}
	}
	fputs("}\n", file);
}

/* ---- Files -------------------------------------------------------------------- */

static void write_json(FILE *file, const json_t *graph)
{
	json_dumpf(graph, file, JSON_COMPACT);
	fputc('\n', file);
}

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

bool rr_graph_write(struct rr_search *search, unsigned worst)
{
	const struct rr_explore_config *config = search->config;
	struct rr_error *error = &search->result->error;
	const bool is_kept = search->end == RR_GRAPH_WHOLE &&
			     search->graph.states.n <= config->graph_of;
	json_t *graph;
	bool good;

	if (!config->dot && !config->json && !is_kept)
		return true;
	graph = rr_graph_json(search, worst);
	good = graph && write_graph(graph, config->dot, write_dot, error) &&
	       write_graph(graph, config->json, write_json, error);
	if (good && is_kept)
		search->result->graph = json_incref(graph);
	json_decref(graph);
	return good;
}
