/* SPDX-License-Identifier: MIT */
#include "tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* All tokens of a view, one after the other. */
struct walk {
	const struct rr_terms *terms;
	const struct rr_run_view *view;
	uint32_t command;
	size_t word, at;
};

/* The next one; NULL = no more. */
static const char *walk_on(struct walk *walk, size_t *length)
{
	for (; walk->command < walk->view->n_sent; walk->command++) {
		const uint32_t number = walk->view->sent[walk->command].command;
		const struct rl_command *words = &walk->terms->command[number].words;

		for (; walk->word < words->n_words; walk->word++) {
			const char *token = rr_next_token(&words->words[walk->word], &walk->at,
							  length);

			if (token)
				return token;
			walk->at = 0;
		}
		walk->word = 0;
	}
	return NULL;
}

static void note_token(struct rr_tokens *tokens, const char *text, size_t length, uint32_t sender)
{
	bool is_new;
	uint32_t id;

	rr_array_grow(&tokens->all, tokens->texts.n, sizeof(*tokens->all));
	id = rr_intern_put(&tokens->texts, text, length, &is_new);
	if (is_new)
		tokens->all[id] = (struct rr_token){ .sender = sender };
	tokens->all[id].is_confirmed |= tokens->all[id].sender != sender;
}

void rr_tokens_note(struct rr_tokens *tokens, const struct rr_terms *terms,
		    const struct rr_run_view *view, uint32_t sender)
{
	struct walk walk = { .terms = terms, .view = view };
	const char *token;
	size_t length;

	while ((token = walk_on(&walk, &length)))
		note_token(tokens, token, length, sender);
}

static bool is_one_of(char *const *texts, size_t n, const char *text, size_t length)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(texts[i]) == length && memcmp(texts[i], text, length) == 0)
			return true;
	}
	return false;
}

bool rr_tokens_are_open(const struct rr_tokens *tokens, const struct rr_terms *terms,
			const struct rr_run_view *view, char *const *known, size_t n_known)
{
	struct walk walk = { .terms = terms, .view = view };
	const char *token;
	size_t length;

	while ((token = walk_on(&walk, &length))) {
		const uint32_t id = rr_intern_find(&tokens->texts, token, length);

		if (id != RR_NO_ID && !tokens->all[id].is_confirmed &&
		    !is_one_of(known, n_known, token, length))
			return true;
	}
	return false;
}

void rr_tokens_release(struct rr_tokens *tokens)
{
	rr_intern_release(&tokens->texts);
	free(tokens->all);
	*tokens = (struct rr_tokens){ .all = NULL };
}
