/* SPDX-License-Identifier: MIT */
/* Faults: each takes one from the budget. (Lost replies are among the transitions
 * of the clients that they happen to.) */
#include "expansion.h"

/* ---- Crashes -------------------------------------------------------------- */

/* Connections that listen stay until the server notices; others carry nothing that
 * anybody else could notice. */
static void crash_client(struct rr_state *state, size_t client)
{
	const int n_lanes = rr_program_lanes(state->product->config.program);
	struct rr_part *part = &state->clients[client], was;
	const struct rr_client_state *it;
	struct rr_run_tally tally;
	bool is_at_rest;

	if (rr_state_has_ended(state, client))
		return;
	rr_state_log(state,
		     (struct rr_action){ .kind = RR_ACTION_CRASH, .client = (uint8_t)client });
	for (int lane = 0; lane < n_lanes; lane++) {
		const struct rr_connection *connection = rr_state_connection(state, client, lane);
		const bool listens = connection && connection->listens;

		rr_state_keep_late(state, client, (uint8_t)lane);
		if (!listens)
			rr_state_close(state, client, lane);
	}
	/* The sums of what a client has done, for good. */
	it = rr_state_client(state, client);
	tally = it->tally;
	is_at_rest = rr_client_state_is_fresh(it);
	was = *part;
	memset(part, 0, sizeof(*part));
	part->is_crashed = 1;
	part->state = was.answered ? was.state : 0;
	part->answered = was.answered;
	part->begun = was.begun;
	memcpy(part->after, was.after, sizeof(part->after));
	part->ok = (uint8_t)tally.acknowledged;
	part->unknown = (uint8_t)tally.unknown;
	part->cut = tally.acknowledged + tally.unknown + tally.failed <
			    state->product->config.increments &&
		    !is_at_rest;
}

void rr_state_crash(struct rr_state *state, size_t client)
{
	const uint8_t *again;

	for (size_t i = 0; i < state->product->n_clients; i++) {
		if (i == client || !state->product->config.program->separate)
			crash_client(state, i);
	}
	again = state->product->config.program->requests.again;
	for (size_t i = 0; again && i < state->product->n_clients; i++) {
		if (again[i] == client + 1)
			rr_state_cancel_requests(state, i);
	}
}

/* ---- Servers -------------------------------------------------------------- */

void rr_state_restart(struct rr_state *state, size_t server)
{
	const struct rr_product_config *config = &state->product->config;
	const struct rr_question question = { .kind = RR_ASK_WIPE };

	if (config->stays_away) {
		state->common.down = (int8_t)server;
		state->common.down_ns = config->lease_ns + RR_LAPSE_NS;
	}
	rr_state_log(state, (struct rr_action){ .kind = config->stays_away ? RR_ACTION_DOWN :
									     RR_ACTION_ASK,
						.server = (uint8_t)server,
						.question = question });
	/* Every client's connection to a server is gone, and they do not know. */
	for (size_t i = 0; i < state->product->n_clients; i++) {
		const struct rr_client_state *it = rr_state_client(state, i);
		uint64_t *is_cut = &state->clients[i].is_cut;

		if (rr_state_has_ended(state, i))
			continue;
		/* One that is not there will lead to the new server. */
		*is_cut |= UINT64_C(1) << server & ~state->clients[i].is_shut;
		for (uint32_t j = 0; j < it->n_sent; j++) {
			const uint8_t lane = it->sent[j].lane;

			if (rr_state_lane_server(state, lane) == server)
				*is_cut |= UINT64_C(1) << lane;
		}
	}
	rr_state_move_server(state, server, &question, -1);
}

void rr_state_jump(struct rr_state *state, size_t server, int64_t ns)
{
	rr_state_log(state,
		     (struct rr_action){ .kind = RR_ACTION_ASK,
					 .server = (uint8_t)server,
					 .question = { .kind = RR_ASK_TICK, .argument = ns } });
	rr_state_tick_server(state, server, ns);
}

/* ---- Time ----------------------------------------------------------------- */

/* A fault is wanted, and one of its kind is left: it happens in `next`. */
static bool begin_fault(struct rr_expansion *it, const struct rr_state *from,
			enum rr_transition_kind kind, size_t who, struct rr_state *next)
{
	if (!rr_state_is_in_budget(from, kind) || !rr_expansion_wants(it, kind, who, 0))
		return false;
	rr_state_copy(next, from);
	rr_state_take_from_budget(next, kind);
	return true;
}

