/* SPDX-License-Identifier: MIT */
/* A gate's fibers, and its runs from beginning to end. */
#include "gate.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "link.h"
#include "base/machine.h"

/* ---- The gate itself ------------------------------------------------------ */

/* Closes all connections, once: nobody says good-bye. The servers have noticed
 * when this returns. */
static void hang_up(struct rr_actor *actor)
{
	if (actor->hung_up)
		return;
	actor->hung_up = true;
	for (size_t i = 0; i < actor->n_links; i++)
		rl_link_disconnect(actor->links[i].link);
	for (size_t i = 0; i < actor->n_links && !actor->gate->is_over; i++)
		rr_gate_meet(actor->gate, actor->links[i].server);
}

bool rr_gate_stop(struct rr_actor *actor)
{
	struct rr_actor *opener = actor->opener;

	actor->life = RR_LIFE_STOPPED;
	actor->opener = NULL;
	rr_fiber_pass(&actor->fiber, opener ? &opener->fiber :
					      rr_gate_next(actor->gate));
	actor->life = RR_LIFE_RUNNING;
	if (actor->dead)
		hang_up(actor);
	return !actor->dead;
}

struct rr_gate_event *rr_gate_event_of(const struct rr_actor *actor)
{
	return &actor->gate->trace.events[actor->event];
}

/* ---- Fibers --------------------------------------------------------------- */

/* The routine has returned: whoever waits for that, or goes next. */
static struct rr_fiber *end(struct rr_actor *actor)
{
	struct rr_actor *opener = actor->opener;

	if (!actor->dead)
		rr_gate_note(actor->gate, RR_EVENT_END, actor->number);
	actor->life = RR_LIFE_OVER;
	actor->opener = NULL;
	return opener ? &opener->fiber : rr_gate_next(actor->gate);
}

static void run_routine(struct rr_actor *actor)
{
	const struct rr_gate_client *client =
		&actor->gate->clients[actor->client];

	if (actor->task)
		actor->task->body(actor->task->argument);
	else
		client->routine(client->argument);
}

/* One run after another. */
static void live(void *argument)
{
	struct rr_actor *actor = argument;

	for (;;) {
		run_routine(actor);
		rr_fiber_pass(&actor->fiber, end(actor));
	}
}

static bool need_fiber(struct rr_actor *actor)
{
	return actor->fiber.stack || rr_fiber_make(&actor->fiber, live, actor);
}

/* Numbers do not depend on who has had a child first. */
struct rr_actor *rr_gate_child(struct rr_actor *actor)
{
	struct rr_gate *gate = actor->gate;
	const size_t n_clients = gate->config.n_clients;

	for (size_t i = n_clients + (size_t)actor->client; i < RR_GATE_ACTORS;
	     i += n_clients) {
		struct rr_actor *child = &gate->actors[i];
		const bool is_free = child->life == RR_LIFE_NONE ||
				     child->life == RR_LIFE_OVER;

		if (is_free && !child->task)
			return need_fiber(child) ? child : NULL;
	}
	return NULL;
}

/* ---- Making and freeing --------------------------------------------------- */

/* "A", and "A'" for its first child. */
static void set_up(struct rr_gate *gate, size_t i)
{
	struct rr_actor *actor = &gate->actors[i];
	const size_t n_clients = gate->config.n_clients;

	actor->gate = gate;
	actor->number = (int)i;
	actor->client = (int)(i % n_clients);
	snprintf(actor->name, sizeof(actor->name), "%c%.*s",
		 'A' + actor->client, (int)(i / n_clients), "''''''");
	actor->driver = (struct rl_driver){ &rr_gate_ops, actor };
}

void rr_gate_settle(int cpu)
{
	rr_placement_pin(cpu);
	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
}

struct rr_gate *rr_gate_new(const struct rr_gate_config *config)
{
	struct rr_gate *gate = calloc(1, sizeof(*gate));
	bool good = gate != NULL;

	if (!gate || config->n_clients < 1 ||
	    config->n_clients > RR_GATE_CLIENTS ||
	    config->n_addresses > RR_GATE_SERVERS) {
		free(gate);
		return NULL;
	}
	gate->config = *config;
	memcpy(gate->clients, config->clients,
	       config->n_clients * sizeof(*config->clients));
	memcpy(gate->addresses, config->addresses,
	       config->n_addresses * sizeof(*config->addresses));
	for (size_t i = 0; i < RR_GATE_ACTORS; i++)
		set_up(gate, i);
	for (size_t i = 1; good && i < config->n_clients; i++)
		good = need_fiber(&gate->actors[i]);
	if (good)
		return gate;
	rr_gate_free(gate);
	return NULL;
}

