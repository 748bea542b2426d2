/* SPDX-License-Identifier: MIT */
/* Who goes next, and what the chooser makes of it. */
#include "inside.h"

/* ---- Choices -------------------------------------------------------------- */

struct rr_gate_event *rr_gate_note(struct rr_gate *gate, enum rr_gate_event_kind kind,
			      int actor)
{
	const bool is_full = gate->trace.n_events >= RR_GATE_EVENTS;
	struct rr_gate_event *event =
		is_full ? NULL : rr_gate_trace_append(&gate->trace);

	if (!event) {
		rr_gate_finish(gate, is_full ? RR_GATE_TOO_LONG :
					       RR_GATE_NO_MEMORY);
		return NULL;
	}
	event->kind = kind;
	event->actor = actor;
	event->at_ns = gate->now_ns;
	return event;
}

void rr_gate_finish(struct rr_gate *gate, enum rr_gate_end end)
{
	if (gate->is_over)
		return;
	gate->is_over = true;
	gate->end = end;
	for (size_t i = 0; i < gate->view.n_actors; i++) {
		struct rr_actor *actor = &gate->actors[i];

		actor->dead = actor->dead || actor->life == RR_LIFE_RUNNING ||
			      actor->life == RR_LIFE_STOPPED;
	}
}

/* Applies to all of an actor's process: crashes, or stands still. */
static void strike(struct rr_gate *gate, int number, bool crashes,
		   int64_t until_ns)
{
	const int client = gate->actors[number].client;
	const int process = gate->clients[client].process;

	for (size_t i = 0; i < gate->view.n_actors; i++) {
		struct rr_actor *actor = &gate->actors[i];

		if (actor->life != RR_LIFE_STOPPED ||
		    gate->clients[actor->client].process != process)
			continue;
		if (crashes)
			actor->dead = true;
		else
			actor->paused_until_ns = until_ns;
	}
}

static void pass_time(struct rr_gate *gate, int64_t until_ns)
{
	const int64_t duration_ns = until_ns - gate->now_ns;

	gate->now_ns = until_ns;
	if (gate->config.advance)
		gate->config.advance(gate->config.context, duration_ns);
}

static void strike_server(struct rr_gate *gate, enum rr_gate_event_kind kind,
			  const struct rr_choice *choice)
{
	const int server = choice->actor;
	struct rr_gate_event *event = rr_gate_note(gate, kind, -1);

	if (!event)
		return;
	event->op.server = server;
	event->value = choice->until_ns;
	gate->is_down[server] = kind == RR_EVENT_RESTART && choice->until_ns;
	if (kind == RR_EVENT_RESTART)
		rr_gate_cut_links(gate, server);
	if (kind != RR_EVENT_RETURN && gate->config.strike)
		gate->config.strike(gate->config.context, choice->kind, server,
				    choice->until_ns);
}

static bool is_of_server(const struct rr_choice *choice)
{
	return choice->kind >= RR_CHOOSE_RESTART &&
	       choice->kind <= RR_CHOOSE_JUMP;
}

static bool is_possible(const struct rr_gate *gate,
			const struct rr_choice *choice)
{
	const struct rr_view *view = &gate->view;
	const struct rr_actor_view *actor;

	if (choice->kind == RR_CHOOSE_STOP)
		return true;
	if (choice->kind == RR_CHOOSE_PASS)
		return choice->until_ns > view->now_ns &&
		       choice->until_ns < RR_NEVER;
	if (is_of_server(choice))
		return choice->actor >= 0 &&
		       (size_t)choice->actor < gate->config.n_addresses;
	if (choice->actor < 0 || (size_t)choice->actor >= view->n_actors)
		return false;
	actor = &view->actors[choice->actor];
	if (choice->kind == RR_CHOOSE_STEP)
		return actor->state == RR_READY;
	if (choice->kind == RR_CHOOSE_LOSE)
		return actor->state == RR_READY &&
		       actor->op->kind == RR_OP_SEND;
	if (choice->kind == RR_CHOOSE_PAUSE)
		return actor->op && choice->until_ns > view->now_ns;
	return actor->op != NULL;
}

