/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* So many equal bytes in a row end a difference. */
enum { SAME_AGAIN = 4 };

/* ---- Tokens ----------------------------------------------------------------- */

static bool is_of_token(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Bytes, and not a text? */
static bool is_binary(const struct rdl_word *word)
{
	for (size_t i = 0; i < word->length; i++) {
		if (!isprint((unsigned char)word->text[i]) &&
		    !isspace((unsigned char)word->text[i]))
			return true;
	}
	return false;
}

/* The next token of a text, from *at on, which moves behind it; a word that is no text is
 * one as a whole. False: no more. */
static bool next_token(const struct rdl_word *word, size_t *at, struct rdl_word *token)
{
	if (*at == 0 && word->length >= RR_TOKEN_MIN && is_binary(word)) {
		*at = word->length;
		*token = *word;
		return true;
	}
	while (*at < word->length) {
		const size_t begin = *at;

		while (*at < word->length && is_of_token(word->text[*at]))
			++*at;
		*token = (struct rdl_word){ word->text + begin, *at - begin };
		if (token->length >= RR_TOKEN_MIN)
			return true;
		*at += token->length == 0;
	}
	return false;
}

/* Where the token begins of which the byte at a place is a part, or that ends there. */
static size_t begin_of_token(const struct rdl_word *word, size_t place)
{
	if (place < word->length && !is_of_token(word->text[place]))
		return place;
	while (place > 0 && is_of_token(word->text[place - 1]))
		place--;
	return place;
}

static size_t end_of_token(const struct rdl_word *word, size_t place)
{
	while (place < word->length && is_of_token(word->text[place]))
		place++;
	return place;
}

/* Where the token goes on that ends before a place; else the place. */
static size_t rest_of_token(const struct rdl_word *word, size_t place)
{
	return place > 0 && is_of_token(word->text[place - 1]) ? end_of_token(word, place) : place;
}

/* Do both words go on alike from there, and not as base64 does? */
static bool go_on_alike(const struct rdl_word *a, size_t end_a, const struct rdl_word *b,
			size_t end_b)
{
	if (a->length == b->length && end_a != end_b)
		return false;
	if (end_a == a->length || end_b == b->length)
		return end_a == a->length && end_b == b->length;
	return a->text[end_a] == b->text[end_b] && !strchr("+/=", a->text[end_a]);
}

/* Words of the same length: up to where they are the same again, for more bytes than
 * random ones are by chance. */
static size_t end_of_difference(const struct rdl_word *a, const struct rdl_word *b, size_t begin)
{
	size_t end = begin + 1;

	for (size_t i = begin; i < a->length && i < end + SAME_AGAIN; i++) {
		if (a->text[i] != b->text[i])
			end = i + 1;
	}
	return end;
}

static bool cut_out(const struct rdl_word *word, size_t begin, size_t end, struct rdl_word *part)
{
	*part = (struct rdl_word){ word->text + begin, end - begin };
	return part->length >= RR_TOKEN_MIN;
}

/* A token of letters and digits, if both words have one and go on alike behind it. Else
 * whatever bytes they are (base64, msgpack). */
static bool find_difference(const struct rdl_word *a, const struct rdl_word *b,
			    struct rdl_word *token_a, struct rdl_word *token_b)
{
	size_t place = 0;

	while (place < a->length && place < b->length && a->text[place] == b->text[place])
		place++;
	const size_t begin_a = begin_of_token(a, place), begin_b = begin_of_token(b, place);
	const size_t begin = begin_a < begin_b ? begin_a : begin_b;
	size_t end_a = end_of_token(a, place), end_b = end_of_token(b, place), more_a, more_b;

	if (go_on_alike(a, end_a, b, end_b) && cut_out(a, begin, end_a, token_a) &&
	    cut_out(b, begin, end_b, token_b))
		return true;
	end_a = a->length;
	end_b = b->length;
	if (end_a == end_b)
		end_a = end_b = end_of_difference(a, b, place);
	while (end_a > place && end_b > place && a->text[end_a - 1] == b->text[end_b - 1]) {
		end_a--;
		end_b--;
	}
	more_a = rest_of_token(a, end_a) - end_a;
	more_b = rest_of_token(b, end_b) - end_b;
	if (more_b > more_a)
		more_a = more_b;
	return cut_out(a, begin, end_a + more_a, token_a) &&
	       cut_out(b, begin, end_b + more_a, token_b);
}

bool rr_names_differ(const struct rdl_command *a, const struct rdl_command *b,
		     struct rdl_word *token_a, struct rdl_word *token_b)
{
	if (a->n_words != b->n_words)
		return false;
	for (size_t i = 0; i < a->n_words; i++) {
		const struct rdl_word *word = &a->words[i];
		const struct rdl_word *other = &b->words[i];

		if (word->length != other->length ||
		    memcmp(word->text, other->text, word->length) != 0)
			return find_difference(word, other, token_a, token_b);
	}
	return false;
}

bool rr_command_has_text(const struct rdl_command *command, struct rdl_word text)
{
	for (size_t i = 0; i < command->n_words; i++) {
		if (memmem(command->words[i].text, command->words[i].length, text.text,
			   text.length))
			return true;
	}
	return false;
}

static char move_on(char c, size_t client)
{
	static const char *const kinds[] = { "0123456789", "abcdef", "ABCDEF",
					     "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *found = c ? strchr(kinds[i], c) : NULL;

		if (found)
			return kinds[i][((size_t)(found - kinds[i]) + client) % strlen(kinds[i])];
	}
	/* The upper half of all bytes. */
	return c & 0x80 ? (char)(0x80 | (((unsigned char)c + client) & 0x7f)) : c;
}

struct rdl_word rr_token_of_client(struct rdl_word token, size_t client, int64_t day_ns)
{
	char *moved = rr_memdup(token.text, token.length);
	const size_t begin = rr_is_time(token, day_ns) ? rr_digits_of_day(day_ns) : 0;

	for (size_t i = begin; i < token.length; i++)
		moved[i] = move_on(moved[i], client);
	return (struct rdl_word){ moved, token.length };
}

/* ---- Those that may be random -------------------------------------------- */

/* All tokens of a view, one after the other. */
struct walk {
	const struct rr_terms *terms;
	const struct rr_run_view *view;
	uint32_t command;
	size_t word, at;
};

/* The next one; false: no more. */
static bool walk_on(struct walk *walk, struct rdl_word *token)
{
	for (; walk->command < walk->view->n_sent; walk->command++) {
		const uint32_t number = walk->view->sent[walk->command].command;
		const struct rdl_command *words = &walk->terms->command[number].words;

		for (; walk->word < words->n_words; walk->word++) {
			if (next_token(&words->words[walk->word], &walk->at, token))
				return true;
			walk->at = 0;
		}
		walk->word = 0;
	}
	return false;
}

void rr_tokens_note(struct rr_tokens *tokens, const struct rr_terms *terms,
		    const struct rr_run_view *view, uint32_t sender)
{
	struct walk walk = { .terms = terms, .view = view };
	struct rdl_word token;

	while (walk_on(&walk, &token)) {
		bool is_new;
		uint32_t id;

		rr_array_grow(&tokens->all, tokens->texts.n, sizeof(*tokens->all));
		id = rr_intern_put(&tokens->texts, token.text, token.length, &is_new);
		if (is_new)
			tokens->all[id] = (struct rr_token){ .sender = sender };
		tokens->all[id].is_confirmed |= tokens->all[id].sender != sender;
	}
}

static bool is_part_of_one(const struct rdl_word *texts, size_t n, struct rdl_word token)
{
	for (size_t i = 0; i < n; i++) {
		if (memmem(token.text, token.length, texts[i].text, texts[i].length) ||
		    memmem(texts[i].text, texts[i].length, token.text, token.length))
			return true;
	}
	return false;
}

bool rr_tokens_are_open(const struct rr_tokens *tokens, const struct rr_terms *terms,
			const struct rr_run_view *view, const struct rdl_word *known,
			size_t n_known)
{
	struct walk walk = { .terms = terms, .view = view };
	struct rdl_word token;

	while (walk_on(&walk, &token)) {
		const uint32_t id = rr_intern_find(&tokens->texts, token.text, token.length);

		if (id != RR_NO_ID && !tokens->all[id].is_confirmed &&
		    !is_part_of_one(known, n_known, token))
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
