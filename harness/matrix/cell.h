/* SPDX-License-Identifier: MIT */
/* Private to matrix/: what is said of a cell, and which there are. */
#ifndef RR_CELL_H
#define RR_CELL_H

#include "base/text.h"
#include "matrix.h"

/* ---- Is it what is expected? -------------------------------------------------- */

enum rr_cell_standing {
	RR_CELL_AS_EXPECTED,
	RR_CELL_DIFFERS,
	RR_CELL_UNDECIDED, /* it proves nothing either way, or is not there */
};

enum rr_cell_standing rr_cell_standing(const struct rr_cell *cell);

/* ---- Words ---------------------------------------------------------------------- */

/* What is said of a verdict whatever the cell. */
struct rr_verdict_words {
	const char *word; /* in a narrow column */
	const char *text;
	const char *json;
	bool is_unbroken; /* nothing was found to break */
};

/* All that the formats say of a cell. */
struct rr_cell_words {
	const char *strategy, *hazard; /* "none", "slow work" */
	const struct rr_verdict_words *verdict;
	enum rr_cell_standing standing;
	char word[12];      /* "safe 1.2k", "C-E---", "2 rounds" */
	char text[120];     /* "safe", "count, exclusion" */
	char expected[120]; /* the same of what is expected */
	char bounds[RR_BOUNDS_SIZE];
	char file[100]; /* for its transcript: "none-threads.race" */
	char states[RR_GROUPED_SIZE];
	char failing[2 * RR_GROUPED_SIZE + 8]; /* "4 of 6"; "" = not counted */
};

struct rr_cell_words rr_cell_words(const struct rr_cell *cell);

/* ---- Rows and columns ------------------------------------------------------------- */

/* The next column that is asked for after `hazard`, -1 = the first;
 * RR_HAZARDS = there is none. */
int rr_matrix_column(const struct rr_matrix *matrix, int hazard);

/* The next cell that is asked for after `cell`, NULL = the first, row by row;
 * NULL = there is none. */
struct rr_cell *rr_matrix_next(const struct rr_matrix *matrix, const struct rr_cell *cell);

#endif