/* Time passes out of a budget in halves. */
static void add_passing(struct rr_expansion *it, const struct rr_state *from,
			enum rr_transition_kind kind, int64_t ns)
{
	struct rr_state next;

	if (!begin_fault(it, from, kind, 0, &next))
		return;
	rr_state_pass_time(&next, ns, kind);
	rr_expansion_add(it, kind, 0, 0, &next);
}

/* Time passes until a key's time is over, and that of so many before it. False: there are not so
 * many. */
static bool add_key_end(struct rr_expansion *it, const struct rr_state *from, size_t before)
{
	int64_t next_ns = rr_state_next_end_ns(from);
	struct rr_state next;

	if (it->wanted && !rr_expansion_wants(it, RR_DO_WHOLE, before, 0))
		return true;
	rr_state_copy(&next, from);
	for (size_t i = 0; i < before && next_ns != RR_NEVER; i++) {
		rr_state_pass_time(&next, next_ns, RR_DO_WHOLE);
		next_ns = rr_state_next_end_ns(&next);
	}
	if (next_ns == RR_NEVER || !rr_expansion_wants(it, RR_DO_WHOLE, before, 0)) {
		rr_expansion_drop(it);
		return next_ns != RR_NEVER;
	}
	rr_state_pass_time(&next, next_ns, RR_DO_WHOLE);
	rr_state_take_from_budget(&next, RR_DO_WHOLE);
	rr_expansion_add(it, RR_DO_WHOLE, before, 0, &next);
	return true;
}

/* The leases of a checked program are known only as keys that expire: any of them does, and those
 * that end before it. In a pause all of them do, and so does what a client knows by its clock
 * alone. A live server cannot be asked which ones would be next. */
static void add_key_ends(struct rr_expansion *it, const struct rr_state *from)
{
	const size_t n = it->lists && it->product->config.is_live ? 1 : RR_ENDS_MAX;

	for (size_t i = 0; i < n && rr_state_is_in_budget(from, RR_DO_WHOLE); i++) {
		if (rr_product_failed(it->product) || !add_key_end(it, from, i))
			break;
	}
	add_passing(it, from, RR_DO_PAUSE, it->product->config.lease_ns + RR_LAPSE_NS);
}

void rr_expand_faults(struct rr_expansion *it, const struct rr_state *from)
{
	const size_t n = it->product->n_servers;
	const int64_t lease_ns = it->product->config.lease_ns;
	bool is_last = false;
	struct rr_state next;

	/* If all are of one process, it is the first of them that crashes. */
	for (size_t i = 0; i < it->product->n_clients && !is_last; i++) {
		if (rr_state_has_ended(from, i))
			continue;
		is_last = !it->product->config.program->separate;
		if (begin_fault(it, from, RR_DO_CRASH, i, &next)) {
			rr_state_crash(&next, i);
			rr_expansion_add(it, RR_DO_CRASH, i, 0, &next);
		}
	}
	for (size_t i = 1; i < n && from->common.down < 0; i++) {
		if (begin_fault(it, from, RR_DO_RESTART, i, &next)) {
			rr_state_restart(&next, i);
			rr_expansion_add(it, RR_DO_RESTART, i, 0, &next);
		}
	}
	for (size_t i = n > 1; i < n; i++) {
		/* A server's clock jumps forward by more than a lease. */
		if (begin_fault(it, from, RR_DO_JUMP, i, &next)) {
			rr_state_jump(&next, i, lease_ns + RR_LAPSE_NS);
			rr_expansion_add(it, RR_DO_JUMP, i, 0, &next);
		}
	}
	if (it->product->config.keys_are_leases) {
		add_key_ends(it, from);
	} else {
		const int64_t half_ns = lease_ns / 2 + RR_LAPSE_NS;
		const int64_t whole_ns = lease_ns + RR_LAPSE_NS;
		const int64_t next_ns = rr_lesser_ns(it->next_ns, rr_state_next_end_ns(from));

		if (it->n_children == 0) {
			add_passing(it, from, RR_DO_HALF, rr_lesser_ns(half_ns, next_ns));
			add_passing(it, from, RR_DO_WHOLE,
				    next_ns == RR_NEVER ? whole_ns : next_ns);
		}
		add_passing(it, from, RR_DO_PAUSE_HALF, half_ns);
		add_passing(it, from, RR_DO_PAUSE, whole_ns);
	}
}
