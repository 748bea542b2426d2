/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { KNOWN_SIZE = 400, STEPS_MAX = 20000 };

/* ---- One transition ---------------------------------------------------------- */

struct rr_word_names rr_product_names(const struct rr_product *product)
{
	return (struct rr_word_names){ product->n_clients, product->n_servers };
}

static void name_command(const struct rr_product *product, uint32_t number, struct rr_word *word)
{
	const struct rr_terms *terms = product->config.program->terms;

	snprintf(word->command, sizeof(word->command), "%s",
		 terms->command[number].words.words[0].text);
}

struct rr_word rr_product_word(const struct rr_product *product, const uint32_t *key,
			       struct rr_transition transition)
{
	const struct rr_transition_row *row = &rr_transition_rows[transition.kind];
	struct rr_word word = { .kind = transition.kind, .client = -1, .server = -1 };

	if (row->subject == RR_OF_SERVER)
		word.server = transition.who;
	else if (row->subject == RR_OF_CLIENT)
		word.client = transition.who;
	else if (row->subject == RR_OF_ENDS)
		word.more = transition.who;
	if (transition.kind == RR_DO_LATE) {
		const struct rr_late *late = &rr_product_common(product, key)->late[transition.who];

		word.client = late->slot / RR_RUN_ORDINALS;
		word.server = late->server;
		name_command(product, late->command, &word);
	} else if (transition.kind == RR_DO_GO) {
		const struct rr_client_state *state = rr_product_client(product, key,
									transition.who);

		snprintf(word.command, sizeof(word.command), "%s",
			 rr_word_of_stop(state->stops[transition.lane].kind));
		if (product->config.program->run_ops)
			word.connection = transition.lane;
		else
			word.thread = transition.lane;
	} else if (row->has_command) {
		const struct rr_program *program = product->config.program;
		const struct rr_sent *sent = rr_product_next_sent(product, key, transition);

		/* The command that is executed next on a lane. */
		if (sent) {
			name_command(product, sent->command, &word);
			/* Of programs of others a thread is no renewer, but what waits on a lane. */
			word.thread = program->run_ops ? 0 : sent->thread;
		}
		word.connection = rr_lane_ordinal(program, transition.lane);
		word.server = rr_lane_server(program, transition.lane);
	}
	return word;
}

/* ---- Writing ------------------------------------------------------------------- */

char *rr_path_words(const struct rr_graph *graph, const struct rr_path *path)
{
	const struct rr_word_names names = rr_product_names(graph->product);
	char *text, written[RR_WORD_SIZE];
	uint32_t state = 0;
	FILE *file = rr_open_text(&text);

	for (size_t i = 0; i < path->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[path->edges[i]];
		const struct rr_word word = rr_product_word(
			graph->product, rr_graph_key(graph, state), edge->transition);

		rr_word_write(&word, &names, written);
		fprintf(file, "%s%s", i ? " " : "", written);
		state = edge->to;
	}
	fclose(file);
	return text;
}

/* ---- Following ----------------------------------------------------------------- */

/* The word that `words` begin with; false: they have ended, or are no words (the error). */
static bool read_next(const struct rr_product *product, const char **words, struct rr_word *said,
		      char text[RR_WORD_SIZE], struct rr_error *error)
{
	const struct rr_word_names names = rr_product_names(product);
	struct rr_error why = { 0 };
	size_t length;

	*words += strspn(*words, " \t\r\n");
	length = strcspn(*words, " \t\r\n");
	snprintf(text, RR_WORD_SIZE, "%.*s", (int)length, *words);
	*words += length;
	return length && (rr_word_read(text, &names, said, &why) ||
			  rr_error_set(error, RR_ERROR_DATA,
				       "the schedule's word '%s': %s: save it again with --save",
				       text, why.text));
}

/* The transition of a state that a word means; NULL: there is none, and the error says what there
 * is. */
static const struct rr_edge *take_word(struct rr_product *product, const uint32_t *key, int step,
				       const struct rr_word *said, const char *text,
				       struct rr_error *error)
{
	const struct rr_word_names names = rr_product_names(product);
	const struct rr_edges *edges = rr_product_list(product, key);
	const struct rr_edge *edge = NULL;
	char known[KNOWN_SIZE] = "", written[RR_WORD_SIZE];
	bool is_found = false;

	for (size_t i = 0; edges && i < edges->n && !is_found; i++) {
		const struct rr_transition transition = edges->all[i].transition;
		const struct rr_word word = rr_product_word(product, key, transition);

		is_found = rr_word_means(said, &word);
		if (is_found) {
			edge = rr_product_take(product, key, transition);
		} else {
			rr_word_write(&word, &names, written);
			rr_add_text(known, KNOWN_SIZE, "%s%s", known[0] ? ", " : "", written);
		}
	}
	if (edge)
		return edge;
	if (rr_product_failed(product))
		rr_error_set(error, product->error.kind, "%s", product->error.text);
	else
		rr_error_set(
			error, RR_ERROR_DATA,
			"the schedule cannot be followed: its step %d is '%s', but there is only: %s: save it again with --save",
			step, text, known[0] ? known : "the end");
	return NULL;
}

/* The first transition to a state that is not among those; NULL: there is none, or an error of
 * the product. */
static const struct rr_edge *take_new(struct rr_product *product, const uint32_t *key,
				      struct rr_intern *been)
{
	const size_t size = product->n_words * sizeof(*key);
	const struct rr_edges *edges = rr_product_list(product, key);

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_edge *edge = rr_product_take(product, key,
							     edges->all[i].transition);
		bool is_new = false;

		if (edge)
			rr_intern_put(been, edge->key, size, &is_new);
		if (is_new || rr_product_failed(product))
			return edge;
		edges = rr_product_list(product, key);
	}
	return NULL;
}

bool rr_product_follow(struct rr_product *product, const char *words, struct rr_actions *actions,
		       rr_state_key end, unsigned *broken, struct rr_error *error)
{
	struct rr_intern been = { 0 };

	*actions = (struct rr_actions){ 0 };
	*broken = 0;
	if (!rr_product_begin(product, end, actions))
		return false;
	for (int step = 1; step < STEPS_MAX; step++) {
		char text[RR_WORD_SIZE];
		struct rr_word said;
		const bool is_said = read_next(product, &words, &said, text, error);
		const struct rr_edge *edge;

		if (error->kind)
			break;
		edge = is_said ? take_word(product, end, step, &said, text, error) :
				 take_new(product, end, &been);
		if (!edge)
			break;
		*broken |= edge->broken;
		memcpy(end, edge->key, sizeof(edge->key));
		rr_product_keep_actions(product, edge, actions);
	}
	rr_intern_release(&been);
	return !error->kind && !rr_product_failed(product);
}
