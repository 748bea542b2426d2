/* SPDX-License-Identifier: MIT */
/* The columns of a drawing in text, and how wide each is. */
#ifndef RR_SHEET_H
#define RR_SHEET_H

#include "draw.h"

enum rr_column_kind {
	RR_COLUMN_NUMBER,
	RR_COLUMN_CLIENT, /* of one client */
	RR_COLUMN_ALL,    /* of all clients, where there is no room for each */
	RR_COLUMN_KEY,
};

struct rr_column {
	enum rr_column_kind kind;
	int index;  /* of the client or key */
	size_t width;
};

enum { RR_COLUMNS_MAX = 1 + RR_ACTORS_MAX + RR_KEYS_SHOWN_MAX,
       RR_GAP = 2,     /* between columns */
       RR_RULE_EXTRA = 9, /* of a rule, beside its text */
       RR_ARROW = 9 }; /* room for an arrow, where there are arrows */

struct rr_sheet {
	const struct rr_rows *rows;
	size_t n;
	struct rr_column columns[RR_COLUMNS_MAX];
	size_t width;         /* of all columns */
	size_t remarks_at;    /* where remarks begin; 0 = below their rows */
	size_t remarks_width;
	bool has_arrows;      /* two clients, and a key between them */
	size_t gutter;        /* before a client's cell: whether it is inside */
};

/* Finds out how to fit the rows into `width` columns. */
void rr_sheet_lay_out(struct rr_sheet *sheet, const struct rr_rows *rows,
		      size_t width);

/* What stands in a column of a row, NULL = nothing; malloc'd. */
char *rr_sheet_cell(const struct rr_sheet *sheet,
		    const struct rr_column *column, const struct rr_row *row);

/* Its head. */
const char *rr_sheet_head(const struct rr_sheet *sheet,
			  const struct rr_column *column);

/* What of a client's column is for text. */
size_t rr_sheet_text_width(const struct rr_sheet *sheet,
			   const struct rr_column *column);

#endif
