/* SPDX-License-Identifier: MIT */
/* The parser's inside: what its files share. */
#ifndef RR_PARSER_H
#define RR_PARSER_H

#include "lines.h"

struct rr_parser {
	struct rr_race *race;
	struct rr_line line;
	size_t steps_room, sayings_room;
	size_t repeat_from; /* the first step of the repeat we are in */
	long repeat;        /* its rounds; 0 = in none */
	int repeat_line;
	char *error;
	size_t error_size;
};

/* "PATH:LINE: ...", or "PATH: ..." before the first line, as the error; false. */
bool rr_parser_fail(struct rr_parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Exactly `n` words in this line? `what` says what should stand there. */
bool rr_parser_has_words(struct rr_parser *parser, size_t n, const char *what);

/* Appends a step; NULL, and an error, when there is no room. */
struct rr_step *rr_parser_add_step(struct rr_parser *parser,
				   enum rr_step_kind kind);

/* Room for one more in an array that doubles. */
bool rr_parser_grow(void **array, size_t *room, size_t used, size_t size);

/* Indices of names; -1 = none of that name. */
int rr_parser_find_actor(const struct rr_race *race, const char *name,
			 size_t length);
int rr_parser_find_server(const struct rr_race *race, const char *name);

bool rr_parser_take_number(struct rr_parser *parser, const char *text,
			   int64_t least, int64_t most, int64_t *number);

/* 10s, 300ms, 5us, with a sign if `is_signed`; nanoseconds. */
bool rr_parser_take_duration(struct rr_parser *parser, const char *text,
			     bool is_signed, int64_t *duration_ns);

/* The line's words from `first` on are the step's command. */
bool rr_parser_take_command(struct rr_parser *parser, struct rr_step *step,
			    size_t first);

/* A name that must be a server's. */
bool rr_parser_take_server(struct rr_parser *parser, const char *name,
			   int *server);

/* Reads the line if it is a heading: 1 done, -1 wrong, 0 no heading. */
int rr_parser_heading(struct rr_parser *parser);

/* The headings "servers n1 n2" and "server n1 OPTION...". */
bool rr_parser_servers(struct rr_parser *parser);

/* One more server; NULL, and an error, when there is no room or the name is
 * taken. */
struct rr_race_server *rr_parser_add_server(struct rr_parser *parser,
					    const char *name);

/* Before the first step: a server and a client that need not be named. */
bool rr_parser_complete_headings(struct rr_parser *parser);

/* Any other line. */
bool rr_parser_step(struct rr_parser *parser);

/* Of these, A> COMMAND or A@n1> COMMAND, and any other step of a client. */
bool rr_parser_run(struct rr_parser *parser);
bool rr_parser_verb(struct rr_parser *parser, int actor);

/* The words of the language, which the writer knows, too: "tear N last", the
 * option "aof=always", and "A enters" ("<" for a read, NULL where no client's
 * name stands before a verb). */
const char *rr_tear_name(enum rr_tear tear);
const char *rr_aof_name(enum rr_aof aof);
const char *rr_step_verb(enum rr_step_kind kind);

#endif
