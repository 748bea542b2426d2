/* SPDX-License-Identifier: MIT */
/*
 * One search: a program (its clients and servers), tables of what is known of them, the
 * graph of all states, and the property that is asked of it. A function that returns
 * false has said why in result->error.
 *
 *	open      servers and the program are made ready
 *	run       states are searched, clients are verified, the graph is judged and what
 *	          is found is played. Whatever is learned on the way of which states are
 *	          made begins it anew (search->learned)
 *	release
 */
#ifndef RR_SEARCH_H
#define RR_SEARCH_H

#include "graph.h"
#include "judge.h"
#include "mutants.h"
#include "scheduler/scheduler.h"
#include "walks.h"

/* What a search learns, and what it therefore begins anew with. search->learned has a bit of each,
 * which its place here gives it. */
enum rr_learned {
	RR_LEARNED_SCRIPT,        /* servers know it from the beginning */
	RR_LEARNED_CLOCK,         /* the time since clients read their monotonic clocks is
				   * a part of states */
	RR_LEARNED_SLEEPS,        /* so is how long they sleep still */
	RR_LEARNED_DAY,           /* the time of day is */
	RR_LEARNED_NO_END,        /* refused clients are bounded */
	RR_LEARNED_HISTORIES,     /* which ones of clients are not one state */
	RR_LEARNED_PROGRAMS,      /* the programs know what: random values, say */
	RR_LEARNED_NOT_EQUAL,     /* each client of a strategy has a table of its own */
	RR_LEARNED_DRAW,          /* with other random values a client does something else */
	RR_LEARNED_SCRIPTS,       /* which ones servers know is a part of states */
	RR_LEARNED_ALL_HISTORIES, /* there is no end to what clients of a strategy do */
	RR_LEARNED_BROAD,         /* there are many states of programs: see rr_breadth */
	RR_LEARNED_KEYS,          /* a client names a key that seemed to be another's own */
};

static inline unsigned rr_learned_bit(enum rr_learned what)
{
	return 1U << what;
}

/* One path through the states. */
struct rr_schedule {
	struct rr_actions actions;
	rr_state_key end;
	char *words; /* see scheduler/words.h */
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
	/* Do clients do what is taken for granted? Adds to search->learned. */
	bool (*verify)(struct rr_search *search);
	/* What of the graph is wrong? Marks it, and analyses the graph. */
	bool (*judge)(struct rr_search *search);
	/* Tells of a schedule that has been played, with its transcript. */
	bool (*show)(struct rr_search *search, const struct rr_schedule *schedule);
	/* Nothing was found: what else does the verdict rest on? */
	bool (*confirm)(struct rr_search *search);
};

extern const struct rr_property rr_invariants, rr_serializability;

