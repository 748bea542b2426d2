/* SPDX-License-Identifier: MIT */
#include "gate_trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/reply.h"

struct rr_gate_event *rr_gate_trace_append(struct rr_gate_trace *trace)
{
	struct rr_gate_event *event;

	if (trace->n_events == trace->capacity) {
		const size_t capacity = trace->capacity ? 2 * trace->capacity :
							  64;
		struct rr_gate_event *events = realloc(
			trace->events, capacity * sizeof(*events));

		if (!events)
			return NULL;
		trace->events = events;
		trace->capacity = capacity;
	}
	event = &trace->events[trace->n_events++];
	*event = (struct rr_gate_event){ .actor = -1 };
	return event;
}

void rr_gate_trace_reset(struct rr_gate_trace *trace)
{
	trace->n_events = 0;
	rr_store_reset(&trace->store);
}

void rr_gate_trace_release(struct rr_gate_trace *trace)
{
	free(trace->events);
	rr_store_release(&trace->store);
	*trace = (struct rr_gate_trace){ 0 };
}

/* ---- Printing ------------------------------------------------------------- */

static void print_send(FILE *file, const struct rr_gate_event *event,
		       const char *actor)
{
	if (event->op.server == 0)
		fprintf(file, "%s>", actor);
	else
		fprintf(file, "%s@%d>", actor, event->op.server);
	for (size_t i = 0; i < event->op.n_words; i++)
		rr_write_word(file, &event->op.words[i]);
	fputs(" => ", file);
	rr_write_reply(file, &event->reply);
	if (event->lost)
		fputs(" (lost)", file);
	else if (event->outcome == RL_UNKNOWN)
		fputs(" (unknown)", file);
}

static int64_t us(int64_t ns)
{
	return ns / 1000;
}

static void print_step(FILE *file, const struct rr_gate_event *event,
		       const char *actor)
{
	switch (event->op.kind) {
	case RR_OP_SEND:
		print_send(file, event, actor);
		break;
	case RR_OP_SLEEP:
		fprintf(file, "%s has slept", actor);
		break;
	case RR_OP_WAIT:
		fprintf(file, "%s waited: %s", actor,
			event->value ? "woken" : "in vain");
		break;
	case RR_OP_LOCK:
		fprintf(file, "%s locks", actor);
		break;
	case RR_OP_UNLOCK:
		fprintf(file, "%s unlocks", actor);
		break;
	case RR_OP_CLOCK:
		fprintf(file, "%s reads the clock: %" PRId64 " us", actor,
			us(event->value));
		break;
	case RR_OP_JOIN:
		fprintf(file, "%s has waited for an end", actor);
		break;
	}
}

void rr_gate_event_print(FILE *file, const struct rr_gate_event *event, const char *actor)
{
	switch (event->kind) {
	case RR_EVENT_STEP:
		print_step(file, event, actor);
		break;
	case RR_EVENT_ENTER:
		fprintf(file, "%s enters", actor);
		break;
	case RR_EVENT_LEAVE:
		fprintf(file, "%s leaves", actor);
		break;
	case RR_EVENT_SPAWN:
		fprintf(file, "%s starts %s'", actor, actor);
		break;
	case RR_EVENT_END:
		fprintf(file, "%s ends", actor);
		break;
	case RR_EVENT_PASS:
		fprintf(file, "time passes until %" PRId64 " us",
			us(event->value));
		break;
	case RR_EVENT_CRASH:
		fprintf(file, "%s crashes", actor);
		break;
	case RR_EVENT_RESTART:
		fprintf(file, "server %d %s", event->op.server,
			event->value ? "goes down" : "comes back empty");
		break;
	case RR_EVENT_RETURN:
		fprintf(file, "server %d comes back empty", event->op.server);
		break;
	case RR_EVENT_JUMP:
		fprintf(file, "the clock of server %d jumps by %" PRId64 " us",
			event->op.server, us(event->value));
		break;
	case RR_EVENT_PAUSE:
		fprintf(file, "%s stands still until %" PRId64 " us", actor,
			us(event->value));
		break;
	}
	fputc('\n', file);
}
