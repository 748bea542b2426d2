/* SPDX-License-Identifier: MIT */
/* The transitions of a graph, for its JSON. What happens is said as a race says it: by the
 * recorder and the words of draw. */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/marks.h"
#include "base/memory.h"
#include "draw/draw.h"
#include "graph_json.h"

static char *reply_to_step(const struct graph_writer *writer, const struct rr_step *step,
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

/* ---- Requests of an app --------------------------------------------------------- */

static const char *mark_of(const struct graph_writer *writer, const struct rr_action *action)
{
	const struct rdl_command *command = &writer->search->terms.command[action->command].words;
	const bool is_mark = rr_program_has_marks(&writer->search->program,
						  action->question.slot / RR_RUN_ORDINALS,
						  action->question.slot % RR_RUN_ORDINALS) &&
			     command->n_words > 1;

	return is_mark ? command->words[1].text : "";
}

/* What a request asks, or is told; malloc'd, NULL = the step is none of a request. */
static char *words_of_mark(const struct graph_writer *writer, const struct rr_action *action)
{
	struct rr_programs *processes = writer->search->config->programs.processes;
	const char *mark = mark_of(writer, action);
	const size_t request = rr_program_request_at(&writer->search->program,
						     action->question.slot / RR_RUN_ORDINALS,
						     action->question.slot % RR_RUN_ORDINALS);
	char *words, *answer;
	long number;

	if (strncmp(mark, RR_MARK_REQUEST, strlen(RR_MARK_REQUEST)) == 0)
		return rr_programs_describe_request(processes, request, -1);
	if (strncmp(mark, RR_MARK_ANSWER, strlen(RR_MARK_ANSWER)) != 0)
		return NULL;
	number = graph_answer(&writer->answers, writer->to, request);
	answer = number < 0 ? rr_strdup("its answer") :
			      rr_programs_describe_request(processes, request, number);
	words = rr_asprintf("=> %s", answer);
	free(answer);
	return words;
}

/* Nobody's step: with it the app ends. */
static bool is_last_mark(const struct graph_writer *writer, const struct rr_action *action)
{
	return strcmp(mark_of(writer, action), RR_MARK_END) == 0;
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
	} else if (is_command && is_last_mark(writer, action)) {
		json = json_pack("{s:s, s:n, s:n, s:s, s:n}", "kind", "note", "client", "server",
				 "text", "the app has nothing more to do", "reply");
	} else {
		struct rr_event event = { .step = step, .at_ns = -1 };
		char *text, *reply = reply_to_step(writer, step, action);

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
static void find_connections(const struct rr_search *search, struct rr_recorder_setup *setup)
{
	const struct rr_product *product = &search->product;

	for (uint32_t i = 0; i < search->graph.states.n; i++) {
		const uint32_t *key = rr_graph_key(&search->graph, i);

		for (size_t c = 0; c < product->n_clients; c++) {
			const struct rr_client_state *client = rr_product_client(product, key, c);

			if (rr_product_part(product, key, c)->is_crashed)
				continue;
			for (uint32_t s = 0; s < client->n_sent; s++) {
				const uint8_t lane = client->sent[s].lane;

				/* With the mark there an app ends, which is nobody's step. */
				if (!(rr_program_has_marks(&search->program, c, lane) &&
				      rr_program_request_at(&search->program, c, lane) ==
					      search->program.n_requests))
					setup->connections[c] |=
						1U << rr_lane_ordinal(&search->program, lane);
			}
		}
	}
}

bool graph_begin_steps(struct graph_writer *writer)
{
	const struct rr_search *search = writer->search;
	const struct rr_program *program = &search->program;
	struct rr_recorder_setup setup = {
		.program = program,
		.scripts = &search->scripts,
		.strategy = search->config->strategy,
		.title = "graph",
		.data_server = program->n_servers > 1 ? "data" : "redis",
		.is_detailed = true,
		.added = add_step,
		.context = writer,
	};
	bool good;

	if (!setup.strategy)
		find_connections(search, &setup);
	good = rr_recorder_begin(&writer->recorder, &setup);
	if (!good) { /* one name for all connections of a client */
		rr_race_free(writer->recorder.race);
		memset(setup.connections, 0, sizeof(setup.connections));
		good = rr_recorder_begin(&writer->recorder, &setup);
	}
	writer->trace.race = writer->recorder.race;
	return good;
}

json_t *graph_lanes(const struct graph_writer *writer)
{
	const struct rr_recorder *recorder = &writer->recorder;
	json_t *lanes = json_array();

	for (size_t c = 0; c < writer->search->program.n_clients; c++) {
		for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
			const int lane = recorder->clients[c][i];

			if (lane >= 0)
				json_array_append_new(lanes,
						      json_pack("[s, i]",
								recorder->race->clients[lane].name,
								(int)c));
		}
	}
	return lanes;
}

/* What happened before the transition has led to the state. */
static void begin_steps(struct graph_writer *writer, const uint32_t *key)
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

static json_t *steps_of(struct graph_writer *writer, const struct rr_edge *edge)
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
static void write_played(const struct graph_writer *writer, struct rr_word word,
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
static struct rr_word word_of(const struct graph_writer *writer, const uint32_t *key,
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

/* The number of what it was made of; most transitions are like one from another state. */
static uint32_t source_of(struct graph_writer *writer, struct rr_word word,
			  const struct rr_edge *edge, bool *is_new)
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

json_t *graph_transition(struct graph_writer *writer, const uint32_t *key,
			 const struct rr_edge *edge, uint32_t to)
{
	const struct rr_word word = word_of(writer, key, edge);
	bool is_new;
	uint32_t source;

	begin_steps(writer, key);
	writer->to = to;
	source = source_of(writer, word, edge, &is_new);
	if (is_new) {
		const struct rr_product *product = &writer->search->product;
		struct rr_word_names names;
		bool is_fault;
		bool is_own;
		char text[RR_WORD_SIZE], played[RR_WORD_SIZE], server[RR_WORD_SERVER];

		rr_array_grow(&writer->transition_of, source, sizeof(*writer->transition_of));
		names = rr_product_names(product);
		is_fault = rr_transition_is_fault(edge->transition);
		is_own = is_fault || rr_transition_is_step(edge->transition);
		rr_word_write(&word, &names, text);
		write_played(writer, word, edge, played);
		writer->transition_of[source] = graph_put(
			&writer->transitions,
			json_pack("{s:s, s:s, s:s?, s:s?, s:b, s:b, s:o}", "word", text, "play",
				  played, "client",
				  is_own && word.client >= 0 ?
					  rr_program_client_name(&writer->search->program,
								 (size_t)word.client) :
					  NULL,
				  "server",
				  word.server < 0 ?
					  NULL :
					  rr_word_server(&names, (size_t)word.server, server),
				  "fault", is_fault, "refused", is_refusal(product, edge), "steps",
				  steps_of(writer, edge)));
	}
	return json_incref(writer->transition_of[source]);
}
