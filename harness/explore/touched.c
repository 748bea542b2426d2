/* SPDX-License-Identifier: MIT */
/* What a move has touched: its step, and the marks that were set after it. */
#include "search_inside.h"

static void note_step(struct rr_search *search, struct rr_done *done,
		      const struct rr_gate_event *event, bool is_new)
{
	if (is_new) {
		done->is_lock = event->op.kind == RR_OP_LOCK;
		done->is_unlock = event->op.kind == RR_OP_UNLOCK;
		done->is_pop = event->op.n_sources > 0;
		done->is_sleep = event->op.kind == RR_OP_SLEEP &&
				 event->op.yields;
		done->mutex = (uintptr_t)event->op.mutex;
		done->proved = rr_search_is_proved(search, event);
	}
	done->footprint = rr_access_of(search->config.access, event,
				       done->proved);
	if (search->config.distort)
		search->config.distort(event, &done->footprint);
}

/* The step itself, and the marks that its actor set before its next one. */
static void note_events(struct rr_search *search, struct rr_done *done,
			const struct rr_gate_trace *trace, bool is_new)
{
	for (size_t i = search->event; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];
		const struct rr_footprint mark = rr_access_of_mark(event);

		if (event->kind == RR_EVENT_STEP)
			note_step(search, done, event, is_new);
		rr_footprint_add(&done->footprint, &mark);
	}
}

void rr_search_note(struct rr_search *search,
		    const struct rr_gate_trace *trace)
{
	struct rr_done *done;

	if (search->n_done == 0)
		return;
	done = &search->done[search->n_done - 1];
	if (rr_move_is_step(&done->move))
		note_events(search, done, trace,
			    search->n_done > search->n_kept);
}
