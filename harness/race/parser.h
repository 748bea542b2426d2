/* SPDX-License-Identifier: MIT */
/* What the files of the parser share, and the words that the writer shares
 * with them. */
#ifndef RR_PARSER_H
#define RR_PARSER_H

#include <string.h>

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

/* Exactly `n` words in this line? `what` says what should stand there. */
bool parser_has_words(struct parser *parser, size_t n, const char *what);

/* Appends a step; NULL, and an error, when there is no room. */
struct rr_step *parser_add_step(struct parser *parser, enum rr_step_kind kind);

/* Appends what a document says; NULL as above. */
struct rr_saying *parser_add_saying(struct parser *parser);

bool parser_take_number(struct parser *parser, const char *text, int64_t least, int64_t most,
			int64_t *number);

/* 10s, 300ms, 5us, with a sign if `is_signed`; nanoseconds. */
bool parser_take_duration(struct parser *parser, const char *text, bool is_signed,
			  int64_t *duration_ns);

/* The line's words from `first` on are the step's command. */
bool parser_take_command(struct parser *parser, struct rr_step *step, size_t first);

/* Indices of names; -1 = none of that name. */
int parser_find_client(const struct rr_race *race, const char *name, size_t length);
int parser_find_server(const struct rr_race *race, const char *name);

/* Reads the line if it is a heading. */
enum parser_taken { PARSER_OTHER, PARSER_TAKEN, PARSER_WRONG };
enum parser_taken parser_heading(struct parser *parser);

/* Before the first step: a server and a client that need not be named. */
bool parser_complete_headings(struct parser *parser);

/* Does the line say what a declared client does besides commands, whatever the client is called:
 * "server crashes"? */
bool parser_is_doing(const struct parser *parser);

/* Any other line. */
bool parser_step(struct parser *parser);

static inline bool parser_same(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

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
