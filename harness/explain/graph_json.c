/* SPDX-License-Identifier: MIT */
/* The graph of a search as JSON, which docs/formats.md describes, and as Graphviz, which is made of
 * that. What happens is said as a race says it: by the recorder and
 * the words of draw. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cases.h"
#include "base/marks.h"
#include "base/memory.h"
#include "base/text.h"
#include "explain.h"
#include "play/play.h"

enum { SCHEMA = 2, SHOWN = 200 };

/* JSON values that stand in a table once and are named by their numbers. */
struct graph_table {
	json_t *all, *numbers;
};

/* What each request of an app is told, by states of the graph: the answer that it has at all
 * ends which can be reached from there. Of a state in which it is answered there is but one,
 * since histories with other answers are other states. */
struct graph_answers {
	size_t n_requests; /* 0 = the clients are no requests */
	long *of;          /* of each state */
};

struct graph_writer {
	const struct rr_graph_shown *shown;
	const struct rr_graph *graph;
	struct rr_product *product;
	const struct rr_program *program;
	struct rr_naming naming;
	struct rr_contents contents[2];
	struct rr_recorder recorder;
	struct rr_trace trace;        /* of the recorder's race */
	struct graph_answers answers; /* answers to requests of an app */
	json_t *steps;                /* of the transition that is looked at, and */
	uint32_t to;                  /* the state that it leads to */
	struct graph_table servers, clients, transitions;
	json_t *known;            /* numbers in tables by what they were made of */
	struct rr_intern sources; /* what transitions were made of, and */
	json_t **transition_of;   /* their numbers in the table, by those of `sources` */
};

static void open_table(struct graph_table *table)
{
	*table = (struct graph_table){ json_array(), json_object() };
}

static void close_table(struct graph_table *table)
{
	json_decref(table->all);
	json_decref(table->numbers);
}

/* The number of `item`, which it takes. */
static json_t *put(struct graph_table *table, json_t *item)
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

static struct graph_answers answers_of(const struct rr_graph_shown *shown)
{
	const struct rr_graph *graph = shown->graph;
	const struct rr_program *program = shown->product->config.program;
	struct graph_answers answers = { .n_requests = program->requests.n };
	const size_t n = graph->states.n * answers.n_requests;
	bool has_changed = true;

	if (!n)
		return answers;
	answers.of = rr_calloc(n, sizeof(*answers.of));
	for (size_t i = 0; i < n; i++)
		answers.of[i] = NO_ANSWER;
	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (graph->flags[i] & RR_STATE_FINAL) {
			const struct rr_explored_programs *programs = shown->programs;
			const struct rr_serial_end end =
				rr_serial_end_of(shown->product, rr_graph_key(graph, i), 0);

			/* At an end, of each request. */
			for (size_t j = 0; j < answers.n_requests; j++)
				answers.of[i * answers.n_requests + j] =
					end.endings[j] < 0 ?
						NO_ANSWER :
						programs->ops->own_ending(programs->context, j,
									  end.endings[j]);
		}
	}
	/* What is told later is told before, until nothing changes any more. */
	while (has_changed) {
		has_changed = false;
		for (uint32_t i = graph->states.n; i-- > 0;) {
			for (uint64_t e = graph->first[i]; e < rr_graph_last(graph, i); e++) {
				const size_t to = graph->edges[e].to;

				for (size_t j = 0; j < answers.n_requests; j++) {
					long *here = &answers.of[i * answers.n_requests + j];
					const long there = answers.of[to * answers.n_requests + j];

					if (*here == there || there == NO_ANSWER ||
					    *here == VARIOUS_ANSWERS)
						continue;
					*here = *here == NO_ANSWER ? there : VARIOUS_ANSWERS;
					has_changed = true;
				}
			}
		}
	}
	return answers;
}

/* ---- Requests of an app --------------------------------------------------------- */

static const char *mark_of(const struct graph_writer *writer, const struct rr_action *action)
{
	const struct rdl_command *command = &writer->program->terms->command[action->command].words;
	const bool is_mark = rr_program_has_marks(writer->program,
						  action->question.slot / RR_RUN_ORDINALS,
						  action->question.slot % RR_RUN_ORDINALS) &&
			     command->n_words > 1;

	return is_mark ? command->words[1].text : "";
}

/* What a request asks, or is told; malloc'd, NULL = the step is none of a request. */
static char *words_of_mark(const struct graph_writer *writer, const struct rr_action *action)
{
	struct rr_programs *processes = writer->shown->programs->processes;
	const char *mark = mark_of(writer, action);
	const size_t request = rr_program_request_at(writer->program,
						     action->question.slot / RR_RUN_ORDINALS,
						     action->question.slot % RR_RUN_ORDINALS);
	char *words, *answer;
	long number;

	if (strncmp(mark, RR_MARK_REQUEST, strlen(RR_MARK_REQUEST)) == 0)
		return rr_programs_describe_request(processes, request, -1);
	if (strncmp(mark, RR_MARK_ANSWER, strlen(RR_MARK_ANSWER)) != 0)
		return NULL;
	number = writer->answers.of[writer->to * writer->answers.n_requests + request];
	answer = number < 0 ? rr_strdup("its answer") :
			      rr_programs_describe_request(processes, request, number);
	words = rr_asprintf("=> %s", answer);
	free(answer);
	return words;
}

