/* SPDX-License-Identifier: MIT */
/*
 * Commands, replies and random values by their numbers.
 *
 * Random values. Clients make tokens of random bytes. Here a token is named by who
 * made it: the client, the generation of its attempt and its number in there. So a run
 * with the same history sends the same commands. A name may be used again when it is
 * nowhere left: hence the mask of names that a text contains, a bit for each client
 * and generation.
 */
#ifndef RR_TERMS_H
#define RR_TERMS_H

#include "base/bytes.h"
#include "driver.h"
#include "intern.h"

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

/* How long a command that waits does so, by its own words; INT64_MAX = for ever. */
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

#endif
