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

/* The next one; false: no more. */
static bool walk_on(struct walk *walk, struct rl_word *token)
{
	for (; walk->command < walk->view->n_sent; walk->command++) {
		const uint32_t number = walk->view->sent[walk->command].command;
		const struct rl_command *words = &walk->terms->command[number].words;

		for (; walk->word < words->n_words; walk->word++) {
			if (rr_next_token(&words->words[walk->word], &walk->at, token))
				return true;
			walk->at = 0;
		}
		walk->word = 0;
	}
	return false;
}

static void note_token(struct rr_tokens *tokens, struct rl_word token, uint32_t sender)
{
	bool is_new;
	uint32_t id;

	rr_array_grow(&tokens->all, tokens->texts.n, sizeof(*tokens->all));
	id = rr_intern_put(&tokens->texts, token.text, token.length, &is_new);
	if (is_new)
		tokens->all[id] = (struct rr_token){ .sender = sender };
	tokens->all[id].is_confirmed |= tokens->all[id].sender != sender;
}

void rr_tokens_note(struct rr_tokens *tokens, const struct rr_terms *terms,
		    const struct rr_run_view *view, uint32_t sender)
{
	struct walk walk = { .terms = terms, .view = view };
	struct rl_word token;

	while (walk_on(&walk, &token))
		note_token(tokens, token, sender);
}

static bool is_part_of_one(const struct rl_word *texts, size_t n, struct rl_word token)
{
	for (size_t i = 0; i < n; i++) {
		if (memmem(token.text, token.length, texts[i].text, texts[i].length) ||
		    memmem(texts[i].text, texts[i].length, token.text, token.length))
			return true;
	}
	return false;
}

bool rr_tokens_are_open(const struct rr_tokens *tokens, const struct rr_terms *terms,
			const struct rr_run_view *view, const struct rl_word *known, size_t n_known)
{
	struct walk walk = { .terms = terms, .view = view };
	struct rl_word token;

	while (walk_on(&walk, &token)) {
		const uint32_t id = rr_intern_find(&tokens->texts, token.text, token.length);

		if (id != RR_NO_ID && !tokens->all[id].is_confirmed &&
		    !is_part_of_one(known, n_known, token))
			return true;
	}
	return false;
}

void rr_tokens_write(const struct rr_tokens *tokens, FILE *out)
{
	rr_bytes_put_number(out, tokens->texts.n);
	for (uint32_t i = 0; i < tokens->texts.n; i++) {
		rr_bytes_put(out, rr_intern_get(&tokens->texts, i), tokens->texts.values[i].length);
		rr_bytes_put_number(out, tokens->all[i].is_confirmed);
	}
}

void rr_tokens_read(struct rr_tokens *tokens, struct rr_bytes *bytes)
{
	const size_t n = rr_bytes_take_count(bytes);

	for (size_t i = 0; i < n && !bytes->is_wrong; i++) {
		struct rl_word token;

		token.text = rr_bytes_take(bytes, &token.length);
		note_token(tokens, token, RR_NO_ID);
		if (rr_bytes_take_number(bytes, 0, 1))
			note_token(tokens, token, 0);
	}
}

void rr_tokens_release(struct rr_tokens *tokens)
{
	rr_intern_release(&tokens->texts);
	free(tokens->all);
	*tokens = (struct rr_tokens){ .all = NULL };
}
