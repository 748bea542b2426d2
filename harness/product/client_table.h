/* SPDX-License-Identifier: MIT */
/*
 * The client table: (client state, what a thread of it receives) -> client
 * state.
 *
 * A state is what the client has received since it began. A row that is asked
 * for the first time is filled by running the client alone (client_run.h), fed
 * with the replies that led there. Two runs with the same history must send the
 * same; if not, the client is not deterministic, and that ends the search.
 *
 * Forgetting. At the end of an attempt whose replies were all received, a
 * client counts as back at the beginning of such an attempt, with so many
 * increments done: an attempt state, known by what is done and by what it may
 * remember. It may remember an attempt in which a reply was lost: that one's
 * history is kept. And it may remember how many times in a row it was refused,
 * or its last attempts as a whole: how much of that, is `remembers`. Whether
 * that is enough is not believed: rr_client_table_verify() runs attempts again
 * behind other histories that were merged, and compares.
 *
 * Time. A client that reads its monotonic clock receives how much time has
 * passed since it did so last. Of a row in whose course the clock is not read,
 * the time that has passed is no part: `is_timed` tells the two apart.
 */
#ifndef RR_CLIENT_TABLE_H
#define RR_CLIENT_TABLE_H

#include "base/error.h"
#include "scheduler/scheduler.h"

enum {
	/* How much a client may remember: so many refusals in a row; beyond that
	 * all that was received in the last attempts, so many. */
	RR_REFUSALS = 3,
	RR_HISTORIES = 2,
	RR_REMEMBERS_MAX = RR_REFUSALS + RR_HISTORIES
};

struct rr_client_state {
	uint32_t parent;       /* RR_NO_ID: the beginning */
	struct rr_input input; /* that leads here from the parent */
	int64_t passed_ns;
	uint32_t attempt;   /* the attempt state at its beginning */
	uint64_t signature; /* of all that the client does here */
	uint64_t names;     /* of random values that it knows */
	uint32_t n_threads, n_sent;
	struct rr_stop *stops;
	struct rr_sent *sent;
	struct rr_run_tally tally;
	bool is_attempt; /* an attempt is to begin */
	uint8_t polls;   /* see rr_run_view */
	bool is_inside, is_holding, has_entered, has_ended;
	bool is_unheard;                  /* see rr_run_view */
	bool is_forgetful;                /* of an attempt state: nothing is remembered */
	uint64_t memory, settled;         /* else what is, see client_table.c */
	uint64_t history;                 /* a digest of what this attempt has received */
	uint64_t histories[RR_HISTORIES]; /* of an attempt state: of the last */
};

struct rr_client_table {
	const struct rr_program *program;
	int client;
	int remembers; /* 0 to RR_REMEMBERS_MAX; -1 = everything */
	struct rr_client_state *states;
	uint32_t n_states;
	struct rr_intern rows, attempts;
	uint32_t *attempt; /* states, by the numbers of `attempts` */
	struct rr_client_row {
		uint32_t from, to; /* `to` RR_NO_ID: it depends on the time */
		struct rr_input input;
		int64_t passed_ns;
		bool is_timed;
		bool merges;      /* into an attempt state that was there */
		bool has_entered; /* its critical section on the way */
		uint64_t signature;
	} * row;                   /* by the numbers of `rows` */
	struct rr_client_run *run; /* the last one, at the state run_at */
	uint32_t run_at;
	uint64_t n_runs; /* clients that were started */
	struct rr_error error;
};

/* State 0 is the beginning. False: table->error. */
bool rr_client_table_init(struct rr_client_table *table, const struct rr_program *program,
			  int client, int remembers);
void rr_client_table_release(struct rr_client_table *table);

/* The row for an input; NULL: table->error. `passed_ns` since the clock was last
 * read; it matters if the row is timed. Valid until the next call. */
const struct rr_client_row *rr_client_table_ask(struct rr_client_table *table, uint32_t state,
						const struct rr_input *input, int64_t passed_ns);

/* The table's own run does again what led to a state. False: it does something else,
 * or there is no room for what it does; table->error. */
bool rr_client_table_follow(struct rr_client_table *table, uint32_t to);
void rr_client_table_drop_run(struct rr_client_table *table);

/*
 * Runs attempts again, behind histories that were merged: `most` runs. 0: all was
 * the same. 1: a client does something else after other attempts, so that
 * `remembers` is too low. -1: table->error. How many runs it took is added to *n.
 */
int rr_client_table_verify(struct rr_client_table *table, unsigned long most, unsigned long *n);

/* In words: "SET counter 1", "sleeps". */
void rr_client_state_text(const struct rr_program *program, const struct rr_client_state *state,
			  char *text, size_t size);

#endif
