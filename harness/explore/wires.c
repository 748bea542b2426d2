/* SPDX-License-Identifier: MIT */
#include "wires.h"

/* The next command that this link sends; n_events = none. */
static size_t next_of(const struct rr_gate_trace *trace, size_t i)
{
	const struct rr_gate_event *event = &trace->events[i];

	for (i++; i < trace->n_events; i++) {
		const struct rr_gate_event *other = &trace->events[i];

		if (other->kind == RR_EVENT_STEP &&
		    other->op.kind == RR_OP_SEND &&
		    other->actor == event->actor &&
		    other->op.link == event->op.link)
			break;
	}
	return i;
}

bool rr_wires_is_last(const struct rr_gate_trace *trace, size_t i)
{
	const size_t next = next_of(trace, i);

	return next == trace->n_events || !trace->events[next].unheard;
}

/* An error that a server answers has a text. */
static bool is_unanswered(const struct rr_gate_event *event)
{
	return event->outcome != RL_OK &&
	       event->reply.type != RL_REPLY_FAILED;
}

/* Only the first server has commands that are written without a look at what
 * comes back. */
static bool is_in_batch(const struct rr_gate_trace *trace, size_t i)
{
	const struct rr_gate_event *event = &trace->events[i];

	return event->op.server == 0 &&
	       (event->unheard ||
		(event->lost && !rr_wires_is_last(trace, i)));
}

enum rr_answer rr_wires_answer(struct rr_wires *wires,
			       const struct rr_gate_trace *trace, size_t i,
			       bool *was_open)
{
	const struct rr_gate_event *event = &trace->events[i];
	bool *open = &wires->open[event->actor][event->op.server];

	*was_open = *open;
	*open = false;
	if (is_in_batch(trace, i)) {
		*open = !rr_wires_is_last(trace, i);
		return RR_ANSWER_LATER;
	}
	if (event->lost)
		return RR_ANSWER_LOST;
	if (is_unanswered(event) && event->outcome == RL_ERROR && !*was_open)
		return RR_ANSWER_REFUSED;
	if (is_unanswered(event))
		return RR_ANSWER_CLOSED;
	*open = true;
	return RR_ANSWER_REPLY;
}
