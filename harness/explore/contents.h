/* SPDX-License-Identifier: MIT */
/*
 * What a server holds, as a reader sees it: whichever order it has its keys in, or the
 * fields of a hash and the members of a set, which depends on how they came about. Asked
 * by the commands that anybody would use.
 */
#ifndef RR_CONTENTS_H
#define RR_CONTENTS_H

#include "product/product.h"

struct rr_contents {
	struct rr_server_table *table;
	const char *const *ignored; /* patterns (fnmatch(3)) of keys that are not
				     * looked at */
	size_t n_ignored;
	struct rr_intern texts; /* of whole states, to tell them apart */
	uint32_t n_known;
	uint32_t *text_of; /* of each state; RR_NO_ID = not asked yet */
};

void rr_contents_release(struct rr_contents *contents);

/* The reply to a command that only looks; NULL: contents->table->error. */
const struct rl_reply *rr_contents_ask(struct rr_contents *contents, uint32_t state,
				       uint32_t command);

/* A line for each key, sorted: its value, and the time it has left (`ms`: in whole
 * milliseconds). Keys of databases other than 0 have "db N: " before
 * them. malloc'd. */
char *rr_contents_text(struct rr_contents *contents, uint32_t state, bool ms);

/* The names of the keys in database 0; *names is the caller's to free, the texts are
 * the table's. */
size_t rr_contents_keys(struct rr_contents *contents, uint32_t state, const char ***names);

/* Do two states hold the same? False, and the table's error, if they cannot be
 * asked. */
bool rr_contents_are_same(struct rr_contents *contents, uint32_t a, uint32_t b);

#endif
