/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_parts.h"
#include "wording_ops.h"

/* ---- Steps ------------------------------------------------------------------------ */

char *record_keep(struct rr_rehearsal *rehearsal, const char *text)
{
	char *kept = rr_race_keep(rehearsal->race, text, strlen(text));

	if (!kept)
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "out of memory");
	return kept;
}

static int64_t elapsed_ns(const struct rr_rehearsal *rehearsal)
{
	return rehearsal->cluster->moved_ns;
}

/* Another step and its event; NULL, and it is full. */
struct rr_event *record_add(struct rr_rehearsal *rehearsal,
			    enum rr_step_kind kind, int actor,
			    struct rr_step **step)
{
	struct rr_race *race = rehearsal->race;
	struct rr_event *event;

	rehearsal->is_full = race->n_steps == RR_STEPS_MAX;
	if (rehearsal->is_full)
		return NULL;
	*step = &race->steps[race->n_steps++];
	**step = (struct rr_step){ .kind = kind,
				   .line = (int)race->n_steps,
				   .actor = actor,
				   .server = -1,
				   .peer = -1 };
	event = &rehearsal->trace.events[rehearsal->trace.n_events++];
	*event = (struct rr_event){ .step = *step,
				    .at_ns = elapsed_ns(rehearsal) };
	return event;
}

/* Looks at the keys and the lock after a step. */
void record_look(struct rr_rehearsal *rehearsal, struct rr_event *event,
			char remark[RR_REMARK_SIZE])
{
	rr_scenery_look(&rehearsal->scenery, event->keys);
	rr_scenery_look_at_lock(&rehearsal->scenery, event->step->actor,
				&rehearsal->observer, remark);
	if (remark[0])
		event->remark = strdup(remark);
	rehearsal->trace.findings = rehearsal->observer.findings;
}

static void add_mark(struct rr_rehearsal *rehearsal, enum rr_step_kind kind,
		     int client)
{
	char remark[RR_REMARK_SIZE] = "";
	struct rr_step *step;
	struct rr_event *event = record_add(rehearsal, kind, client, &step);

	if (!event)
		return;
	rr_observer_mark(&rehearsal->observer, step, remark);
	record_look(rehearsal, event, remark);
	rehearsal->n_marks++;
}

void rr_record_note(struct rr_rehearsal *rehearsal, const char *text)
{
	struct rr_step *step;

	if (record_add(rehearsal, RR_STEP_NOTE, -1, &step))
		step->text = record_keep(rehearsal, text);
}

