/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
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

/* ---- Renaming ---------------------------------------------------------------- */

bool rr_renaming_add(struct rr_renaming *renaming, const char *from, const char *to)
{
	if (renaming->n == 2 * RR_NAMES_MAX)
		return false;
	renaming->pairs[renaming->n++] = (struct rr_rename){ rr_strdup(from), rr_strdup(to) };
	return true;
}

void rr_renaming_release(struct rr_renaming *renaming)
{
	for (size_t i = 0; i < renaming->n; i++) {
		free(renaming->pairs[i].from);
		free(renaming->pairs[i].to);
	}
	renaming->n = 0;
}

const char *rr_renaming_of(const struct rr_renaming *renaming, const char *from)
{
	for (size_t i = 0; i < renaming->n; i++) {
		if (strcmp(renaming->pairs[i].from, from) == 0)
			return renaming->pairs[i].to;
	}
	return NULL;
}

static const struct rr_rename *pair_at(const struct rr_renaming *renaming, const char *text,
				       size_t left)
{
	for (size_t i = 0; i < renaming->n; i++) {
		const struct rr_rename *pair = &renaming->pairs[i];
		const size_t length = strlen(pair->from);

		if (length <= left && memcmp(text, pair->from, length) == 0)
			return pair;
	}
	return NULL;
}

/* malloc'd; NULL: nothing in there is renamed. */
static char *rename_text(const struct rr_renaming *renaming, const char *text, size_t length,
			 size_t *new_length)
{
	char *renamed = NULL;
	bool changed = false;
	FILE *file = rr_open_memory(&renamed, new_length);

	for (size_t at = 0; at < length;) {
		const struct rr_rename *pair = pair_at(renaming, text + at, length - at);

		changed |= pair != NULL;
		if (pair)
			fputs(pair->to, file);
		else
			fputc(text[at], file);
		at += pair ? strlen(pair->from) : 1;
	}
	fclose(file);
	if (changed)
		return renamed;
	free(renamed);
	return NULL;
}

uint32_t rr_rename_command(const struct rr_renaming *renaming, struct rr_terms *terms,
			   uint32_t number)
{
	struct rl_command command;
	char *texts[RL_WORDS_MAX];
	bool changed = false;

	if (renaming->n == 0 || number == RR_NO_ID)
		return number;
	command = terms->command[number].words;
	for (size_t i = 0; i < command.n_words; i++) {
		struct rl_word *word = &command.words[i];
		size_t length;

		texts[i] = rename_text(renaming, word->text, word->length, &length);
		if (texts[i])
			*word = (struct rl_word){ texts[i], length };
		changed |= texts[i] != NULL;
	}
	if (changed)
		number = rr_terms_command(terms, &command);
	for (size_t i = 0; i < command.n_words; i++)
		free(texts[i]);
	return number;
}

/* A copy whose texts are all malloc'd. */
static struct rl_reply copy_renamed(const struct rr_renaming *renaming,
				    const struct rl_reply *reply)
{
	struct rl_reply copy = *reply;

	if (reply->text) {
		copy.text = rename_text(renaming, reply->text, reply->length, &copy.length);
		if (!copy.text) {
			copy.length = reply->length;
			copy.text = rr_memdup(reply->text, reply->length + 1);
		}
	} else if (reply->type == RL_REPLY_ARRAY) {
		copy.elements = rr_calloc(reply->length + 1, sizeof(*copy.elements));
		for (size_t i = 0; i < reply->length; i++)
			copy.elements[i] = copy_renamed(renaming, &reply->elements[i]);
	}
	return copy;
}

static void release_copy(struct rl_reply *copy)
{
	for (size_t i = 0; copy->elements && i < copy->length; i++)
		release_copy(&copy->elements[i]);
	free(copy->elements);
	free((char *)copy->text);
}

uint32_t rr_rename_reply(const struct rr_renaming *renaming, struct rr_terms *terms,
			 uint32_t number)
{
	struct rl_reply copy;

	if (renaming->n == 0 || number == RR_NO_ID)
		return number;
	copy = copy_renamed(renaming, &terms->reply[number].reply);
	number = rr_terms_reply(terms, &copy);
	release_copy(&copy);
	return number;
}
