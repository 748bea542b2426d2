/* SPDX-License-Identifier: MIT */
/*
 * Several server programs side by side: on each all claims are checked
 * (claims/claims.h), native-cad or every strategy is searched under every hazard
 * (matrix/matrix.h) and some strategies are timed, the servers taking turns. What is the same
 * everywhere is left out of the tables.
 *
 * Order: init, add servers, run, print, free. One thread; the jobs are done by
 * pools of workers.
 */
#ifndef RR_VERSIONS_H
#define RR_VERSIONS_H

#include <limits.h>
#include <stdio.h>

#include "base/cases.h"
#include "base/error.h"
#include "claims/claims.h"
#include "matrix/matrix.h"

enum { RR_VERSIONS_MAX = 12, RR_VERSIONS_TIMED = 6, RR_VERSIONS_REPEATS = 5 };

/* The strategies that are timed. */
extern const char *const rr_versions_timed[RR_VERSIONS_TIMED];

struct rr_version {
	char program[PATH_MAX];
	char name[RR_VERSION_SIZE]; /* "Valkey 9.1.2" */
	char cad[32];               /* what compares and deletes, or "no" */
	struct rr_jobs jobs;
	struct rr_claim_rows rows;
	struct rr_matrix matrix; /* of those that are searched */
	/* Increments per second of processor time, server and clients together, in
	 * each repeat; 0 = skipped. */
	double rates[RR_VERSIONS_TIMED][RR_VERSIONS_REPEATS];
};

struct rr_versions {
	struct rr_claims_choice choice;
	bool all_strategies;                 /* are searched, not native-cad alone */
	const struct rr_strategy **searched; /* native-cad comes first */
	size_t n_searched;
	size_t n;
	struct rr_version all[RR_VERSIONS_MAX];
};

/* One more, to be started as --redis-server says. False: too many, or too long. */
bool rr_versions_add(struct rr_versions *versions, const char *program, struct rr_error *error);

/* Those of `make servers`, in the folder servers/ beside the program. */
bool rr_versions_add_unpacked(struct rr_versions *versions, struct rr_error *error);

/* All of it, with so many workers at once. False: called off, or a server cannot
 * be started; nothing is left of it. */
bool rr_versions_run(struct rr_versions *versions, int n_workers, struct rr_error *error);
void rr_versions_free(struct rr_versions *versions);

/* The worst of what claims and matrix exit with. */
enum rr_exit rr_versions_exit(const struct rr_versions *versions);

/* Tables of what differs, in Markdown, which is read as plain text as well. */
void rr_versions_print(const struct rr_versions *versions, FILE *file);

/* A case for each claim and each cell on each server. */
void rr_versions_as_cases(const struct rr_versions *versions, struct rr_cases *cases);

#endif
