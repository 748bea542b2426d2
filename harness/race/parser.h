/* SPDX-License-Identifier: MIT */
/* What the parser asks of a race (allowed.c), and the words that it shares with the writer. */
#ifndef RR_PARSER_H
#define RR_PARSER_H

#include "race.h"

/* A line cut into pieces; the race keeps their texts. */
struct parser_line {
	int number;
	size_t n_words;                  /* 0: an empty line, or a comment */
	const char *words[RR_WORDS_MAX]; /* quotes and escapes resolved */
	size_t lengths[RR_WORDS_MAX];
	bool has_zero;      /* a byte 0 in a word that nobody has taken with its length */
	const char *rest;   /* what follows the first word, as written */
	const char *reply;  /* what follows =>, as written; NULL = no => */
	const char *remark; /* what follows !; NULL = no ! */
};

struct parser {
	struct rr_race *race;
	struct parser_line line;
	size_t repeat_from; /* the first step of the repeat we are in */
	int repeat;         /* its rounds; 0 = in none */
	int repeat_line;
	struct rr_error *error;
};

/* Sets "PATH:LINE: ...", or "PATH: ..." before the first line, as the error;
 * false. */
bool parser_fail(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- What a race may do (allowed.c) ------------------------------------- */

/* A setting of redis.conf. */
bool parser_may_set(const char *setting);

/* A command, or the error. */
bool parser_allows_command(struct parser *parser, const struct rr_step *step);

/* Of all steps: commands that are written byte by byte, and those that the program does
 * for the race, or the error. */
bool parser_allows_bytes(struct parser *parser);
bool parser_allows_reserved(struct parser *parser);

/* ---- Words of the language (race.c) ------------------------------------- */

/* "last" of "tear N last", "always" of the option "aof=always". */
const char *rr_tear_name(enum rr_tear tear);
const char *rr_aof_name(enum rr_aof aof);

#endif