/* ---- Steps -------------------------------------------------------------------- */

/* The recorder has another one. */
static void add_step(void *context, struct rr_step *step, const struct rr_action *action)
{
	struct graph_writer *writer = context;
	const struct rr_race *race = writer->recorder.race;
	const char *client = step->client >= 0 ? race->clients[step->client].name : NULL;
	const char *server = step->server >= 0 ? race->servers[step->server].name : NULL;
	const bool is_command = action && step->kind == RR_STEP_RUN;
	char *mark = is_command ? words_of_mark(writer, action) : NULL;
	json_t *json;

	if (mark) {
		json = json_pack("{s:s, s:s?, s:n, s:o, s:n}", "kind", "request", "client", client,
				 "server", "text", rr_case_text(mark), "reply");
	} else if (is_command && strcmp(mark_of(writer, action), RR_MARK_END) == 0) {
		/* Nobody's step: with it the app ends. */
		json = json_pack("{s:s, s:n, s:n, s:s, s:n}", "kind", "note", "client", "server",
				 "text", "the app has nothing more to do", "reply");
	} else {
		struct rr_event event = { .step = step, .at_ns = -1 };
		char *text, *reply = NULL;

		if (step->is_lost || step->kind == RR_STEP_WRITE)
			reply = rr_strdup("(lost)");
		else if (step->expected && action && action->kind == RR_ACTION_ASK)
			reply = rr_naming_reply(&writer->naming, action->reply);
		else if (step->expected)
			reply = rr_strdup(step->expected);
		/* What is said of one, of which the names of client and server are known. */
		if (step->n_words && action)
			event.command = rr_naming_command(&writer->naming, action->command);
		text = rr_naming_tidy(&writer->naming, rr_step_words(&writer->trace, &event));
		json = json_pack("{s:s, s:s?, s:s?, s:s, s:s?}", "kind", rr_step_kind_word(step),
				 "client", client, "server", server, "text", text, "reply", reply);
		free(event.command);
		free(text);
		free(reply);
	}
	json_array_append_new(writer->steps, json);
	free(mark);
}

/* ---- Who does them -------------------------------------------------------------- */

/* Connections that clients send on, a bit each: of programs of others. */
static void find_connections(const struct graph_writer *writer, struct rr_recorder_setup *setup)
{
	const struct rr_graph *graph = writer->graph;
	const struct rr_product *product = writer->product;
	const struct rr_program *program = setup->program;

	for (uint32_t i = 0; i < graph->states.n; i++) {
		const uint32_t *key = rr_graph_key(graph, i);

		for (size_t c = 0; c < product->n_clients; c++) {
			const struct rr_client_state *client = rr_product_client(product, key, c);

			if (rr_product_part(product, key, c)->is_crashed)
				continue;
			for (uint32_t s = 0; s < client->n_sent; s++) {
				const uint8_t lane = client->sent[s].lane;

				/* With the mark there an app ends, which is nobody's step. */
				if (!(rr_program_has_marks(program, c, lane) &&
				      rr_program_request_at(program, c, lane) ==
					      program->requests.n))
					setup->connections[c] |= 1U
								 << rr_lane_ordinal(program, lane);
			}
		}
	}
}

/* False: there are too many clients. */
static bool begin_steps(struct graph_writer *writer)
{
	const struct rr_program *program = writer->program;
	struct rr_recorder_setup setup = {
		.program = program,
		.scripts = writer->shown->scripts,
		.strategy = writer->product->config.strategy,
		.title = "graph",
		.data_server = program->n_servers > 1 ? "data" : "redis",
		.is_detailed = true,
		.added = add_step,
		.context = writer,
	};
	bool good;

	if (!setup.strategy)
		find_connections(writer, &setup);
	good = rr_recorder_begin(&writer->recorder, &setup);
	if (!good) { /* one name for all connections of a client */
		rr_race_free(writer->recorder.race);
		memset(setup.connections, 0, sizeof(setup.connections));
		good = rr_recorder_begin(&writer->recorder, &setup);
	}
	writer->trace.race = writer->recorder.race;
	return good;
}

/* ---- Transitions -------------------------------------------------------------- */

/* The word for redrace play, whose client does not repeat what it has not heard of; "" = it
 * has none for that. */
