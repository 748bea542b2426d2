/* SPDX-License-Identifier: MIT */
#include "access_inside.h"

#include <stdlib.h>

#include "effects.h"
#include "link.h"

/* Bit 0: who is inside. */
static const struct rr_footprint inside_read = { .reads = 1 };
static const struct rr_footprint inside_written = { .writes = 1 };

/* ---- Making and freeing --------------------------------------------------- */

struct rr_access *rr_access_new(const struct rl_address *addresses, size_t n)
{
	struct rr_access *access = calloc(1, sizeof(*access));
	bool good = access != NULL;

	if (!good)
		return NULL;
	access->n_names = 1;
	access->n_servers = n;
	access->shapes = rr_shapes_new();
	good = access->shapes != NULL;
	for (size_t i = 0; good && i < n; i++) {
		access->links[i] = rl_link_new(&addresses[i],
					       RL_DRIVEN_PATIENCE_MS);
		good = access->links[i] &&
		       rl_link_connect(access->links[i]) == RL_OK;
	}
	if (good)
		return access;
	rr_access_free(access);
	return NULL;
}

void rr_access_free(struct rr_access *access)
{
	if (!access)
		return;
	for (size_t i = 0; i < access->n_servers; i++)
		rl_link_free(access->links[i]);
	rr_shapes_free(access->shapes);
	free(access);
}

void rr_access_set_gate(struct rr_access *access, const struct rr_gate *gate)
{
	access->gate = gate;
}

void rr_access_begin(struct rr_access *access)
{
	access->n_connections = 0;
}

/* ---- Steps ---------------------------------------------------------------- */

struct rr_footprint rr_access_of(struct rr_access *access,
				 const struct rr_gate_event *event,
				 bool proved)
{
	struct rr_footprint footprint = { 0 };

	switch (event->op.kind) {
	case RR_OP_SEND:
		footprint = rr_access_of_command(access, event, proved);
		break;
	case RR_OP_LOCK:
	case RR_OP_UNLOCK:
		footprint.writes = rr_names_mutex(access, event->op.mutex);
		break;
	case RR_OP_WAIT:
		footprint.all = true;
		break;
	case RR_OP_CLOCK:
		footprint.timed = true;
		break;
	case RR_OP_SLEEP:
		footprint.timed = !event->op.yields;
		break;
	case RR_OP_JOIN:
		break;
	}
	footprint.timed = footprint.timed || event->timed;
	return footprint;
}

struct rr_footprint rr_access_expected(struct rr_access *access,
				       const struct rr_op *op)
{
	struct rr_footprint footprint = { 0 };

	if (op->kind == RR_OP_SEND) {
		footprint = rr_access_of_keys(access, op);
		footprint.timed = rr_op_is_timed(op, NULL, true);
	} else {
		footprint.writes = rr_names_mutex(access, op->mutex);
	}
	return footprint;
}

struct rr_footprint rr_access_of_mark(const struct rr_gate_event *event)
{
	if (event->kind == RR_EVENT_ENTER)
		return inside_read;
	if (event->kind == RR_EVENT_LEAVE)
		return inside_written;
	return (struct rr_footprint){ 0 };
}

struct rr_footprint rr_access_of_server(struct rr_access *access, int server)
{
	struct rr_footprint footprint = {
		.writes = rr_names_server(access, server)
	};

	for (size_t i = 1; i < access->n_names; i++) {
		if (access->names[i].server == server)
			footprint.writes |= UINT64_C(1) << i;
	}
	return footprint;
}

void rr_access_disconnect(struct rr_access *access, int server)
{
	rl_link_disconnect(access->links[server]);
}
