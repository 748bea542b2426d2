/* SPDX-License-Identifier: MIT */
/* Private to matrix/: one cell, searched and judged, and what is said of it. */
#ifndef RR_CELL_H
#define RR_CELL_H

#include "base/text.h"
#include "matrix.h"

/*
 * Searches one cell, whose strategy, hazard and bounds are there, in `cluster`
 * (which is reset), and fills in the rest. RR_EXIT_INTERRUPTED: called off.
 * Other codes are in the cell as well, and the next one can be done.
 */
enum rr_exit rr_cell_run(struct rr_cell *cell, struct rr_cluster *cluster);

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

/* What a strategy has broken there, in one sentence: of bit number `bit`. */
const char *rr_invariant_meaning(int bit);

/* ---- Rows and columns ------------------------------------------------------------- */

/* The next column that is asked for after `hazard`, -1 = the first;
 * RR_HAZARDS = there is none. */
int rr_matrix_column(const struct rr_matrix *matrix, int hazard);

/* The next cell that is asked for after `cell`, NULL = the first, row by row;
 * NULL = there is none. */
struct rr_cell *rr_matrix_next(const struct rr_matrix *matrix, const struct rr_cell *cell);

/* The summary as a line of its own, with the server's version if that is known. */
void rr_matrix_sign(const struct rr_matrix *matrix, FILE *file);

#endif