static void notef(struct rr_rehearsal *rehearsal, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void notef(struct rr_rehearsal *rehearsal, const char *format, ...)
{
	char text[RR_OP_TEXT_SIZE + 80];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rr_record_note(rehearsal, text);
}

/* ---- What else a client does ---------------------------------------------------------- */

/* Each process has a mutex of its own. */
static void record_mutex(struct rr_rehearsal *rehearsal, int client, bool takes)
{
	char name[RR_DURATION_SIZE] = "mutex", remark[RR_REMARK_SIZE] = "";
	struct rr_step *step;
	struct rr_event *event =
		record_add(rehearsal, takes ? RR_STEP_LOCK : RR_STEP_UNLOCK, client,
		    &step);

	if (!event)
		return;
	if (!rehearsal->setup.one_process)
		snprintf(name, sizeof(name), "mutex-of-%s",
			 rehearsal->race->actors[client].name);
	step->text = record_keep(rehearsal, name);
	record_look(rehearsal, event, remark);
}

static void record_step(struct rr_rehearsal *rehearsal, int client,
			const struct rr_gate_event *event)
{
	const char *name = rehearsal->race->actors[client].name;
	const bool renews = event->actor != client;
	const char *of = renews ? "'s renewer" : "";

	switch (event->op.kind) {
	case RR_OP_SEND:
		if (renews)
			notef(rehearsal, "%s's renewer:", name);
		record_command(rehearsal, client, event);
		break;
	case RR_OP_LOCK:
	case RR_OP_UNLOCK:
		record_mutex(rehearsal, client, event->op.kind == RR_OP_LOCK);
		break;
	case RR_OP_SLEEP:
		notef(rehearsal, "%s%s has slept", name, of);
		break;
	case RR_OP_WAIT:
		notef(rehearsal, "%s%s has waited%s", name, of,
		      event->value ? ", and is woken" : "");
		break;
	case RR_OP_CLOCK:
		notef(rehearsal, "%s%s reads its clock: %lld s", name, of,
		      (long long)(event->value / 1000000000));
		break;
	case RR_OP_JOIN:
		notef(rehearsal, "%s's renewer has ended", name);
		break;
	}
}

/* A process takes all its clients along. */
static void record_crash(struct rr_rehearsal *rehearsal, int client)
{
	for (int i = 0; i < (int)rehearsal->setup.n_clients; i++) {
		if ((i == client || rehearsal->setup.one_process) &&
		    !rehearsal->observer.crashed[i])
			add_mark(rehearsal, RR_STEP_CRASH, i);
	}
}

/* The gate's time has moved; `at_ns` was before. */
static void record_pass(struct rr_rehearsal *rehearsal, int64_t duration_ns)
{
	char remark[RR_REMARK_SIZE] = "";
	struct rr_step *step;
	struct rr_event *event = record_add(rehearsal, RR_STEP_TICK, -1, &step);

	if (!event)
		return;
	step->amount = duration_ns;
	record_look(rehearsal, event, remark);
}

void rr_record_event(struct rr_rehearsal *rehearsal,
		     const struct rr_gate_event *event)
{
	const int n = (int)rehearsal->setup.n_clients;
	const int client = event->actor < 0 ? -1 : event->actor % n;
	char duration[RR_DURATION_SIZE];

	switch (event->kind) {
	case RR_EVENT_STEP:
		record_step(rehearsal, client, event);
		break;
	case RR_EVENT_ENTER:
		add_mark(rehearsal, RR_STEP_ENTER, client);
		break;
	case RR_EVENT_LEAVE:
		add_mark(rehearsal, RR_STEP_LEAVE, client);
		break;
	case RR_EVENT_PASS:
		record_pass(rehearsal, event->value - event->at_ns);
		break;
	case RR_EVENT_CRASH:
		record_crash(rehearsal, client);
		break;
	case RR_EVENT_PAUSE:
		notef(rehearsal, "%s stands still for %s",
		      rehearsal->race->actors[client].name,
		      rr_race_duration(duration, event->value - event->at_ns));
		break;
	case RR_EVENT_SPAWN:
	case RR_EVENT_END:
	case RR_EVENT_RESTART: /* done by the rehearsal itself */
	case RR_EVENT_RETURN:
	case RR_EVENT_JUMP:
		break;
	}
}

void rr_record_counts(struct rr_rehearsal *rehearsal)
{
	for (int i = 0; i < (int)rehearsal->setup.n_clients; i++) {
		const long now =
			rr_subject_acknowledged(rehearsal->subject, i);

		for (; rehearsal->counted[i] < now; rehearsal->counted[i]++)
			add_mark(rehearsal, RR_STEP_COUNT, i);
	}
}

void rr_record_restart(struct rr_rehearsal *rehearsal, int server)
{
	char remark[RR_REMARK_SIZE] = "";
	struct rr_error error = { 0 };
	struct rr_step *step;
	struct rr_event *event = record_add(rehearsal, RR_STEP_FAULT, -1, &step);

	if (!event)
		return;
	step->server = server;
	step->fault = RR_FAULT_WIPE;
	if (!rr_scenery_fault(&rehearsal->scenery, step, &rehearsal->observer,
			      remark, &error))
		rr_rehearsal_fail(rehearsal, rr_exit_of(error.kind), "%s",
				  error.text);
	record_look(rehearsal, event, remark);
}
