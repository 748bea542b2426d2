/* SPDX-License-Identifier: MIT */
/*
 * The register of a search: what the search assumes until something contradicts it. The code that
 * notices this withdraws the belief, and the search begins again. Nothing but the beginning of a
 * search empties the register, and does what each kind asks for (begin() in explore/search.c).
 *
 * After some kinds nothing that is learned until then is of use: the product, table or programs
 * stop, as after an error, without one.
 */
#ifndef RR_BELIEFS_H
#define RR_BELIEFS_H

#include <stdbool.h>
#include <stddef.h>

/* Each: what is assumed; who notices that it is not so; what the next search does. */
enum rr_belief {
	/* ---- Of states ---- */
	/* No monotonic clock makes a difference; the product, when a client has read one; the time since
	 * then is a part of states. */
	RR_BELIEF_NO_CLOCKS,
	/* The length of a sleep makes none; the product, when a program sleeps and something ends on its
	 * own; what is left of a sleep is a part of states. */
	RR_BELIEF_NO_SLEEPS,
	/* The time of day makes none; the product, when a client reads it, or the graph, when a server
	 * answers in two ways; it is a part of states, and server tables are learned again. */
	RR_BELIEF_NO_DAY,
	/* A strategy loads a script before it needs it; the search, when a server did not know one that
	 * was loaded later; servers know it from the beginning. */
	RR_BELIEF_SCRIPTS_LOADED,
	/* Which scripts a server knows makes no difference to programs; the search, when a server did
	 * not know one, or a program asks; it is a part of states. Stops the product. */
	RR_BELIEF_SCRIPTS_KNOWN,
	/* There are few states; the graph; a command whose keys no other client names is executed
	 * immediately. */
	RR_BELIEF_FEW_STATES,
	/* No other client names these keys; rr_key_use_note(); it is known who does. */
	RR_BELIEF_OWN_KEYS,
	/* Refused clients come back to known states; the graph; their refusals are bounded. */
	RR_BELIEF_STATES_END,
	/* ---- Of a table ---- */
	/* Histories that are taken for one state are one; tests, walks, and runs next to other clients
	 * (learning.h); nothing more, the hypothesis is refined already. */
	RR_BELIEF_HISTORIES,
	/* A client has few histories, apart from loops; rr_learning_classify(); any history may be any
	 * state, and all are classified again. Stops the table. */
	RR_BELIEF_FEW_HISTORIES,
	/* There is an end to what a client does; rr_learning_bound(); programs use names of random
	 * values again, the next time they are followed for some rounds; histories of a strategy are
	 * no states. Stops the table. */
	RR_BELIEF_CLIENT_ENDS,
	/* What a program does is independent of when it read its clock; a new row; its clock goes on
	 * with the time of the search. */
	RR_BELIEF_TIMELESS,
	/* ---- Of strategies ---- */
	/* Their clients do the same; rr_client_view_verify(); each has a table of its own. */
	RR_BELIEF_ALIKE,
	/* They do the same with other random values; compare_draws(); these values are searched. */
	RR_BELIEF_ANY_DRAW,
	/* ---- Of programs: all but the first stop them ---- */
	/* All their random values are known; compare_run(); equal clients exchange the others, too. */
	RR_BELIEF_VALUES,
	/* Those with one command line do the same; compare_run(), rr_programs_verify(); each has a table
	 * of its own, and all are learned again. */
	RR_BELIEF_SHARED,
	/* What another client than the first one learned is not drawn; compare_run(); all are learned
	 * again, by the first client. */
	RR_BELIEF_NONE_DRAWS,
	/* A text that got the name of a random value is random; compare_run(); all are learned again, and
	 * after a few times names are not used again. */
	RR_BELIEF_RANDOM,
	/* The kernel's process ids make no difference; compare_run(); programs see other ones, and all
	 * are learned again. */
	RR_BELIEF_PIDS,
	/* Next to other clients they do what their tables say; compare_run(); nothing more, the
	 * hypothesis is refined already. */
	RR_BELIEF_TABLES,
};

enum {
	RR_BELIEFS_STOP = 1U << RR_BELIEF_SCRIPTS_KNOWN | 1U << RR_BELIEF_FEW_HISTORIES |
			  1U << RR_BELIEF_CLIENT_ENDS | 1U << RR_BELIEF_SHARED |
			  1U << RR_BELIEF_NONE_DRAWS | 1U << RR_BELIEF_RANDOM |
			  1U << RR_BELIEF_PIDS | 1U << RR_BELIEF_TABLES,
	RR_BELIEFS_OF_STATES = (1U << RR_BELIEF_HISTORIES) - 1,
	RR_BELIEFS_OF_TABLE = 1U << RR_BELIEF_HISTORIES | 1U << RR_BELIEF_FEW_HISTORIES |
			      1U << RR_BELIEF_CLIENT_ENDS | 1U << RR_BELIEF_TIMELESS,
	RR_BELIEVERS_MAX = 9 /* a table of each client, and their program */
};

struct rr_beliefs {
	unsigned withdrawn; /* kinds, as bits */
	size_t n;
	struct {
		const void *who;
		unsigned withdrawn;
	} of[RR_BELIEVERS_MAX];
};

/* `who`: the table (rr_client_table) or the program (rr_program) of which it is believed; NULL: it is
 * of all. A NULL register keeps nothing: a path that is done once (live.h) does not begin again. */
void rr_belief_withdraw(struct rr_beliefs *beliefs, enum rr_belief kind, const void *who);

/* Where a search begins, and only there: empties the register, and returns the kinds, as bits, that
 * the search before it has withdrawn. */
unsigned rr_beliefs_begin(struct rr_beliefs *beliefs);

/* Returns the kinds that are withdrawn of a table or program, as bits. */
unsigned rr_beliefs_withdrawn_of(const struct rr_beliefs *beliefs, const void *who);

/* Of anything. */
static inline unsigned rr_beliefs_withdrawn(const struct rr_beliefs *beliefs)
{
	return beliefs ? beliefs->withdrawn : 0;
}

#endif
