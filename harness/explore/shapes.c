/* SPDX-License-Identifier: MIT */
#include "shapes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "access.h"
#include "link.h"

enum { TABLE_SIZE = 1024, TOKEN_LENGTH = 40 };

struct rr_shapes {
	struct rr_shape *table[TABLE_SIZE];
	size_t n_shapes;
};

struct rr_shapes *rr_shapes_new(void)
{
	return calloc(1, sizeof(struct rr_shapes));
}

void rr_shapes_free(struct rr_shapes *shapes)
{
	for (size_t i = 0; shapes && i < TABLE_SIZE; i++)
		free(shapes->table[i]);
	free(shapes);
}

bool rr_shapes_has_word(const struct rr_op *op, const char *word)
{
	for (size_t i = 1; i < op->n_words; i++) {
		if (strcasecmp(op->words[i].text, word) == 0)
			return true;
	}
	return false;
}

/* ---- Shapes --------------------------------------------------------------- */

/* A number but the second word's, which may be a script's count of keys. */
static bool is_value(const struct rl_word *word, size_t index)
{
	const size_t digits = strspn(word->text, "-0123456789");

	if (index > 2 && digits == word->length)
		return true;
	return index > 1 && word->length == TOKEN_LENGTH &&
	       strspn(word->text, "0123456789abcdef") == word->length;
}

static uint64_t mix(uint64_t hash, const struct rl_word *word)
{
	for (size_t i = 0; i < word->length; i++)
		hash = (hash ^ (unsigned char)word->text[i]) *
		       UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

uint64_t rr_shapes_hash(const struct rl_word *word)
{
	return mix(UINT64_C(0xcbf29ce484222325), word);
}

/* A script's arguments are all the same to it: the third word counts its keys. */
static uint64_t hash_of(const struct rr_op *op)
{
	const bool is_script = rr_access_is_script(op);
	uint64_t hash = rr_shapes_hash(&op->words[0]);

	for (size_t i = 1; i < op->n_words; i++) {
		const struct rl_word *word = &op->words[i];
		const bool counts = is_script ? i <= 2 : !is_value(word, i);

		hash = mix(hash, counts ? word : &(struct rl_word){ "", 0 });
	}
	return hash;
}

/* ---- What the server says ------------------------------------------------- */

static bool has_flag(const struct rl_reply *flags, const char *flag)
{
	for (size_t i = 0; i < flags->length; i++) {
		if (strcmp(flags->elements[i].text, flag) == 0)
			return true;
	}
	return false;
}

static size_t find_word(const struct rr_op *op, size_t from, const char *text)
{
	while (from < op->n_words && strcmp(op->words[from].text, text) != 0)
		from++;
	return from;
}

static void note_keys(struct rr_shape *shape, const struct rr_op *op,
		      const struct rl_reply *reply)
{
	size_t word = 0;

	for (size_t i = 0; i < reply->length; i++) {
		const struct rl_reply *pair = reply->elements[i].elements;

		word = find_word(op, word + 1, pair[0].text);
		if (word >= op->n_words || shape->n_keys == RR_SHAPE_KEYS) {
			shape->is_unknown = true;
			return;
		}
		shape->keys[shape->n_keys].word = word;
		shape->keys[shape->n_keys].writes = !has_flag(&pair[1], "RO");
		shape->n_keys++;
	}
}

static void ask(struct rr_shape *shape, struct rl_link *link,
		const struct rr_op *op)
{
	struct rl_command command = { .n_words = op->n_words + 2 };
	struct rl_reply reply = { .type = RL_REPLY_NIL };

	shape->is_unknown = true;
	if (command.n_words > RL_WORDS_MAX)
		return;
	command.words[0] = (struct rl_word){ "COMMAND", 7 };
	command.words[1] = (struct rl_word){ "GETKEYSANDFLAGS", 15 };
	memcpy(command.words + 2, op->words, op->n_words * sizeof(*op->words));
	if (rl_run_command(link, &reply, &command) != RL_OK ||
	    reply.type != RL_REPLY_ARRAY)
		return;
	shape->is_unknown = false;
	note_keys(shape, op, &reply);
}

const struct rr_shape *rr_shapes_of(struct rr_shapes *shapes,
				    struct rl_link *link,
				    const struct rr_op *op)
{
	const uint64_t hash = hash_of(op);
	size_t at = hash % TABLE_SIZE;

	while (shapes->table[at] && shapes->table[at]->hash != hash)
		at = (at + 1) % TABLE_SIZE;
	if (shapes->table[at])
		return shapes->table[at];
	if (shapes->n_shapes == TABLE_SIZE - 1)
		return NULL;
	shapes->table[at] = calloc(1, sizeof(struct rr_shape));
	if (!shapes->table[at])
		return NULL;
	shapes->n_shapes++;
	shapes->table[at]->hash = hash;
	ask(shapes->table[at], link, op);
	return shapes->table[at];
}
