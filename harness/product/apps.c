/* SPDX-License-Identifier: MIT */
/*
 * Has an app nothing left to do? So it is if it waits for requests that have not begun, for its
 * end, and for what only others can bring; while no request is under way also if it asks for that
 * again and again, because its time-outs end or it polls, hears the same each time and changes
 * nothing.
 */
#include "expansion.h"

enum { STEPS_MAX = 64 };

/* The first command for Redis that can be executed: marks are not the app's own. NULL: there is
 * none. */
static const struct rr_sent *next_command(const struct rr_state *state, size_t client)
{
	const struct rr_client_state *it = rr_state_client(state, client);

	for (const struct rr_sent *sent = it->sent; sent < it->sent + it->n_sent; sent++) {
		if (sent->kind == RR_SENT_COMMAND &&
		    sent == rr_state_next_sent(state, client, sent->lane))
			return sent;
	}
	return NULL;
}

/* ---- What it does alone -------------------------------------------------------------- */

enum step {
	STEP_NONE, /* it waits for others */
	STEP_DONE,
	STEP_HAS_NEWS /* it was told by others */
};

/* Executes a command of the app, or has the first one that blocks time out. */
static enum step step_command(struct rr_state *state, size_t client)
{
	const struct rr_sent *sent = next_command(state, client);
	int64_t left_ns;
	uint8_t lane;

	if (sent) {
		rr_state_deliver(state, client, sent, RR_DO_EXECUTE);
		return STEP_DONE;
	}
	left_ns = rr_state_times_out_ns(state, client, &lane);
	if (left_ns == RR_NEVER)
		return STEP_NONE;
	rr_state_age_client(state, client, left_ns);
	rr_state_time_out(state, client, lane);
	return STEP_DONE;
}

/* A thread goes on that waits for messages: because one is there, or its time is over. */
static enum step step_thread(struct rr_state *state, size_t client)
{
	const uint32_t n = rr_state_client(state, client)->n_threads;
	struct rr_input input;

	for (uint8_t i = 0; i < n; i++) {
		if (!rr_state_can_wake(state, client, i))
			continue;
		rr_state_wake(state, client, i, &input);
		if (input.kind != RR_INPUT_TIMEOUT)
			return STEP_HAS_NEWS;
		rr_state_feed(state, client, &input);
		return STEP_DONE;
	}
	return STEP_NONE;
}

/* Goes on alone to where it has been (Brent's algorithm finds that out), and changes nothing. */
static bool polls(const struct rr_state *from, size_t client)
{
	struct rr_state at, seen;

	rr_state_copy(&at, from);
	rr_state_copy(&seen, from);
	for (int step = 1; step <= STEPS_MAX; step++) {
		if ((step_command(&at, client) != STEP_DONE &&
		     step_thread(&at, client) != STEP_DONE) ||
		    rr_product_failed(from->product) || rr_state_has_ended(&at, client) ||
		    !rr_state_has_servers_of(&at, from))
			return false;
		if (rr_state_is_same(&at, &seen))
			return true;
		if ((step & (step - 1)) == 0)
			rr_state_copy(&seen, &at);
	}
	return false;
}

/* For ever: what ends by itself is a step. */
static bool waits_for_others(const struct rr_state *from, size_t client)
{
	struct rr_state at;
	uint8_t lane;

	if (next_command(from, client) || rr_state_times_out_ns(from, client, &lane) != RR_NEVER)
		return false;
	rr_state_copy(&at, from);
	return step_thread(&at, client) == STEP_NONE;
}

/* ---- All of them ------------------------------------------------------------------------- */

static bool have_nothing_to_do(const struct rr_state *from, bool is_under_way)
{
	struct rr_product *product = from->product;
	struct rr_actions *log = product->log;
	bool have = true;

	product->log = NULL; /* of what is only tried */
	for (size_t i = 0; i < product->n_clients && have; i++)
		have = rr_state_has_ended(from, i) || waits_for_others(from, i) ||
		       (!is_under_way && polls(from, i));
	product->log = log;
	return have;
}

static bool waits_for(const struct rr_state *state, size_t client, enum rr_sent_kind kind)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	bool does = false;

	for (uint32_t i = 0; i < it->n_sent; i++)
		does |= it->sent[i].kind == kind;
	return does;
}

bool rr_state_is_end_of_apps(const struct rr_state *from, size_t *first)
{
	const struct rr_product *product = from->product;

	*first = product->n_clients;
	for (size_t i = product->n_clients; i-- > 0 && product->config.program->requests.n;) {
		if (rr_state_has_ended(from, i))
			continue;
		if (!waits_for(from, i, RR_SENT_END))
			return false;
		*first = i;
	}
	return *first < product->n_clients && have_nothing_to_do(from, false);
}

bool rr_product_apps_wait(struct rr_product *product, const uint32_t *key, bool is_under_way)
{
	struct rr_state state;
	size_t first;

	rr_state_unpack(product, key, &state);
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_state_has_ended(&state, i) && waits_for(&state, i, RR_SENT_ANSWER))
			return false;
	}
	return have_nothing_to_do(&state, is_under_way) && !rr_state_is_end_of_apps(&state, &first);
}
