/* SPDX-License-Identifier: MIT */
/* A search's inside, for the files that make it up. */
#ifndef RR_SEARCH_INSIDE_H
#define RR_SEARCH_INSIDE_H

#include "access_inside.h"
#include "search.h"

enum { RR_SET_WORDS = RR_DEPTH_MAX / 64, RR_DOUBTFUL_MAX = 64 };

/* A set of moves of a run, by their numbers. */
struct rr_set {
	uint64_t words[RR_SET_WORDS];
};

static inline bool rr_set_has(const struct rr_set *set, size_t i)
{
	return set->words[i / 64] >> (i % 64) & 1;
}

static inline void rr_set_put(struct rr_set *set, size_t i)
{
	set->words[i / 64] |= UINT64_C(1) << (i % 64);
}

/* What could be done at a node. */
struct rr_candidate {
	struct rr_move move;
	bool wanted; /* to be run some time */
	bool done;
	bool asleep; /* whatever begins with it has been run elsewhere */
	struct rr_footprint footprint; /* known when done or asleep */
};

struct rr_node {
	size_t n_candidates;
	struct rr_candidate candidates[RR_CANDIDATES_MAX];
	size_t current;
	uint64_t parked; /* actors that wait for a change */
};

/* A move that was made. */
struct rr_done {
	struct rr_move move;
	struct rr_footprint footprint;
	int64_t until_ns; /* time: when the move is over. JUMP: by how much.
			   * RESTART: until when it stays away, 0 = it does not */
	bool is_blind;    /* WAIT: for nothing that anybody knows of */
	bool is_sleep;   /* a waiter's pause */
	bool is_lock, is_unlock;
	bool is_pop;     /* a blocking one */
	uint64_t mutex;
	bool was_parked;  /* SLEEP: and others' moves have ended that */
	bool has_written; /* SLEEP: the attempt before it has */
	bool proved;      /* a script that has written nothing */
	struct rr_set before; /* moves that happen before it */
};

struct rr_search {
	struct rr_search_config config;
	size_t n_nodes; /* of the prefix, when a run begins: of the stack */
	struct rr_node nodes[RR_DEPTH_MAX];
	size_t n_done, n_kept; /* moves of this run, and known from the last */
	struct rr_done done[RR_DEPTH_MAX];
	size_t event;          /* where the last move begins in the trace */
	bool counts;           /* changes were counted before it */
	long long changes;     /* so many; -1 = the server does not say */
	bool again;            /* its changes should have been counted */
	uint64_t doubtful[RR_DOUBTFUL_MAX]; /* hashes of scripts that refuse */
	size_t n_doubtful;
	enum rr_run_end end;
	bool was_cut;          /* ever */
	bool cuts;             /* this run */
	unsigned long n_parts;
	bool is_in_part;       /* this run is, and it is known whose that is */
	bool is_gone;          /* a server does not answer */
	int64_t ends_ns[RR_DEPTH_MAX][RR_NAMES_MAX]; /* of leases, when a move
			   * began that lets time pass */
};

/* ---- parts.c ---- */

/* The run comes into a part, or ends before: is it to be searched here? */
bool rr_search_enter_part(struct rr_search *search);

/* ---- touched.c ---- */

/* The move that has just been made, the last of done[], from its trace. */
void rr_search_note(struct rr_search *search,
		    const struct rr_gate_trace *trace);

/* ---- order.c ---- */

bool rr_search_depends(const struct rr_search *search,
		       const struct rr_move *a, const struct rr_footprint *fa,
		       const struct rr_move *b, const struct rr_footprint *fb);

/* Orders the moves of the run that are new, and asks for those schedules in
 * which races between them end the other way. */
void rr_search_order(struct rr_search *search);

/* The same for steps that were never made: of actors that wait in vain at the
 * end of a run for a mutex or an element, and might have come first. */
void rr_search_order_stuck(struct rr_search *search,
			   const struct rr_view *view);

/* ---- parking.c ---- */

/* WOKEN: others have changed what it was refused for. */
enum rr_parking { RR_PARKED, RR_WOKEN, RR_AWAKE, RR_ROUND };

/* An actor at a waiter's pause: may it try again? */
enum rr_parking rr_search_parking(const struct rr_search *search, int actor);

/* The moves each of which was enough for move `sleep` of a waiter. */
struct rr_set rr_search_wakers(const struct rr_search *search, size_t sleep);

/* Attempts of it that wrote and failed. */
int rr_search_rounds(const struct rr_search *search, int actor);

/* ---- proof.c ---- */

/* Before a step that is new: counts changes, where that may have to be known. */
void rr_search_count(struct rr_search *search, const struct rr_op *op);

/* After it: is it a script that has written nothing? */
bool rr_search_is_proved(struct rr_search *search,
			 const struct rr_gate_event *event);

/* ---- candidates.c ---- */

/* What can be done now; none: the run is over. */
void rr_search_list(struct rr_search *search, const struct rr_view *view,
		    struct rr_node *node);

/* How many moves of this kind the run has made. */
int rr_search_used(const struct rr_search *search, enum rr_move_kind kind);

int rr_search_client(const struct rr_search *search, int actor);
bool rr_search_same_process(const struct rr_search *search, int a, int b);

/* ---- passing.c ---- */

/* Until when time passes in a move that is new, and what that does. */
void rr_search_plan(struct rr_search *search, const struct rr_view *view,
		    struct rr_done *done);

/* Would time, if it passed now, change nothing for those who are refused? Each of
 * them has tried since it passed last, nobody has got in, and a key that they
 * looked at has no less time left. */
bool rr_search_is_starved(struct rr_search *search);

/* Can time still bring about anything? */
bool rr_search_may_wait(struct rr_search *search, const struct rr_view *view);

/* A move in the gate's words. */
struct rr_choice rr_search_choice(const struct rr_done *done);

static inline bool rr_move_is_time(const struct rr_move *move)
{
	return move->kind >= RR_MOVE_HALF;
}

static inline bool rr_move_is_server(const struct rr_move *move)
{
	return move->kind >= RR_MOVE_RESTART && move->kind <= RR_MOVE_JUMP;
}

static inline bool rr_move_is_step(const struct rr_move *move)
{
	return move->kind == RR_MOVE_STEP || move->kind == RR_MOVE_LOSE;
}

static inline bool rr_move_equals(const struct rr_move *a,
				  const struct rr_move *b)
{
	return a->kind == b->kind && a->actor == b->actor;
}

#endif