static void write_played(const struct graph_writer *writer, struct rr_word word,
			 const struct rr_edge *edge, char text[RR_WORD_SIZE])
{
	const struct rr_product *product = writer->product;
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

	if (!rr_transition_is_own_step(edge->transition) ||
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
static struct rr_word word_of(const struct graph_writer *writer, const uint32_t *key,
			      const struct rr_edge *edge)
{
	const struct rr_product *product = writer->product;
	const enum rr_transition_kind kind = edge->transition.kind;
	struct rr_word word = rr_product_word(product, key, edge->transition);

	for (size_t i = edge->from; i < edge->to; i++) {
		const struct rr_action *action = &product->edges.actions.all[i];
		const uint8_t stop = action->stop.kind;
		const char *text = NULL;

		if (action->kind == RR_ACTION_ANSWER || rr_action_is_command(action))
			text = writer->program->terms->command[action->command].words.words[0].text;
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

/* The number of what it was made of; most transitions are like one from another state. */
static uint32_t source_of(struct graph_writer *writer, struct rr_word word,
			  const struct rr_edge *edge, bool *is_new)
{
	const struct rr_product *product = writer->product;
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
	if (writer->answers.n_requests)
		fwrite(&writer->answers.of[writer->to * writer->answers.n_requests],
		       sizeof(*writer->answers.of), writer->answers.n_requests, file);
	fwrite(recorder->is_used, sizeof(recorder->is_used), 1, file);
	fwrite(&product->edges.actions.all[edge->from], sizeof(struct rr_action),
	       edge->to - edge->from, file);
	fclose(file);
	number = rr_intern_put(&writer->sources, bytes, size, is_new);
	free(bytes);
	return number;
}

/* The number of an edge's transition, with the state that it leads from and to. */
static json_t *transition_of(struct graph_writer *writer, const uint32_t *key,
			     const struct rr_edge *edge, uint32_t to)
{
	const struct rr_product *product = writer->product;
	const struct rr_word word = word_of(writer, key, edge);
	uint32_t source;
	bool is_new;

	/* What happened before the transition has led to the state. */
	rr_recorder_forget(&writer->recorder);
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_client_state *client = rr_product_client(product, key, i);
		const bool is_over = rr_product_part(product, key, i)->is_crashed;

		for (uint32_t j = 0; !is_over && !client->is_inside && j < client->n_sent; j++)
			writer->recorder.leaves_after[i] += client->sent[j].is_inside;
	}
	writer->to = to;
	source = source_of(writer, word, edge, &is_new);
	if (is_new) {
		const struct rr_word_names names = rr_product_names(product);
		const bool is_fault = rr_transition_is_fault(edge->transition);
		const bool is_own = is_fault || rr_transition_is_step(edge->transition);
		char text[RR_WORD_SIZE], played[RR_WORD_SIZE], server[RR_WORD_SERVER];

		rr_array_grow(&writer->transition_of, source, sizeof(*writer->transition_of));
		rr_word_write(&word, &names, text);
		write_played(writer, word, edge, played);
		writer->steps = json_array();
		for (size_t i = edge->from; i < edge->to; i++)
			rr_recorder_add(&writer->recorder, &product->edges.actions.all[i]);
		writer->transition_of[source] =
			put(&writer->transitions,
			    json_pack("{s:s, s:s, s:s?, s:s?, s:b, s:b, s:o}", "word", text, "play",
				      played, "client",
				      is_own && word.client >= 0 ?
					      rr_program_client_name(writer->program,
								     (size_t)word.client) :
					      NULL,
				      "server",
				      word.server < 0 ?
					      NULL :
					      rr_word_server(&names, (size_t)word.server, server),
				      "fault", is_fault, "refused", is_refusal(product, edge),
				      "steps", writer->steps));
	}
	return json_incref(writer->transition_of[source]);
}

/* ---- States ------------------------------------------------------------------- */

/* What a server holds, which is asked once, and whose command made the lock there. */
static json_t *server_of(struct graph_writer *writer, const uint32_t *key, size_t server)
{
	const unsigned maker = rr_product_common(writer->product, key)->makers[server];
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
	number = put(&writer->servers,
		     json_pack("{s:s, s:s?}", "data", text, "lock_of",
			       maker ? rr_owner_name(writer->program, owner, name) : NULL));
	json_object_set(writer->known, what, number);
	free(text);
	return number;
}

static json_t *client_of(struct graph_writer *writer, const uint32_t *key, size_t client)
{
	const struct rr_product *product = writer->product;
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
	next = is_alive ? rr_run_view_text(writer->program->terms, &view, 1) :
			  rr_strdup("has crashed");
	plain = rr_plain_cut(next, strlen(next), SHOWN, "");
	text = rr_naming_tidy(&writer->naming, plain);
	free(next);
	number = put(&writer->clients, json_pack("{s:s, s:i, s:b, s:b, s:b}", "next", text,
						 "counted", is_alive ? (int)it->tally.ok : part->ok,
						 "inside", is_alive && it->is_inside, "crashed",
						 !is_alive, "ended", is_alive && it->has_ended));
	json_object_set(writer->known, what, number);
	free(text);
	return number;
}

/* [state, transition, invariants that it breaks], and 1 on the shortest path to a failure. */
static json_t *edges_of(struct graph_writer *writer, uint32_t state, const bool *is_on_path)
{
	const struct rr_graph *graph = writer->graph;
	const uint32_t *key = rr_graph_key(graph, state);
	const struct rr_edges *edges = rr_product_expand(writer->product, key, true);
	json_t *array = json_array();

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[graph->first[state] + i];
		json_t *json = json_pack("[i, o, i]", (int)edge->to,
					 transition_of(writer, key, &edges->all[i], edge->to),
					 edge->broken);

		if (is_on_path[graph->first[state] + i])
			json_array_append_new(json, json_integer(1));
		json_array_append_new(array, json);
	}
	return array;
}

static json_t *state_of(struct graph_writer *writer, uint32_t state, const bool *is_on_path)
{
	const struct rr_product *product = writer->product;
	const struct rr_graph *graph = writer->graph;
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

json_t *rr_graph_json(const struct rr_graph_shown *shown, struct rr_error *error)
{
	const struct rr_graph *graph = shown->graph;
	struct rr_product *product = shown->product;
	struct graph_writer writer = {
		.shown = shown,
		.graph = graph,
		.product = product,
		.program = product->config.program,
		.naming = rr_naming_of(product->config.program->terms, shown->scripts,
				       shown->script_names),
		.contents = { { .table = product->tables[0] } },
		.known = json_object(),
		.answers = answers_of(shown),
	};
	bool *is_on_path = rr_calloc(graph->n_edges + 1, sizeof(*is_on_path));
	struct rr_path path = { 0 };
	json_t *json = NULL;

	if (shown->worst && rr_graph_shortest(graph, shown->worst, &path)) {
		for (size_t i = 0; i < path.n; i++)
			is_on_path[path.edges[i]] = true;
	}
	/* Lock servers share a table. */
	if (product->n_servers > 1)
		writer.contents[1].table = product->tables[1];
	open_table(&writer.servers);
	open_table(&writer.clients);
	open_table(&writer.transitions);
	if (begin_steps(&writer)) {
		const struct rr_race *race = writer.recorder.race;
		const struct rr_program *program = writer.program;
		json_t *clients = json_array(), *servers = json_array(), *states = json_array();
		json_t *lanes = json_array();
		const struct rr_scripts *scripts = shown->scripts;
		json_t *texts;
		char name[RR_SCRIPT_NAME];

		/* Whose steps there are, by the names that steps have: a name and the number of its
		 * client. */
		for (size_t i = 0; i < program->n_clients; i++) {
			json_array_append_new(clients,
					      json_string(rr_program_client_name(program, i)));
			for (size_t j = 0; j < RR_RUN_ORDINALS; j++) {
				const int lane = writer.recorder.clients[i][j];

				if (lane >= 0)
					json_array_append_new(
						lanes, json_pack("[s, i]", race->clients[lane].name,
								 (int)i));
			}
		}
		for (size_t i = 0; i < race->n_servers; i++)
			json_array_append_new(servers, json_string(race->servers[i].name));
		for (uint32_t i = 0; i < graph->states.n; i++)
			json_array_append_new(states, state_of(&writer, i, is_on_path));
		texts = json_object();
		for (size_t i = 0; i < scripts->n; i++)
			json_object_set_new(texts,
					    rr_naming_script(&writer.naming,
							     scripts->all[i].source.text, name),
					    json_string(scripts->all[i].source.text));
		json = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:O, s:O, s:O, s:o}",
				 "schema", SCHEMA, "clients", clients, "lanes", lanes, "servers",
				 servers, "invariants",
				 rr_invariants_json((1U << RR_INVARIANTS) - 1), "scripts", texts,
				 "timed", product->config.reads_clock, "server_states",
				 writer.servers.all, "client_states", writer.clients.all,
				 "transitions", writer.transitions.all, "states", states);
	} else {
		rr_error_set(
			error, RR_ERROR_DATA,
			"a graph has at most %d connections of clients and %d servers: search fewer clients, with fewer connections each",
			RR_RACE_CLIENTS_MAX, RR_RACE_SERVERS_MAX);
	}
	for (int i = 0; i < 2; i++) {
		if (writer.contents[i].table && writer.contents[i].table->error.kind)
			*error = writer.contents[i].table->error;
	}
	if (rr_product_failed(product))
		*error = product->error;
	if (json && error->kind) {
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

void rr_graph_write_dot(FILE *file, const json_t *graph)
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