void rr_gate_free(struct rr_gate *gate)
{
	if (!gate)
		return;
	for (size_t i = 0; i < RR_GATE_ACTORS; i++) {
		rr_fiber_release(&gate->actors[i].fiber);
		free(gate->actors[i].links);
	}
	for (size_t i = 0; i < RR_GATE_SERVERS; i++)
		rl_link_free(gate->probes[i]);
	rr_gate_trace_release(&gate->trace);
	rr_gate_free_scripts(gate);
	free(gate);
}

const struct rl_driver *rr_gate_driver(struct rr_gate *gate, int client)
{
	return &gate->actors[client].driver;
}

/* ---- Runs ----------------------------------------------------------------- */

static void reset(struct rr_gate *gate)
{
	const size_t n_clients = gate->config.n_clients;

	for (size_t i = 0; i < RR_GATE_ACTORS; i++) {
		struct rr_actor *actor = &gate->actors[i];

		actor->life = i < n_clients ? RR_LIFE_RUNNING : RR_LIFE_NONE;
		actor->dead = actor->hung_up = actor->has_lost = false;
		actor->task = NULL;
		actor->event = SIZE_MAX;
		actor->paused_until_ns = 0;
		if (i >= n_clients)
			actor->n_links = 0;
		for (size_t j = 0; j < actor->n_links; j++)
			actor->links[j].in_multi = actor->links[j].is_cut =
				actor->links[j].is_deaf = false;
	}
	gate->n_begun = 1;
	gate->is_over = false;
	gate->now_ns = 0;
	gate->n_mutexes = 0;
	memset(gate->is_down, 0, sizeof(gate->is_down));
	memset(gate->has_restarted, 0, sizeof(gate->has_restarted));
	rr_gate_trace_reset(&gate->trace);
	gate->view = (struct rr_view){ .n_actors = n_clients,
				       .last = -1,
				       .trace = &gate->trace };
}

enum rr_gate_end rr_gate_run(struct rr_gate *gate, rr_choose choose,
			     void *context)
{
	struct rr_actor *first = &gate->actors[0];

	gate->choose = choose;
	gate->context = context;
	reset(gate);
	run_routine(first);
	rr_fiber_pass(&first->fiber, end(first));
	return gate->end;
}

const char *rr_gate_failure(enum rr_gate_end end)
{
	switch (end) {
	case RR_GATE_BAD_CHOICE:
		return "the clients do not repeat themselves";
	case RR_GATE_NO_MEMORY:
		return "out of memory";
	case RR_GATE_SILENT:
		return "no reply in time, or a server is gone";
	case RR_GATE_TOO_LONG:
		return "a run does not come to an end: over 20,000 events";
	default:
		return NULL;
	}
}

const struct rr_view *rr_gate_last_view(const struct rr_gate *gate)
{
	return &gate->view;
}

const struct rr_gate_trace *rr_gate_last_trace(const struct rr_gate *gate)
{
	return &gate->trace;
}

bool rr_gate_is_dead(const struct rr_gate *gate, int client)
{
	return gate->actors[client].dead;
}

bool rr_gate_has_left(const struct rr_gate *gate, int client)
{
	const size_t n_clients = gate->config.n_clients;

	for (size_t i = (size_t)client; i < RR_GATE_ACTORS; i += n_clients) {
		const struct rr_actor *actor = &gate->actors[i];

		if (actor->has_lost)
			return true;
		for (size_t j = 0; j < actor->n_links; j++) {
			if (rl_link_has_unread(actor->links[j].link))
				return true;
		}
	}
	return false;
}

void rr_gate_set_skew(struct rr_gate *gate, int client, int64_t skew_ns)
{
	gate->clients[client].skew_ns = skew_ns;
}

void rr_gate_plant(struct rr_gate *gate, const struct rl_driver *planted)
{
	gate->planted = planted;
}

void rr_gate_forget_links(struct rr_gate *gate, int client)
{
	const size_t n_clients = gate->config.n_clients;

	for (size_t i = (size_t)client; i < RR_GATE_ACTORS; i += n_clients)
		gate->actors[i].n_links = 0;
}
