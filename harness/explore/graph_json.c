/* SPDX-License-Identifier: MIT */
/* The graph of a search as JSON, which docs/formats.md describes, but for its transitions
 * (graph_transitions.c). */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph_json.h"

enum { SCHEMA = 2, SHOWN = 200 };

static void open_table(struct graph_table *table)
{
	*table = (struct graph_table){ json_array(), json_object() };
}

static void close_table(struct graph_table *table)
{
	json_decref(table->all);
	json_decref(table->numbers);
}

json_t *graph_put(struct graph_table *table, json_t *item)
{
	char *text = json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY);
	json_t *number = json_incref(json_object_get(table->numbers, text));

	if (!number) {
		number = json_integer((json_int_t)json_array_size(table->all));
		json_object_set(table->numbers, text, number);
		json_array_append(table->all, item);
	}
	json_decref(item);
	free(text);
	return number;
}

/* ---- Answers to requests of an app --------------------------------------- */

enum { NO_ANSWER = -1, VARIOUS_ANSWERS = -2 };

static bool look_back(const struct rr_graph *graph, struct graph_answers *answers)
{
	bool has_changed = false;

	for (uint32_t i = graph->states.n; i-- > 0;) {
		for (uint64_t e = graph->first[i]; e < rr_graph_last(graph, i); e++) {
			/* What is told later is told here. Has anything changed? */
			for (size_t j = 0; j < answers->n_requests; j++) {
				long *here = &answers->of[i * answers->n_requests + j];
				const long there =
					answers->of[graph->edges[e].to * answers->n_requests + j];

				if (*here == there || there == NO_ANSWER ||
				    *here == VARIOUS_ANSWERS)
					continue;
				*here = *here == NO_ANSWER ? there : VARIOUS_ANSWERS;
				has_changed = true;
			}
		}
	}
	return has_changed;
}

static struct graph_answers answers_of(const struct rr_search *search)
{
	const struct rr_graph *graph = &search->graph;
	struct graph_answers answers = { .n_requests = search->program.n_requests };
	const size_t n = graph->states.n * answers.n_requests;

	if (!n)
		return answers;
	answers.of = rr_calloc(n, sizeof(*answers.of));
	for (size_t i = 0; i < n; i++)
		answers.of[i] = NO_ANSWER;
	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (graph->flags[i] & RR_STATE_FINAL) {
			const struct rr_explored_programs *programs = &search->config->programs;
			const struct rr_serial_end end = rr_serial_end_of(
				&search->product, rr_graph_key(&search->graph, i), 0);

			/* At an end, of each request. */
			for (size_t j = 0; j < answers.n_requests; j++)
				answers.of[i * answers.n_requests + j] =
					end.endings[j] < 0 ?
						NO_ANSWER :
						programs->ops->own_ending(programs->context, j,
									  end.endings[j]);
		}
	}
	while (look_back(graph, &answers))
		;
	return answers;
}

long graph_answer(const struct graph_answers *answers, uint32_t state, size_t request)
{
	const long answer = answers->of[state * answers->n_requests + request];

	return answer < 0 ? -1 : answer;
}

/* ---- States ------------------------------------------------------------------- */

/* What a server holds, which is asked once, and whose command made the lock there. */
static json_t *server_of(struct graph_writer *writer, const uint32_t *key, size_t server)
{
	const unsigned maker = rr_product_common(&writer->search->product, key)->makers[server];
	char what[40], name[RR_OWNER_NAME], *text;
	uint8_t owner = 0;
	json_t *number;

	/* Lock servers share one table of states. */
	snprintf(what, sizeof(what), "server %d %u %u", server > 0, key[server], maker);
	number = json_incref(json_object_get(writer->known, what));
	if (number)
		return number;
	while (maker && !(maker >> owner & 1))
		owner++;
	text = rr_contents_text(&writer->contents[server > 0], key[server], RR_NO_ID);
	text = rr_naming_tidy(&writer->naming, text);
	number = graph_put(&writer->servers,
			   json_pack("{s:s, s:s?}", "data", text, "lock_of",
				     maker ? rr_owner_name(&writer->search->program, owner, name) :
					     NULL));
	json_object_set(writer->known, what, number);
	free(text);
	return number;
}

static json_t *client_of(struct graph_writer *writer, const uint32_t *key, size_t client)
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_part *part = rr_product_part(product, key, client);
	const struct rr_client_state *it = rr_product_client(product, key, client);
	const struct rr_run_view view = rr_client_state_view(it);
	const bool is_alive = !part->is_crashed;
	char what[40], *next, *plain, *text;
	json_t *number;

	snprintf(what, sizeof(what), "client %zu %u", client, key[product->n_servers + client]);
	number = json_incref(json_object_get(writer->known, what));
	if (number)
		return number;
	next = is_alive ? rr_run_view_text(&writer->search->terms, &view, 1) :
			  rr_strdup("has crashed");
	plain = rr_plain_cut(next, strlen(next), SHOWN, "");
	text = rr_naming_tidy(&writer->naming, plain);
	free(next);
	number = graph_put(&writer->clients,
			   json_pack("{s:s, s:i, s:b, s:b, s:b}", "next", text, "counted",
				     is_alive ? (int)it->tally.ok : part->ok, "inside",
				     is_alive && it->is_inside, "crashed", !is_alive, "ended",
				     is_alive && it->has_ended));
	json_object_set(writer->known, what, number);
	free(text);
	return number;
}

