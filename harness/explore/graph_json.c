/* SPDX-License-Identifier: MIT */
/* The graph of a search as JSON, which docs/formats.md describes, and as Graphviz, made of
 * that. What happens is said as a race says it: by the recorder and the words of draw. */
#include <jansson.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "contents.h"
#include "draw/draw.h"
#include "naming.h"
#include "play/play.h"
#include "search.h"

enum { SCHEMA = 2, TEXT_SIZE = 200 };

/* JSON values that stand in a table once and are named by their numbers. */
struct table {
	json_t *all, *numbers;
};

struct writer {
	struct rr_search *search;
	struct rr_naming naming;
	struct rr_contents contents[2];
	struct rr_recorder recorder;
	struct rr_trace trace; /* of the recorder's race */
	json_t *steps;         /* of the transition that is looked at */
	struct table servers, clients, transitions;
	json_t *known;            /* numbers in tables by what they were made of */
	struct rr_intern sources; /* what transitions were made of, and */
	json_t **transition_of;   /* their numbers in the table, by those of `sources` */
};

static void open_table(struct table *table)
{
	*table = (struct table){ json_array(), json_object() };
}

static void close_table(struct table *table)
{
	json_decref(table->all);
	json_decref(table->numbers);
}

/* The number of `item`, which it takes. */
static json_t *put_in_table(struct table *table, json_t *item)
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

/* ---- Steps -------------------------------------------------------------------- */

static char *reply_to_step(const struct writer *writer, const struct rr_step *step,
			   const struct rr_action *action)
{
	if (step->is_lost || step->kind == RR_STEP_WRITE)
		return rr_strdup("(lost)");
	if (!step->expected)
		return NULL;
	if (action && action->kind == RR_ACTION_ASK)
		return rr_naming_reply(&writer->naming, action->reply);
	return rr_strdup(step->expected);
}

/* The recorder has another one. */
static void add_step(void *context, struct rr_step *step, const struct rr_action *action)
{
	struct writer *writer = context;
	const struct rr_race *race = writer->recorder.race;
	struct rr_event event = { .step = step, .at_ns = -1 };
	char *text, *reply = reply_to_step(writer, step, action);

	if (step->n_words && action)
		event.command = rr_naming_command(&writer->naming, action->command);
	text = rr_naming_tidy(&writer->naming, rr_step_words(&writer->trace, &event));
	json_array_append_new(
		writer->steps,
		json_pack("{s:s, s:s?, s:s?, s:s, s:s?}", "kind", rr_step_kind_word(step), "client",
			  step->client >= 0 ? race->clients[step->client].name : NULL, "server",
			  step->server >= 0 ? race->servers[step->server].name : NULL, "text", text,
			  "reply", reply));
	free(event.command);
	free(text);
	free(reply);
}

static bool begin_recorder(struct writer *writer)
{
	const struct rr_program *program = &writer->search->program;
	struct rr_recorder_setup setup = {
		.program = program,
		.scripts = &writer->search->scripts,
		.strategy = writer->search->config->strategy,
		.title = "graph",
		.data_server = program->n_servers > 1 ? "data" : "redis",
		.is_detailed = true,
		.added = add_step,
		.context = writer,
	};
	const bool good = rr_recorder_begin(&writer->recorder, &setup);

	writer->trace.race = writer->recorder.race;
	return good;
}

/* What happened before the transition has led to the state. */
static void begin_steps(struct writer *writer, const uint32_t *key)
{
	const struct rr_product *product = &writer->search->product;

	rr_recorder_forget(&writer->recorder);
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_client_state *client = rr_product_client(product, key, i);
		const bool is_over = rr_product_part(product, key, i)->is_crashed;

		for (uint32_t j = 0; !is_over && !client->is_inside && j < client->n_sent; j++)
			writer->recorder.leaves_after[i] += client->sent[j].is_inside;
	}
}

