/* SPDX-License-Identifier: MIT */
/*
 * Can a strategy go wrong at all? All states of its clients and servers, with faults,
 * learned from the real things (client_table.h, server_table.h, product.h). One call
 * for a strategy and bounds; the same call for programs of others.
 *
 * What keeps it honest. Before a failure is reported, the shortest path to it is played
 * for real, with the strategy's own code on real servers. Before the verdict `safe`, rows
 * of both tables are asked again along other paths, random paths are played for real,
 * and one of the strategy's mutants (mutants.c) must fail within the same bounds.
 */
#ifndef RR_EXPLORE_H
#define RR_EXPLORE_H

#include <stdio.h>

#include "base/cases.h"
#include "base/error.h"
#include "base/option.h"
#include "base/progress.h"
#include "cluster/cluster.h"
#include "compare/compare.h"
#include "draw/draw.h"
#include "explain/explain.h"
#include "replay/replay.h"
#include "expected.h"

/* How many random schedules to draw instead of searching (walks.c). */
struct rr_random_config {
	unsigned long runs; /* 0 = search instead */
	uint64_t seed;      /* of the first; the next has the next number */
	int depth;          /* 1 to RR_DEPTH_MAX */
};

enum { RR_DEPTH_MAX = 20, RR_MUTANTS_MAX = 32, RR_MUTANT_NAME = 240 };

struct rr_explore_config {
	const struct rr_strategy *strategy; /* whose invariants are to hold; NULL: programs
					     * of others are to be serializable */
	size_t n_clients;
	long increments;
	bool separate; /* each client is a process of its own */
	bool all;      /* without tables: every schedule for real */
	struct rr_budget budget;
	bool stays_away;     /* a server that restarts is down for a lease */
	long work_ms;        /* between reading and writing, of virtual time */
	size_t lock_servers; /* where it has any; 0 = as many as it has */
	int64_t skew_ns;     /* each client's clock is so far ahead of the last */
	int rounds;          /* of refused attempts, where there is no end to them; programs
			      * that do the like, but for values, so often in a row are
			      * followed no further. 0 = of programs, for RR_ROUNDS_WITHOUT_END if the
			      * search does not grow faster than its rounds */
	long ttl_ms;
	struct rr_random_config random;
	unsigned long most;  /* states, 0 = no limit */
	unsigned long broad; /* of programs: behind so many, commands whose keys are a client's own
			      * are taken at once, and a finding ends the search; 0 = never */
	size_t memory;       /* bytes, 0 = half of what is free */
	unsigned long audit; /* random paths that are played before `safe` */
	bool covers;         /* the result has its coverage, too */
	bool all_mutants;    /* tries all, not only until one fails */
	unsigned shows;      /* what the schedule that is shown should break, if any
			 * does; 0 = the worst */
	const char *dot, *json; /* files for the graph; NULL = none */
	unsigned long graph_of; /* the result has the graph, too, if all its states are
				  * known and they are so many at most; 0 = it has not */
	const struct rr_script_name *script_names;
	/* Told now and then, with about what share of the whole that is, 0 = not
	 * known; false: ends. May be NULL. */
	bool (*progress)(void *context, unsigned long states, double share);
	void *context;
	/* ---- Of programs of others ---- */
	struct rr_explored_programs programs;
	const char *const *client_names; /* NULL = A, B, C, ... */
	const char *title;               /* of the transcript */
	const char *schedule;            /* only this one, in words (result->words); NULL =
					 * all */
	bool was_verified;               /* what its finding rests on, by another check of the same
					  * programs: it is replayed, and no more */
	bool shows_all;                  /* a schedule to each kind of wrong final state */
	struct rr_comparison compare;    /* what is compared of ends, and how */
	bool wants_given;                /* what a schedule leaves: rr_outcome.given */
	struct rr_command_list given;    /* the caller's: done on the empty server at first */
};

/* Does the time of day of programs stand still while they wait? */
enum rr_explored_day {
	RR_DAY_GOES_ON,
	RR_DAY_HELD_TO_END,    /* or there would be no end to what they do, */
	RR_DAY_HELD_TO_REPEAT, /* or they would not do the same twice */
};

