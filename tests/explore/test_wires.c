/* SPDX-License-Identifier: MIT */
/* What a transcript says of a reply that did not come. */
#include <criterion/criterion.h>

#include "wires.h"

static void add(struct rr_gate_trace *trace, enum rl_outcome outcome, bool lost,
		bool unheard)
{
	struct rr_gate_event *event = rr_gate_trace_append(trace);

	event->kind = RR_EVENT_STEP;
	event->actor = 0;
	event->op = (struct rr_op){ .kind = RR_OP_SEND };
	event->outcome = outcome;
	event->lost = lost;
	event->unheard = unheard;
}

static void assert_answers(struct rr_gate_trace *trace,
			   const enum rr_answer *answers)
{
	struct rr_wires wires = { 0 };
	bool was_open;

	for (size_t i = 0; i < trace->n_events; i++)
		cr_expect_eq(rr_wires_answer(&wires, trace, i, &was_open),
			     answers[i], "event %zu", i);
	rr_gate_trace_release(trace);
}

/* The first knows it has a connection, the second that it has none. */
Test(wires, server_that_is_down_closes_first_and_refuses_then)
{
	struct rr_gate_trace trace = { 0 };

	add(&trace, RL_OK, false, false);
	add(&trace, RL_ERROR, false, false);
	add(&trace, RL_ERROR, false, false);
	add(&trace, RL_OK, false, false);
	add(&trace, RL_UNKNOWN, false, false);
	assert_answers(&trace,
		       (enum rr_answer[]){ RR_ANSWER_REPLY, RR_ANSWER_CLOSED,
					   RR_ANSWER_REFUSED, RR_ANSWER_REPLY,
					   RR_ANSWER_CLOSED });
}

Test(wires, batch_behind_a_lost_reply_is_lost_as_a_whole)
{
	struct rr_gate_trace trace = { 0 };

	add(&trace, RL_UNKNOWN, true, false);
	add(&trace, RL_OK, false, true);
	add(&trace, RL_OK, false, true);
	add(&trace, RL_OK, false, false);
	add(&trace, RL_UNKNOWN, true, false);
	add(&trace, RL_OK, false, false);
	cr_expect_not(rr_wires_is_last(&trace, 1));
	cr_expect(rr_wires_is_last(&trace, 2));
	assert_answers(&trace,
		       (enum rr_answer[]){ RR_ANSWER_LATER, RR_ANSWER_LATER,
					   RR_ANSWER_LATER, RR_ANSWER_REPLY,
					   RR_ANSWER_LOST, RR_ANSWER_REPLY });
}
