/* SPDX-License-Identifier: MIT */
#include "product.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Which keys a command touches. */
enum reach {
	REACH_UNKNOWN, /* nobody has asked yet */
	REACH_NONE,
	REACH_KEYS, /* those that it names */
	REACH_ANY
};

struct rr_named_keys {
	uint8_t reach;
	bool waits;
	bool is_plain; /* it is about data alone, and answered at once */
	uint32_t n;
	uint32_t *keys; /* numbers */
};

void rr_key_use_init(struct rr_key_use *use, struct rr_terms *terms, struct rr_beliefs *beliefs)
{
	*use = (struct rr_key_use){ .terms = terms, .beliefs = beliefs };
}

void rr_key_use_release(struct rr_key_use *use)
{
	for (uint32_t i = 0; i < use->n_named; i++)
		free(use->named[i].keys);
	free(use->named);
	free(use->clients);
	free(use->alone);
	rr_intern_release(&use->keys);
	rr_key_use_init(use, use->terms, use->beliefs);
}

void rr_key_use_begin(struct rr_key_use *use)
{
	if (use->keys.n > 0)
		memset(use->alone, 0, use->keys.n);
	use->relying = 0;
	use->relies_on_no_waits = false;
}

/* ---- What the server says of a command --------------------------------------- */

static void ask_for_keys(struct rr_key_use *use, struct rr_asker *asker,
			 const struct rdl_command *command, struct rr_named_keys *named)
{
	struct rdl_reply reply;

	named->reach = REACH_ANY;
	if (!rr_asker_keys(asker, command, &reply))
		return;
	named->reach = REACH_KEYS;
	named->n = (uint32_t)reply.length;
	named->keys = rr_calloc(named->n, sizeof(*named->keys));
	for (uint32_t i = 0; i < named->n; i++) {
		const struct rdl_reply *name = &reply.elements[i];
		bool is_new;
		const uint32_t key = rr_intern_put(&use->keys, name->text, name->length, &is_new);

		if (is_new) {
			use->clients = rr_realloc(use->clients, use->keys.n, 1);
			use->alone = rr_realloc(use->alone, use->keys.n, 1);
			use->clients[key] = use->alone[key] = 0;
		}
		named->keys[i] = key;
	}
}

static const struct rr_named_keys *keys_of(struct rr_key_use *use, struct rr_asker *asker,
					   uint32_t command)
{
	if (command >= use->n_named) {
		const uint32_t n = 2 * command + 64;

		use->named = rr_realloc(use->named, n, sizeof(*use->named));
		memset(use->named + use->n_named, 0, (n - use->n_named) * sizeof(*use->named));
		use->n_named = n;
	}
	if (use->named[command].reach == REACH_UNKNOWN) {
		struct rr_named_keys *named = &use->named[command];
		const struct rdl_command *words = &use->terms->command[command].words;
		const struct rr_command_info info = rr_asker_info(asker, words->words[0].text);

		named->waits = info.blocks;
		if (info.has_keys && !info.finds_keys)
			ask_for_keys(use, asker, words, named);
		else
			named->reach = info.of_connection ? REACH_NONE : REACH_ANY;
		named->is_plain = named->reach == REACH_KEYS && !info.blocks && !info.of_connection;
	}
	return &use->named[command];
}

/* ---- Who names them ------------------------------------------------------------ */

void rr_key_use_note(struct rr_key_use *use, struct rr_asker *asker, size_t client,
		     uint32_t command)
{
	const struct rr_named_keys *named = keys_of(use, asker, command);
	const unsigned self = 1U << client;
	bool is_wrong = named->waits && use->relies_on_no_waits;

	use->waits |= named->waits;
	if (named->reach == REACH_ANY) {
		use->of_any |= self;
		is_wrong |= (use->relying & ~self) != 0;
	}
	for (uint32_t i = 0; i < named->n; i++) {
		use->clients[named->keys[i]] |= (uint8_t)self;
		is_wrong |= (use->alone[named->keys[i]] & ~self) != 0;
	}
	if (is_wrong)
		rr_belief_withdraw(use->beliefs, RR_BELIEF_OWN_KEYS, NULL);
}

bool rr_key_use_is_own(struct rr_key_use *use, struct rr_asker *asker, size_t client,
		       uint32_t command, bool sets_time)
{
	const struct rr_named_keys *named = keys_of(use, asker, command);
	const unsigned self = 1U << client;

	if (!named->is_plain || use->of_any & ~self || (sets_time && use->waits))
		return false;
	for (uint32_t i = 0; i < named->n; i++) {
		if (use->clients[named->keys[i]] & ~self)
			return false;
	}
	for (uint32_t i = 0; i < named->n; i++)
		use->alone[named->keys[i]] |= (uint8_t)self;
	use->relying |= self;
	use->relies_on_no_waits |= sets_time;
	return true;
}