enum rr_explored {
	RR_EXPLORED_ALL,            /* nothing was cut */
	RR_EXPLORED_ROUNDS,         /* loops were cut after their rounds */
	RR_EXPLORED_RANDOM_REPLIES, /* a server answered at random */
	RR_EXPLORED_DRAWS,          /* clients look at their random values */
	RR_EXPLORED_FOUND,          /* up to a finding */
	RR_EXPLORED_MOST,           /* the limit of states was reached */
	RR_EXPLORED_MEMORY,         /* that of memory was */
	RR_EXPLORED_STOPPED,        /* `progress` said so */
	RR_EXPLORED_RANDOM,         /* all that were to be drawn */
};

/* A mutant, and what became of it in the same bounds. */
struct rr_mutant_result {
	char name[RR_MUTANT_NAME];     /* "SET ... NX is sent without NX" */
	char rests_on[RR_MUTANT_NAME]; /* "SET ... NX" */
	bool fails;
	unsigned breaks; /* what was broken first, or all that is; bits of expected.h */
};

/* What is known about how likely random schedules would have found a failure. */
struct rr_random_bound {
	int depth;
	size_t n_clients, steps;
	double once; /* of each run, at least */
	double in_all;
};

struct rr_explore_stats {
	unsigned long client_states, client_runs;
	unsigned long server_states, questions, replayed;
	unsigned long checked_clients, checked_servers, audited;
	unsigned draws; /* of clients' random values, that were compared */
	size_t bytes_per_state;
	double searching, checking; /* seconds */
};

/* Where a schedule of programs of others leads to. */
struct rr_outcome {
	unsigned found;          /* RR_OUTCOME_..., 0 = nothing is wrong */
	struct rr_played played; /* its steps, with their verdict */
	char *words;             /* the schedule, to be followed again */
	/* Lines of text, NULL = none: the final data, and those of a serial order in which
	 * the clients end well that did so here; what is not as expected; and why, see
	 * why.c. */
	char *data, *nearest, *unexpected, *why;
	char *successor;              /* the data when a client that crashed has run once more */
	bool has_given;               /* config->wants_given: */
	struct rr_command_list given; /* commands that make the final data */
	enum rr_anomaly anomaly;
	bool is_untimely;    /* it is as in a serial order of requests, but for that of time */
	uint32_t ended_well; /* clients, as bits */
	int endings[RR_RUN_CLIENTS]; /* of each client in it: its
					       * `tally.ending`, -1 = it crashed */
	int nearest_endings[RR_RUN_CLIENTS];
};

/* Final states, or ends of serial executions, each once and in no order (ends.c): a digest of the
 * data in lines of text, and how each operation ended, as in rr_outcome; of a strategy one of all. */
struct rr_ends {
	bool is_known; /* all of them that the search has come to are there */
	size_t n;
	struct rr_end {
		uint64_t data;
		int endings[RR_RUN_CLIENTS];
	} * all;
};

/* A digest of digests of ends, in whatever order and however often these are there; *n: how many
 * differ. They are sorted. */
uint64_t rr_ends_fold(uint64_t *digests, size_t *n);

enum { RR_FINDINGS_SHOWN = 20 };