static json_t *steps_of(struct writer *writer, const struct rr_edge *edge)
{
	const struct rr_product *product = &writer->search->product;

	writer->steps = json_array();
	for (size_t i = edge->from; i < edge->to; i++)
		rr_recorder_add(&writer->recorder, &product->edges.actions.all[i]);
	return writer->steps;
}

/* ---- Transitions -------------------------------------------------------------- */

/* The word for redrace play, whose client does not repeat what it has not heard of; "" = it
 * has none for that. */
static void write_played(const struct writer *writer, struct rr_word word,
			 const struct rr_edge *edge, char text[RR_WORD_SIZE])
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_word_names names = rr_product_names(product);
	int64_t ns = 0;

	for (size_t i = edge->from; i < edge->to; i++) {
		const struct rr_action *action = &product->edges.actions.all[i];

		ns += action->kind == RR_ACTION_TIME ? action->ns : 0;
	}
	if (ns)
		word = (struct rr_word){ .kind = RR_DO_WAIT, .client = -1, .server = -1, .ns = ns };
	if (word.kind == RR_DO_LOSE)
		word.command[0] = '\0';
	if (word.client >= 0)
		word.server = -1;
	text[0] = '\0';
	if (rr_transition_rows[word.kind].is_played)
		rr_word_write(&word, &names, text);
}

/* Does it end an attempt in vain, so that its client will sleep and begin another? */
static bool is_refusal(const struct rr_product *product, const struct rr_edge *edge)
{
	const uint8_t who = edge->transition.who;

	if (!rr_transition_is_step(edge->transition) || rr_transition_is_fault(edge->transition) ||
	    rr_product_part(product, edge->key, who)->is_crashed)
		return false;
	for (size_t i = edge->from; i < edge->to; i++) {
		if (product->edges.actions.all[i].n_counted)
			return false;
	}
	return rr_product_client(product, edge->key, who)->is_attempt;
}

/* A client that begins an attempt is not known by its state to do what it does then: its
 * actions say it. */
static struct rr_word word_of(const struct writer *writer, const uint32_t *key,
			      const struct rr_edge *edge)
{
	const struct rr_product *product = &writer->search->product;
	const enum rr_transition_kind kind = edge->transition.kind;
	struct rr_word word = rr_product_word(product, key, edge->transition);

	for (size_t i = edge->from; i < edge->to; i++) {
		const struct rr_action *action = &product->edges.actions.all[i];
		const uint8_t stop = action->stop.kind;
		const char *text = NULL;

		if (action->kind == RR_ACTION_ANSWER ||
		    (action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND))
			text = writer->search->terms.command[action->command].words.words[0].text;
		else if (kind == RR_DO_GO && action->kind == RR_ACTION_FEED &&
			 stop != RR_STOP_ATTEMPT && stop != RR_STOP_RECEIVE)
			text = rr_word_of_stop(stop);
		if (text && rr_transition_rows[kind].has_command) {
			snprintf(word.command, sizeof(word.command), "%s", text);
			break;
		}
	}
	return word;
}

static json_t *make_transition(struct writer *writer, struct rr_word word,
			       const struct rr_edge *edge)
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_word_names names = rr_product_names(product);
	const bool is_fault = rr_transition_is_fault(edge->transition);
	const bool is_own = is_fault || rr_transition_is_step(edge->transition);
	const char client[2] = { (char)('A' + word.client), '\0' };
	char text[RR_WORD_SIZE], played[RR_WORD_SIZE], server[RR_WORD_SERVER];

	rr_word_write(&word, &names, text);
	write_played(writer, word, edge, played);
	return put_in_table(
		&writer->transitions,
		json_pack("{s:s, s:s, s:s?, s:s?, s:b, s:b, s:o}", "word", text, "play", played,
			  "client", is_own && word.client >= 0 ? client : NULL, "server",
			  word.server < 0 ? NULL :
					    rr_word_server(&names, (size_t)word.server, server),
			  "fault", is_fault, "refused", is_refusal(product, edge), "steps",
			  steps_of(writer, edge)));
}

