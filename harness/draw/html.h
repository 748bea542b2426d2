/* SPDX-License-Identifier: MIT */
/* The parts of a race's article: html.c, html_steps.c, and svg.c. */
#ifndef RR_HTML_H
#define RR_HTML_H

#include "knowledge.h"

struct rr_html {
	FILE *out;
	const struct rr_picture *picture;
	const struct rr_knowledge *knowledge;
	const char *id;
	size_t asked_row; /* the row that is asked about; n_rows = none */
	int heading;      /* 2: parts of the article have <h2> */
};

/* The steps: drawn, and as a list for where there is no room for that, and for those who
 * cannot see it. Those that one can step through have data-step. */
void rr_html_steps(const struct rr_html *html, bool can_step);

/* The picture of svg.c without title and verdict, each row a group with data-step. */
void rr_svg_embed(const struct rr_html *html);

/* With which step a row is shown: one without a number comes with the step after it. */
size_t rr_html_step_of(const struct rr_picture *picture, size_t row);

/* Does this row replace what its writer has not seen? */
bool rr_html_overwrites(const struct rr_html *html, size_t row);

/* What a row has to do with overwrite `number`, and from which step on that is so:
 * malloc'd; NULL = nothing. */
char *rr_html_overwrite(const struct rr_html *html, size_t row, size_t number, size_t *from);

/* What clients believe and servers hold, as it is at one step; a script moves it on. */
void rr_html_beliefs(const struct rr_html *html);

/* Which step a reader is to predict: the first one that breaks something, or replaces
 * what its writer has not seen, or decides. */
size_t rr_html_find_asked(const struct rr_picture *picture, const struct rr_knowledge *knowledge);

#endif