struct rr_explore_result {
	enum rr_explored explored;
	const char *cut; /* RR_EXPLORED_STOPPED: while what, "final states were compared" */
	unsigned long states, transitions;
	unsigned long schedules; /* random ones, or --stateless' */
	unsigned long failing;   /* of these; or transitions and states that break
				  * an invariant */
	uint64_t interleavings, failing_interleavings; /* 0 = not counted */
	unsigned long broken[RR_INVARIANTS];           /* by the bits of expected.h */
	unsigned breaks;                               /* all bits that any of them broke */
	struct rr_smallest smallest[RR_INVARIANTS];
	double seconds;
	int rounds; /* for which clients of programs were followed that have no end; 0 = all have */
	int followed;             /* rounds in which refused clients were; 0 = none is refused */
	unsigned long unfollowed; /* beginnings of attempts from which they were not */
	char random_command[32];  /* that made it RANDOM_REPLIES */
	enum rr_explored_day day; /* while clients waited */
	bool has_leases;          /* a key had a time to live in some state */
	const char *left_out; /* what was not searched, so that it is not safe; NULL = nothing */
	bool has_own_keys;    /* commands whose keys no other client names were done at once */
	struct rr_random_bound bound;
	struct rr_explore_stats stats;
	/* Of those that break what is worst, the count before all else, the
	 * shortest one, by context switches and then transitions: what it breaks.
	 * Of a strategy it is findings[0]. */
	unsigned shortest_breaks;
	int switches;
	size_t steps;
	uint64_t seed; /* of random schedules: the one that draws it */
	/* If nothing failed: is one of the mutants noticed? */
	size_t n_mutants;
	struct rr_mutant_result mutants[RR_MUTANTS_MAX];
	char noticed[RR_MUTANT_NAME]; /* the first that fails; "" = none */
	/* Of programs of others. */
	unsigned found;
	unsigned long finals, wrong; /* final states, and those not serial */
	struct rr_ends final_ends, serial_ends;
	bool need_each_other; /* no serial order of all clients comes to an end */
	unsigned long odd;    /* whose data are serial, and not what clients print */
	uint32_t ever_well;   /* clients, as bits, that end well in a final state */
	size_t n_findings;    /* or a schedule that was to be followed */
	struct rr_outcome findings[RR_FINDINGS_SHOWN];
	unsigned long n_unshown; /* wrong final states that differ from all of them */
	char *mend;              /* what would fix all of them, a sentence */
	char *serial;            /* see rr_judge_serial_orders() */
	/* In so many final states an operation was refused; and one ending of these. */
	unsigned long refused[RR_RUN_CLIENTS];
	int refused_ending[RR_RUN_CLIENTS];
	uint32_t failures; /* operations, as bits: that fail only when interleaved is a finding */
	/* Ends that are those of serial orders but for times of day, which were not compared: in the
	 * data of these keys (a list; NULL = none), in what these operations print (bits). */
	struct json_t *moved_keys;
	uint32_t moved_outputs;
	struct json_t *ignored;  /* what patterns left out of final states; NULL = there are none */
	struct json_t *coverage; /* if it was wanted: docs/formats.md; NULL = without a graph */
	struct json_t *graph;    /* if it was wanted: docs/formats.md; NULL = it is too large,
				  * or not all of it is known */
	struct rr_error error;
};

/* Searches on servers of `cluster`, which it resets first. False: result->error.
 * Release the result in any case. */
bool rr_explore(struct rr_cluster *cluster, const struct rr_explore_config *config,
		struct rr_explore_result *result);
void rr_explore_release(struct rr_explore_result *result);

/* How a command line calls its clients, and the options that would have tried more of them, or for
 * longer; NULL = there is none. */
struct rr_coverage_options {
	const char *noun; /* "clients" */
	const char *more_clients, *more_time;
};

/* result->coverage, with what was not tried and the option that tries it: docs/formats.md. The
 * caller's to release; null if there is none. */
struct json_t *rr_coverage_as_json(const struct rr_explore_config *config,
				   const struct rr_explore_result *result,
				   const struct rr_coverage_options *options);

/* Were its interleavings counted, and are not too many? */
bool rr_explore_has_counted(const struct rr_explore_result *result);

/* A line on stderr that tells how far a search is; and whether it is to end: because Ctrl-C was
 * pressed, or its time is over. */
struct rr_explore_progress {
	struct rr_signals *signals;
	const char *name;       /* what is explored */
	const char *unit;       /* what is counted: "states" */
	int64_t until_ns;       /* by rr_clock_ns(); 0 = there is no end */
	unsigned long n;        /* so many at the last look, of the search that goes on */
	unsigned long n_before; /* and of those before it */
	double begun, looked;   /* seconds; 0 = not yet */
	double shown;           /* the share that was shown last */
	struct rr_progress line;
};

