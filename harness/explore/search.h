/* SPDX-License-Identifier: MIT */
/*
 * The search: which schedule to try next, and whether all have been.
 *
 * Depth first, by running the clients from the beginning again with a longer or
 * another prefix (stateless). Reduced by source-DPOR with sleep sets (Abdulla,
 * Aronis, Jonsson, Sagonas, POPL 2014): of schedules that differ only in the
 * order of steps that do not conflict, one is run. Faults and the passing of time
 * are moves as well; a node tries every one that its budget allows, but for those
 * that sleep, and the first program step of its choice.
 *
 * A client that was refused and has written nothing since its attempt began is
 * parked at its pause until something that it read is written, or until time
 * passes and it has looked at a clock: it would be refused again. An attempt that
 * writes is repeated `rounds` times, and once more each time that time passes.
 *
 * When nobody can go on, time passes by itself, to the end of the next lease or
 * the next waking: the leases of the dead run out. Time that passes writes the
 * keys whose leases end, and conflicts with those steps that take a lease or look
 * at a clock; others may change places with it.
 */
#ifndef RR_SEARCH_H
#define RR_SEARCH_H

#include "access.h"
#include "gate.h"

enum { RR_DEPTH_MAX = 512, RR_CANDIDATES_MAX = 64 };

enum rr_move_kind {
	RR_MOVE_STEP,  /* an actor's next operation */
	RR_MOVE_LOSE,  /* the same, and its reply is lost */
	RR_MOVE_CRASH, /* of an actor's process */
	RR_MOVE_RESTART, /* a server comes back empty, or goes down */
	RR_MOVE_RETURN,  /* one that was down does */
	RR_MOVE_JUMP,    /* of a server's clock, by more than a lease */
	RR_MOVE_HALF,  /* half a lease passes, renewers keep running */
	RR_MOVE_WHOLE, /* until the next lease ends, or a renewer wakes up */
	RR_MOVE_PAUSE_HALF, /* half a lease passes, and no renewer runs */
	RR_MOVE_PAUSE, /* more than a whole one does */
	RR_MOVE_WAIT,  /* nobody can go on: time passes */
	RR_MOVE_KINDS
};

struct rr_move {
	enum rr_move_kind kind;
	int actor; /* STEP, LOSE, CRASH; RESTART, RETURN, JUMP: the server */
};

/* How often each may happen in a run. Expiries and pauses of a whole lease may
 * come in two halves. */
struct rr_budget {
	int crashes, expiries, pauses, lost_replies;
	int restarts; /* of a lock server: it comes back empty */
	int jumps;    /* of a server's clock, forward by a lease */
};

struct rr_pct;

struct rr_search_config {
	size_t n_clients, n_servers; /* the first one holds the data */
	bool separate;   /* each client is a process of its own */
	bool all;        /* without reduction */
	struct rr_budget budget;
	bool stays_away; /* a server that restarts is down for a lease */
	int64_t lease_ns;
	int rounds;
	struct rr_access *access;
	struct rr_pct *pct; /* draws every move (pct.h); NULL = searches */
	/* The search is in parts that nothing connects: the subtrees at this
	 * depth, above which every candidate is wanted. 0 = one whole. */
	size_t split;
	/* Of each part in its order, and of each run that ends above `split`:
	 * is it to be searched here? NULL = all are. */
	bool (*claim)(void *context, unsigned long part);
	void *context;
	/* Rules to break, for a test of the tests. What a step is said to have
	 * touched can be changed, NULL = is not; nobody who sleeps is woken; who
	 * is stuck could not have come first. */
	void (*distort)(const struct rr_gate_event *event,
			struct rr_footprint *footprint);
	bool never_wakes, forgets_stuck;
};

/* How the last run came to its end. */
enum rr_run_end {
	RR_RUN_WHOLE,   /* all have ended or crashed */
	RR_RUN_STUCK,   /* nobody could go on, whatever time passed */
	RR_RUN_STARVED, /* all go on for ever, and what keeps them out stays */
	RR_RUN_CUT,     /* a loop was cut after its rounds */
	RR_RUN_BLOCKED, /* the rest is a schedule that was run already */
	RR_RUN_AGAIN,   /* ended early: something has to be looked at closer in
			 * the next one, which is the same */
	RR_RUN_ELSEWHERE, /* the part was not claimed */
	RR_RUN_GONE,    /* a server does not answer */
	RR_RUN_BROKEN,  /* the clients did not repeat themselves, or the gate
			 * says what failed: rr_gate_failure() */
};

struct rr_search;

/* NULL: out of memory. */
struct rr_search *rr_search_new(const struct rr_search_config *config);
void rr_search_free(struct rr_search *search);

/* Around each run: begin, rr_gate_run() with rr_search_choose, learn from
 * rr_gate_last_view(). */
void rr_search_begin(struct rr_search *search);
struct rr_choice rr_search_choose(void *search, const struct rr_view *view);
enum rr_run_end rr_search_learn(struct rr_search *search,
				enum rr_gate_end end,
				const struct rr_view *view);

/* Is there another schedule to run? Moves on to it. */
bool rr_search_next(struct rr_search *search);

/* Has any run been cut, so that not all was seen? */
bool rr_search_was_cut(const struct rr_search *search);

/* About how much of the search has been done, 0 to 1, of the schedules that are
 * known to be needed: each of a node's moves counted alike. */
double rr_search_share(const struct rr_search *search);
/* How many parts have been seen; the last is the last run's. */
unsigned long rr_search_n_parts(const struct rr_search *search);

/* Of the last run. */
size_t rr_search_n_moves(const struct rr_search *search);
struct rr_move rr_search_move(const struct rr_search *search, size_t i);

#endif
