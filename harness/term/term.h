/* SPDX-License-Identifier: MIT */
/*
 * Every value that crosses a boundary (a word, a command, a reply, a random value, a time of day in a
 * text) is a number. Nothing is known here of clients and servers.
 */
#ifndef RR_TERM_H
#define RR_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "driver.h"

/* ---- Numbers of values (intern.c) --------------------------------------------- */

/*
 * Values that are kept once each and known by a number: 0, 1, 2, ... in the order
 * in which they were first seen. Everything that the explorer compares (commands,
 * replies, states) is such a value, so that comparing is comparing numbers.
 */

enum { RR_NO_ID = UINT32_MAX };

struct rr_intern {
	uint32_t n;
	size_t n_bytes; /* of memory, in all */
	struct rr_intern_value {
		const void *bytes;
		uint32_t length, hash;
	} * values;
	uint32_t capacity, n_slots; /* n_slots is a power of 2 */
	uint32_t *slots;            /* number + 1, 0 = free */
	struct rr_intern_chunk *chunks;
};

/* The value's number, with *is_new set (unless NULL) if nobody has seen it before.
 * The bytes are copied. */
uint32_t rr_intern_put(struct rr_intern *intern, const void *bytes, size_t length, bool *is_new);

/* Its number if it was seen before, else RR_NO_ID. */
uint32_t rr_intern_find(const struct rr_intern *intern, const void *bytes, size_t length);

/* The value, aligned to 8 bytes; valid until the release. */
static inline const void *rr_intern_get(const struct rr_intern *intern, uint32_t id)
{
	return intern->values[id].bytes;
}

/* FNV-1a of a number's bytes, to go on with; the first hash is RR_HASH_START. */
#define RR_HASH_START UINT64_C(14695981039346656037)

uint64_t rr_hash_number(uint64_t hash, int64_t number);

/* All zero = empty; a release makes it so. */
void rr_intern_release(struct rr_intern *intern);

/* ---- Commands and replies (terms.c) ------------------------------------------- */

/*
 * Commands, replies and random values by their numbers.
 *
 * Random values. Clients make tokens of random bytes. Here a token is named by who
 * made it: the client, the generation of its attempt and its number in there. So a run
 * with the same history sends the same commands. A name may be used again when it is
 * nowhere left: hence the mask of names that a text contains, a bit for each client
 * and generation.
 */

enum {
	RR_GENERATIONS = 4,  /* of a client's names */
	RR_RANDOM_BYTES = 64 /* by which a value is found again, from 4 on */
};

/* What the server says of a command (COMMAND INFO). */
struct rr_command_info {
	bool blocks;        /* may keep its client waiting */
	bool of_connection; /* may leave something on its connection */
	bool is_random;     /* two servers may answer differently */
	bool has_keys;      /* some of its words are keys */
	bool only_reads;    /* no data */
	bool finds_keys;    /* which ones, or others that it touches, it finds out as it runs */
};

struct rr_term_command {
	struct rdl_command words; /* texts stay; no numbers */
	uint64_t names;           /* the mask of random values in it */
	uint32_t name;            /* its first word in capitals, a number */
	uint32_t kind;            /* without names and numbers, see mutants.h */
};

struct rr_term_reply {
	struct rdl_reply reply; /* texts stay */
	uint64_t names;
};

struct rr_terms {
	struct rr_intern commands, replies, words, kinds;
	struct rr_intern left;           /* what keys had left, as clients were told: texts */
	struct rr_term_command *command; /* by number */
	struct rr_term_reply *reply;
	uint32_t n_commands, n_replies;
	struct rr_term_name {
		uint64_t mask;
		unsigned draw;
		int client, generation;
		unsigned which;
		size_t n_bytes;
		unsigned char bytes[RR_RANDOM_BYTES];
	} * names;
	size_t n_names;
};

void rr_terms_release(struct rr_terms *terms);

/* Their numbers, new or known. */
uint32_t rr_terms_command(struct rr_terms *terms, const struct rdl_command *command);
uint32_t rr_terms_reply(struct rr_terms *terms, const struct rdl_reply *reply);

/* Frees what a copy of a reply consists of. */
void rr_reply_release(struct rdl_reply *reply);

/* By the reply to COMMAND INFO of one command. */
struct rr_command_info rr_command_info_of(const struct rdl_reply *reply, const char *name);

/* How long a command that waits does so, by its own words; INT64_MAX = indefinitely. */
int64_t rr_command_time_out_ns(const struct rdl_command *command);

/* A command of words, the last one NULL. */
uint32_t rr_terms_words(struct rr_terms *terms, const char *const *words);

/* The bytes of a random value: the same for the same numbers, and others in another draw.
 * `generation` below 0 is for values that are never named again, and the same in each draw. */
void rr_terms_random(struct rr_terms *terms, unsigned draw, int client, int generation,
		     unsigned which, unsigned char *bytes, size_t n);

/* A text that is a random value of a client, too. Behind the last one rr_terms_see_names()
 * looks for them in all commands and replies that are known. */
void rr_terms_add_name(struct rr_terms *terms, struct rdl_word text, int client, int generation);
void rr_terms_see_names(struct rr_terms *terms);

/* The mask of those random values, raw or in hexadecimal, that a text contains. */
uint64_t rr_terms_names_in(const struct rr_terms *terms, const void *text, size_t length);

/* Of a client's random values, all generations. */
#define RR_NAMES_OF_CLIENT(client) \
	(((UINT64_C(1) << RR_GENERATIONS) - 1) << ((client)*RR_GENERATIONS))

void rr_to_hex(const unsigned char *bytes, size_t n, char *text);

static inline uint64_t rr_name_bit(int client, int generation)
{
	return UINT64_C(1) << (client * RR_GENERATIONS + generation);
}

/* ---- Renaming (renaming.c) ---------------------------------------------------- */

/*
 * Texts that stand for others, in commands and replies: random values. All are looked
 * for at once, so that two can be exchanged.
 */

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

/* A mask of random values with those of the two exchanged. */
uint64_t rr_exchange_mask(uint64_t mask, int a, int b);

/* ---- Times of day (times.c) --------------------------------------------------- */

/*
 * Times of day in texts: how long a program has waited says when it wrote them, and which of
 * several schedules it was, but nothing of what it did. Where two texts are the same but for
 * such times, they say the same.
 *
 * What counts as one are digits, perhaps with a point, that are within about a day of the time at
 * which programs begin, in seconds or parts of them, and dates as ISO 8601 has them of that day.
 */

/* Is the whole word digits that are a time of day near that one? */
bool rr_is_time(struct rdl_word word, int64_t day_ns);

/* How many digits all those times have in common, from the first one on. */
size_t rr_digits_of_day(int64_t day_ns);

/* The text with "<time>" for each time of day; malloc'd. NULL: there is none in it. */
char *rr_without_times(const char *text, size_t length, int64_t day_ns, size_t *new_length);

/* The same in all texts of a reply. */
/* And without what keys had left, at least 10, in the units in which clients were told. */
uint32_t rr_reply_without_times(struct rr_terms *terms, uint32_t reply, int64_t day_ns);

/* A client was told that a key has so much left, in seconds or milliseconds. */
void rr_terms_note_left(struct rr_terms *terms, long long left);

#endif