/* The number of what it was made of; most transitions are like one from another state. */
static uint32_t source_of(struct writer *writer, struct rr_word word, const struct rr_edge *edge,
			  bool *is_new)
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_recorder *recorder = &writer->recorder;
	const bool refuses = is_refusal(product, edge);
	char *bytes;
	size_t size;
	FILE *file = rr_open_memory(&bytes, &size);
	uint32_t number;

	fwrite(&edge->transition, sizeof(edge->transition), 1, file);
	fwrite(&refuses, sizeof(refuses), 1, file);
	fwrite(&word, sizeof(word), 1, file);
	fwrite(recorder->leaves_after, sizeof(recorder->leaves_after), 1, file);
	fwrite(recorder->is_used, sizeof(recorder->is_used), 1, file);
	fwrite(&product->edges.actions.all[edge->from], sizeof(struct rr_action),
	       edge->to - edge->from, file);
	fclose(file);
	number = rr_intern_put(&writer->sources, bytes, size, is_new);
	free(bytes);
	return number;
}

static json_t *transition_of(struct writer *writer, const uint32_t *key, const struct rr_edge *edge)
{
	const struct rr_word word = word_of(writer, key, edge);
	bool is_new;
	uint32_t source;

	begin_steps(writer, key);
	source = source_of(writer, word, edge, &is_new);
	if (is_new) {
		rr_array_grow(&writer->transition_of, source, sizeof(*writer->transition_of));
		writer->transition_of[source] = make_transition(writer, word, edge);
	}
	return json_incref(writer->transition_of[source]);
}

/* ---- States ------------------------------------------------------------------- */

/* What a server holds, which is asked once, and whose command made the lock there. */
static json_t *server_of(struct writer *writer, const uint32_t *key, size_t server)
{
	const int8_t maker = rr_product_common(&writer->search->product, key)->makers[server];
	const char name[2] = { (char)('A' + maker), '\0' };
	char what[40], *text;
	json_t *number;

	/* Lock servers share one table of states. */
	snprintf(what, sizeof(what), "server %d %u %d", server > 0, key[server], maker);
	number = json_incref(json_object_get(writer->known, what));
	if (number)
		return number;
	text = rr_contents_text(&writer->contents[server > 0], key[server], RR_NO_ID);
	text = rr_naming_tidy(&writer->naming, text);
	number = put_in_table(&writer->servers, json_pack("{s:s, s:s?}", "data", text, "lock_of",
							  maker >= 0 ? name : NULL));
	json_object_set(writer->known, what, number);
	free(text);
	return number;
}

static json_t *client_of(struct writer *writer, const uint32_t *key, size_t client)
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_part *part = rr_product_part(product, key, client);
	const struct rr_client_state *it = rr_product_client(product, key, client);
	const struct rr_run_view view = rr_client_state_view(it);
	const bool is_alive = !part->is_crashed;
	char what[40], next[TEXT_SIZE] = "has crashed", *text;
	json_t *number;

	snprintf(what, sizeof(what), "client %zu %u", client, key[product->n_servers + client]);
	number = json_incref(json_object_get(writer->known, what));
	if (number)
		return number;
	if (is_alive)
		rr_run_view_text(&writer->search->terms, &view, 1, next, sizeof(next));
	text = rr_naming_tidy(&writer->naming, rr_plain(next));
	number = put_in_table(&writer->clients,
			      json_pack("{s:s, s:i, s:b, s:b, s:b}", "next", text, "counted",
					is_alive ? (int)it->tally.ok : part->ok, "inside",
					is_alive && it->is_inside, "crashed", !is_alive, "ended",
					is_alive && it->has_ended));
	json_object_set(writer->known, what, number);
	free(text);
	return number;
}

static int flags_of(const struct rr_graph *graph, uint32_t state)
{
	const unsigned flags = rr_graph_is_expanded(graph, state) ? graph->flags[state] : 0;

	return (flags & RR_STATE_FINAL ? RR_GRAPH_FINAL : 0) |
	       (flags & RR_STATE_WRONG ? RR_GRAPH_WRONG : 0) |
	       (flags & RR_STATE_STUCK ? RR_GRAPH_STUCK : 0);
}

