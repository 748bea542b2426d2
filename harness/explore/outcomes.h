/* SPDX-License-Identifier: MIT */
/* One call of rr_explore_outcomes(): what its files share. A function that returns false
 * has said why in *outcomes->error. */
#ifndef RR_OUTCOMES_H
#define RR_OUTCOMES_H

#include "judge.h"
#include "path_words.h"

/* A way through the states that is told and played. */
struct rr_way {
	struct rr_actions actions;
	rr_state_key end;
	char *words;
	int switches;
	unsigned broken; /* invariants, on the way */
};

struct rr_outcomes {
	struct rr_cluster *cluster;
	const struct rr_outcomes_config *config;
	struct rr_outcomes_result *result;
	struct rr_error *error;
	struct rl_address address;
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_intern asked; /* commands that were answered at once */
	uint32_t *answers;      /* by their numbers */
	struct rr_server_table table;
	bool has_table;
	const char *random_command; /* of the table that was there last */
	struct rr_program program;
	struct rr_product_config config_of_product;
	struct rr_product product;
	struct rr_graph graph;
	struct rr_judge judge;
	struct rr_way followed; /* config->schedule */
	enum rr_graph_end end;
	bool repeats; /* something new was learned of the programs at the end */
};

/* The error of a part is that of the whole; returns false. */
bool rr_outcomes_fail(struct rr_outcomes *outcomes, const struct rr_error *error);
void rr_outcomes_release_table(struct rr_outcomes *outcomes);
void rr_way_release(struct rr_way *way);

/* Has each client come to an end, or crashed? */
bool rr_outcomes_have_ended(const struct rr_outcomes *outcomes, const uint32_t *key);

/* ---- Telling (outcomes_tell.c) ---------------------------------------------------- */

/* Tells a way when the programs themselves have gone it; without a way, the shortest to
 * what the search has found. */
bool rr_outcomes_show(struct rr_outcomes *outcomes, const struct rr_way *way);
bool rr_outcomes_show_finding(struct rr_outcomes *outcomes);

/* Nothing was found: rows of the tables are asked again, and random ways are gone by the
 * programs themselves. */
bool rr_outcomes_audit(struct rr_outcomes *outcomes);

#endif
