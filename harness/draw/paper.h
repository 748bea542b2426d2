/* SPDX-License-Identifier: MIT */
/* The rows of a drawing in text, written by a pen into the columns of a sheet. */
#ifndef RR_PAPER_H
#define RR_PAPER_H

#include "pen.h"
#include "sheet.h"

struct rr_paper {
	struct rr_pen pen;
	struct rr_sheet sheet;
	char *now[RR_KEYS_SHOWN_MAX]; /* values of the keys; NULL = not seen */
};

/* Texts of a row, and what of them is not on paper yet. */
struct rr_pending {
	char *cells[RR_COLUMNS_MAX];
	const char *left[RR_COLUMNS_MAX];
	char *remark;
	const char *remark_left;
};

/* A row, in as many lines as it takes. */
void rr_paper_row(struct rr_paper *paper, const struct rr_row *row);

/* One line of the cell in column `i`, from where the pen is. */
void rr_paper_cell(struct rr_paper *paper, const struct rr_row *row,
		   struct rr_pending *pending, size_t i, int line);

#endif
