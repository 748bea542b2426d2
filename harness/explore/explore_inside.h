/* SPDX-License-Identifier: MIT */
/* What explores, for the files that make it up: one search on one world. */
#ifndef RR_EXPLORE_INSIDE_H
#define RR_EXPLORE_INSIDE_H

#include "interleavings.h"
#include "shards.h"
#include "subject.h"

struct rr_explorer {
	const struct rr_explore_config *config;
	struct rr_share *share;
	struct rr_explore_result *result;
	struct rr_world *world;
	struct rl_address addresses[RR_FLEET_MAX];
	struct rr_access *access;
	struct rr_search *search;
	struct rr_interleavings *room;
	struct rr_pct *pct; /* NULL = searches */
	struct rr_subject *subject;
	int jumped; /* the server whose clock is ahead, -1 = none */
};

/* ---- explore.c ---- */

/* Notes what went wrong; returns the code. */
enum rr_exit rr_explorer_fail(struct rr_explorer *explorer, enum rr_exit code,
			      const char *why);

/* ---- explore_begin.c ---- */

/* Connects to the world's servers, and makes what searches and what is
 * searched. Free all of it in any case. */
enum rr_exit rr_explorer_begin(struct rr_explorer *explorer);

/* ---- explore_judge.c ---- */

/* Counts a run that came to its end, and keeps it if it fails and is the
 * shortest that does. */
void rr_explorer_judge(struct rr_explorer *explorer, enum rr_run_end end,
		       const struct rr_subject_result *run);

#endif
