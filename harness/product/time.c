/* SPDX-License-Identifier: MIT */
/* Time that passes, for clients and servers. */
#include "expansion.h"

static void pass_own_clock(struct rr_state *state, size_t client, int64_t ns)
{
	const struct rr_product *product = state->product;
	const struct rr_client_state *it = rr_state_client(state, client);
	const bool reads = product->config.program->run_ops ?
				   product->clients[client].table->is_timed :
				   product->config.reads_clock;

	if (reads && !rr_client_state_is_fresh(it))
		state->clients[client].passed_ns += ns;
}

void rr_state_age_client(struct rr_state *state, size_t client, int64_t ns)
{
	state->product->time_has_passed = true;
	rr_state_log(state, (struct rr_action){
				    .kind = RR_ACTION_CLOCK, .client = (uint8_t)client, .ns = ns });
	pass_own_clock(state, client, ns);
}

static void age_client(struct rr_state *state, size_t client, int64_t ns)
{
	const struct rr_product_config *config = &state->product->config;
	const struct rr_client_state *it = rr_state_client(state, client);
	struct rr_part *part = &state->clients[client];

	pass_own_clock(state, client, ns);
	if (rr_state_has_leases(state) && !it->is_attempt)
		part->attempt_ns = rr_lesser_ns(part->attempt_ns + ns, config->lease_ns);
	for (uint32_t i = 0; i < it->n_threads; i++) {
		const struct rr_stop *stop = &it->stops[i];
		const bool is_timed = stop->kind == RR_STOP_SLEEP || stop->kind == RR_STOP_WAIT ||
				      stop->kind == RR_STOP_LISTEN;

		if (is_timed && stop->duration_ns != RR_NEVER)
			part->waited_ns[i] = rr_lesser_ns(part->waited_ns[i] + ns,
							  stop->duration_ns);
	}
}

void rr_state_tick_server(struct rr_state *state, size_t server, int64_t ns)
{
	const struct rr_question question = { .kind = RR_ASK_TICK, .argument = ns };

	const struct rr_server_row *row = rr_state_move_server(state, server, &question, -1);
	struct rr_served served;

	if (!row)
		return;
	rr_state_log_served(state, server, row, &served);
	rr_state_wake_served(state, server, &served);
}

void rr_state_pass_time(struct rr_state *state, int64_t ns)
{
	const struct rr_product *product = state->product;
	struct rr_common *common = &state->common;

	state->product->time_has_passed = true;
	rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_TIME, .ns = ns });
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_state_has_ended(state, i))
			age_client(state, i, ns);
	}
	for (size_t i = 0; i < product->n_servers; i++)
		rr_state_tick_server(state, i, ns);
	if (product->config.absolute)
		common->now_ns += ns;
	if (common->down >= 0)
		common->down_ns = common->down_ns > ns ? common->down_ns - ns : 0;
}

int64_t rr_state_next_end_ns(const struct rr_state *state)
{
	const struct rr_common *common = &state->common;
	int64_t next_ns = RR_NEVER;

	for (size_t i = 0; i < state->product->n_servers; i++)
		next_ns = rr_lesser_ns(next_ns, rr_state_server(state, i)->first_end_ns);
	if (common->down >= 0 && common->down_ns > 0)
		next_ns = rr_lesser_ns(next_ns, common->down_ns);
	return next_ns;
}
