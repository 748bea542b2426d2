/* SPDX-License-Identifier: MIT */
/* Keys, and fields of hashes, that the user's patterns leave out of the comparison. */
#include "contents.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "server/server.h"

/* The parts of what was left out, as the script that reads a state lists it. */
enum { LEFT_NUMBER, LEFT_DATABASE, LEFT_KEY, LEFT_KIND, LEFT_FIELD, LEFT_PARTS };

void rr_contents_ignore(const struct rr_contents *contents, const char **words, size_t most)
{
	for (size_t i = 0; i < contents->n_ignored && 2 * i + 1 < most; i++) {
		words[2 * i] = contents->ignored[i];
		words[2 * i + 1] = rr_ignored_field(contents->ignored[i]);
	}
}

/* The script counts words. */
static size_t pattern_of(const struct rdl_reply *left)
{
	return (size_t)left->elements[LEFT_NUMBER].integer / 2;
}

static bool is_kind(const struct rdl_reply *left, const char *kind)
{
	return strcmp(left->elements[LEFT_KIND].text, kind) == 0;
}

/* Does a command but `own` have that word? */
static bool is_named(const struct rr_terms *terms, const char *word, uint32_t own)
{
	bool is = false;

	for (uint32_t i = 0; i < terms->n_commands && !is; i++) {
		const struct rdl_command *command = &terms->command[i].words;

		for (size_t j = 0; i != own && j < command->n_words && !is; j++)
			is = rr_word_is(&command->words[j], word);
	}
	return is;
}

bool rr_contents_note_ignored(struct rr_contents *contents, const struct rdl_reply *left_out,
			      uint32_t own)
{
	struct rr_terms *terms = contents->table->terms;

	for (size_t i = 0; i < left_out->length; i++) {
		const struct rdl_reply *left = &left_out->elements[i];
		const char *pattern = contents->ignored[pattern_of(left)];
		const int length = (int)(strlen(pattern) - strlen(rr_ignored_field(pattern)) - 1);
		uint32_t number;

		/* A key whose whole name it is may be meant, and not be there. */
		if (!is_kind(left, "key") && !is_kind(left, "field") &&
		    !pattern[strcspn(pattern, "*?[\\")] && !is_named(terms, pattern, own))
			return rr_error_set(
				&contents->table->error, RR_ERROR_USAGE,
				"--ignore '%.200s': %.*s is a %s, and only a hash has fields; for a key of that name write '%.*s\\%.100s'",
				pattern, length, pattern, left->elements[LEFT_KIND].text, length,
				pattern, pattern + length);
		number = rr_terms_reply(terms, left);
		rr_intern_put(&contents->left_out, &number, sizeof(number), NULL);
	}
	return true;
}

/* By all of their parts; numbers before texts. */
static int compare_left(const void *a, const void *b)
{
	const struct rdl_reply *one = (*(const struct rdl_reply *const *)a)->elements;
	const struct rdl_reply *other = (*(const struct rdl_reply *const *)b)->elements;
	int order = 0;

	for (int i = 0; i < LEFT_PARTS && order == 0; i++)
		order = i <= LEFT_DATABASE ? (one[i].integer > other[i].integer) -
						     (one[i].integer < other[i].integer) :
					     rr_compare_bytes(one[i].text, one[i].length,
							      other[i].text, other[i].length);
	return order;
}

/* "user:1", or "db 1: user:1". */
static json_t *name_of(const struct rdl_reply *left)
{
	const long long database = left->elements[LEFT_DATABASE].integer;
	char *key = rr_plain_bytes(left->elements[LEFT_KEY].text, left->elements[LEFT_KEY].length);
	json_t *name = database ? json_sprintf("db %lld: %s", database, key) : json_string(key);

	free(key);
	return name;
}

json_t *rr_contents_ignored_as_json(const struct rr_contents *contents)
{
	const struct rr_terms *terms = contents->table->terms;
	const uint32_t n = contents->left_out.n;
	const struct rdl_reply **all = rr_calloc(n + 1, sizeof(*all));
	json_t *patterns = json_array();

	for (uint32_t i = 0; i < n; i++)
		all[i] = &terms->reply[*(const uint32_t *)rr_intern_get(&contents->left_out, i)]
				  .reply;
	qsort(all, n, sizeof(*all), compare_left);
	for (size_t i = 0; i < contents->n_ignored; i++) {
		json_t *keys = json_array(), *fields = json_array();

		for (uint32_t j = 0; j < n; j++) {
			const struct rdl_reply *field = &all[j]->elements[LEFT_FIELD];
			char *text;

			if (pattern_of(all[j]) != i)
				continue;
			if (is_kind(all[j], "key"))
				json_array_append_new(keys, name_of(all[j]));
			if (!is_kind(all[j], "field"))
				continue;
			text = rr_plain_bytes(field->text, field->length);
			json_array_append_new(fields, json_pack("{s:o, s:s}", "key",
								name_of(all[j]), "field", text));
			free(text);
		}
		json_array_append_new(patterns,
				      json_pack("{s:s, s:o, s:o}", "pattern", contents->ignored[i],
						"keys", keys, "fields", fields));
	}
	free(all);
	return patterns;
}
