/* SPDX-License-Identifier: MIT */
/* Do two servers hold the same but for what is random, and how far are they apart if not? */
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- Random values --------------------------------------------------------------------- */

/* How many elements belong together where their order means nothing, or only follows from
 * what they are; 0: it means something. */
static size_t size_of_group(const struct rdl_reply *parts)
{
	return rr_contents_has_type(parts, "set")  ? 1 :
	       rr_contents_has_type(parts, "zset") ? 2 :
	       rr_contents_has_type(parts, "hash") ? RR_HASH_GROUP :
						     0;
}

/* The same contents in the order of the bytes. */
static uint32_t sort_again(struct rr_terms *terms, uint32_t number)
{
	struct rdl_reply whole = terms->reply[number].reply;

	whole.elements = rr_memdup(whole.elements, whole.length * sizeof(whole));
	for (size_t i = 0; i < whole.length; i++) {
		struct rdl_reply *parts = rr_memdup(whole.elements[i].elements,
						    RR_KEY_PARTS * sizeof(*parts));

		whole.elements[i].elements = parts;
		if (size_of_group(parts))
			rr_contents_sort(&parts[RR_KEY_VALUE], size_of_group(parts));
	}
	qsort(whole.elements, whole.length, sizeof(whole), rr_contents_compare_keys);
	number = rr_terms_reply(terms, &whole);
	for (size_t i = 0; i < whole.length; i++) {
		if (size_of_group(whole.elements[i].elements))
			free(whole.elements[i].elements[RR_KEY_VALUE].elements);
		free(whole.elements[i].elements);
	}
	free(whole.elements);
	return number;
}

/* Its copy holds when terms grow; to sort again may be what makes them grow. */
static struct rdl_reply sorted_reply(struct rr_terms *terms, uint32_t number)
{
	const uint32_t sorted = sort_again(terms, number);

	return terms->reply[sorted].reply;
}

static uint64_t digest_of(const struct rdl_reply *key)
{
	return rr_digest_of_key(key->elements[RR_KEY_DATABASE].integer,
				&key->elements[RR_KEY_NAME]);
}

/* What a key had left when it was written; -1: it does not expire. */
static int64_t given_ms(const struct rr_contents *contents, uint32_t state,
			const struct rdl_reply *key)
{
	const struct rr_expiring *it = rr_server_table_find_expiring(contents->table, state,
								     digest_of(key));

	return it ? it->given_ms : -1;
}

/* Do keys differ only in the time that they have left, or in whether that is over, and by no more
 * than the time that has passed? In another execution it has passed after other steps. */
static bool differ_in_left(struct rr_contents *contents, uint32_t a, uint32_t b, uint32_t number,
			   uint32_t renamed)
{
	struct rr_terms *terms = contents->table->terms;
	const struct rr_server_snapshot *states = contents->table->states;
	const int64_t slack_ns = states[a].passed_ns > states[b].passed_ns ? states[a].passed_ns :
									     states[b].passed_ns;
	const int64_t slack_ms = slack_ns / 1000000;
	const struct rdl_reply one = sorted_reply(terms, number);
	const struct rdl_reply other = sorted_reply(terms, renamed);
	bool has_other = false; /* nor had they the same left when they were written */
	size_t i = 0, j = 0;

	if (slack_ns <= 0)
		return false;
	while (i < one.length || j < other.length) {
		const struct rdl_reply *key = &one.elements[i], *with = &other.elements[j];
		const int order = i == one.length   ? 1 :
				  j == other.length ? -1 :
						      rr_contents_compare_keys(key, with);
		const int64_t left_ms = order <= 0 ? key->elements[RR_KEY_LEFT_MS].integer : 0;
		const int64_t other_ms = order >= 0 ? with->elements[RR_KEY_LEFT_MS].integer : 0;

		if (order != 0) {
			/* It is not there any more in one of them. */
			const int64_t only_ms = order < 0 ? left_ms : other_ms;

			has_other = true;
			if (only_ms < 0 || only_ms > slack_ms ||
			    !rr_server_table_has_expired(contents->table, order < 0 ? b : a,
							 digest_of(order < 0 ? key : with)))
				return false;
		} else if (!rr_contents_have_same_value(terms, key, with)) {
			return false;
		} else if (left_ms != other_ms) {
			if (left_ms < 0 || other_ms < 0 || llabs(left_ms - other_ms) > slack_ms)
				return false;
			has_other |= given_ms(contents, a, key) != given_ms(contents, b, with);
		}
		i += order <= 0;
		j += order >= 0;
	}
	return !has_other || (contents->excuses_times && !contents->excuses_told);
}

