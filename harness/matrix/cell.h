/* SPDX-License-Identifier: MIT */
/* One cell of the matrix: a strategy under a hazard, searched and judged. */
#ifndef RR_CELL_H
#define RR_CELL_H

#include "explore/explore.h"

enum rr_cell_verdict {
	RR_CELL_UNDONE,     /* called off before */
	RR_CELL_NONE,       /* the hazard does not concern the strategy */
	RR_CELL_BREAKS,     /* at least one interleaving fails */
	RR_CELL_SAFE,       /* none does, nothing was cut, and a mutant fails */
	RR_CELL_ROUNDS,     /* none was found; loops were cut */
	RR_CELL_MOST,       /* none was found; there are more states */
	RR_CELL_RANDOM,     /* none was found; a server answered at random */
	RR_CELL_NO_MUTANT,  /* none does, and nothing shows that the search
			     * would notice */
	RR_CELL_SKIPPED,    /* the server lacks what the strategy needs */
	RR_CELL_FAILED,     /* it could not be computed */
};

enum rr_cell_standing {
	RR_CELL_AS_EXPECTED,
	RR_CELL_DIFFERS,
	RR_CELL_UNDECIDED, /* it proves nothing either way, or is not there */
};

struct rr_cell {
	const struct rr_strategy *strategy;
	enum rr_hazard hazard;
	struct rr_explore_config bounds;
	enum rr_cell_verdict verdict;
	unsigned breaks;         /* bits of strategy.h, the first
				  * RR_INVARIANTS of them */
	bool was_cut;            /* a failing one: there may be more to it */
	unsigned long states, transitions;
	uint64_t interleavings, failing; /* of these; 0 = not counted */
	unsigned long broken[RR_INVARIANTS]; /* moves and states that do */
	char mutant[RR_MUTANT_NAME]; /* the first that fails; "" = none */
	/* Of the shortest failing interleaving: as a race with its verdict, and
	 * drawn in plain text. NULL = none. */
	char *transcript, *drawing;
	char verdict_text[200]; /* what playing that one says */
	char problem[RR_CLUSTER_ERROR]; /* why there is no verdict, or "" */
	enum rr_exit code;
	double seconds;
};

/*
 * Searches one cell, whose strategy, hazard and bounds are there, in `cluster`
 * (which is reset), and fills in the rest. RR_EXIT_INTERRUPTED: called off.
 * Other codes are in the cell as well, and the next one can be done. Transcript
 * and drawing are malloc'd, and the caller's.
 */
enum rr_exit rr_cell_run(struct rr_cell *cell, struct rr_cluster *cluster);

enum rr_cell_standing rr_cell_standing(const struct rr_cell *cell);

/* A few letters for a narrow column: "safe 1.2k", "C-E---", "2 rounds". */
enum { RR_CELL_WORD = 12 };
const char *rr_cell_word(const struct rr_cell *cell, char text[RR_CELL_WORD]);

/* "safe", "count, exclusion", "no failure found (2 rounds)". */
const char *rr_cell_text(const struct rr_cell *cell, char *text, size_t size);

/* The same of what is expected. */
const char *rr_cell_expected(const struct rr_cell *cell, char *text,
			     size_t size);

/* The file for its transcript: "none-threads.race". */
const char *rr_cell_file(const struct rr_cell *cell, char *text, size_t size);

#endif
