/* SPDX-License-Identifier: MIT */
/*
 * A transcript's connections: where a client opens one only at its first
 * command, a link has been connected since before the run. What differs shows
 * when a server goes away.
 */
#ifndef RR_WIRES_H
#define RR_WIRES_H

#include "fleet.h"
#include "gate.h"

struct rr_wires {
	bool open[RR_GATE_ACTORS][RR_FLEET_MAX];
};

/* What is to be written of a command's reply in its place. */
enum rr_answer {
	RR_ANSWER_REPLY,
	RR_ANSWER_LOST,    /* (lost), and the connection is gone */
	RR_ANSWER_LATER,   /* (lost) once what was sent after it is, too */
	RR_ANSWER_CLOSED,  /* (closed): the server was gone meanwhile */
	RR_ANSWER_REFUSED, /* (refused): and so it is when one connects */
};

/* Of the event `i`, a SEND; events are asked about in their order. Tells as well
 * whether its connection is open before. */
enum rr_answer rr_wires_answer(struct rr_wires *wires,
			       const struct rr_gate_trace *trace, size_t i,
			       bool *was_open);

/* Is the event `i` the last on its connection after a lost reply? */
bool rr_wires_is_last(const struct rr_gate_trace *trace, size_t i);

#endif
