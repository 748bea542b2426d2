/* SPDX-License-Identifier: MIT */
#include "term.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void rr_renaming_add(struct rr_renaming *renaming, struct rdl_word from, struct rdl_word to)
{
	rr_array_grow(&renaming->pairs, renaming->n, sizeof(*renaming->pairs));
	renaming->pairs[renaming->n++] = (struct rr_rename){
		.from = rr_memdup(from.text, from.length),
		.to = rr_memdup(to.text, to.length),
		.n_from = from.length,
		.n_to = to.length,
	};
}

void rr_renaming_release(struct rr_renaming *renaming)
{
	for (size_t i = 0; i < renaming->n; i++) {
		free(renaming->pairs[i].from);
		free(renaming->pairs[i].to);
	}
	free(renaming->pairs);
	*renaming = (struct rr_renaming){ 0 };
}

/* Its pair; renaming->n: none. */
static size_t find_pair(const struct rr_renaming *renaming, const char *from, size_t n)
{
	size_t i = 0;

	while (i < renaming->n &&
	       (renaming->pairs[i].n_from != n || memcmp(renaming->pairs[i].from, from, n) != 0))
		i++;
	return i;
}

bool rr_renaming_has(const struct rr_renaming *renaming, struct rdl_word from)
{
	return find_pair(renaming, from.text, from.length) < renaming->n;
}

struct rdl_word rr_renaming_of(const struct rr_renaming *renaming, struct rdl_word from)
{
	const size_t at = find_pair(renaming, from.text, from.length);

	return at == renaming->n ?
		       from :
		       (struct rdl_word){ renaming->pairs[at].to, renaming->pairs[at].n_to };
}

static void drop_pair(struct rr_renaming *renaming, size_t at)
{
	if (at == renaming->n)
		return;
	free(renaming->pairs[at].from);
	free(renaming->pairs[at].to);
	renaming->n--;
	memmove(&renaming->pairs[at], &renaming->pairs[at + 1],
		(renaming->n - at) * sizeof(renaming->pairs[0]));
}

bool rr_renaming_drop(struct rr_renaming *renaming, struct rr_renaming *reverse,
		      struct rdl_word from)
{
	const size_t at = find_pair(renaming, from.text, from.length);

	if (at == renaming->n)
		return false;
	drop_pair(reverse, find_pair(reverse, renaming->pairs[at].to, renaming->pairs[at].n_to));
	drop_pair(renaming, at);
	return true;
}

static bool is_number(const struct rr_rename *pair)
{
	size_t n = 0;

	while (n < pair->n_from && (isdigit((unsigned char)pair->from[n]) || pair->from[n] == '.'))
		n++;
	return n == pair->n_from;
}

/* One number is no part of another: 1900000000.5 has nothing to do with 1900000000.53. */
static bool is_inside_number(const char *text, size_t length, size_t at, size_t n)
{
	return (at > 0 && isdigit((unsigned char)text[at - 1])) ||
	       (at + n < length && isdigit((unsigned char)text[at + n]));
}

static const struct rr_rename *pair_at(const struct rr_renaming *renaming, const char *text,
				       size_t length, size_t at)
{
	for (size_t i = 0; i < renaming->n; i++) {
		const struct rr_rename *pair = &renaming->pairs[i];

		if (pair->n_from <= length - at &&
		    memcmp(text + at, pair->from, pair->n_from) == 0 &&
		    !(is_inside_number(text, length, at, pair->n_from) && is_number(pair)))
			return pair;
	}
	return NULL;
}

