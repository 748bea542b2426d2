/* SPDX-License-Identifier: MIT */
/* What happened in one execution under a gate, in order. */
#ifndef RR_GATE_TRACE_H
#define RR_GATE_TRACE_H

#include <stdio.h>

#include "store.h"

/* What an actor does where others could notice it, or it could notice others. */
enum rr_op_kind {
	RR_OP_SEND,   /* a command, executed and answered within the step */
	RR_OP_SLEEP,
	RR_OP_WAIT,   /* for a file descriptor or a time */
	RR_OP_LOCK,   /* a mutex */
	RR_OP_UNLOCK,
	RR_OP_CLOCK,  /* reads the time of day */
	RR_OP_JOIN,   /* waits until an actor has ended */
};

struct rr_op {
	enum rr_op_kind kind;
	int server;                  /* SEND: an index of the gate's addresses,
				      * -1 = another server */
	const struct rl_link *link;  /* SEND */
	size_t n_words;              /* SEND */
	const struct rl_word *words; /* copies, valid until the next run */
	int fd;                      /* WAIT */
	size_t source, n_sources;    /* SEND of a blocking pop: the words that
				      * are its source keys; else 0, 0 */
	int64_t until_ns;            /* SLEEP, WAIT, a blocking pop: ends by
				      * itself then */
	const struct rl_mutex *mutex; /* LOCK, UNLOCK */
	int whom;                    /* JOIN: the actor. LOCK: the holder, -1 */
	bool yields;                 /* SLEEP: may end at once */
};

enum rr_gate_event_kind {
	RR_EVENT_STEP,  /* an actor's `op` */
	RR_EVENT_ENTER, /* marks */
	RR_EVENT_LEAVE,
	RR_EVENT_SPAWN, /* `value`: the new actor */
	RR_EVENT_END,   /* the actor's routine has returned */
	RR_EVENT_PASS,  /* time passes, `value`: until then */
	RR_EVENT_CRASH,
	RR_EVENT_RESTART, /* of op.server; `value` > 0: it is down at first */
	RR_EVENT_RETURN,  /* of op.server */
	RR_EVENT_JUMP,    /* of op.server's clock by `value` */
	RR_EVENT_PAUSE, /* `value`: until then */
};

struct rr_gate_event {
	enum rr_gate_event_kind kind;
	int actor;       /* -1 with PASS */
	int64_t at_ns;   /* in the gate's time */
	struct rr_op op;
	enum rl_outcome outcome; /* SEND: what the client sees */
	bool lost;               /* SEND: on purpose; `reply` says what it was */
	bool unheard;            /* SEND: on a connection of which a reply was
				  * lost, and the client did not know yet */
	bool timed;              /* the actor read the monotonic clock after it */
	struct rl_reply reply;   /* SEND: nil unless it was answered */
	int64_t value;   /* CLOCK: the reading. WAIT: 1 = readable */
};

struct rr_gate_trace {
	struct rr_gate_event *events;
	size_t n_events, capacity;
	struct rr_store store;
};

/* Room for one more event, zeroed; valid until the next one. NULL when out of
 * memory. */
struct rr_gate_event *rr_gate_trace_append(struct rr_gate_trace *trace);

void rr_gate_trace_reset(struct rr_gate_trace *trace);
void rr_gate_trace_release(struct rr_gate_trace *trace);

/* One line: "A> SET lock 1 NX => OK", "B sleeps until 400 us", "A enters". A
 * server other than the first is named: "A@1> ...". */
void rr_gate_event_print(FILE *file, const struct rr_gate_event *event,
		    const char *actor);

#endif
