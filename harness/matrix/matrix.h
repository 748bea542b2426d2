/* SPDX-License-Identifier: MIT */
/*
 * The safety matrix: each strategy under each hazard, all states
 * searched, compared with what the strategy's table expects.
 *
 * Order: init, run, any of the formats, release. One thread; the cells are
 * computed by worker processes with servers of their own.
 */
#ifndef RR_MATRIX_H
#define RR_MATRIX_H

#include <stdio.h>

#include "cell.h"

enum {
	RR_MATRIX_VERSION = 40,
	RR_MATRIX_JOBS_MAX = 64,
};

struct rr_matrix_shared;

struct rr_matrix {
	size_t n_strategies;
	const struct rr_strategy *const *strategies; /* the caller's */
	unsigned hazards;       /* the columns asked for, a bit each */
	struct rr_cell *cells;  /* RR_HAZARDS of each strategy; those of other
				 * columns are RR_CELL_UNDONE */
	char version[RR_MATRIX_VERSION]; /* of the server, "" = unknown */
	double seconds;
	struct rr_matrix_shared *shared; /* with the workers */
};

/* Cells with the bounds of bounds.h, but no more than `most` states in any,
 * 0 = as many as there. False: out of memory. */
bool rr_matrix_init(struct rr_matrix *matrix,
		    const struct rr_strategy *const *strategies,
		    size_t n_strategies, unsigned hazards, unsigned long most);
void rr_matrix_release(struct rr_matrix *matrix);

/*
 * Computes all cells by so many jobs at once, RR_MATRIX_JOBS_MAX at most, telling
 * on stderr how far it is when that is a terminal. `servers`: but for the
 * processor, of which each job has its own. Before any thread exists.
 * RR_EXIT_INTERRUPTED: a signal came, and the rest is RR_CELL_UNDONE; else what
 * rr_matrix_exit() says, or why there are no workers, complained of. Nothing is
 * left when it returns.
 */
enum rr_exit rr_matrix_run(struct rr_matrix *matrix,
			   const struct rr_cluster_options *servers, int jobs,
			   struct rr_signals *signals);

/* RR_EXIT_VIOLATED: a cell differs; RR_EXIT_INCONCLUSIVE: one proves nothing
 * either way; or why one could not be computed. RR_EXIT_SKIPPED: all were. */
enum rr_exit rr_matrix_exit(const struct rr_matrix *matrix);

struct rr_cell *rr_matrix_cell(const struct rr_matrix *matrix, size_t row,
			       int hazard);
bool rr_matrix_has(const struct rr_matrix *matrix, int hazard);

/* How many of the cells asked for have that standing; skipped ones and those
 * without meaning are not counted. */
size_t rr_matrix_count(const struct rr_matrix *matrix,
		       enum rr_cell_standing standing);

/* "240 cells: 230 as expected, 8 differ, 2 undecided; 1,234 states, 41 s". */
void rr_matrix_summarise(const struct rr_matrix *matrix, char *text,
			 size_t size);

/* ---- Formats -------------------------------------------------------------- */

void rr_matrix_text(const struct rr_matrix *matrix, FILE *file);
void rr_matrix_markdown(const struct rr_matrix *matrix, FILE *file);
void rr_matrix_json(const struct rr_matrix *matrix, FILE *file);
void rr_matrix_html(const struct rr_matrix *matrix, FILE *file);

/* ---- Transcripts ---------------------------------------------------------- */

/* Writes those of failing cells to a folder (made if it is not there), and
 * removes those of cells that were computed and do not fail. */
enum rr_exit rr_matrix_save(const struct rr_matrix *matrix,
			    const char *folder);

/* Plays every *.race of a folder. RR_EXIT_OK: all went as written. */
enum rr_exit rr_matrix_replay(const char *folder, struct rr_cluster *cluster);

#endif
