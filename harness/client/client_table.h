/* SPDX-License-Identifier: MIT */
/*
 * The table of what clients of a program do: (state, what a thread of it receives) ->
 * state. It belongs to a program, the code of a strategy or a command line, and not to a
 * client: who knows its own name by itself reads it as `self`, see rr_client_view.
 *
 * A state is what the client has received since it began. A row that is asked
 * for the first time is filled by a run of the client alone (client_run.h), which has
 * received what led there: one that stands there still, else a new one. Two runs with
 * the same history must send the same; if not, the client is not deterministic, and that
 * ends the search.
 *
 * Two histories after which a client goes on in the same way are one state: which ones do so
 * is a hypothesis that is tested, see learning.h. The histories themselves stay: each state
 * is a node of the tree of all that was ever seen, `same` says for which state it is taken,
 * and a row leads to a node, `state` is what that is taken for.
 *
 * Attempts. Where a program marks its attempts, their beginnings are merged if as much is
 * done and no reply was lost: what a client does after one that was lost, it does with another
 * connection. An attempt is followed to its end: its histories are no rounds of a loop.
 *
 * Time. A client that reads its monotonic clock receives how much time has
 * passed since it did so last. Of a row in whose course the clock is not read,
 * the time that has passed is no part: `is_timed` tells the two apart.
 */
#ifndef RR_CLIENT_TABLE_H
#define RR_CLIENT_TABLE_H

#include "base/error.h"
#include "beliefs.h"
#include "party/party.h"

enum { RR_KEPT_MAX = 48 };

struct rr_client_state {
	uint32_t parent;       /* RR_NO_ID: the beginning */
	struct rr_input input; /* that leads here from the parent */
	int64_t passed_ns;
	uint32_t depth;     /* inputs since the beginning */
	uint32_t attempt;   /* of programs of attempts: where the last one began */
	uint64_t signature; /* of all that the client does here */
	uint64_t names;     /* of random values that it knows */
	uint32_t n_threads, n_sent;
	struct rr_stop *stops;
	struct rr_sent *sent;
	struct rr_run_tally tally;
	int client;       /* whose run was here first */
	uint32_t clients; /* whose runs were here, as bits */
	int64_t slept_ns; /* see rr_run_view */
	bool is_attempt;  /* an attempt is to begin */
	bool is_inside, is_holding, has_entered, has_ended;
	bool has_read;               /* the clock, on the way here */
	bool is_unheard, is_guessed; /* see rr_run_view */
	/* The state that this history is taken for, itself or another; RR_NO_ID: that was not
	 * asked yet. */
	uint32_t same;
	uint32_t row, first_row; /* that leads here; of those that lead on. RR_NO_ID: none */
	bool is_in_loop;         /* a history leads from here to here */
	bool is_loop_head;       /* where one was closed */
	bool has_blocked;        /* its command has, with a time-out */
	bool spins;              /* so many rounds as are tried are as the last one */
	uint32_t left_by;        /* the last history of a round: it is left after all numbers
				  * of these that are tried; 0: it is not */
	uint64_t left_after;     /* the numbers that were tried, as bits (rr_learning_rounds()) */
	bool is_seen_again;      /* by another run, which did the same */
	uint16_t rounds;         /* so often in a row it has done the like, but for values, and
				  * was not taken for a state that was there */
	/* Where an attempt begins, or the client has ended. */
	uint64_t memory;     /* of the attempt in which a reply was lost; 0: of none */
	uint32_t opening;    /* where its first attempt began; equal clients may differ in it */
	uint32_t next_alike; /* with as much done and another sequel; RR_NO_ID: none */
};

/* A client, and where it is: a state of its table. */
struct rr_client_place {
	size_t client;
	uint32_t state;
	bool is_own; /* the client itself is to have been there, under its name, to its end */
};

struct rr_client_row {
	uint32_t from, to; /* `to` RR_NO_ID: it depends on the time, or is assumed */
	uint32_t state;    /* that `to` is taken for; RR_NO_ID: as `to` */
	uint32_t next;     /* of the rows from there; RR_NO_ID: none */
	struct rr_input input;
	int64_t passed_ns;
	int client; /* whose run has filled it */
	bool is_timed;
	bool is_assumed;  /* other replies in that state have led to the same */
	bool is_walked;   /* a walk that was really run went on from here as is known */
	bool has_entered; /* its critical section on the way */
};

/*
 * Runs that are kept where they stand, of several tables, until somebody asks what comes
 * next there. A search asks in the order in which it has come to its states. So where
 * there is no room for another, the oldest run goes that was passed over, because one
 * that was kept later has been taken; else the newest, which would be taken last.
 */
struct rr_kept_runs {
	size_t n, most;
	uint64_t n_uses;
	uint64_t taken; /* `used` of the run that was taken last */
	struct rr_kept_run {
		const struct rr_client_table *table;
		uint32_t at;
		int client;
		struct rr_client_run *run;
		int64_t unread_ns; /* that its clock has gone on since it read it */
		uint64_t used;
	} all[RR_KEPT_MAX];
};

