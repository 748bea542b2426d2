/* SPDX-License-Identifier: MIT */
/* A race's article: html.c, its picture svg.c, and what its clients know, knowledge.c. */
#ifndef RR_HTML_H
#define RR_HTML_H

#include "model.h"

/* ---- What each client knows of the shown keys, and what the server holds --------- */

/* After a row. Texts belong to the knowledge or the picture; NULL = not known. */
struct rr_row_knowledge {
	const char *held[RR_KEYS_SHOWN_MAX]; /* by the server */
	const char *known[RR_KEYS_SHOWN_MAX][RR_RACE_CLIENTS_MAX];
	unsigned stale[RR_KEYS_SHOWN_MAX]; /* clients whose is not so any more */
};

/* A client looks at a key, another client writes it, and the first one writes it
 * without having looked again. All three are indices of rows. */
struct rr_overwrite {
	size_t look, between, write;
	size_t key;
};

enum { RR_OVERWRITES_MAX = 9 };

struct rr_knowledge {
	struct rr_row_knowledge *rows; /* one of each row of the picture */
	size_t n_overwrites;
	struct rr_overwrite overwrites[RR_OVERWRITES_MAX];
	size_t n_texts;
	char **texts;
};

void rr_knowledge_make(struct rr_knowledge *knowledge, const struct rr_picture *picture);
void rr_knowledge_free(struct rr_knowledge *knowledge);

/* ---- The article ------------------------------------------------------------------ */

struct rr_html {
	FILE *out;
	const struct rr_picture *picture;
	const struct rr_knowledge *knowledge;
	const char *id;
	size_t asked_row; /* the row that is asked about; n_rows = none */
	int heading;      /* 2: parts of the article have <h2> */
};

/* The picture of svg.c without title and verdict, each row a group with data-step. */
void rr_svg_embed(const struct rr_html *html);

/* With which step a row is shown: one without a number comes with the step after it. */
size_t rr_html_step_of(const struct rr_picture *picture, size_t row);

/* What a row has to do with overwrite `number`, and from which step on that is so:
 * malloc'd; NULL = nothing. */
char *rr_html_overwrite(const struct rr_html *html, size_t row, size_t number, size_t *from);

#endif
