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
		const struct rr_edge *edge = &graph->edges[path->edges[i]];

		write_word(graph->product, rr_graph_key(graph, state), edge->transition, word);
		fprintf(file, "%s%s", i ? " " : "", word);
		state = edge->to;
	}
	if (file)
		fclose(file);
	return text;
}

/* ---- Following ----------------------------------------------------------------- */

struct follower {
	const struct rr_product *product;
	const uint32_t *key;
	const char *word; /* wanted; "" = any */
	size_t length;
	char known[KNOWN_SIZE]; /* what there would be instead */
	rr_state_key next;
	unsigned broken; /* so far */
	bool found;
};

/* The log keeps what belongs to the transition that is taken: nothing comes
 * after. */
static bool compare_word(void *context, struct rr_transition transition, const uint32_t *next,
			 unsigned broken)
{
	struct follower *follower = context;
	const size_t used = strlen(follower->known);
	char word[WORD_SIZE];

	write_word(follower->product, follower->key, transition, word);
	follower->found = follower->length == 0 ||
			  (strlen(word) == follower->length &&
			   strncmp(word, follower->word, follower->length) == 0);
	if (follower->found) {
		memcpy(follower->next, next, follower->product->n_words * sizeof(*next));
		follower->broken |= broken;
	} else {
		snprintf(follower->known + used, sizeof(follower->known) - used, "%s%s",
			 used ? ", " : "", word);
	}
	return !follower->found;
}

static bool fail_to_follow(const struct rr_product *product, const struct follower *follower,
			   int step, struct rr_error *error)
{
	if (product->error.kind)
		return rr_error_set(error, product->error.kind, "%s", product->error.text);
	return rr_error_set(
		error, RR_ERROR_DATA,
		"the schedule cannot be followed: its step %d is '%.*s', but there is only: %s",
		step, (int)follower->length, follower->word,
		follower->known[0] ? follower->known : "the end");
}

bool rr_product_follow(struct rr_product *product, const char *words, struct rr_actions *actions,
		       rr_state_key end, unsigned *broken, struct rr_error *error)
{
	struct follower follower = { .product = product, .key = end };
	unsigned flags = 0;
	bool good;

	*actions = (struct rr_actions){ 0 };
	product->log = actions;
	good = rr_product_begin(product, end);
	for (int step = 1; good && step < STEPS_MAX; step++) {
		words += strspn(words, " \t\r\n");
		follower.word = words;
		follower.length = strcspn(words, " \t\r\n");
		follower.known[0] = '\0';
		follower.found = false;
		rr_product_expand(product, end, compare_word, &follower, &flags);
		if (!follower.found && follower.length == 0)
			break;
		good = follower.found && !product->error.kind;
		if (good)
			memcpy(end, follower.next, sizeof(follower.next));
		else
			fail_to_follow(product, &follower, step, error);
		words += follower.length;
	}
	product->log = NULL;
	*broken = follower.broken;
	return good && !product->error.kind;
}
