/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- Tokens ----------------------------------------------------------------- */

static bool is_of_token(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

const char *rr_next_token(const struct rl_word *word, size_t *at, size_t *length)
{
	while (*at < word->length) {
		const size_t begin = *at;

		while (*at < word->length && is_of_token(word->text[*at]))
			++*at;
		*length = *at - begin;
		if (*length >= RR_TOKEN_MIN)
			return word->text + begin;
		*at += *length == 0;
	}
	return NULL;
}

/* The token around a place; its length, 0 = there is none. */
static size_t token_around(const struct rl_word *word, size_t place, const char **token)
{
	size_t begin = place, end = place;

	while (begin > 0 && is_of_token(word->text[begin - 1]))
		begin--;
	while (end < word->length && is_of_token(word->text[end]))
		end++;
	*token = word->text + begin;
	return end - begin;
}

static bool find_difference(const struct rl_word *a, const struct rl_word *b, char **token_a,
			    char **token_b)
{
	const char *text_a, *text_b;
	size_t place = 0, length_a, length_b;

	while (place < a->length && place < b->length && a->text[place] == b->text[place])
		place++;
	length_a = token_around(a, place, &text_a);
	length_b = token_around(b, place, &text_b);
	if (length_a < RR_TOKEN_MIN || length_b < RR_TOKEN_MIN)
		return false;
	*token_a = rr_strndup(text_a, length_a);
	*token_b = rr_strndup(text_b, length_b);
	return true;
}

bool rr_names_differ(const struct rl_command *a, const struct rl_command *b, char **token_a,
		     char **token_b)
{
	if (a->n_words != b->n_words)
		return false;
	for (size_t i = 0; i < a->n_words; i++) {
		const struct rl_word *word = &a->words[i];
		const struct rl_word *other = &b->words[i];

		if (word->length != other->length ||
		    memcmp(word->text, other->text, word->length) != 0)
			return find_difference(word, other, token_a, token_b);
	}
	return false;
}

bool rr_command_has_text(const struct rl_command *command, const char *text)
{
	for (size_t i = 0; i < command->n_words; i++) {
		if (memmem(command->words[i].text, command->words[i].length, text, strlen(text)))
			return true;
	}
	return false;
}

static char move_on(char c, size_t client)
{
	static const char *const kinds[] = { "0123456789", "abcdef", "ABCDEF",
					     "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *found = strchr(kinds[i], c);

		if (found)
			return kinds[i][((size_t)(found - kinds[i]) + client) % strlen(kinds[i])];
	}
	return c;
}

char *rr_token_of_client(const char *token, size_t client)
{
	char *moved = rr_strdup(token);

	for (char *at = moved; *at; at++)
		*at = move_on(*at, client);
	return moved;
}
