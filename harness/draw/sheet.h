/* SPDX-License-Identifier: MIT */
/* The columns of a race that is drawn as a table: which there are, where, and how wide. */
#ifndef RR_SHEET_H
#define RR_SHEET_H

#include "draw.h"
#include "model.h"

enum column_kind { ONE_CLIENT, ALL_CLIENTS, KEY, REMARKS };

struct column {
	enum column_kind kind;
	int index; /* of the client or key */
	const char *head;
	size_t at;
	size_t width;
	size_t extra;         /* what of the width is not for text */
	size_t least;         /* of what is for text */
	const char *left;     /* of this row, not on paper yet; NULL = nothing */
	const char *reply;    /* in the cell, where " => " stands; NULL = it has none */
	size_t command_lines; /* that the cell's command may take */
};

enum {
	SHEET_COLUMNS_MAX = RR_RACE_CLIENTS_MAX + RR_KEYS_SHOWN_MAX + 1,
	GAP = 2,   /* between columns */
	ARROW = 9, /* room for an arrow, where there are arrows */
};

enum rr_paint { RR_PLAIN, RR_BOLD, RR_DIM, RR_RED, RR_YELLOW, RR_CYAN, RR_MAGENTA };

/* Writes lines of text: in the characters the terminal has, with colour where it may be. */
struct rr_pen {
	FILE *out;
	const struct rr_style *style;
	size_t column; /* where the next character goes */
	size_t blanks; /* not written yet */
	enum rr_paint paint;
};

struct sheet {
	const struct rr_picture *picture;
	struct rr_pen pen;
	size_t n;
	struct column columns[SHEET_COLUMNS_MAX];
	size_t numbers;                     /* width of the steps' numbers */
	size_t width;                       /* of the table */
	size_t gutter;                      /* before a client's cell: whether it is inside */
	bool is_shared;                     /* all clients share a column */
	bool has_arrows;                    /* two clients, and a key between them */
	const char *now[RR_KEYS_SHOWN_MAX]; /* keys' values; NULL = not seen */
};

/* Something happens that is no client's doing: a line across the table. */
bool sheet_is_rule(const struct rr_row *row);

/* What stands in the row; NULL = nothing. */
const char *sheet_cell(const struct column *column, const struct rr_row *row);

/* Remarks stand beside the columns, if there is room for them there. */
void sheet_lay_out(struct sheet *sheet, size_t width);

#endif
