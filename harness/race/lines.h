/* SPDX-License-Identifier: MIT */
/* A line of a race, cut into pieces: words, the reply after =>, the remark. */
#ifndef RR_LINES_H
#define RR_LINES_H

#include "race.h"

struct rr_line {
	int number;
	size_t n_words;
	const char *words[RR_WORDS_MAX]; /* quotes and escapes resolved */
	size_t lengths[RR_WORDS_MAX];
	const char *rest;    /* what follows the first word, as written */
	const char *reply;   /* what follows =>, as written; NULL = no => */
	const char *remark;  /* what follows !; NULL = no ! */
};

/* Cuts `text` (without its newline) up; texts are kept by the race. False with
 * a message in `error`. An empty line, or a comment, has no words. */
bool rr_line_cut(struct rr_race *race, int number, const char *text,
		 size_t length, struct rr_line *line, char *error,
		 size_t error_size);

#endif
