/* SPDX-License-Identifier: MIT */
/*
 * Processes as clients of a search: what each does next, known by what it has heard.
 *
 * What a command line does is a table (product/client_table.h), which is learned by
 * instances: processes, alone with us, that have heard just that. A process is started
 * about once for each leaf of the histories, and some are kept where they stand. Whatever
 * one does on the way must be what was seen before; if it is not, the program is not
 * deterministic, and both commands are named.
 *
 * Clients with the same command line share a table, as long as they do the same under
 * each name (REDRACE_CLIENT). Values in which two runs with the same history differ are
 * random (random_values.h): in the table they are those of the run that was first, and
 * each client has its own.
 */
#ifndef RR_PROGRAMS_H
#define RR_PROGRAMS_H

#include "explore/explore.h"
#include "instance.h"
#include "kept.h"

enum { RR_PROGRAMS_MAX = 8, RR_CLIENT_NAME = 40 };

struct rr_programs_config {
	/* Without its program and endings, which are filled in here. */
	struct rr_instance_config instances;
	size_t n_clients;
	size_t n_requests; /* to the clients, which are apps; 0 = they are none */
	const struct rr_request_place *places; /* of each request */
	const uint8_t *again;                  /* of each client, see rr_program; NULL = none */
	const char *const *requests;           /* their commands */
	uint32_t unanswered;                   /* those that have no answer, as bits */
	bool compares_outputs;                 /* what clients print counts */
	const char *const *allowed;            /* lines that are not compared: regular
						   * expressions */
	size_t n_allowed;
	unsigned long n_audits; /* paths that are played at random, by which loops are left */
	struct rr_kept_config kept;
	const char *const *argv[RR_PROGRAMS_MAX]; /* of each client; the same
						   * pointer: the same table */
	char names[RR_PROGRAMS_MAX][RR_CLIENT_NAME];
};

struct rr_programs;
struct rr_client_place;

/* The configuration is copied, but not what it points to. */
struct rr_programs *rr_programs_new(const struct rr_programs_config *config);
void rr_programs_free(struct rr_programs *programs);

/* Fills in a program for the explorer, whose `terms` and `ask` must be there; both must
 * outlive the programs' use. */
void rr_programs_init(struct rr_programs *programs, struct rr_program *program);

/* Before each search: what was learned of random values counts from now on. True: more of them
 * are names of terms (scheduler/terms.h), and what is known of servers does not say where they
 * are. */
bool rr_programs_begin_search(struct rr_programs *programs);

/*
 * Looks whether what is believed of the programs holds: each client does under its own
 * name what the others do, and nothing that it sends is random, but for what is known
 * to be. Starts programs again for it. `left_out`: of enum rr_left_out; names are verified all the
 * same where histories are taken for each other, for what one client does is compared with what
 * another does then. *again: something new was learned, and the search has to begin anew.
 * False: the error.
 */
bool rr_programs_verify(struct rr_programs *programs, unsigned left_out, bool *again,
			struct rr_error *error);

/* Only of what clients send in these places: the last one first. */
bool rr_programs_verify_places(struct rr_programs *programs, const struct rr_client_place *places,
			       size_t n, bool *again, struct rr_error *error);

/* After how many rounds a client has to leave a loop in the next path that is played; 0 = it need not. */
int rr_programs_next_rounds(const struct rr_programs *programs);

/* Tries the numbers of rounds that were not tried by that; as above. */
bool rr_programs_verify_rounds(struct rr_programs *programs, bool *again, struct rr_error *error);

/* Has the same check come to its end before, so that not all has to be played again? */
bool rr_programs_is_settled(struct rr_programs *programs);

/* There is no end to what clients do, perhaps because they send the time of day. From the next
 * search on that stands still while they wait, and they are learned anew. False: it does already,
 * or none of them has read it. */
bool rr_programs_hold_day(struct rr_programs *programs);

/* That came to nothing: the figures of learning are those of before. */
void rr_programs_take_back(struct rr_programs *programs);

/* The search is over: what is known is kept. `is_settled`: it has come to its end. */
void rr_programs_finish(struct rr_programs *programs, bool is_settled);

