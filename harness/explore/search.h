/* SPDX-License-Identifier: MIT */
/*
 * One search: a program (its clients and servers), tables of what is known of them, the
 * graph of all states, and the property that is asked of it. A function that returns
 * false has said why in result->error; so has one that returns RR_FAILED or RR_INTERRUPTED. After
 * RR_AGAIN the search begins again: the register (client/beliefs.h) says why.
 *
 *	open      servers and the program are made ready
 *	run       states are searched, clients are verified, the graph is judged and what
 *	          is found is played. Whatever was taken for granted and is not so begins it anew
 *	release
 */
#ifndef RR_SEARCH_H
#define RR_SEARCH_H

#include "explore.h"
#include "replay/replay.h"

/* One path through the states. */
struct rr_schedule {
	struct rr_actions actions;
	rr_state_key end;
	char *words; /* see replay/words.h */
	size_t steps;
	int switches;
	unsigned broken; /* invariants, on the way */
};

struct rr_search;

/* What is asked of a search. There are two: invariants of a strategy (invariants.c), and
 * serializability of programs (serializability.c). False: result->error. */
struct rr_property {
	const char *server; /* what the first one is called */
	/* Fills in search->program and search->wanted. */
	bool (*open)(struct rr_search *search);
	/* Do clients do what is taken for granted? */
	enum rr_going (*verify)(struct rr_search *search);
	/* What of the graph is wrong? Marks it, and analyses the graph. */
	enum rr_going (*judge)(struct rr_search *search);
	/* Tells of a schedule that has been played, as a race. */
	enum rr_going (*show)(struct rr_search *search, const struct rr_schedule *schedule);
	/* Nothing was found: what else does the verdict rest on? */
	enum rr_going (*confirm)(struct rr_search *search);
};

extern const struct rr_property rr_invariants, rr_serializability;

struct rr_search {
	struct rr_cluster *cluster;
	const struct rr_explore_config *config;
	struct rr_explore_result *result;
	const struct rr_property *property;
	struct rdl_address addresses[RR_CLUSTER_SERVERS];
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_suffixes suffixes;
	struct rr_scripts scripts;
	struct rr_intern asked; /* commands that were answered at once */
	uint32_t *answers;      /* by their numbers */
	struct rr_server_table tables[2];
	bool has_tables;
	const char *random_command; /* of tables that are gone; NULL = none */
	struct rr_program program;
	struct rr_product_config wanted; /* the next product */
	struct rr_graph_config bounds;
	struct rr_key_use key_use;
	struct rr_locks locks; /* of programs */
	enum rr_explored_day day;
	struct rr_explore_result *before; /* what another search came to, which this one may better */
	struct rr_beliefs beliefs;        /* the register */
	struct rr_beliefs beliefs_of_checker, beliefs_of_successors[RR_SUCCESSORS];
	struct rr_product product;
	struct rr_graph graph;
	enum rr_graph_end end;
	bool is_misplayed;           /* real programs have done something else than was found */
	struct rr_deadline deadline; /* lifted when programs were interrupted */
	bool is_unsettled;      /* each search has learned something that made it begin again */
	double seconds;         /* that looking at states has taken */
	struct rr_walks *walks; /* instead of a graph: random schedules */
	struct rr_schedule followed; /* or config->schedule */
	struct rr_counting counting; /* of a strategy */
	unsigned draws_that_differ;  /* that were searched, too */
	struct rr_mutation *mutations;
	size_t n_mutations;
	struct rr_judge judge; /* of programs */
};

bool rr_search_open(struct rr_search *search, struct rr_cluster *cluster,
		    const struct rr_explore_config *config, struct rr_explore_result *result);
void rr_search_release(struct rr_search *search);

/* Searches, as often as something is learned, until `conclude` has said all that there is
 * to say of the states: rr_search_conclude(), or what else they are wanted for. */
bool rr_search_run(struct rr_search *search, enum rr_going (*conclude)(struct rr_search *, void *),
		   void *context);

/* The error of a part is that of the whole; returns false. */
bool rr_search_fail(struct rr_search *search, const struct rr_error *error);

/* A part did not go on: after its error, or for the register's sake. */
enum rr_going rr_search_stop(struct rr_search *search, const struct rr_error *error);

/* Their connections to the servers are closed. */
void rr_search_release_tables(struct rr_search *search);

/* ---- What is done with the states (checks.c) -------------------------------- */

/* Judges the graph. What is found is played for real and shown; if nothing is, rows of
 * servers are asked again, and random paths are played. */
enum rr_going rr_search_conclude(struct rr_search *search, void *unused);

/* The graph, once it is analysed; the shortest path to what is `worst` (0 = nothing) stands out.
 * NULL: result->error. */
struct json_t *rr_search_graph_json(struct rr_search *search, unsigned worst);

/* Draws random schedules instead of searching; the second concludes from them (walks.c). */
enum rr_graph_end rr_search_walk(struct rr_search *search);
enum rr_going rr_search_conclude_walks(struct rr_search *search, void *unused);

/* The bit that is worst of a set: what a schedule is shown for. */
static inline unsigned rr_worst_invariant(unsigned breaks, unsigned shows)
{
	if (breaks & shows)
		return breaks & shows;
	return breaks & (~breaks + 1);
}

/* Plays a schedule, with all clients at once on real servers, and shows it. */
enum rr_going rr_search_show(struct rr_search *search, const struct rr_schedule *schedule);

/* Has clients and servers do what leads to a state of the product in a serial order, for real. */
enum rr_going rr_search_play(struct rr_search *search, const struct rr_actions *actions,
			     const uint32_t *end);

void rr_schedule_release(struct rr_schedule *schedule);

/* Plays random paths. */
enum rr_going rr_search_audit(struct rr_search *search);

/* Verifies what the finding at the end of a path rests on, before it is played. */
enum rr_going rr_search_verify_finding(struct rr_search *search, const struct rr_path *path);

/* What programs have come to by a schedule that has been played (finding.c), explained beside the
 * serial order that is nearest. */
enum rr_going rr_search_show_finding(struct rr_search *search, const struct rr_schedule *schedule);

/* Each finding gets its trace and its verdict: it is played as a race (finding.c), unless a signal
 * came. One that does not show then is an error. The tables are gone. */
bool rr_search_conclude_findings(struct rr_search *search);

/* Lists the mutants of what has been searched (mutants.c): of programs only what guards is weakened,
 * what they do without it is learned anew. */
void rr_search_list_mutants(struct rr_search *search);

/* Notes the ends that a search has come to, and of programs those of serial executions (ends.c). */
void rr_search_note_ends(struct rr_search *search);

/* Notes which pairs of commands the states execute in which orders: result->coverage (coverage.c). */
void rr_search_note_coverage(struct rr_search *search);

/* What would fix what is found, in a sentence: the smallest spans of commands that leave nothing wrong
 * of a search if each is one step. Only of clients that do the same in all interleavings from the
 * first command of a span to its last, wait for no message and do not block. malloc'd; NULL = there
 * are none, the graph is too large, or time is over (mend.c). */
char *rr_mend_find(struct rr_search *search);

/* Finds the keys of programs that are locks, and has the product look who holds them (locks.c). It
 * may leave product->error. */
void rr_search_find_locks(struct rr_search *search);

/* Has one of the mutants failed in the same bounds? */
bool rr_search_try_mutants(struct rr_search *search);

#endif
