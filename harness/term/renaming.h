/* SPDX-License-Identifier: MIT */
/*
 * Texts that stand for others, in commands and replies: random values. All are looked
 * for at once, so that two can be exchanged.
 */
#ifndef RR_RENAMING_H
#define RR_RENAMING_H

#include "terms.h"

/* All zero = empty. */
struct rr_renaming {
	size_t n;
	struct rr_rename {
		char *from, *to;
		size_t n_from, n_to; /* bytes */
	} * pairs;
};

/* Both are copied. */
void rr_renaming_add(struct rr_renaming *renaming, struct rdl_word from, struct rdl_word to);
void rr_renaming_release(struct rr_renaming *renaming);

/* What a text is renamed to; itself: it is not. */
struct rdl_word rr_renaming_of(const struct rr_renaming *renaming, struct rdl_word from);

/* Takes out that text, and from the other one, which is its reverse, what it is renamed to. False:
 * it is not there. */
bool rr_renaming_drop(struct rr_renaming *renaming, struct rr_renaming *reverse,
		      struct rdl_word from);

bool rr_renaming_has(const struct rr_renaming *renaming, struct rdl_word from);

/* The command, or reply, with all of it renamed. */
uint32_t rr_rename_command(const struct rr_renaming *renaming, struct rr_terms *terms,
			   uint32_t command);
uint32_t rr_rename_reply(const struct rr_renaming *renaming, struct rr_terms *terms,
			 uint32_t reply);

/* What becomes of a text: malloc'd; NULL: it stays as it is. */
typedef char *rr_map_text(const void *context, const char *text, size_t length, size_t *new_length);

/* The reply with all of its texts mapped. */
uint32_t rr_map_reply(struct rr_terms *terms, uint32_t reply, rr_map_text *map,
		      const void *context);

/* The random values that are known of one draw, and those of another, exchanged. */
void rr_renaming_add_draws(struct rr_renaming *renaming, struct rr_terms *terms, unsigned a,
			   unsigned b);

/* Two clients' random values, exchanged with each other. */
struct rr_exchange {
	struct rr_renaming renaming;
	size_t n_seen; /* names that have been looked at */
};

/* The command, or reply, in which each random value of one is that which the other has
 * drawn as its so many-th in that generation; and the other way round. */
uint32_t rr_exchange_command(struct rr_exchange *exchange, struct rr_terms *terms, int a, int b,
			     uint32_t command);
uint32_t rr_exchange_reply(struct rr_exchange *exchange, struct rr_terms *terms, int a, int b,
			   uint32_t reply);

/* A mask of random values, see terms.h, with those of the two exchanged. */
uint64_t rr_exchange_mask(uint64_t mask, int a, int b);

#endif
