/* SPDX-License-Identifier: MIT */
#include "path_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 80, KNOWN_SIZE = 400, STEPS_MAX = 20000 };

/* ---- One transition ---------------------------------------------------------- */

/* The command that is executed next on a lane. NULL: there is none. */
static const struct rl_command *next_command(const struct rr_product *product, const uint32_t *key,
					     struct rr_transition transition)
{
	const struct rr_part *part = rr_product_part(product, key, transition.who);
	const struct rr_client_state *state = rr_product_client(product, key, transition.who);
	const struct rr_terms *terms = product->config.program->terms;
	uint32_t executed = 0;

	for (int i = 0; i < part->n_answers; i++)
		executed += part->answers[i].lane == transition.lane;
	for (uint32_t i = 0; i < state->n_sent; i++) {
		if (state->sent[i].lane == transition.lane && executed-- == 0)
			return &terms->command[state->sent[i].command].words;
	}
	return NULL;
}

static const char *kind_of_word(enum rr_transition_kind kind)
{
	static const char *const kinds[] = {
		[RR_DO_EXECUTE] = "",       [RR_DO_GO] = "",
		[RR_DO_BEGIN] = "begin:",   [RR_DO_LATE] = "late:",
		[RR_DO_NOTICE] = "notice:", [RR_DO_RETURN] = "return:",
		[RR_DO_WAIT] = "wait",      [RR_DO_NEAR] = "near",
		[RR_DO_LOSE] = "lose:",     [RR_DO_DROP] = "drop:",
		[RR_DO_CRASH] = "crash:",   [RR_DO_RESTART] = "restart:",
		[RR_DO_JUMP] = "jump:",     [RR_DO_HALF] = "half",
		[RR_DO_WHOLE] = "whole",    [RR_DO_PAUSE_HALF] = "pause-half:",
		[RR_DO_PAUSE] = "pause:",
	};

	return kinds[kind];
}

static void write_word(const struct rr_product *product, const uint32_t *key,
		       struct rr_transition transition, char word[WORD_SIZE])
{
	const bool has_command = transition.kind == RR_DO_EXECUTE ||
				 transition.kind == RR_DO_LOSE || transition.kind == RR_DO_DROP;
	const struct rl_command *command = has_command ? next_command(product, key, transition) :
							 NULL;
	const char *kind = kind_of_word(transition.kind);
	char place[8] = "";

	if (transition.lane)
		snprintf(place, sizeof(place), ".%u", transition.lane);
	if (has_command || transition.kind == RR_DO_GO)
		snprintf(word, WORD_SIZE, "%s%c%s:%.30s", kind, 'A' + transition.who, place,
			 command ? command->words[0].text : "go");
	else if (kind[0] && kind[strlen(kind) - 1] == ':')
		snprintf(word, WORD_SIZE, "%s%c", kind, 'A' + transition.who);
	else
		snprintf(word, WORD_SIZE, "%s", kind);
}

/* ---- Writing ------------------------------------------------------------------- */

char *rr_path_words(const struct rr_graph *graph, const struct rr_path *path)
{
	char *text = NULL, word[WORD_SIZE];
	uint32_t state = 0;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; file && i < path->n; i++) {
		const struct rr_graph_edge *edge = &graph->edges[path->edges[i]];

		write_word(graph->product, rr_graph_key(graph, state), edge->transition, word);
		fprintf(file, "%s%s", i ? " " : "", word);
		state = edge->to;
	}
	if (file)
		fclose(file);
	return text;
}

/* ---- Following ----------------------------------------------------------------- */

/* The transition of a state that is called so, or the first one for "". False: there is none,
 * and `known` says what there is. */
static bool find_word(struct rr_product *product, const uint32_t *key, const char *wanted,
		      size_t length, struct rr_transition *found, char known[KNOWN_SIZE])
{
	const struct rr_edges *edges = rr_product_list(product, key);

	known[0] = '\0';
	for (size_t i = 0; edges && i < edges->n; i++) {
		const size_t used = strlen(known);
		char word[WORD_SIZE];

		*found = edges->all[i].transition;
		write_word(product, key, *found, word);
		if (length == 0 || (strlen(word) == length && strncmp(word, wanted, length) == 0))
			return true;
		snprintf(known + used, KNOWN_SIZE - used, "%s%s", used ? ", " : "", word);
	}
	return false;
}

static bool fail_to_follow(const struct rr_product *product, int step, const char *word, int length,
			   const char *known, struct rr_error *error)
{
	if (product->error.kind)
		return rr_error_set(error, product->error.kind, "%s", product->error.text);
	return rr_error_set(
		error, RR_ERROR_DATA,
		"the schedule cannot be followed: its step %d is '%.*s', but there is only: %s",
		step, length, word, known[0] ? known : "the end");
}

bool rr_product_follow(struct rr_product *product, const char *words, struct rr_actions *actions,
		       rr_state_key end, unsigned *broken, struct rr_error *error)
{
	bool good = true;

	*actions = (struct rr_actions){ 0 };
	*broken = 0;
	if (!rr_product_begin(product, end, actions))
		return false;
	for (int step = 1; good && step < STEPS_MAX; step++) {
		const struct rr_edge *edge = NULL;
		struct rr_transition transition;
		char known[KNOWN_SIZE];
		size_t length;

		words += strspn(words, " \t\r\n");
		length = strcspn(words, " \t\r\n");
		if (find_word(product, end, words, length, &transition, known))
			edge = rr_product_take(product, end, transition);
		else if (length == 0)
			break;
		if (edge) {
			*broken |= edge->broken;
			memcpy(end, edge->key, sizeof(edge->key));
			rr_product_keep_actions(product, edge, actions);
		} else {
			good = fail_to_follow(product, step, words, (int)length, known, error);
		}
		words += length;
	}
	return good && !product->error.kind;
}
