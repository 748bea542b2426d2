/* SPDX-License-Identifier: MIT */
/* One call of rr_explore(): what its searches share, and what is done with them. A
 * function that returns false has said why in result->error. */
#ifndef RR_EXPLORER_H
#define RR_EXPLORER_H

#include "graph.h"
#include "mutants.h"
#include "scheduler/scheduler.h"

/* What is made once, for a strategy and all of its mutants. */
struct rr_explorer {
	struct rr_cluster *cluster;
	const struct rr_explore_config *config;
	struct rr_explore_result *result;
	struct rl_address addresses[RR_PRODUCT_SERVERS];
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_intern asked; /* commands that were answered at once */
	uint32_t *answers;      /* by their numbers */
	struct rr_server_table tables[2];
	bool has_tables;
	struct rr_counting counting;
	struct rr_program program;
	struct rr_product_config product;
	struct rr_mutation *mutations; /* of the strategy, once it is searched */
	size_t n_mutations;
};

/* Starts the servers and sets up the program that is searched. */
bool rr_explorer_open(struct rr_explorer *explorer);
void rr_explorer_release(struct rr_explorer *explorer);

/* The error of a part is that of the whole; returns false. */
bool rr_explorer_fail(struct rr_explorer *explorer, const struct rr_error *error);

/* ---- Searching (search.c) ---------------------------------------------------- */

struct rr_search {
	struct rr_product product;
	struct rr_graph graph;
	enum rr_graph_end end;
};

/* Searches, as often as it has to begin anew. Release the search in any case. */
bool rr_search_run(struct rr_explorer *explorer, const struct rr_graph_config *bounds,
		   struct rr_search *search);
void rr_search_release(struct rr_search *search);

/* With the explorer's tables, which are made if there are none. */
bool rr_search_make_product(struct rr_explorer *explorer, struct rr_product *product);

/* What has to be different when it begins anew; false: nothing. */
bool rr_search_adapt(struct rr_explorer *explorer, const struct rr_search *search);

/* What a search may take when nobody says how much, in bytes: half of what is free. */
size_t rr_default_memory(void);

/* ---- What is done with a search (checks.c) ---------------------------------- */

/* Do clients remember more than they are thought to? Then they have to be learned
 * *again, with more. */
bool rr_check_clients(struct rr_explorer *explorer, struct rr_search *search, bool *again);

bool rr_check_servers(struct rr_explorer *explorer);

/* Plays random paths for real. */
bool rr_check_audit(struct rr_explorer *explorer, struct rr_search *search);

/* Plays a path for real, and makes the result's transcript of it. */
bool rr_check_replay(struct rr_explorer *explorer, const struct rr_graph *graph,
		     const struct rr_path *path);

/* The same with the shortest path to what is worst. */
bool rr_check_shortest(struct rr_explorer *explorer, struct rr_search *search);

/* Is one of the mutants noticed in the same bounds? */
bool rr_check_mutants(struct rr_explorer *explorer);

/* ---- Transcripts (transcript.c) --------------------------------------------- */

struct rr_transcript_headings {
	const char *title;
	const char *shows;       /* see struct rr_race; NULL = nothing */
	const char *const *keys; /* that are shown, of programs of others */
	size_t n_keys;
};

/* Without its verdict; malloc'd, NULL when out of memory. */
char *rr_actions_transcript(const struct rr_product *product, const struct rr_scripts *scripts,
			    const struct rr_actions *actions,
			    const struct rr_transcript_headings *headings);

#endif