struct rr_search {
	struct rr_cluster *cluster;
	const struct rr_explore_config *config;
	struct rr_explore_result *result;
	const struct rr_property *property;
	struct rl_address addresses[RR_PRODUCT_SERVERS];
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_suffixes suffixes;
	struct rr_scripts scripts;
	struct rr_intern asked; /* commands that were answered at once */
	uint32_t *answers;      /* by their numbers */
	struct rr_server_table tables[2];
	bool has_tables;
	bool wants_scripts;         /* programs ask which ones servers know */
	const char *random_command; /* of tables that are gone; NULL = none */
	struct rr_program program;
	struct rr_product_config wanted; /* the next product */
	struct rr_graph_config bounds;
	struct rr_key_use key_use;
	struct rr_locks locks; /* of programs */
	/* What it came to with a time of day that goes on, where that stands still now. */
	struct rr_explore_result *before;
	unsigned learned; /* since the search began: rr_learned_bit() */
	struct rr_product product;
	struct rr_graph graph;
	enum rr_graph_end end;
	bool is_misplayed;           /* real programs have done something else than was found */
	bool is_interrupted;         /* before that was through */
	const char *cut;             /* the phase in which `progress` said so; NULL = in none */
	double cut_s;                /* and when */
	bool is_unsettled;           /* each search has learned something that made it begin anew */
	double seconds;              /* that looking at states has taken */
	struct rr_walks *walks;      /* instead of a graph: random schedules */
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
bool rr_search_run(struct rr_search *search, bool (*conclude)(struct rr_search *, void *),
		   void *context);

/*
 * Is it to end? Each phase that may be long asks now and then, and says what it is: "final states
 * were compared". A phase without which nothing can be said ends with RR_ERROR_INTERRUPTED, and
 * what was found before is concluded from. What proves a finding goes on until
 * rr_search_is_late(), RR_LATE_S later.
 */
bool rr_search_is_called_off(struct rr_search *search, const char *phase);
bool rr_search_is_late(const struct rr_search *search);

/* The error of a part is that of the whole; returns false. */
bool rr_search_fail(struct rr_search *search, const struct rr_error *error);

/* Their connections to the servers are closed. */
void rr_search_release_tables(struct rr_search *search);

/* ---- What is done with the states (checks.c) -------------------------------- */

/* Judges the graph. What is found is played for real and shown; if nothing is, rows of
 * servers are asked again, and random paths are played. */
bool rr_search_conclude(struct rr_search *search, void *unused);

/* The same for random schedules (invariants.c). */
bool rr_search_conclude_walks(struct rr_search *search, void *unused);

/* Plays a schedule, with all clients at once on real servers, and shows it. */
bool rr_search_show(struct rr_search *search, const struct rr_schedule *schedule);

/* Has clients and servers do what leads to a state of the product in a serial order, for real. */
bool rr_search_play(struct rr_search *search, const struct rr_actions *actions,
		    const uint32_t *end);

void rr_schedule_release(struct rr_schedule *schedule);

/* Is this a check of programs that has come to its end before, with all that is known now? */
bool rr_search_is_settled(const struct rr_search *search);

/* Plays random paths. */
bool rr_search_audit(struct rr_search *search);

/* Verifies what the finding at the end of a path rests on, before it is played. False:
 * result->error, or something was learned, and the search begins anew. */
bool rr_search_verify_finding(struct rr_search *search, const struct rr_path *path);

/* What programs have come to by a schedule that has been played (finding.c), explained beside the
 * serial order that is nearest. */
bool rr_search_show_finding(struct rr_search *search, const struct rr_schedule *schedule);

/* Each finding gets its verdict: its transcript is played as a race (finding.c). The tables are
 * gone then. */
bool rr_search_conclude_findings(struct rr_search *search);

/* Lists the mutants of what has been searched (invariants.c). */
void rr_search_list_mutants(struct rr_search *search);

/* The next step of a client that no other one interrupts, and no fault; NULL = there is none, or
 * product->error (judge.c). */
const struct rr_edge *rr_search_step_alone(struct rr_product *product, const uint32_t *key,
					   size_t client);

/* Finds the keys of programs that are locks, and has the product look who holds them (locks.c). It
 * may leave product->error. */
void rr_search_find_locks(struct rr_search *search);

/* Has one of the mutants failed in the same bounds (invariants.c)? */
bool rr_search_try_mutants(struct rr_search *search);

/* ---- Graphs (graph_json.c, graph_write.c) ------------------------------------ */

/* The graph, once it is analysed; the shortest path to what is `worst` (0 = nothing)
 * stands out. NULL: result->error. */
struct json_t *rr_graph_json(struct rr_search *search, unsigned worst);

/* Into the files that the configuration names, and the result, if it is to have it. */
bool rr_graph_write(struct rr_search *search, unsigned worst);

/* ---- Transcripts (transcript.c) --------------------------------------------- */

struct rr_transcript_headings {
	const char *title;
	const char *shows;       /* see struct rr_race; NULL = nothing */
	const char *const *keys; /* that are shown, of programs of others */
	size_t n_keys;
	/* Of an app: what is said where a request begins, and where it is answered. NULL = there
	 * are none. */
	char *(*words_of_request)(void *context, size_t request, bool is_answer);
	void *context;
	size_t *steps; /* of each action: the number of its step is put here, 0 = it is in
			* none; NULL = nobody asks */
};

/* Without its verdict; malloc'd. */
char *rr_actions_transcript(const struct rr_product *product, const struct rr_scripts *scripts,
			    const struct rr_actions *actions,
			    const struct rr_transcript_headings *headings);

#endif
