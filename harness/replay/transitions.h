/* SPDX-License-Identifier: MIT */
/*
 * Transitions: what can happen next. One table says all that is the same wherever one
 * is met: in the search, in schedules, on the command line, in the matrix.
 *
 * Faults, and commands that arrive late, happen as often as a budget allows. A second
 * table says of each budget which option sets it and which hazard it belongs to.
 */
#ifndef RR_TRANSITIONS_H
#define RR_TRANSITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option.h"
#include "expected.h"

/* ---- Budgets ------------------------------------------------------------------ */

enum rr_budget_kind {
	RR_CRASHES,
	RR_EXPIRIES,
	RR_PAUSES,
	RR_LOST_REPLIES,
	RR_RESTARTS,
	RR_JUMPS,
	RR_LATE_COMMANDS, /* are executed after their client died or gave their
			   * connection up; no fault */
	RR_BUDGETS
};

/* How often each may happen in a run. */
struct rr_budget {
	int of[RR_BUDGETS];
};

struct rr_budget_row {
	const char *option;     /* of the command line, and its word in levels of the game */
	const char *help;       /* of redrace explore */
	const char *check_help; /* of redrace check; NULL = it has no such option */
	const char *one, *many; /* "1 crash", "2 crashes" */
	unsigned hazards;       /* columns of the matrix that it belongs to, as bits */
	int in_column;          /* so many in the search of such a column */
	int parts;              /* that each may come in: 2 = in halves; 0 = 1 */
	bool is_fault;
};

extern const struct rr_budget_row rr_budget_rows[RR_BUDGETS];

/* The same in the parts that they may come in. */
struct rr_budget rr_budget_in_parts(const struct rr_budget *budget);

/* Is there a fault in it? */
bool rr_budget_has_faults(const struct rr_budget *budget);

/* "lost_replies" of "lost-replies": what it is called in JSON. */
enum { RR_BUDGET_NAME = 20 };
const char *rr_budget_name(enum rr_budget_kind kind, char name[RR_BUDGET_NAME]);

/* Options of a command line that go to a struct rr_budget (rr_option.row_at): those of
 * redrace explore, and those of redrace check. */
bool rr_budget_option(size_t index, struct rr_option *option);
bool rr_budget_check_option(size_t index, struct rr_option *option);

/* ---- Transitions ---------------------------------------------------------------- */

enum rr_transition_kind {
	RR_DO_EXECUTE,    /* the next command on `lane` of client `who` */
	RR_DO_GO,         /* its thread `lane` goes on */
	RR_DO_BEGIN,      /* it begins an attempt, and waits at once */
	RR_DO_LATE,       /* late command number `who` is executed */
	RR_DO_NOTICE,     /* a server notices that `who` is dead */
	RR_DO_RETURN,     /* server `who` that was down comes back */
	RR_DO_WAIT,       /* time passes by itself, to the next end */
	RR_DO_NEAR,       /* to shortly before it */
	RR_DO_WAKE,       /* `who` sleeps no longer, although others can act */
	RR_DO_LOSE,       /* faults: EXECUTE, and its reply is lost */
	RR_DO_DROP,       /* the command never arrives, nor does its reply */
	RR_DO_CRASH,      /* of `who`'s process */
	RR_DO_RESTART,    /* server `who` comes back empty, or goes down */
	RR_DO_JUMP,       /* of server `who`'s clock, by more than a lease */
	RR_DO_HALF,       /* half a lease passes, renewers keep running */
	RR_DO_WHOLE,      /* until the next lease ends, and `who` more; or a renewer wakes up */
	RR_DO_PAUSE_HALF, /* half a lease passes, and no renewer runs */
	RR_DO_PAUSE,      /* more than a whole one does */
	RR_TRANSITIONS
};

struct rr_transition {
	uint8_t kind, who, lane;
};

/* So many ends, one after the other, time passes at once. */
enum { RR_ENDS_MAX = 8 };

/* Of what `who` is a number. */
enum rr_subject { RR_OF_NOBODY, RR_OF_CLIENT, RR_OF_SERVER, RR_OF_ENDS };

struct rr_transition_row {
	const char *word;  /* in schedules; NULL = a client's step, which has none before
			    * its client */
	const char *alias; /* another one that is understood */
	const char *fault; /* what programs know a fault by, or a late command: it stays the same */
	enum rr_subject subject;
	bool is_step;     /* of a client */
	bool has_command; /* its word says which */
	bool is_played;   /* redrace play understands its word */
	char key;         /* at redrace play --interactive; 0 = none */
	bool is_fault;
	enum rr_budget_kind budget; /* of faults, and of LATE */
	int parts;                  /* that it takes of the budget; 0 = 1 */
};

extern const struct rr_transition_row rr_transition_rows[RR_TRANSITIONS];

/* The one that a key stands for; RR_TRANSITIONS = none. */
enum rr_transition_kind rr_transition_of_key(int key);

static inline bool rr_transition_is_fault(struct rr_transition transition)
{
	return rr_transition_rows[transition.kind].is_fault;
}

/* Is it a step of client `who`, which may lose its reply? */
static inline bool rr_transition_is_step(struct rr_transition transition)
{
	return rr_transition_rows[transition.kind].is_step;
}

/* And not one that is lost, repeated or otherwise a fault? */
static inline bool rr_transition_is_own_step(struct rr_transition transition)
{
	return rr_transition_is_step(transition) && !rr_transition_is_fault(transition);
}

/* So many of its budget it takes. */
static inline int rr_transition_cost(enum rr_transition_kind kind)
{
	const int parts = rr_transition_rows[kind].parts;

	return parts ? parts : 1;
}

#endif
