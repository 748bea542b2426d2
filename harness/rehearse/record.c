/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "reply_copy.h"
#include "script.h"
#include "wording_ops.h"

/* ---- Steps ------------------------------------------------------------------------ */

static char *keep(struct rr_rehearsal *rehearsal, const char *text)
{
	char *kept = rr_race_keep(rehearsal->race, text, strlen(text));

	if (!kept)
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "out of memory");
	return kept;
}

static int64_t elapsed_ns(const struct rr_rehearsal *rehearsal)
{
	return rehearsal->world->moved_ns;
}

/* Another step and its event; NULL, and it is full. */
static struct rr_event *add(struct rr_rehearsal *rehearsal,
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
static void look_around(struct rr_rehearsal *rehearsal, struct rr_event *event,
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
	struct rr_event *event = add(rehearsal, kind, client, &step);

	if (!event)
		return;
	rr_observer_mark(&rehearsal->observer, step, remark);
	look_around(rehearsal, event, remark);
	rehearsal->n_marks++;
}

void rr_record_note(struct rr_rehearsal *rehearsal, const char *text)
{
	struct rr_step *step;

	if (add(rehearsal, RR_STEP_NOTE, -1, &step))
		step->text = keep(rehearsal, text);
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

/* ---- Commands ---------------------------------------------------------------------- */

/* A script that is called by its hash is told whole: no other server knows it.
 * NULL = it is something else, or this one did not know it either. */
static const char *source_of(const struct rr_gate_event *event)
{
	const struct rr_op *op = &event->op;

	if (strcmp(op->words[0].text, "EVALSHA") != 0 || op->n_words < 2 ||
	    rl_script_is_forgotten(&event->reply))
		return NULL;
	return rl_script_source(op->link, op->words[1].text);
}

static bool keep_words(struct rr_rehearsal *rehearsal, struct rr_step *step,
		       const struct rr_gate_event *event)
{
	const char *source = source_of(event);
	const char *words[RL_WORDS_MAX];

	step->n_words = event->op.n_words;
	for (size_t i = 0; i < step->n_words; i++) {
		const char *word = event->op.words[i].text;

		if (source && i < 2)
			word = i == 0 ? "EVAL" : source;
		words[i] = keep(rehearsal, word);
		if (!words[i])
			return false;
	}
	step->words = (const char *const *)rr_race_keep(
		rehearsal->race, (const char *)words,
		step->n_words * sizeof(words[0]));
	return step->words != NULL;
}

/* What came: the client's side of it. */
static bool reply_of(const struct rr_gate_event *event, bool lost, char *text,
		     size_t size)
{
	const bool answered = event->outcome == RL_OK ||
			      event->reply.type == RL_REPLY_FAILED;

	if (answered && !lost)
		return rr_reply_copy_text(&event->reply, text, size);
	snprintf(text, size, lost ? "(lost)" : "(closed)");
	return true;
}

/* Is the reply lost, on purpose or with one before it? Then only the last one
 * is a race's (lost), for that ends the connection. */
static bool note_loss(struct rr_rehearsal *rehearsal, int client,
		      const struct rr_gate_event *event, struct rr_step *step)
{
	struct rr_loss *loss = &rehearsal->losses[client];
	const struct rl_link *link = event->op.link;
	const bool follows = loss->link == link;

	if (!event->lost && !follows)
		return false;
	if (follows) {
		loss->step->is_lost = false;
		loss->step->expected = NULL;
	}
	step->is_lost = true;
	*loss = (struct rr_loss){ rl_link_connection(link) ? link : NULL,
				  step };
	return true;
}

static void record_command(struct rr_rehearsal *rehearsal, int client,
			   const struct rr_gate_event *gate_event)
{
	char text[RR_REPLY_TEXT_SIZE], remark[RR_REMARK_SIZE] = "";
	struct rr_step *step;
	struct rr_event *event = add(rehearsal, RR_STEP_RUN, client, &step);

	if (!event)
		return;
	step->server = gate_event->op.server;
	if (!keep_words(rehearsal, step, gate_event) ||
	    !reply_of(gate_event,
		      note_loss(rehearsal, client, gate_event, step), text,
		      sizeof(text))) {
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "out of memory");
		return;
	}
	step->expected = keep(rehearsal, text);
	event->command = rr_join_words(gate_event->op.words,
				       gate_event->op.n_words);
	event->reply = strdup(text);
	look_around(rehearsal, event, remark);
}

/* ---- What else a client does ---------------------------------------------------------- */

/* Each process has a mutex of its own. */
static void record_mutex(struct rr_rehearsal *rehearsal, int client, bool takes)
{
	char name[RR_DURATION_SIZE] = "mutex", remark[RR_REMARK_SIZE] = "";
	struct rr_step *step;
	struct rr_event *event =
		add(rehearsal, takes ? RR_STEP_LOCK : RR_STEP_UNLOCK, client,
		    &step);

	if (!event)
		return;
	if (!rehearsal->setup.one_process)
		snprintf(name, sizeof(name), "mutex-of-%s",
			 rehearsal->race->actors[client].name);
	step->text = keep(rehearsal, name);
	look_around(rehearsal, event, remark);
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
	struct rr_event *event = add(rehearsal, RR_STEP_TICK, -1, &step);

	if (!event)
		return;
	step->amount = duration_ns;
	look_around(rehearsal, event, remark);
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
	struct rr_step *step;
	struct rr_event *event = add(rehearsal, RR_STEP_FAULT, -1, &step);

	if (!event)
		return;
	step->server = server;
	step->fault = RR_FAULT_WIPE;
	rehearsal->code = rr_scenery_fault(&rehearsal->scenery, step,
					   &rehearsal->observer, remark,
					   rehearsal->error);
	look_around(rehearsal, event, remark);
}