/* One thing that a client receives; what it receives one after the other. */
struct rr_received {
	struct rr_input input;
	int64_t passed_ns;
};

struct rr_inputs {
	size_t n;
	struct rr_received *all;
};

/* By which two histories of a client were ever distinguished. */
struct rr_suffixes {
	size_t n;
	struct rr_inputs *all;
};

void rr_suffixes_release(struct rr_suffixes *suffixes);

/* What is tested of the hypothesis which histories are one state (learning.h). */
struct rr_learning {
	struct rr_suffixes suffixes; /* unless the program keeps them */
	bool merges_all;             /* histories that are no rounds of a loop, too */
	bool reuses_names;           /* of random values that are nowhere any more: see rr_input */
	bool sleeps_vary;            /* two runs with one history have slept differently */
	bool is_bounded;             /* there is no end to what it does: `rounds` counts */
	uint32_t endless;            /* the last history behind which no end was found, and */
	uint32_t first_round;        /* that behind the first of the rounds that it has */
	bool has_waited_round;       /* since a search began, a state in which it has slept or
				      * blocked became one of a loop */
	uint32_t n_verified;         /* rows of the hypothesis, when all of it was tested last */
	unsigned long n_asked, n_classified; /* runs that were started because a search asked,
					      * and histories that it asked for */
	unsigned long merges, tests, refinements, loops, walks;
	bool has_pairs, lacks_pairs; /* any two of many replies were on one walk, or not */
	unsigned long n_played; /* numbers of rounds that are left to runs beside other clients */
	unsigned long steps;    /* that a strategy was followed */
	unsigned long untested; /* rows that are assumed, and were in no walk; beginnings of
				 * a strategy's attempts that were not followed */
};

struct rr_client_table {
	const struct rr_program *program;
	uint32_t clients; /* as bits: whose it is; their runs take turns, unless */
	bool is_of_first; /* it has only what the first of them draws at random */
	int next_client;
	struct rr_client_state *states;
	uint32_t n_states;
	struct rr_intern rows, attempts;
	uint32_t *attempt;         /* states, by the numbers of `attempts` */
	struct rr_client_row *row; /* by the numbers of `rows` */
	struct rr_kept_runs *kept;
	uint64_t n_runs; /* that were started */
	bool is_timed;   /* some row is */
	struct rr_learning learning;
	struct rr_error error;
};

/* `kept` must outlive the table, whose first state is learned when it is asked for. */
void rr_client_table_init(struct rr_client_table *table, const struct rr_program *program,
			  uint32_t clients, struct rr_kept_runs *kept);
void rr_client_table_release(struct rr_client_table *table);

/* State 0 is the beginning. False: table->error. */
bool rr_client_table_begin(struct rr_client_table *table);

/* Is nothing learned any more: after an error, or because the search begins again? Whatever says below
 * "table->error" may also mean that. */
static inline bool rr_client_table_failed(const struct rr_client_table *table)
{
	const struct rr_beliefs *beliefs = table->program->beliefs;

	return table->error.kind != RR_ERROR_NONE ||
	       (rr_beliefs_withdrawn_of(beliefs, table) |
		rr_beliefs_withdrawn_of(beliefs, table->program)) &
		       RR_BELIEFS_STOP;
}

/* The row for an input, and the state that it leads to; NULL: table->error. `passed_ns` since
 * the clock was last read; it matters if the row is timed. Valid until the next call. */
const struct rr_client_row *rr_client_table_ask(struct rr_client_table *table, uint32_t state,
						const struct rr_input *input, int64_t passed_ns);

/* The same, without asking which state its history is taken for. */
const struct rr_client_row *rr_client_table_follow(struct rr_client_table *table, uint32_t state,
						   const struct rr_input *input, int64_t passed_ns);

/* If it is known already; NULL: it is not. */
const struct rr_client_row *rr_client_table_find(const struct rr_client_table *table,
						 uint32_t state, const struct rr_input *input,
						 int64_t passed_ns);

/* The longest history after which a client has ended. */
struct rr_client_end {
	uint32_t from, to;               /* states; RR_NO_ID: none has ended */
	const struct rr_client_row *row; /* between them; NULL: it ends at the beginning */
	int client;                      /* whose run was that */
};

struct rr_client_end rr_client_table_longest(const struct rr_client_table *table);

/* More random values have names than when its states were learned. */
void rr_client_table_see_names(struct rr_client_table *table);

/* Of the histories of a client, so many are states. */
uint32_t rr_client_table_count_states(const struct rr_client_table *table);

