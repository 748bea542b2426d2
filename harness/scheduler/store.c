/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 32768 };

struct rr_store_chunk {
	struct rr_store_chunk *next;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

static struct rr_store_chunk *make_chunk(size_t size)
{
	struct rr_store_chunk *chunk = malloc(sizeof(*chunk) + size);

	if (chunk)
		*chunk = (struct rr_store_chunk){ .size = size };
	return chunk;
}

/* The next chunk with room, those that are too small passed over. */
static bool advance(struct rr_store *store, size_t size)
{
	struct rr_store_chunk **at = store->current ? &store->current->next :
						      &store->first;

	while (*at && (*at)->size < size)
		at = &(*at)->next;
	if (!*at)
		*at = make_chunk(size > CHUNK_SIZE ? size : CHUNK_SIZE);
	if (!*at)
		return false;
	store->current = *at;
	store->used = 0;
	return true;
}

void *rr_store_take(struct rr_store *store, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	char *piece;

	size = (size + align - 1) / align * align;
	if ((!store->current || store->used + size > store->current->size) &&
	    !advance(store, size))
		return NULL;
	piece = store->current->bytes + store->used;
	store->used += size;
	return piece;
}

void rr_store_reset(struct rr_store *store)
{
	store->current = store->first;
	store->used = 0;
}

void rr_store_release(struct rr_store *store)
{
	while (store->first) {
		struct rr_store_chunk *chunk = store->first;

		store->first = chunk->next;
		free(chunk);
	}
	*store = (struct rr_store){ 0 };
}

static struct rl_word copy_text(struct rr_store *store, const char *text,
				size_t length)
{
	char *copy = rr_store_take(store, length + 1);

	if (!copy)
		return (struct rl_word){ "", 0 };
	memcpy(copy, text, length);
	copy[length] = '\0';
	return (struct rl_word){ copy, length };
}

struct rl_word *rr_store_words(struct rr_store *store,
			       const struct rl_command *command)
{
	struct rl_word *words =
		rr_store_take(store, command->n_words * sizeof(*words));

	for (size_t i = 0; words && i < command->n_words; i++) {
		const struct rl_word *word = &command->words[i];

		words[i] = copy_text(store, word->text, word->length);
	}
	return words;
}

struct rl_reply rr_store_reply(struct rr_store *store,
			       const struct rl_reply *reply)
{
	struct rl_reply copy = *reply;

	if (reply->type == RL_REPLY_ARRAY) {
		copy.elements = rr_store_take(store, (reply->length + 1) *
							     sizeof(copy));
		if (!copy.elements)
			return (struct rl_reply){ .type = RL_REPLY_NIL };
		for (size_t i = 0; i < reply->length; i++)
			copy.elements[i] =
				rr_store_reply(store, &reply->elements[i]);
	} else if (reply->text) {
		const struct rl_word text =
			copy_text(store, reply->text, reply->length);

		copy.text = text.text;
		copy.length = text.length;
	}
	return copy;
}