/* [state, transition, invariants that it breaks], and 1 on the shortest path to a failure. */
static json_t *edges_of(struct writer *writer, uint32_t state, const bool *is_on_path)
{
	const struct rr_graph *graph = &writer->search->graph;
	const uint32_t *key = rr_graph_key(graph, state);
	const struct rr_edges *edges = rr_product_expand_logged(&writer->search->product, key);
	json_t *array = json_array();

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[graph->first[state] + i];
		json_t *json = json_pack("[i, o, i]", (int)edge->to,
					 transition_of(writer, key, &edges->all[i]), edge->broken);

		if (is_on_path[graph->first[state] + i])
			json_array_append_new(json, json_integer(1));
		json_array_append_new(array, json);
	}
	return array;
}

static json_t *state_of(struct writer *writer, uint32_t state, const bool *is_on_path)
{
	const struct rr_product *product = &writer->search->product;
	const struct rr_graph *graph = &writer->search->graph;
	const uint32_t *key = rr_graph_key(graph, state);
	json_t *servers = json_array(), *clients = json_array();

	for (size_t i = 0; i < product->n_servers; i++)
		json_array_append_new(servers, server_of(writer, key, i));
	for (size_t i = 0; i < product->n_clients; i++)
		json_array_append_new(clients, client_of(writer, key, i));
	return json_pack("[o, o, i, o]", servers, clients, flags_of(graph, state),
			 rr_graph_is_expanded(graph, state) ? edges_of(writer, state, is_on_path) :
							      json_array());
}

/* ---- The whole ---------------------------------------------------------------- */

static json_t *scripts_of(const struct writer *writer)
{
	const struct rr_scripts *scripts = &writer->search->scripts;
	json_t *texts = json_object();
	char name[RR_SCRIPT_NAME];

	for (size_t i = 0; i < scripts->n; i++)
		json_object_set_new(
			texts, rr_naming_script(&writer->naming, scripts->all[i].source.text, name),
			json_string(scripts->all[i].source.text));
	return texts;
}

static json_t *json_of_graph(struct writer *writer, const bool *is_on_path)
{
	const struct rr_race *race = writer->recorder.race;
	json_t *clients = json_array(), *servers = json_array(), *states = json_array();

	for (size_t i = 0; i < race->n_clients; i++)
		json_array_append_new(clients, json_string(race->clients[i].name));
	for (size_t i = 0; i < race->n_servers; i++)
		json_array_append_new(servers, json_string(race->servers[i].name));
	for (uint32_t i = 0; i < writer->search->graph.states.n; i++)
		json_array_append_new(states, state_of(writer, i, is_on_path));
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:O, s:O, s:O, s:o}", "schema", SCHEMA,
			 "clients", clients, "servers", servers, "invariants",
			 rr_invariants_json((1U << RR_INVARIANTS) - 1), "scripts",
			 scripts_of(writer), "timed", writer->search->product.config.reads_clock,
			 "server_states", writer->servers.all, "client_states", writer->clients.all,
			 "transitions", writer->transitions.all, "states", states);
}

static bool has_failed(struct writer *writer)
{
	for (int i = 0; i < 2; i++) {
		if (writer->search->tables[i].error.kind)
			return !rr_search_fail(writer->search, &writer->search->tables[i].error);
	}
	return writer->search->product.error.kind &&
	       !rr_search_fail(writer->search, &writer->search->product.error);
}

json_t *rr_graph_json(struct rr_search *search, unsigned worst)
{
	struct writer writer = {
		.search = search,
		.naming = rr_naming_of(&search->terms, &search->scripts,
				       search->config->script_names),
		.contents = { { .table = &search->tables[0] }, { .table = &search->tables[1] } },
		.known = json_object(),
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
	if (begin_recorder(&writer))
		json = json_of_graph(&writer, is_on_path);
	else
		rr_error_set(&search->result->error, RR_ERROR_DATA, "there are too many clients");
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
	return json;
}
