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

#include "explore.h"
#include "product/product.h"

struct rr_contents {
	struct rr_server_table *table;
	const char *const *ignored; /* patterns of keys that are left out, as KEYS has them */
	size_t n_ignored;
	int64_t day_ns;         /* when programs begin; 0 = times of day are any other number */
	bool excuses_times;     /* times near day_ns are not compared, */
	struct rr_intern moved; /* keys in which an end that was explained so has others */
	uint32_t n_known;
	uint32_t *known; /* of each state what it holds, a number of the terms' replies;
			  * RR_NO_ID = not asked yet */
};

void rr_contents_release(struct rr_contents *contents);

/* The reply to a command that only looks; NULL: contents->table->error. */
const struct rl_reply *rr_contents_ask(struct rr_contents *contents, uint32_t state,
				       uint32_t command);

/* A line for each key: its value, and the time it has left. Keys that are not the same in
 * the state `beside` stand first (RR_NO_ID: none is compared), then they are sorted. Two
 * states that do not hold the same have different texts. Keys of databases other than 0
 * have "db N: " before them. malloc'd. */
char *rr_contents_text(struct rr_contents *contents, uint32_t state, uint32_t beside);

/* The keys of a state, those first that are not the same in the other (RR_NO_ID: none is
 * compared), then sorted; *n of them, RR_KEY_PARTS elements each. The list is the caller's to free;
 * NULL: the table's error. */
const struct rl_reply **rr_contents_list(struct rr_contents *contents, uint32_t state,
					 uint32_t beside, size_t *n);

/* Commands that make it on an empty server, in lines of a race ("given SET x 1"); malloc'd. NULL:
 * the table's error (contents_given.c). */
char *rr_contents_given(struct rr_contents *contents, uint32_t state);

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

/* Sorts the elements of a set, sorted set or hash, `group` of which belong together. */
void rr_contents_sort(struct rl_reply *value, size_t group);

/* ---- Random values (contents_alike.c) --------------------------------------------- */

/* Do two states hold the same if what is random in the first has other values in the second? Each client's
 * values are its own. Where it has heard something else, a program has drawn another. */
bool rr_contents_are_alike(struct rr_contents *contents, uint32_t a, uint32_t b,
			   const struct rr_explored_programs *programs, size_t n_clients);

/* Two states are alike but for times of day: notes the names of keys in which they differ. */
void rr_contents_note_moved(struct rr_contents *contents, uint32_t a, uint32_t b,
			    const struct rr_explored_programs *programs, size_t n_clients);
/* The same of what states hold, by its numbers. */
bool rr_contents_numbers_are_alike(struct rr_contents *contents, uint32_t a, uint32_t b,
				   const struct rr_explored_programs *programs, size_t n_clients);

/* How far they are apart then: keys that differ, and of these types, values and times left. */
struct rr_contents_distance {
	size_t keys, parts;
};
struct rr_contents_distance rr_contents_distance(struct rr_contents *contents, uint32_t a,
						 uint32_t b,
						 const struct rr_explored_programs *programs,
						 size_t n_clients);

/* ---- Of one key (contents_text.c) ------------------------------------------------ */

/* What is said of a key, and of functions as if they were keys of a database -1. */
enum { RR_KEY_DATABASE, RR_KEY_NAME, RR_KEY_LEFT_MS, RR_KEY_TYPE, RR_KEY_VALUE, RR_KEY_PARTS };

/* Of a stream's value, and of each of its groups. Attributes are names and values of all that
 * XINFO says of it and that is not as it would be by itself. */
enum { RR_STREAM_ENTRIES, RR_STREAM_ATTRIBUTES, RR_STREAM_GROUPS };
enum { RR_HASH_GROUP = 3 }; /* field, value, time left */
enum { RR_GROUP_NAME, RR_GROUP_ATTRIBUTES, RR_GROUP_CONSUMERS, RR_GROUP_PENDING };

bool rr_contents_has_type(const struct rl_reply *key, const char *type);

/* Its line, with a newline. */
void rr_contents_print_key(FILE *file, const struct rl_reply *key);

#endif
