/* SPDX-License-Identifier: MIT */
/*
 * What a server holds, as far as it means anything: of every key in every database its
 * type, its value and the time it has left, and functions. A stream's value is also its
 * last id, what was ever added and deleted, its groups with their consumers and the
 * entries that are pending, with owners and counts. Bytes are compared, never texts.
 *
 * What means nothing is left out: how a value is encoded; in which order keys, fields of a
 * hash and members of a set came about; the count that a HyperLogLog remembers; at what
 * time a consumer was last seen, or an entry delivered.
 */
#ifndef RR_CONTENTS_H
#define RR_CONTENTS_H

#include <jansson.h>

#include "base/reply.h"
#include "client/client.h"
#include "product/product.h"

struct rr_contents {
	struct rr_server_table *table;
	struct rr_programs *programs; /* NULL: nothing is random */
	size_t n_clients;
	const char *const *ignored; /* patterns of what is left out, see rr_ignored_field() */
	size_t n_ignored;
	int64_t day_ns;         /* when programs begin; 0 = times of day are any other number */
	bool excuses_times;     /* times near day_ns are not compared, nor are numbers of what keys
				 * had left, as clients were told, */
	bool excuses_told;      /* but the latter alone */
	struct rr_intern moved; /* keys in which an end that was explained so has others */
	struct rr_intern left_out; /* for a pattern: numbers of the terms' replies */
	uint32_t n_known;
	uint32_t *known; /* of each state what it holds, a number of the terms' replies;
			  * RR_NO_ID = not asked yet */
};

void rr_contents_release(struct rr_contents *contents);

/* The reply to a command that only looks; NULL: contents->table->error. */
const struct rdl_reply *rr_contents_ask(struct rr_contents *contents, uint32_t state,
					uint32_t command);

/* Nobody's connection, which such a command is sent on. */
enum { RR_LOOKING_SLOT = RR_ASKER_SLOTS - 1 };

/* The state that follows; RR_NO_ID: contents->table->error, or `state` was none. */
uint32_t rr_contents_after(const struct rr_contents *contents, uint32_t state,
			   const struct rr_question *question);

/* A line for each key: its value, and the time it has left. Keys that are not the same in
 * the state `beside` stand first (RR_NO_ID: none is compared), then they are sorted. Two
 * states that do not hold the same have different texts. Keys of databases other than 0
 * have "db N: " before them. Without keys it is RR_NO_KEYS. malloc'd. */
#define RR_NO_KEYS "no keys"
char *rr_contents_text(struct rr_contents *contents, uint32_t state, uint32_t beside);

/* The keys of a state, those first that are not the same in the other (RR_NO_ID: none is
 * compared), then sorted; *n of them, RR_KEY_PARTS elements each. The list is the caller's to free;
 * NULL: the table's error. */
const struct rdl_reply **rr_contents_list(struct rr_contents *contents, uint32_t state,
					  uint32_t beside, size_t *n);

/* Adds the commands that make it on an empty server. False: the table's error (contents_given.c). */
bool rr_contents_given(struct rr_contents *contents, uint32_t state,
		       struct rr_command_list *commands);

/* The names of the keys in database 0, in the order of their lines, but for those that
 * contain a byte 0; *names is the caller's to free, the texts are the table's. */
size_t rr_contents_keys(struct rr_contents *contents, uint32_t state, uint32_t beside,
			const char ***names);

/* Do two states hold the same? False, and the table's error, if they cannot be
 * asked. */
bool rr_contents_are_same(struct rr_contents *contents, uint32_t a, uint32_t b);

/* What a state holds, a number of the terms' replies: a list of keys, sorted, whose elements are
 * RR_KEY_PARTS each. RR_NO_ID: the table's error. */
uint32_t rr_contents_number(struct rr_contents *contents, uint32_t state);
int rr_contents_compare_keys(const void *a, const void *b);

/* The key of that name in such a list; NULL = there is none. */
const struct rdl_reply *rr_contents_find(const struct rdl_reply *list, const struct rdl_reply *key);

/* Have two keys the same type and value? Either may be NULL. */
bool rr_contents_have_same_value(struct rr_terms *terms, const struct rdl_reply *a,
				 const struct rdl_reply *b);

/* Sorts the elements of a set, sorted set or hash, `group` of which belong together. */
void rr_contents_sort(struct rdl_reply *value, size_t group);

/* ---- Random values (contents_alike.c) --------------------------------------------- */

/* Do two states hold the same if what is random in the first has other values in the second? Each client's
 * values are its own. Where it has heard something else, a program has drawn another. */
bool rr_contents_are_alike(struct rr_contents *contents, uint32_t a, uint32_t b);

/* Two states are alike but for times of day: notes the names of keys in which they differ. */
void rr_contents_note_moved(struct rr_contents *contents, uint32_t a, uint32_t b);
/* The same of what states hold, by its numbers. */
bool rr_contents_numbers_are_alike(struct rr_contents *contents, uint32_t a, uint32_t b);

/* A digest of the lines of what a state holds, with random values renamed; *digest. False, and the
 * table's error, if it cannot be asked. */
bool rr_contents_digest(struct rr_contents *contents, uint32_t state,
			const struct rr_renaming *renaming, uint64_t *digest);

/* How far they are apart then: keys that differ, and of these types, values and times left. */
struct rr_contents_distance {
	size_t keys, parts;
};
struct rr_contents_distance rr_contents_distance(struct rr_contents *contents, uint32_t a,
						 uint32_t b);

/* ---- What is not compared (contents_ignored.c) ------------------------------------- */

/* Puts the patterns among the words of the script that reads a state: each, and its field or "". */
void rr_contents_ignore(const struct rr_contents *contents, const char **words, size_t most);

/* Notes what that script, the command number `own`, has left out. False, and the table's error: a
 * pattern KEY.FIELD names a key without fields. */
bool rr_contents_note_ignored(struct rr_contents *contents, const struct rdl_reply *left_out,
			      uint32_t own);

/* Of each pattern, what it left out of the states that were looked at, as docs/formats.md has
 * `ignored`; a new reference. */
json_t *rr_contents_ignored_as_json(const struct rr_contents *contents);

/* ---- Of one key (contents_text.c) ------------------------------------------------ */

/* What is said of a key, and of functions as if they were keys of a database -1. */
enum { RR_KEY_DATABASE, RR_KEY_NAME, RR_KEY_LEFT_MS, RR_KEY_TYPE, RR_KEY_VALUE, RR_KEY_PARTS };

/* Of a stream's value, and of each of its groups. Attributes are names and values of all that
 * XINFO says of it and that is not as it would be by itself. */
enum { RR_STREAM_ENTRIES, RR_STREAM_ATTRIBUTES, RR_STREAM_GROUPS };
enum { RR_HASH_GROUP = 3 }; /* field, value, time left */
enum { RR_GROUP_NAME, RR_GROUP_ATTRIBUTES, RR_GROUP_CONSUMERS, RR_GROUP_PENDING };

bool rr_contents_has_type(const struct rdl_reply *key, const char *type);

/* Its line, with a newline. */
void rr_contents_print_key(FILE *file, const struct rdl_reply *key);

#endif
