/* SPDX-License-Identifier: MIT */
/* The inside of writing a transcript, for the files that make it up. */
#ifndef RR_COUNTEREXAMPLE_INSIDE_H
#define RR_COUNTEREXAMPLE_INSIDE_H

#include <stdio.h>

#include "counterexample.h"
#include "wires.h"

struct rr_writer {
	FILE *file;
	const struct rr_explore_config *config;
	const struct rr_gate *gate;
	const struct rr_gate_trace *trace;
	long counts[RR_GATE_CLIENTS]; /* that it has still to say */
	const struct rl_mutex *mutexes[RR_GATE_CLIENTS];
	struct rr_wires wires;
};

/* "A", and "A2" for what the gate calls A'. */
void rr_counterexample_actor(const struct rr_writer *writer, int actor);

/* Does this client listen on a second connection, named as it is with a "w"? */
bool rr_counterexample_listens(const struct rr_writer *writer, int actor);

/* Is it such a connection's command? */
bool rr_counterexample_subscribes(const struct rr_gate_event *event);

/* What was subscribed to before the run. */
void rr_counterexample_subscribe(struct rr_writer *writer);

/* A line for a command, or two. */
void rr_counterexample_send(struct rr_writer *writer,
			    const struct rr_gate_event *event);

/* Opens connections that are found closed later: who finds its connection closed
 * must have one. */
void rr_counterexample_connections(struct rr_writer *writer);

#endif
