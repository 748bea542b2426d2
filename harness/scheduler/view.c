/* SPDX-License-Identifier: MIT */
/* What every actor could do now. */
#include <poll.h>

#include "inside.h"

bool rr_gate_is_readable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* When an actor may go on with its operation if nobody else does anything; the
 * past when it may now. */
static int64_t op_ready_ns(struct rr_gate *gate, struct rr_actor *actor)
{
	struct rr_op *op = &actor->op;
	const struct rr_held_mutex *held;

	switch (op->kind) {
	case RR_OP_SLEEP:
		return op->yields ? gate->now_ns : op->until_ns;
	case RR_OP_WAIT:
		return rr_gate_is_readable(op->fd) ? gate->now_ns :
						     op->until_ns;
	case RR_OP_LOCK:
		held = rr_gate_mutex(gate, op->mutex);
		op->whom = held ? held->holder : -1;
		return op->whom < 0 ? gate->now_ns : RR_NEVER;
	case RR_OP_SEND:
		return rr_gate_pop_ready_ns(gate, actor);
	case RR_OP_JOIN:
		return gate->actors[op->whom].life == RR_LIFE_OVER ?
			       gate->now_ns :
			       RR_NEVER;
	default:
		return gate->now_ns;
	}
}

static void look_at(struct rr_gate *gate, struct rr_actor *actor,
		    struct rr_actor_view *view)
{
	view->name = actor->name;
	view->client = actor->client;
	view->op = NULL;
	view->ready_ns = RR_NEVER;
	if (actor->life == RR_LIFE_NONE) {
		view->state = RR_ABSENT;
	} else if (actor->life == RR_LIFE_OVER) {
		view->state = actor->dead ? RR_CRASHED : RR_ENDED;
	} else {
		view->op = &actor->op;
		view->ready_ns = later(op_ready_ns(gate, actor),
				       actor->paused_until_ns);
		if (view->ready_ns <= gate->now_ns)
			view->state = RR_READY;
		else if (actor->paused_until_ns > gate->now_ns)
			view->state = RR_PAUSED;
		else
			view->state = RR_BLOCKED;
	}
}

size_t rr_gate_look(struct rr_gate *gate)
{
	struct rr_view *view = &gate->view;
	size_t n_live = 0;

	view->n_ready = 0;
	view->now_ns = gate->now_ns;
	view->next_ns = RR_NEVER;
	for (size_t i = 0; i < view->n_actors; i++) {
		struct rr_actor_view *seen = &view->actors[i];

		look_at(gate, &gate->actors[i], seen);
		n_live += seen->op != NULL;
		if (seen->state == RR_READY)
			view->n_ready++;
		else if (seen->ready_ns < view->next_ns)
			view->next_ns = seen->ready_ns;
	}
	return n_live;
}