bool rr_contents_digest(struct rr_contents *contents, uint32_t state,
			const struct rr_renaming *renaming, uint64_t *digest)
{
	struct rr_terms *terms = contents->table->terms;
	const uint32_t number = rr_contents_number(contents, state);
	struct rdl_reply whole;
	char *text;
	FILE *file;

	if (number == RR_NO_ID)
		return false;
	whole = sorted_reply(terms, rr_rename_reply(renaming, terms, number));
	file = rr_open_text(&text);
	for (size_t i = 0; i < whole.length; i++)
		rr_contents_print_key(file, whole.elements[i].elements);
	fclose(file);
	*digest = rr_bytes_digest(0, text, strlen(text));
	free(text);
	return true;
}

/* The second one with the random values of the first; RR_NO_ID: one of them is not known. */
static uint32_t rename_after(struct rr_contents *contents, uint32_t one, uint32_t other)
{
	struct rr_terms *terms = contents->table->terms;
	struct rr_renaming renaming = { 0 };

	if (one == RR_NO_ID || other == RR_NO_ID)
		return RR_NO_ID;
	for (size_t i = 0; i < contents->n_clients && contents->programs; i++)
		rr_programs_pair_values(contents->programs, i, &terms->reply[one].reply,
					&terms->reply[other].reply, &renaming);
	other = rr_rename_reply(&renaming, terms, other);
	rr_renaming_release(&renaming);
	return other;
}

bool rr_contents_numbers_are_alike(struct rr_contents *contents, uint32_t a, uint32_t b)
{
	struct rr_terms *terms = contents->table->terms;
	const uint32_t renamed = a == b ? a : rename_after(contents, a, b);

	/* Do they hold the same, but for times of day in it? */
	return renamed != RR_NO_ID &&
	       (sort_again(terms, a) == sort_again(terms, renamed) ||
		(contents->excuses_times && (contents->day_ns > 0 || terms->left.n > 0) &&
		 sort_again(terms, rr_reply_without_times(terms, a, contents->day_ns)) ==
			 sort_again(terms,
				    rr_reply_without_times(terms, renamed, contents->day_ns))));
}

bool rr_contents_are_alike(struct rr_contents *contents, uint32_t a, uint32_t b)
{
	uint32_t number, renamed;

	if (rr_contents_are_same(contents, a, b))
		return true;
	number = rr_contents_number(contents, a);
	if (rr_contents_numbers_are_alike(contents, number, rr_contents_number(contents, b)))
		return true;
	renamed = rename_after(contents, number, rr_contents_number(contents, b));
	return renamed != RR_NO_ID && differ_in_left(contents, a, b, number, renamed);
}

void rr_contents_note_moved(struct rr_contents *contents, uint32_t a, uint32_t b)
{
	struct rr_terms *terms = contents->table->terms;
	const uint32_t number = rr_contents_number(contents, a);
	const uint32_t renamed = rename_after(contents, number, rr_contents_number(contents, b));
	struct rdl_reply one, other;

	if (renamed == RR_NO_ID)
		return;
	one = sorted_reply(terms, number);
	other = sorted_reply(terms, renamed);
	for (size_t i = 0; i < one.length; i++) {
		const struct rdl_reply *key = &one.elements[i], *name = &key->elements[RR_KEY_NAME];
		const struct rdl_reply *found = rr_contents_find(&other, key);

		if (!found || rr_terms_reply(terms, found) != rr_terms_reply(terms, key))
			rr_intern_put(&contents->moved, name->text, name->length, NULL);
	}
}

struct rr_contents_distance rr_contents_distance(struct rr_contents *contents, uint32_t a,
						 uint32_t b)
{
	struct rr_terms *terms = contents->table->terms;
	struct rr_contents_distance distance = { 0 };
	struct rdl_reply one, other;
	uint32_t number, renamed;
	size_t i = 0, j = 0;

	if (rr_contents_are_alike(contents, a, b))
		return distance;
	number = rr_contents_number(contents, a);
	renamed = rename_after(contents, number, rr_contents_number(contents, b));
	if (renamed == RR_NO_ID)
		return (struct rr_contents_distance){ SIZE_MAX, 0 };
	one = sorted_reply(terms, number);
	other = sorted_reply(terms, renamed);
	while (i < one.length || j < other.length) {
		const struct rdl_reply *key = &one.elements[i], *with = &other.elements[j];
		const int order = i == one.length   ? 1 :
				  j == other.length ? -1 :
						      rr_contents_compare_keys(key, with);
		size_t n = 0;

		/* Its type, its value, the time that it has left; all of a key that one lacks. */
		for (int k = RR_KEY_LEFT_MS; k < RR_KEY_PARTS; k++)
			n += order || rr_terms_reply(terms, &key->elements[k]) !=
					      rr_terms_reply(terms, &with->elements[k]);
		distance.keys += n > 0;
		distance.parts += n;
		i += order <= 0;
		j += order >= 0;
	}
	return distance;
}