static struct rr_actor *begin_step(struct rr_gate *gate,
				   const struct rr_choice *choice)
{
	struct rr_actor *actor = &gate->actors[choice->actor];
	struct rr_gate_event *event =
		rr_gate_note(gate, RR_EVENT_STEP, actor->number);

	if (!event)
		return NULL;
	event->op = actor->op;
	event->outcome = RL_UNKNOWN;
	actor->event = gate->trace.n_events - 1;
	actor->lose = choice->kind == RR_CHOOSE_LOSE;
	gate->view.last = actor->number;
	return actor;
}

static void note_value(struct rr_gate *gate, enum rr_gate_event_kind kind, int actor,
		       int64_t value)
{
	struct rr_gate_event *event = rr_gate_note(gate, kind, actor);

	if (event)
		event->value = value;
}

/* The actor that goes on; NULL when something else was chosen. */
static struct rr_actor *apply(struct rr_gate *gate,
			      const struct rr_choice *choice)
{
	const int64_t until_ns = choice->until_ns;

	if (!is_possible(gate, choice)) {
		rr_gate_finish(gate, RR_GATE_BAD_CHOICE);
		return NULL;
	}
	switch (choice->kind) {
	case RR_CHOOSE_STEP:
	case RR_CHOOSE_LOSE:
		return begin_step(gate, choice);
	case RR_CHOOSE_PASS:
		note_value(gate, RR_EVENT_PASS, -1, until_ns);
		pass_time(gate, until_ns);
		break;
	case RR_CHOOSE_CRASH:
		rr_gate_note(gate, RR_EVENT_CRASH, choice->actor);
		strike(gate, choice->actor, true, 0);
		break;
	case RR_CHOOSE_RESTART:
		strike_server(gate, RR_EVENT_RESTART, choice);
		break;
	case RR_CHOOSE_RETURN:
		strike_server(gate, RR_EVENT_RETURN, choice);
		break;
	case RR_CHOOSE_JUMP:
		strike_server(gate, RR_EVENT_JUMP, choice);
		break;
	case RR_CHOOSE_PAUSE:
		note_value(gate, RR_EVENT_PAUSE, choice->actor, until_ns);
		strike(gate, choice->actor, false, until_ns);
		break;
	case RR_CHOOSE_STOP:
		rr_gate_finish(gate, RR_GATE_STOPPED);
		break;
	}
	return NULL;
}

/* ---- Who goes next -------------------------------------------------------- */

static bool can_unwind(const struct rr_gate *gate, const struct rr_actor *actor)
{
	if (!actor->dead || actor->life != RR_LIFE_STOPPED)
		return false;
	return actor->op.kind != RR_OP_JOIN ||
	       gate->actors[actor->op.whom].life == RR_LIFE_OVER;
}

/* Whoever runs before anything is chosen: who has just crashed, and who has not
 * come to a first operation yet. */
static struct rr_actor *first_of_all(struct rr_gate *gate)
{
	for (size_t i = 0; i < gate->view.n_actors; i++) {
		if (can_unwind(gate, &gate->actors[i]))
			return &gate->actors[i];
	}
	if (gate->n_begun == gate->config.n_clients)
		return NULL;
	return &gate->actors[gate->n_begun++];
}

struct rr_fiber *rr_gate_next(struct rr_gate *gate)
{
	for (;;) {
		struct rr_actor *next = first_of_all(gate);
		struct rr_choice choice;

		if (next)
			return &next->fiber;
		if (gate->is_over)
			return &gate->actors[0].fiber;
		if (rr_gate_look(gate) == 0) {
			rr_gate_finish(gate, RR_GATE_DONE);
			continue;
		}
		if (gate->view.n_ready == 0 && gate->view.next_ns == RR_NEVER) {
			rr_gate_finish(gate, RR_GATE_DEADLOCK);
			continue;
		}
		choice = gate->choose(gate->context, &gate->view);
		next = apply(gate, &choice);
		if (next)
			return &next->fiber;
	}
}
