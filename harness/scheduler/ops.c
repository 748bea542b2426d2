/* SPDX-License-Identifier: MIT */
/* What a client does at the seam besides commands: it stops at the gate, and
 * then does it. */
#include <sys/socket.h>

#include "inside.h"

/* Clocks do not begin at 0, which would be a special value somewhere. */
#define MONOTONIC_START_NS INT64_C(3600000000000)

/* So late that whatever a dead client waits for is over. */
#define AFTER_ALL_NS (INT64_MAX / 4)

/* ---- Time ----------------------------------------------------------------- */

void rr_gate_note_reading(struct rr_actor *actor)
{
	if (actor->event < actor->gate->trace.n_events)
		rr_gate_event_of(actor)->timed = true;
}

static int64_t on_now(void *context, enum rl_clock clock)
{
	struct rr_actor *actor = context;
	struct rr_gate *gate = actor->gate;
	int64_t reading_ns;

	if (actor->dead)
		return AFTER_ALL_NS;
	if (clock == RL_CLOCK_MONOTONIC) {
		rr_gate_note_reading(actor);
		return MONOTONIC_START_NS + gate->now_ns;
	}
	actor->op = (struct rr_op){ .kind = RR_OP_CLOCK };
	if (!rr_gate_stop(actor))
		return AFTER_ALL_NS;
	reading_ns = gate->config.day_ns + gate->now_ns +
		     gate->clients[actor->client].skew_ns;
	rr_gate_event_of(actor)->value = reading_ns;
	return reading_ns;
}

static int64_t from_now_ns(const struct rr_gate *gate, int64_t duration_ns)
{
	if (duration_ns >= RR_NEVER - gate->now_ns)
		return RR_NEVER;
	return gate->now_ns + duration_ns;
}

static void on_sleep(void *context, int64_t duration_ns)
{
	struct rr_actor *actor = context;

	if (actor->dead || duration_ns <= 0)
		return;
	actor->op = (struct rr_op){
		.kind = RR_OP_SLEEP,
		.until_ns = from_now_ns(actor->gate, duration_ns),
		.yields = duration_ns <= actor->gate->config.yield_ns,
	};
	if (!actor->op.yields)
		rr_gate_note_reading(actor);
	rr_gate_stop(actor);
}

static bool is_socket(int fd)
{
	socklen_t length = sizeof(int);
	int type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

/* For the dead it has come, so that no loop waits on. */
static bool on_wait(void *context, int fd, int64_t timeout_ns)
{
	struct rr_actor *actor = context;
	bool readable;

	if (actor->dead || timeout_ns < 0)
		return actor->dead;
	actor->op = (struct rr_op){
		.kind = RR_OP_WAIT,
		.fd = fd,
		.until_ns = from_now_ns(actor->gate, timeout_ns),
	};
	actor->on_socket = is_socket(fd);
	rr_gate_note_reading(actor);
	if (!rr_gate_stop(actor))
		return true;
	readable = rr_gate_is_readable(fd);
	rr_gate_event_of(actor)->value = readable;
	return readable;
}

/* ---- Marks and mutexes ---------------------------------------------------- */

static void on_mark(void *context, enum rl_mark mark)
{
	struct rr_actor *actor = context;

	if (!actor->dead)
		rr_gate_note(actor->gate,
			     mark == RL_MARK_ENTER ? RR_EVENT_ENTER :
						     RR_EVENT_LEAVE,
			     actor->number);
}

struct rr_held_mutex *rr_gate_mutex(struct rr_gate *gate,
				    const struct rl_mutex *mutex)
{
	struct rr_held_mutex *held = gate->mutexes;

	while (held < gate->mutexes + gate->n_mutexes && held->mutex != mutex)
		held++;
	if (held < gate->mutexes + gate->n_mutexes)
		return held;
	if (gate->n_mutexes == RR_GATE_MUTEXES) {
		rr_gate_finish(gate, RR_GATE_NO_MEMORY);
		return NULL;
	}
	gate->n_mutexes++;
	*held = (struct rr_held_mutex){ mutex, -1 };
	return held;
}

/* A planted fault may leave mutexes out. */
static bool is_left_out(const struct rr_gate *gate, struct rl_mutex *mutex,
			bool take)
{
	const struct rl_driver *planted = gate->planted;

	if (!planted || !planted->ops->mutex)
		return false;
	planted->ops->mutex(planted->context, mutex, take);
	return true;
}

static void on_mutex(void *context, struct rl_mutex *mutex, bool take)
{
	struct rr_actor *actor = context;
	struct rr_held_mutex *held;

	if (actor->dead || is_left_out(actor->gate, mutex, take))
		return;
	actor->op = (struct rr_op){
		.kind = take ? RR_OP_LOCK : RR_OP_UNLOCK,
		.mutex = mutex,
		.whom = -1,
	};
	if (!rr_gate_stop(actor))
		return;
	held = rr_gate_mutex(actor->gate, mutex);
	if (held && take)
		held->holder = actor->number;
	else if (held && held->holder == actor->number)
		held->holder = -1;
}

/* ---- Children ------------------------------------------------------------- */

static bool on_spawn(void *context, struct rl_task *task)
{
	struct rr_actor *actor = context;
	struct rr_gate *gate = actor->gate;
	struct rr_actor *child = actor->dead ? NULL : rr_gate_child(actor);
	struct rr_gate_event *event;
	int server;

	if (!child)
		return false;
	event = rr_gate_note(gate, RR_EVENT_SPAWN, actor->number);
	if (!event || !rr_gate_know_link(child, task->link, &server))
		return false;
	event->value = child->number;
	rr_gate_note_reading(actor); /* the child goes by the time of its start */
	child->task = task;
	rl_link_set_driver(task->link, &child->driver);
	child->life = RR_LIFE_RUNNING;
	child->dead = child->hung_up = false;
	child->paused_until_ns = 0;
	child->opener = actor;
	if (gate->view.n_actors <= (size_t)child->number)
		gate->view.n_actors = (size_t)child->number + 1;
	rr_fiber_pass(&actor->fiber, &child->fiber);
	return true;
}

static void on_join(void *context, struct rl_task *task)
{
	struct rr_actor *actor = context;
	struct rr_gate *gate = actor->gate;

	for (size_t i = 0; i < gate->view.n_actors; i++) {
		struct rr_actor *child = &gate->actors[i];

		if (child->task != task)
			continue;
		if (child->life != RR_LIFE_OVER) {
			actor->op = (struct rr_op){ .kind = RR_OP_JOIN,
						    .whom = child->number };
			rr_gate_stop(actor);
		}
		child->task = NULL;
		rl_link_set_driver(task->link, NULL);
		return;
	}
}

const struct rl_driver_ops rr_gate_ops = {
	.send = rr_gate_on_send,
	.done = rr_gate_on_done,
	.receive = rr_gate_on_receive,
	.now = on_now,
	.sleep = on_sleep,
	.mark = on_mark,
	.mutex = on_mutex,
	.wait = on_wait,
	.spawn = on_spawn,
	.join = on_join,
};
