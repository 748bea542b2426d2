/* SPDX-License-Identifier: MIT */
/* What became of a claim: computed from its races, compared with the table. */
#ifndef RR_JUDGE_H
#define RR_JUDGE_H

#include "jobs.h"

enum rr_standing {
	RR_STANDS,         /* what is recorded was found again */
	RR_DIFFERS,        /* something else was found */
	RR_NOT_AS_WRITTEN, /* a race did not go as it is written */
	RR_NOT_SHOWN,      /* there is neither a race nor a measurement */
	RR_FAILED,         /* a race could not be played */
	RR_OPEN,           /* a measurement showed nothing this time */
	RR_SKIPPED,        /* the server lacks what a race needs */
	RR_UNFINISHED,     /* called off before */
	RR_STANDINGS
};

struct rr_claim_row {
	const struct rr_claim *claim;
	enum rr_standing standing;
	enum rr_exit code;
	bool is_computed; /* from races; else the measurement decides */
	enum rr_claim_verdict computed;
	char *observed; /* findings, replies, figures in a few words */
	char *races;    /* names, comma separated */
	char *problem;  /* "" where it stands */
};

/* Rows of the chosen claims, in the table's order; texts are malloc'd. NULL when
 * out of memory. */
struct rr_claim_row *rr_judge(const struct rr_jobs *jobs,
			const struct rr_claims_choice *choice, size_t *n_rows);
void rr_claim_rows_free(struct rr_claim_row *rows, size_t n_rows);

/* Fills in `observed` and `races`; false when out of memory. */
bool rr_row_describe(struct rr_claim_row *row, const struct rr_jobs *jobs);

/* What the program exits with for them. */
enum rr_exit rr_claim_rows_exit(const struct rr_claim_row *rows, size_t n_rows);

/* "stands", "differs", "not as written", ... */
const char *rr_standing_name(enum rr_standing standing);

/* Is version `have` at least `least`, "7.0.15" and "6.2"? */
bool rr_version_reaches(const char *have, const char *least);

#endif