/* From now on each client of the explorer is a process of its own that is told all of
 * it; it must do what is known already. In a serial order a client is only started if it has not
 * itself, by its own name, heard all of that before: what it did then is a fact. */
void rr_programs_set_live(struct rr_programs *programs, enum rr_play play);

struct rr_programs_figures {
	unsigned long starts; /* processes that were started and used */
	unsigned long unused; /* and those that were started ahead, and not used (ahead.h) */
	struct rr_instance_times times;
	struct rr_learning_figures {
		unsigned long states; /* of clients */
		unsigned long merges, tests, refinements, loops, walks, untested;
		uint64_t left; /* numbers of rounds after which loops were left, as bits */
		bool has_pairs, lacks_pairs;
	} learning; /* see product/learning.h */
	struct rr_kept_figures {
		bool is_used;         /* there was something from another check */
		unsigned long states; /* histories of that */
		unsigned long again;  /* of them, run again */
		const char *why;      /* there was nothing, or nothing is kept; "" = it is */
		const char *remark;   /* that the user should see; "" = none */
	} kept;                       /* see kept.h */
	bool has_own_clock;           /* some have not loaded the shim, or are in Go */
	bool has_uv;                  /* some have libuv */
	bool reads_day;               /* some have read the time of day after they had waited */
	bool holds_day;               /* it stands still while they wait */
	bool hands_over;              /* threads of an app let each other go on (handover.h) */
};

struct rr_programs_figures rr_programs_figures(const struct rr_programs *programs);

/* How a client's program, or a request, ended after the longest history. False: it never did. */
bool rr_programs_last_ending(struct rr_programs *programs, size_t operation,
			     struct rr_ending *ending);

/* Behind different replies a random value of a client has different names. Those that only
 * the second reply has are renamed to those that only the first has, in their order, if
 * there are as many and no history has both. */
/* Are there histories that nobody has seen? Then more values are taken for the same ones. */
void rr_programs_set_unfinished(struct rr_programs *programs, bool are_unfinished);
void rr_programs_pair_values(struct rr_programs *programs, size_t client, const struct rl_reply *a,
			     const struct rl_reply *b, struct rr_renaming *renaming);

/* See rr_explored_programs. */
bool rr_programs_compare_times(struct rr_programs *programs, bool has_passed);

/* In a serial order of this search a client ends with that tally. */
void rr_programs_note_serial(struct rr_programs *programs, long ending);

/* See rr_explored_programs. */
void rr_programs_note_step(struct rr_programs *programs, size_t client, uint32_t from, uint32_t to);
void rr_programs_note_change(struct rr_programs *programs, uint32_t command, uint32_t reply);
void rr_programs_set_answers(struct rr_programs *programs,
			     bool (*answers)(void *context, uint32_t command, uint32_t reply),
			     void *context);

/* Has an operation, a client or a request, in a state of the client in which it has ended, done so as
 * some run with that ending did? */
bool rr_programs_end_alike(struct rr_programs *programs, size_t operation, uint32_t state,
			   long ending, enum rr_likeness likeness);

/* See rr_explored_programs. */
bool rr_programs_fails(struct rr_programs *programs, size_t operation, uint32_t state, long ending,
		       bool is_strict);
bool rr_programs_have_same_status(struct rr_programs *programs, long a, long b);

/* Has any server changed its data, in any search? */
bool rr_programs_change_data(const struct rr_programs *programs);

/* That ending of an operation, with its client's own random values in what is printed. */
long rr_programs_own_ending(struct rr_programs *programs, size_t operation, long ending);

/* See rr_explored_programs. */
char *rr_programs_describe_request(struct rr_programs *programs, size_t request, long ending);

/* Has any client sent a command that is a step? On several connections at once? */
bool rr_programs_send(const struct rr_programs *programs);
bool rr_programs_use_connections(const struct rr_programs *programs);

/* How they ended, all of them. */
const struct rr_endings *rr_programs_endings(const struct rr_programs *programs);

/* Of a state that has ended, by its tally. */
struct rr_ending rr_programs_ending(const struct rr_programs *programs, long ending);

#endif
