/* SPDX-License-Identifier: MIT */
/*
 * The safety matrix: each strategy under each hazard, all states searched,
 * compared with what the strategy's table expects.
 *
 * Order: init, run, any of the formats, release. One thread; the cells are
 * computed by a pool of workers (base/pool.h) with servers of their own.
 */
#ifndef RR_MATRIX_H
#define RR_MATRIX_H

#include <stdio.h>

#include "base/cases.h"
#include "base/markdown.h"
#include "base/shard.h"
#include "explore/explore.h"

/* ---- Columns ---------------------------------------------------------------- */

struct rr_hazard_text {
	const char *name;    /* command line and file names: "slow-work" */
	const char *title;   /* head of the column: "slow work" */
	const char *meaning; /* one sentence for readers */
};

extern const struct rr_hazard_text rr_hazard_texts[RR_HAZARDS];

/* How far the search of a cell goes, ready for rr_explore(). NULL: the column's
 * bounds, of which a strategy's may differ. */
struct rr_explore_config rr_bounds_of(const struct rr_strategy *strategy, enum rr_hazard hazard);

/* ---- Cells -------------------------------------------------------------------- */

enum rr_cell_verdict {
	RR_CELL_UNDONE,    /* called off before */
	RR_CELL_NONE,      /* the hazard does not concern the strategy */
	RR_CELL_BREAKS,    /* at least one interleaving fails */
	RR_CELL_SAFE,      /* none does, nothing was cut, and a mutant fails */
	RR_CELL_ROUNDS,    /* none was found; loops were cut */
	RR_CELL_MOST,      /* none was found; there are more states */
	RR_CELL_RANDOM,    /* none was found; a server answered at random */
	RR_CELL_NO_MUTANT, /* none does, and nothing shows that the search
			     * would notice */
	RR_CELL_SKIPPED,   /* the server lacks what the strategy needs */
	RR_CELL_ELSEWHERE, /* another shard computes it */
	RR_CELL_FAILED,    /* it could not be computed */
};

struct rr_cell {
	const struct rr_strategy *strategy;
	enum rr_hazard hazard;
	struct rr_explore_config bounds;
	struct rr_explore_result result; /* released; its error: why there is no verdict */
	bool knows_ends;                 /* final states: */
	size_t n_ends;                   /* so many differ, */
	uint64_t ends;                   /* a digest of all (rr_ends_fold()) */
	enum rr_cell_verdict verdict;
	bool was_cut; /* a failing one: there may be more to it */
	/* Of the shortest failing interleaving, malloc'd: as a race with its
	 * verdict, and drawn in plain text. NULL = none. */
	char *transcript, *drawing;
	char verdict_text[200]; /* what playing that one says */
	enum rr_exit code;
	double seconds;
};

/* ---- The matrix ----------------------------------------------------------------- */

struct rr_matrix {
	size_t n_strategies;
	unsigned hazards;              /* the columns asked for, a bit each */
	unsigned long most;            /* states of a cell, 0 = as in its bounds */
	struct rr_cell *cells;         /* RR_HAZARDS of each strategy; those of other
				 * columns are RR_CELL_UNDONE */
	char version[RR_VERSION_SIZE]; /* "Redis 7.0.15", "" = unknown */
	double seconds;
};

/* Cells with their bounds, but no more than `most` states in any, 0 = as
 * many as these allow. */
void rr_matrix_init(struct rr_matrix *matrix, const struct rr_strategy *const *strategies,
		    size_t n_strategies, unsigned hazards, unsigned long most);
void rr_matrix_release(struct rr_matrix *matrix);

/* Deals the cells out, and leaves those of other shards out. False: the error. */
bool rr_matrix_deal(struct rr_matrix *matrix, struct rr_shard *shard, struct rr_error *error);

/*
 * Computes all cells by so many workers at once.
 * `servers`: but for the processor, of which each worker has its own. Before
 * any thread exists. False: not all are computed, and what is not is
 * RR_CELL_UNDONE; RR_ERROR_INTERRUPTED: a signal came. Nothing is left when it
 * returns.
 */
bool rr_matrix_run(struct rr_matrix *matrix, const struct rr_cluster_options *servers,
		   int n_workers, struct rr_signals *signals, struct rr_error *error);

/* RR_EXIT_VIOLATED: a cell differs; RR_EXIT_INCONCLUSIVE: one proves nothing
 * either way; or why one could not be computed. RR_EXIT_SKIPPED: all were. */
enum rr_exit rr_matrix_exit(const struct rr_matrix *matrix);

/* The first cell that could not be computed, and how many there are; NULL = none. */
const struct rr_cell *rr_matrix_failed(const struct rr_matrix *matrix, size_t *n);

/* Every strategy, every hazard, the bounds as they are, and each cell
 * computed or skipped? If not, `why` is what it is not. */
bool rr_matrix_is_whole(const struct rr_matrix *matrix, const char **why);

struct rr_cell *rr_matrix_cell(const struct rr_matrix *matrix, size_t row, int hazard);

/* ---- Formats -------------------------------------------------------------------- */

/* "240 cells: 230 as expected, 8 differ, 2 undecided; 1,234 states, 41 s" */
void rr_matrix_summarise(const struct rr_matrix *matrix, FILE *file);

void rr_matrix_text(const struct rr_matrix *matrix, FILE *file);
void rr_matrix_markdown(const struct rr_matrix *matrix, FILE *file);
void rr_matrix_html(const struct rr_matrix *matrix, FILE *file);

/*
 * Parts of a site (site/site.h). The Markdown as HTML: `how` says where the links of
 * docs/matrix.md lead there. The next cell that has a page, after `cell`, NULL = the first, NULL =
 * there is none; its id, "none-threads"; its title; and what stands on its page.
 */
enum { RR_CELL_ID = 80, RR_CELL_TITLE = 200 };
void rr_matrix_html_part(const struct rr_matrix *matrix, struct rr_markdown how, FILE *file);
const struct rr_cell *rr_matrix_next_page(const struct rr_matrix *matrix,
					  const struct rr_cell *cell);
bool rr_matrix_has_page(const struct rr_matrix *matrix, const char *id);
void rr_cell_id(const struct rr_cell *cell, char id[RR_CELL_ID]);
void rr_cell_title(const struct rr_cell *cell, char title[RR_CELL_TITLE]);
void rr_cell_html(const struct rr_cell *cell, FILE *file);

/* A case each, for the other formats. Release them in any case. */
void rr_matrix_as_cases(const struct rr_matrix *matrix, struct rr_cases *cases);

/* ---- Transcripts ------------------------------------------------------------------ */

/* Writes those of failing cells to a folder (made if it is not there), and
 * removes those of cells that were computed and do not fail. */
bool rr_matrix_save(const struct rr_matrix *matrix, const char *folder, struct rr_error *error);

/* Plays every *.race of a folder. RR_EXIT_OK: all went as written, or there
 * are none and that is an error. Others are complained of, each. */
enum rr_exit rr_matrix_replay(const char *folder, struct rr_cluster *cluster,
			      struct rr_error *error);

#endif
