/* SPDX-License-Identifier: MIT */
/*
 * Actions: what transitions consist of, one after the other. Servers are asked, clients
 * are fed, time passes. A search writes such a list down for a path that it has found,
 * an execution as it goes; a recorder makes a race of it.
 */
#ifndef RR_ACTIONS_H
#define RR_ACTIONS_H

#include "server/server.h"
#include "base/memory.h"
#include "party/party.h"
#include "transitions.h"

enum rr_action_kind {
	RR_ACTION_ASK,    /* a server is asked, and answers with `reply` */
	RR_ACTION_SERVE,  /* a command that blocked has got `reply`, by what was asked last */
	RR_ACTION_FEED,   /* a client is fed, and runs on */
	RR_ACTION_CRASH,  /* of a client */
	RR_ACTION_ANSWER, /* a command has got an answer other than a reply */
	RR_ACTION_TIME,   /* `ns` have passed everywhere */
	RR_ACTION_DOWN,   /* a server is down from now on */
	RR_ACTION_UP,
	RR_ACTION_CLOCK, /* `ns` have passed for one client, and nobody else noticed */
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
	uint8_t lane, answer;        /* ANSWER, SERVE; and ASK for a client */
	bool is_late;                /* ASK: its client has given it up */
	bool is_fault;               /* ANSWER: the command never arrived */
	bool blocks;                 /* ASK: it has no reply yet */
	bool was_inside;             /* FEED: in its critical section, before */
	bool has_entered;            /* FEED: it, meanwhile */
	bool is_inside;              /* FEED: after; ASK: sent from there */
	uint8_t n_inside;            /* FEED: commands sent from there and not
				      * executed yet */
	uint8_t n_counted;           /* FEED: increments that were acknowledged
				      * meanwhile */
	struct rr_stop stop;         /* FEED: what it waited for */
	struct rr_question question; /* ASK */
	struct rr_input input;       /* FEED */
	uint32_t command, reply;     /* ASK, ANSWER, SERVE */
	int64_t ns;                  /* TIME; FEED: see rr_client_run_feed() */
	const char *fault;           /* the first one of a fault: rr_transition_row.fault */
};

static inline bool rr_action_is_command(const struct rr_action *action)
{
	return action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND;
}

struct rr_actions {
	size_t n, capacity;
	struct rr_action *all;
};

static inline void rr_actions_add(struct rr_actions *actions, const struct rr_action *action)
{
	if (actions->n == actions->capacity) {
		actions->capacity = actions->capacity ? 2 * actions->capacity : 64;
		actions->all = rr_realloc(actions->all, actions->capacity, sizeof(*action));
	}
	actions->all[actions->n++] = *action;
}

#endif