/* malloc'd; NULL: nothing in there is renamed. */
static char *rename_text(const void *context, const char *text, size_t length, size_t *new_length)
{
	const struct rr_renaming *renaming = context;
	char *renamed = NULL;
	bool changed = false;
	FILE *file = rr_open_memory(&renamed, new_length);

	for (size_t at = 0; at < length;) {
		const struct rr_rename *pair = pair_at(renaming, text, length, at);

		changed |= pair != NULL;
		if (pair)
			fwrite(pair->to, 1, pair->n_to, file);
		else
			fputc(text[at], file);
		at += pair ? pair->n_from : 1;
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
	struct rdl_command command;
	char *texts[RDL_WORDS_MAX];
	bool changed = false;

	if (renaming->n == 0 || number == RR_NO_ID)
		return number;
	command = terms->command[number].words;
	for (size_t i = 0; i < command.n_words; i++) {
		struct rdl_word *word = &command.words[i];
		size_t length;

		texts[i] = rename_text(renaming, word->text, word->length, &length);
		if (texts[i])
			*word = (struct rdl_word){ texts[i], length };
		changed |= texts[i] != NULL;
	}
	if (changed)
		number = rr_terms_command(terms, &command);
	for (size_t i = 0; i < command.n_words; i++)
		free(texts[i]);
	return number;
}

/* A copy whose texts are all malloc'd. */
static struct rdl_reply copy_mapped(const struct rdl_reply *reply, rr_map_text *map,
				    const void *context)
{
	struct rdl_reply copy = *reply;

	if (reply->text) {
		copy.text = map(context, reply->text, reply->length, &copy.length);
		if (!copy.text) {
			copy.length = reply->length;
			copy.text = rr_memdup(reply->text, reply->length + 1);
		}
	} else if (reply->type == RDL_REPLY_ARRAY) {
		copy.elements = rr_calloc(reply->length + 1, sizeof(*copy.elements));
		for (size_t i = 0; i < reply->length; i++)
			copy.elements[i] = copy_mapped(&reply->elements[i], map, context);
	}
	return copy;
}

uint32_t rr_map_reply(struct rr_terms *terms, uint32_t number, rr_map_text *map,
		      const void *context)
{
	struct rdl_reply copy;

	if (number == RR_NO_ID)
		return number;
	copy = copy_mapped(&terms->reply[number].reply, map, context);
	number = rr_terms_reply(terms, &copy);
	rr_reply_release(&copy);
	return number;
}

uint32_t rr_rename_reply(const struct rr_renaming *renaming, struct rr_terms *terms,
			 uint32_t number)
{
	return renaming->n == 0 ? number : rr_map_reply(terms, number, rename_text, renaming);
}

/* ---- Exchanging --------------------------------------------------------------- */

static void add_both(struct rr_renaming *renaming, const void *a, const void *b, size_t n)
{
	rr_renaming_add(renaming, (struct rdl_word){ a, n }, (struct rdl_word){ b, n });
	rr_renaming_add(renaming, (struct rdl_word){ b, n }, (struct rdl_word){ a, n });
}

/* A random value, raw and in hexadecimal, and the other one for it. */
static void add_values(struct rr_renaming *renaming, const struct rr_term_name *name,
		       const unsigned char *other)
{
	char hex[2][2 * RR_RANDOM_BYTES];

	rr_to_hex(name->bytes, name->n_bytes, hex[0]);
	rr_to_hex(other, name->n_bytes, hex[1]);
	add_both(renaming, name->bytes, other, name->n_bytes);
	add_both(renaming, hex[0], hex[1], 2 * name->n_bytes);
}

/* Of each value that one of them has drawn, the other's is named as well. */
static void see_names(struct rr_exchange *exchange, struct rr_terms *terms, int a, int b)
{
	for (; exchange->n_seen < terms->n_names; exchange->n_seen++) {
		const struct rr_term_name name = terms->names[exchange->n_seen];
		unsigned char other[RR_RANDOM_BYTES];

		if (name.client != a && name.client != b)
			continue;
		rr_terms_random(terms, name.draw, a + b - name.client, name.generation, name.which,
				other, name.n_bytes);
		if (name.client == a)
			add_values(&exchange->renaming, &name, other);
	}
}

void rr_renaming_add_draws(struct rr_renaming *renaming, struct rr_terms *terms, unsigned a,
			   unsigned b)
{
	const size_t n = terms->n_names;

	for (size_t i = 0; i < n; i++) {
		const struct rr_term_name name = terms->names[i];
		unsigned char other[RR_RANDOM_BYTES];

		if (name.draw != a)
			continue;
		rr_terms_random(terms, b, name.client, name.generation, name.which, other,
				name.n_bytes);
		add_values(renaming, &name, other);
	}
}

static bool has_names_of(uint64_t mask, int a, int b)
{
	return mask & (RR_NAMES_OF_CLIENT(a) | RR_NAMES_OF_CLIENT(b));
}

uint32_t rr_exchange_command(struct rr_exchange *exchange, struct rr_terms *terms, int a, int b,
			     uint32_t command)
{
	if (a == b || !has_names_of(terms->command[command].names, a, b))
		return command;
	see_names(exchange, terms, a, b);
	return rr_rename_command(&exchange->renaming, terms, command);
}

uint32_t rr_exchange_reply(struct rr_exchange *exchange, struct rr_terms *terms, int a, int b,
			   uint32_t reply)
{
	if (a == b || !has_names_of(terms->reply[reply].names, a, b))
		return reply;
	see_names(exchange, terms, a, b);
	return rr_rename_reply(&exchange->renaming, terms, reply);
}

uint64_t rr_exchange_mask(uint64_t mask, int a, int b)
{
	const int at = a * RR_GENERATIONS, other = b * RR_GENERATIONS;
	const uint64_t differ = (mask >> at ^ mask >> other) & ((1U << RR_GENERATIONS) - 1);

	return a == b ? mask : mask ^ (differ << at | differ << other);
}