/*
 * What shows that a client only waits (client_waiting.c). All zero: nothing is known. A round of
 * commands, after which the client does what it did before it, is waiting if each reply in it
 *	1. is that of the round before or after it: a true repeat; or
 *	2. is received in a serial execution in the same state, also in one in which the client waits
 *	   indefinitely, or is what the server answers between two clients of a serial execution; or
 *	3. refuses an attempt: it says nil, 0, an empty list or an error, the command changes data with
 *	   another reply and never with this one, and the next round sends it again; or it says that a
 *	   transaction was aborted (WATCH), which the client begins again.
 * Any other reply says something that only an interleaving shows.
 */
struct rr_waiting {
	struct rr_intern steps;    /* of serial executions: table, from, to */
	struct rr_intern changing; /* kinds of commands that have changed data */
	struct rr_intern changed;  /* kinds of commands, and replies with which they have */
	/* Is that what a server answers between two clients of a serial execution? NULL: nobody knows. */
	bool (*answers)(void *context, uint32_t command, uint32_t reply);
	void *context;
};

/* In a serial execution a client goes from one state of its table to another. */
void rr_waiting_note_step(struct rr_waiting *waiting, const struct rr_client_table *table,
			  uint32_t from, uint32_t to);

/* A server has changed its data, and answered a command of this kind with that reply. */
void rr_waiting_note_change(struct rr_waiting *waiting, uint32_t kind, uint32_t reply);

void rr_waiting_release(struct rr_waiting *waiting);

/* Has the client received, on its way to a state, a reply with which a server has changed data? */
bool rr_client_table_has_changed(const struct rr_client_table *table, uint32_t state,
				 const struct rr_waiting *waiting);

/* Where a client ends that has ended after this row, if rounds in which it only waits are left out
 * of its history, as long as it does the same afterwards. Asks for rows. */
uint32_t rr_client_table_without_waiting(struct rr_client_table *table,
					 const struct rr_client_row *row,
					 const struct rr_waiting *waiting);

/* Another run, of a client, receives what leads to a state, and then what fills a row of
 * it (NULL = nothing): does it do the same? False: table->error, or the program's
 * problem. */
bool rr_client_table_run_again(struct rr_client_table *table, int client, uint32_t state,
			       const struct rr_client_row *row);

/* The client of the next run. */
int rr_client_table_next_client(struct rr_client_table *table);

/* The first of its clients. */
int rr_client_table_first_client(const struct rr_client_table *table);

/*
 * Runs clients again with the random values of another draw, up to the ends of `most`
 * attempts. Do they do the same, but for these? If not, they look at what they draw.
 */
bool rr_client_table_is_same_draw(struct rr_client_table *table, unsigned draw, unsigned long most);

/* Frees the run that is kept at a state. */
void rr_client_table_drop_run(struct rr_client_table *table, uint32_t state);

/* Adds a row of which it is only assumed where it leads: not timed, or timed as another one
 * from that state. */
const struct rr_client_row *rr_client_table_assume(struct rr_client_table *table,
						   const struct rr_client_row *row);

/* What the client does in a state, as its run has shown it. */
struct rr_run_view rr_client_state_view(const struct rr_client_state *state);

/* Is a client there in the middle of an attempt? */
static inline bool rr_client_table_is_in_attempt(const struct rr_client_table *table,
						 uint32_t state)
{
	const struct rr_client_state *it = &table->states[state];

	return !it->is_attempt && !it->has_ended && table->states[it->attempt].is_attempt;
}

/* Has a client nothing in mind, where an attempt begins? */
static inline bool rr_client_state_is_fresh(const struct rr_client_state *state)
{
	return state->is_attempt && state->memory == 0;
}

/* ---- As one client sees it (client_view.c) --------------------------------------- */

/*
 * The table is about a client `self`, which equal clients share; here names that are self's have
 * become the client's own: random values in what it sends, and back in what it hears (rr_program:
 * heard_as_self, sent_as_own).
 */
struct rr_client_view {
	struct rr_client_table *table;
	int client;
	bool is_another; /* than `self` */
	/* States that the client has come to, by their numbers in the table: its own
	 * copies. */
	struct rr_client_state *states;
	uint32_t n_states; /* that there is room for */
	uint32_t *heard;   /* replies as self hears them, by the numbers of those that the
			    * client hears, + 1; 0 = not known yet */
	uint32_t n_heard;
};

/* The table must outlive the view. False: table->error. */
bool rr_client_view_init(struct rr_client_view *view, struct rr_client_table *table, int client);
void rr_client_view_release(struct rr_client_view *view);

/* What self receives instead. */
struct rr_input rr_client_view_as_self(struct rr_client_view *view, const struct rr_input *input);

/* As rr_client_table_ask(). The state that the row leads to can be looked at then. */
const struct rr_client_row *rr_client_view_ask(struct rr_client_view *view, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns);

/* Of fibers: does the client itself do what self has done? Runs all attempts again. */
bool rr_client_view_verify(struct rr_client_view *view);

#endif