/* [state, transition, invariants that it breaks], and 1 on the shortest path to a failure. */
static json_t *edges_of(struct graph_writer *writer, uint32_t state, const bool *is_on_path)
{
	const struct rr_graph *graph = &writer->search->graph;
	const uint32_t *key = rr_graph_key(graph, state);
	const struct rr_edges *edges = rr_product_expand_logged(&writer->search->product, key);
	json_t *array = json_array();

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[graph->first[state] + i];
		json_t *json = json_pack("[i, o, i]", (int)edge->to,
					 graph_transition(writer, key, &edges->all[i], edge->to),
					 edge->broken);

		if (is_on_path[graph->first[state] + i])
			json_array_append_new(json, json_integer(1));
		json_array_append_new(array, json);
	}
	return array;
}

static json_t *state_of(struct graph_writer *writer, uint32_t state, const bool *is_on_path)
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_graph *graph = &writer->search->graph;
	const uint32_t *key = rr_graph_key(graph, state);
	json_t *servers = json_array(), *clients = json_array();
	unsigned flags;

	for (size_t i = 0; i < product->n_servers; i++)
		json_array_append_new(servers, server_of(writer, key, i));
	for (size_t i = 0; i < product->n_clients; i++)
		json_array_append_new(clients, client_of(writer, key, i));
	flags = rr_graph_is_expanded(graph, state) ? graph->flags[state] : 0;
	return json_pack("[o, o, i, o]", servers, clients,
			 (flags & RR_STATE_FINAL ? RR_GRAPH_FINAL : 0) |
				 (flags & (RR_STATE_WRONG | RR_STATE_ODD) ? RR_GRAPH_WRONG : 0) |
				 (flags & RR_STATE_STUCK ? RR_GRAPH_STUCK : 0),
			 rr_graph_is_expanded(graph, state) ? edges_of(writer, state, is_on_path) :
							      json_array());
}

/* ---- The whole ---------------------------------------------------------------- */

static bool has_failed(struct graph_writer *writer)
{
	for (int i = 0; i < 2; i++) {
		if (writer->search->tables[i].error.kind)
			return !rr_search_fail(writer->search, &writer->search->tables[i].error);
	}
	return rr_product_failed(&writer->search->product) &&
	       !rr_search_fail(writer->search, &writer->search->product.error);
}

json_t *rr_graph_json(struct rr_search *search, unsigned worst)
{
	struct graph_writer writer = {
		.search = search,
		.naming = rr_naming_of(&search->terms, &search->scripts,
				       search->config->script_names),
		.contents = { { .table = &search->tables[0] }, { .table = &search->tables[1] } },
		.known = json_object(),
		.answers = answers_of(search),
	};
	bool *is_on_path = rr_calloc(search->graph.n_edges + 1, sizeof(*is_on_path));
	struct rr_path path = { 0 };
	json_t *json = NULL;

	if (worst && rr_graph_shortest(&search->graph, worst, &path)) {
		for (size_t i = 0; i < path.n; i++)
			is_on_path[path.edges[i]] = true;
	}
	open_table(&writer.servers);
	open_table(&writer.clients);
	open_table(&writer.transitions);
	if (graph_begin_steps(&writer)) {
		const struct rr_race *race = writer.recorder.race;
		const struct rr_program *program = &writer.search->program;
		json_t *clients = json_array(), *servers = json_array(), *states = json_array();
		const struct rr_scripts *scripts = &writer.search->scripts;
		json_t *texts;
		char name[RR_SCRIPT_NAME];

		for (size_t i = 0; i < program->n_clients; i++)
			json_array_append_new(clients,
					      json_string(rr_program_client_name(program, i)));
		for (size_t i = 0; i < race->n_servers; i++)
			json_array_append_new(servers, json_string(race->servers[i].name));
		for (uint32_t i = 0; i < writer.search->graph.states.n; i++)
			json_array_append_new(states, state_of(&writer, i, is_on_path));
		texts = json_object();
		for (size_t i = 0; i < scripts->n; i++)
			json_object_set_new(texts,
					    rr_naming_script(&writer.naming,
							     scripts->all[i].source.text, name),
					    json_string(scripts->all[i].source.text));
		json = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:O, s:O, s:O, s:o}",
				 "schema", SCHEMA, "clients", clients, "lanes",
				 graph_lanes(&writer), "servers", servers, "invariants",
				 rr_invariants_json((1U << RR_INVARIANTS) - 1), "scripts", texts,
				 "timed", writer.search->product.config.reads_clock,
				 "server_states", writer.servers.all, "client_states",
				 writer.clients.all, "transitions", writer.transitions.all,
				 "states", states);
	} else {
		rr_error_set(&search->result->error, RR_ERROR_DATA, "there are too many clients");
	}
	if (has_failed(&writer)) {
		json_decref(json);
		json = NULL;
	}
	close_table(&writer.servers);
	close_table(&writer.clients);
	close_table(&writer.transitions);
	json_decref(writer.known);
	for (uint32_t i = 0; i < writer.sources.n; i++)
		json_decref(writer.transition_of[i]);
	free(writer.transition_of);
	rr_intern_release(&writer.sources);
	rr_race_free(writer.recorder.race);
	rr_contents_release(&writer.contents[0]);
	rr_contents_release(&writer.contents[1]);
	rr_path_release(&path);
	free(is_on_path);
	rr_naming_release(&writer.naming);
	free(writer.answers.of);
	return json;
}
