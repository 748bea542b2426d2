/* SPDX-License-Identifier: MIT */
/*
 * Transitions: what can happen next, the one vocabulary of schedules, of keys, of the
 * search and of random runs. And actions: what transitions consist of, one after the
 * other. Servers are asked, clients are fed, time passes. A search writes such a list
 * down for a path that it has found, an execution as it goes; a recorder makes a race
 * of it.
 */
#ifndef RR_ACTIONS_H
#define RR_ACTIONS_H

#include "asker.h"
#include "client_run.h"

enum rr_transition_kind {
	RR_DO_EXECUTE,    /* the next command on `lane` of client `who` */
	RR_DO_GO,         /* its thread `lane` goes on */
	RR_DO_BEGIN,      /* it begins an attempt, and waits at once */
	RR_DO_LATE,       /* late command number `who` is executed */
	RR_DO_NOTICE,     /* a server notices that `who` is dead */
	RR_DO_RETURN,     /* server `who` that was down comes back */
	RR_DO_WAIT,       /* time passes by itself, to the next end */
	RR_DO_NEAR,       /* to shortly before it */
	RR_DO_LOSE,       /* faults: EXECUTE, and its reply is lost */
	RR_DO_DROP,       /* the command never arrives, nor does its reply */
	RR_DO_CRASH,      /* of `who`'s process */
	RR_DO_RESTART,    /* server `who` comes back empty, or goes down */
	RR_DO_JUMP,       /* of server `who`'s clock, by more than a lease */
	RR_DO_HALF,       /* half a lease passes, renewers keep running */
	RR_DO_WHOLE,      /* until the next lease ends, or a renewer wakes up */
	RR_DO_PAUSE_HALF, /* half a lease passes, and no renewer runs */
	RR_DO_PAUSE,      /* more than a whole one does */
};

struct rr_transition {
	uint8_t kind, who, lane;
};

static inline bool rr_transition_is_fault(struct rr_transition transition)
{
	return transition.kind >= RR_DO_LOSE;
}

/* Is it a step of client `who`, which may lose its reply? */
static inline bool rr_transition_is_step(struct rr_transition transition)
{
	return transition.kind <= RR_DO_BEGIN || transition.kind == RR_DO_LOSE ||
	       transition.kind == RR_DO_DROP;
}

/* ---- Actions ---------------------------------------------------------------- */

enum rr_action_kind {
	RR_ACTION_ASK,    /* a server is asked, and answers with `reply` */
	RR_ACTION_FEED,   /* a client is fed, and runs on */
	RR_ACTION_CRASH,  /* of a client */
	RR_ACTION_ANSWER, /* a command has got an answer other than a reply */
	RR_ACTION_TIME,   /* `ns` have passed everywhere */
	RR_ACTION_DOWN,   /* a server is down from now on */
	RR_ACTION_UP,
};

/* What a client hears of a command. */
enum rr_answer_kind {
	RR_ANSWER_REPLY,   /* number `reply` */
	RR_ANSWER_LOST,    /* none will come; what is behind it is executed */
	RR_ANSWER_SHUT,    /* none will come; what is behind it never arrives */
	RR_ANSWER_REFUSED, /* the server is down */
	RR_ANSWER_UNHEARD, /* executed behind a reply that was lost */
};

struct rr_action {
	uint8_t kind, client, server;
	uint8_t lane, answer;        /* ANSWER; and ASK for a client */
	bool is_late;                /* ASK: its client has given it up */
	bool is_fault;               /* ANSWER: the command never arrived */
	bool blocks;                 /* ASK */
	bool was_inside;             /* FEED: in its critical section, before */
	bool has_entered;            /* FEED: it, meanwhile */
	bool is_inside;              /* FEED: after; ASK: sent from there */
	uint8_t n_inside;            /* FEED: commands sent from there and not
				      * executed yet */
	uint8_t n_counted;           /* FEED, CRASH: increments that count from
				      * now on */
	struct rr_stop stop;         /* FEED: what it waited for */
	struct rr_question question; /* ASK */
	struct rr_input input;       /* FEED */
	uint32_t command, reply;     /* ASK, ANSWER */
	uint64_t signature;          /* FEED: of what the client does then */
	int64_t ns;                  /* TIME; FEED: see rr_client_run_feed() */
};

struct rr_actions {
	size_t n, capacity;
	struct rr_action *all;
};

/* False: out of memory. */
bool rr_actions_add(struct rr_actions *actions, const struct rr_action *action);

#endif
