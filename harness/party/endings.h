/* SPDX-License-Identifier: MIT */
/*
 * How programs end, by numbers, and whether two of them ended alike: with the same
 * status, and having printed the same. What need not be the same is left out: lines that
 * the user names, and tokens in which two runs with the same replies differ (varying.c): a
 * process id, a time of a kernel's clock. Lines that are permuted between two such runs (those of
 * two threads) are compared sorted.
 */
#ifndef RR_ENDINGS_H
#define RR_ENDINGS_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client_run.h"

struct rr_ending {
	int status;         /* of wait(2) */
	int http;           /* the status of an answer by HTTP; 0 = it is none */
	const char *output; /* whatever bytes, and a NUL behind them */
	size_t length;
};

struct rr_endings {
	struct rr_intern all;    /* status, output */
	struct rr_intern serial; /* numbers of those of serial orders */
	regex_t *allowed;        /* lines that the user leaves out */
	size_t n_allowed;
	struct rr_varying {
		struct rdl_word pattern; /* see below */
		size_t line;             /* only this one, from 1; 0 = any, since there are words
					 * that do not vary */
	} * varying;                     /* lines that differ between runs */
	size_t n_varying;
	struct rr_intern unordered; /* lines that are permuted between runs, or their patterns */
};

void rr_endings_release(struct rr_endings *endings);

/* Leaves out lines that match one of these regular expressions, from now on. */
void rr_endings_allow(struct rr_endings *endings, const char *const *allowed, size_t n);

/* Has the user declared that ending a refusal? `refused` is an exit or HTTP status (digits), or a regular
 * expression that a part of the output matches; NULL: it has not. */
bool rr_ending_is_declared(const char *refused, struct rr_ending ending);

/* The number of an ending. */
uint32_t rr_endings_put(struct rr_endings *endings, struct rr_ending ending);

/* Of a number; of one that was never given: status 0 and nothing printed. */
struct rr_ending rr_endings_get(const struct rr_endings *endings, uint32_t number);

/* But for what is left out. */
bool rr_endings_are_same(const struct rr_endings *endings, uint32_t a, uint32_t b);

/* A digest of all that is compared of an ending: endings that are the same have the same one. */
uint64_t rr_endings_digest(const struct rr_endings *endings, uint32_t number);

/* Are they not? Then the first line that tells it begins at *at_a and *at_b in what they
 * printed. */
bool rr_endings_differ(const struct rr_endings *endings, uint32_t a, uint32_t b, const char **at_a,
		       const char **at_b);

/* An ending of a serial order; and those of another search. */
void rr_endings_note_serial(struct rr_endings *endings, uint32_t number);
void rr_endings_forget_serial(struct rr_endings *endings);

/* One run has waited, another has done the same without. Does what the first has printed
 * instead, or more, say only how it waited? What clients print in serial orders, where
 * nobody has to wait, says something else. */
bool rr_endings_differ_by_waiting(const struct rr_endings *endings, uint32_t waited,
				  uint32_t unwaited);

/* Two runs with the same history have these endings: from now on the tokens in which they differ are
 * left out; or, if only the order of their lines differs, these are compared sorted. */
void rr_endings_vary(struct rr_endings *endings, uint32_t a, uint32_t b);

/* ---- Answers ------------------------------------------------------------------------------ */

/* What requests of an app were answered, as its ending says: the records that redrace-app has
 * written down (base/marks.h), each an ending of its own. */

/* The answer of a request, by the ending of the app: the number of an ending; -1: none. */
long rr_answers_get(struct rr_endings *endings, long ending, size_t request);

/* Has the app ended by itself? Then no answer is a refusal. */
bool rr_answers_miss_app(struct rr_endings *endings, long ending);

/* What an answer means; `refused`: see rr_instance_config. A refusal is also an HTTP status 409, 412,
 * 423, 425, 428, 429 or 503. Any other 4xx or 5xx is a failure. */
struct rr_request_end rr_answers_judge(struct rr_endings *endings, long answer,
				       const char *refused);

/* The command of a request in a few words: "POST /buy", "LPUSH jobs x"; what was answered, its first line.
 * malloc'd. */
char *rr_request_words(const char *command);
char *rr_answer_words(struct rr_ending answer);

/* Were so many requests answered alike? */
bool rr_answers_are_same(struct rr_endings *endings, size_t n_requests, long a, long b);

/* As rr_endings_vary(), of each answer. */
void rr_answers_vary(struct rr_endings *endings, size_t n_requests, long a, long b);

/* ---- Lines that vary (varying.c) --------------------------------------------- */

/*
 * Lines of output that differ between two runs with the same replies, as patterns: `took *ms`,
 * `{"id":"*-*-*-*-*","sold":true}`. Only what varies is left out:
 *
 *	1. a token, a maximal run of letters and digits, that differs. Of a number beside letters
 *	   (`12ms`), and of a token that has at least four letters and digits in common with the
 *	   other one at an end (`9f3csold`), only the part that differs;
 *	2. where the separators between tokens differ, too (`a-b_c` and `d`), the part of the word in
 *	   which they do: letters, digits and `+/=_-.:`, as in base64 and in times;
 *	3. else the whole word; and all words from there on if one line has more of them.
 *
 * Blanks separate words; in such a line their number does not count.
 */

/* Returns a line as a pattern that matches only it; malloc'd. */
struct rdl_word rr_varying_of_line(struct rdl_word line);

/* Returns a pattern that matches all that one of these two matches; malloc'd. */
struct rdl_word rr_varying_join(struct rdl_word a, struct rdl_word b);

bool rr_varying_matches(struct rdl_word pattern, struct rdl_word line);

/* How many bytes of the pattern are compared. */
size_t rr_varying_compared(struct rdl_word pattern);

/* Has the pattern no letter or digit that counts? */
bool rr_varying_is_blank(struct rdl_word pattern);

/* Returns the pattern for people: `*` for a part that varies, `...` for a rest; `most` bytes of it at
 * most. malloc'd. */
char *rr_varying_text(struct rdl_word pattern, size_t most);

#endif