/* For rr_explore_config, with a struct rr_explore_progress. A search that counts
 * from the beginning again is another one: what it counts is added, and its share is
 * shown when it is not less than what was shown before. */
bool rr_explore_progress(void *context, unsigned long n, double share);

/* ---- What is expected ------------------------------------------------------- */

/* What the strategy's table lets break within these bounds: the union of what each fault may
 * break. A set of RR_BREAKS_..., and RR_LOOPS. */
unsigned rr_expected_breaks(const struct rr_explore_config *config);

/* What stands there where nothing breaks. */
#define RR_NOTHING_FOUND "nothing"

/* Copies the smallest findings that are recorded of these bounds into `text`, as
 * rr_smallest_text() has them; "": nothing breaks. NULL: none are recorded. */
const char *rr_smallest_expected(const struct rr_explore_config *config,
				 char text[RR_SMALLEST_SIZE]);

/* Are they those of the result? Yes, where none are recorded or the search was cut. */
bool rr_is_smallest_expected(const struct rr_explore_config *config,
			     const struct rr_explore_result *result);

/* Compares a search with what is expected. `is_safe`: all states were seen, none fails, and
 * a mutant does. RR_EXIT_VIOLATED: more breaks than rr_expected_breaks(), or it differs from
 * what is recorded, or a strategy that is broken without any fault is safe. */
enum rr_exit rr_judge_search(const struct rr_explore_config *config,
			     const struct rr_explore_result *result, bool is_safe);

/* "3 processes, 1 crash": of a strategy's search. */
enum { RR_BOUNDS_SIZE = 160 };
const char *rr_bounds_text(const struct rr_explore_config *bounds, char text[RR_BOUNDS_SIZE]);

/* ---- Graphs ------------------------------------------------------------------ */

/* The graph of all states as JSON (docs/formats.md), the caller's to release. Searches on
 * servers of `cluster`, which it resets first, and plays config->audit random paths.
 * NULL: the error. */
struct json_t *rr_explore_graph(struct rr_cluster *cluster, const struct rr_explore_config *config,
				struct rr_error *error);

/* A file for the graph, by its suffix: the value of --graph. */
rr_take rr_explore_take_graph;

/* ---- The subcommand -------------------------------------------------------- */

struct rr_explore_options {
	struct rr_chosen_strategies strategies;
	struct rr_explore_config config; /* but for the strategy; n_clients 0 = not given */
	bool stats;                      /* print what the search was made of, too */
	const char *save;                /* a file, or a folder ending in a slash, for the
			   * transcript of the shortest failing schedule;
			   * NULL = nowhere */
	struct rr_outputs report;
	const char *redis_server;
	bool skew, slow_work; /* see config */
	long processes;       /* that the clients are in; 0 = not given */
	long seed;            /* -1 = none was given */
};

/* For a struct rr_explore_options. */
extern const struct rr_command_line rr_explore_command_line;
struct rr_explore_options rr_explore_defaults(void);

/* Returns the bounds of the search of one strategy. If the number of clients was not given there
 * are two, and a third one for the lock that a crash or a lost reply leaves where clients take it
 * over: only when two find the same lock can both get it. */
struct rr_explore_config rr_explore_config_of(const struct rr_explore_options *options,
					      const struct rr_strategy *strategy);

/* What is said of a strategy: the caller's to free. */
struct rr_explore_said {
	char *text;
	struct rr_played played; /* the shortest schedule that fails; none, if none does */
	bool is_judged;          /* there was no error */
};

/* Explores one strategy, says what came of it, and adds it to the cases.
 * RR_EXIT_OK: as the strategy's table expects; RR_EXIT_VIOLATED: not; RR_EXIT_INCONCLUSIVE:
 * the search was cut. There may be an error, too: RR_ERROR_INTERNAL is that what was found
 * contradicts what it was played to show. */
enum rr_exit rr_explore_report(struct rr_cluster *cluster, const struct rr_strategy *strategy,
			       const struct rr_explore_options *options,
			       struct rr_explore_said *said, struct rr_cases *cases,
			       struct rr_error *error);

#endif
