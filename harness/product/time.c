/* SPDX-License-Identifier: MIT */
/* Time that passes, for clients and servers. */
#include <stdio.h>

#include "expansion.h"

#define MS INT64_C(1000000) /* in nanoseconds */

static void pass_own_clock(struct rr_state *state, size_t client, int64_t ns)
{
	const struct rr_product *product = state->product;
	const struct rr_client_state *it = rr_state_client(state, client);
	/* A table that each search learns for itself does not say it early enough. */
	const bool reads = product->config.program->tables ?
				   product->clients[client].table->is_timed :
				   product->config.reads_clock;

	state->product->time_has_passed |= ns > 0;
	if (reads && !rr_client_state_is_fresh(it))
		state->clients[client].passed_ns += ns;
}

/* ---- Sleeps and leases ----------------------------------------------------- */

/* A sleep that has no end of its own in a loop had one before the loop was known. */
static void note_ends(struct rr_state *state, size_t client, bool is_end)
{
	struct rr_product *product = state->product;
	const struct rr_client_table *table = product->clients[client].table;

	product->has_ends |= is_end;
	if (product->config.sleeps ? table->learning.has_waited_round :
				     product->has_slept && product->has_ends)
		rr_product_withdraw(product, RR_BELIEF_NO_SLEEPS);
}

void rr_state_fall_asleep(struct rr_state *state, size_t client)
{
	const struct rr_product *product = state->product;
	int64_t slept_ns;

	if (rr_state_has_ended(state, client))
		return;
	slept_ns = rr_state_client(state, client)->slept_ns;
	state->product->has_slept |= slept_ns > 0;
	note_ends(state, client, product->config.absolute);
	state->clients[client].asleep_ns =
		product->config.sleeps && !rr_state_is_in_loop(state, client) ? slept_ns : 0;
}

static struct rr_written *find_lease(struct rr_common *common, uint64_t key)
{
	for (size_t i = 0; i < common->n_leases; i++) {
		if (common->leases[i].key == key)
			return &common->leases[i];
	}
	return NULL;
}

/* In the order of their keys, so that equal ones are one state. */
static void put_lease(struct rr_product *product, struct rr_common *common, uint64_t key,
		      size_t client)
{
	struct rr_written *lease = find_lease(common, key);
	size_t i = common->n_leases;

	if (lease) {
		lease->client = client;
		return;
	}
	if (i == RR_LEASES) {
		product->left_out =
			"more than 32 keys expire, and whose they are is not known of all";
		return;
	}
	for (; i > 0 && common->leases[i - 1].key > key; i--)
		common->leases[i] = common->leases[i - 1];
	common->leases[i] = (struct rr_written){ key, client };
	common->n_leases++;
}

void rr_state_note_leases(struct rr_state *state, size_t server, uint32_t before, int client)
{
	const struct rr_product *product = state->product;
	struct rr_server_table *table = state->product->tables[server];
	struct rr_common *common = &state->common;
	const uint32_t after = state->servers[server];
	const struct rr_expiring *is;
	size_t n_is;

	if (table->states[before].expiring == table->states[after].expiring)
		return;
	is = rr_server_table_expiring(table, after, &n_is);
	note_ends(state, client < 0 ? 0 : (size_t)client, n_is > 0);
	if (!product->config.sleeps)
		return;
	for (size_t i = common->n_leases; i-- > 0;) {
		if (rr_server_table_find_expiring(table, after, common->leases[i].key))
			continue;
		common->leases[i] = common->leases[--common->n_leases];
		common->leases[common->n_leases] = (struct rr_written){ 0 };
	}
	for (size_t i = 0; i < n_is && client >= 0; i++) {
		const struct rr_expiring *was = rr_server_table_find_expiring(table, before,
									      is[i].key);

		if (!was || was->value != is[i].value || was->left_ms != is[i].left_ms)
			put_lease(state->product, common, is[i].key, (size_t)client);
	}
}

/* Is a key the lease of a client that can act, or waits for others, while time passes because of
 * `waiter`? Not in the millisecond in which its time is over. */
static bool is_of_late(const struct rr_state *state, const struct rr_expiring *key, size_t waiter)
{
	const struct rr_written *lease = find_lease((struct rr_common *)&state->common, key->key);

	return lease && key->left_ms > 0 && lease->client != waiter &&
	       !rr_state_has_ended(state, lease->client) &&
	       rr_state_asleep_ns(state, lease->client) == 0;
}

/* Until the first key ends of those that are of late clients, or of those that are not. */
static int64_t first_end_ns(const struct rr_state *state, bool of_late, size_t waiter)
{
	int64_t first_ns = RR_NEVER;

	for (size_t i = 0; i < state->product->n_servers; i++) {
		size_t n;
		const struct rr_expiring *all = rr_server_table_expiring(state->product->tables[i],
									 state->servers[i], &n);

		for (size_t j = 0; j < n; j++) {
			if (is_of_late(state, &all[j], waiter) == of_late)
				first_ns = rr_lesser_ns(first_ns, (all[j].left_ms + 1) * MS);
		}
	}
	return first_ns;
}

int64_t rr_state_run_on_ns(const struct rr_state *state, size_t waiter)
{
	return first_end_ns(state, false, waiter);
}

/* Do keys run on, or is the server's time asked, while clients are late? Else it stands still. */
static bool time_runs_on(const struct rr_state *state, size_t waiter)
{
	return state->product->config.absolute || rr_state_run_on_ns(state, waiter) != RR_NEVER;
}

/* May another client's command change what a connection watches? */
static bool is_watched(const struct rr_state *state)
{
	bool is = false;

	for (size_t i = 0; i < state->product->n_servers; i++)
		is |= rr_server_table_is_watched(state->product->tables[i], state->servers[i]);
	return is;
}

bool rr_state_may_pass_slowly(const struct rr_state *state, int64_t ns, size_t waiter)
{
	for (size_t i = 0; i < state->product->n_clients; i++) {
		const int64_t other_ns = rr_state_asleep_ns(state, i);

		if (i != waiter && other_ns > 0 && other_ns < ns)
			return false;
	}
	if (!time_runs_on(state, waiter))
		return true;
	for (size_t i = 0; i < state->product->n_clients; i++) {
		uint8_t lane;

		if (i != waiter && !rr_state_has_ended(state, i) &&
		    rr_state_times_out_ns(state, i, &lane) <= ns)
			return false;
	}
	if (first_end_ns(state, true, waiter) > ns || !is_watched(state))
		return true;
	state->product->left_out =
		"a client watches keys (WATCH) while another one sleeps, and a slow client's key "
		"would have to last for longer";
	return false;
}

/* Keys of late clients last for longer, by as much as passes. Whoever watches would notice. */
static void hold_leases(struct rr_state *state, size_t server, int64_t ns, size_t waiter)
{
	const struct rr_server_table *table = state->product->tables[server];
	const uint32_t from = state->servers[server];
	const long long passed_ms = (table->states[from].clock_ns % MS + ns) / MS;
	struct rr_server_key key;
	size_t at = 0;

	while (!rr_product_failed(state->product) && rr_server_next_key(table, from, &at, &key)) {
		const struct rdl_reply name = { .text = key.name, .length = key.length };
		char left_ms[24];
		const int length = snprintf(left_ms, sizeof(left_ms), "%lld",
					    key.left_ms + passed_ms);
		const struct rdl_command command = {
			.n_words = 3,
			.words = { { "PEXPIRE", 7 },
				   { key.name, key.length },
				   { left_ms, (size_t)length } },
		};
		struct rr_action action = { .kind = RR_ACTION_ASK,
					    .server = (uint8_t)server,
					    .question = { .kind = RR_ASK_HOLD,
							  .slot = (uint16_t)key.database } };
		const struct rr_expiring *expiring = rr_server_table_find_expiring(
			table, from, rr_digest_of_key(key.database, &name));

		if (passed_ms == 0 || !expiring || !is_of_late(state, expiring, waiter))
			continue;
		action.client = (uint8_t)find_lease(&state->common, expiring->key)->client;
		action.command = rr_terms_command(state->product->config.program->terms, &command);
		action.question.argument = action.command;
		rr_state_log(state, action);
		rr_state_move_server(state, server, &action.question, -1);
	}
}

/* Time passes on all servers. How long ago has a program crashed or lost a reply, if one has? Whoever
 * holds a lock may be late. */
static void tick(struct rr_state *state, int64_t ns)
{
	const struct rr_product_config *config = &state->product->config;
	struct rr_common *common = &state->common;
	const int *left = common->left.of, *all = config->budget.of;

	/* What it serves follows. */
	rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_TIME, .ns = ns });
	for (size_t i = 0; i < state->product->n_servers; i++)
		rr_state_tick_server(state, i, ns);
	if (config->absolute)
		common->now_ns += ns;
	if (config->counts_lapses &&
	    (left[RR_CRASHES] < all[RR_CRASHES] || left[RR_LOST_REPLIES] < all[RR_LOST_REPLIES]))
		common->lapse_ns = rr_lesser_ns(common->lapse_ns + ns, RR_LAPSES_NS);
	for (size_t i = 0; config->locks && i < config->locks->n; i++) {
		if (common->makers[i])
			common->late_makers |= (uint16_t)(1U << i);
	}
}

/* Clocks of those who are late stand still meanwhile: for what they do it makes no difference how
 * late they are. But who hears the server's time may compare it with a clock of its own. */
void rr_state_pass_slowly(struct rr_state *state, int64_t ns, size_t waiter)
{
	const struct rr_product *product = state->product;
	const bool runs_on = time_runs_on(state, waiter);
	const bool holds = !is_watched(state);

	for (size_t i = 0; runs_on && holds && i < product->n_servers; i++)
		hold_leases(state, i, ns, waiter);
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_part *part = &state->clients[i];
		const int64_t asleep_ns = rr_lesser_ns(part->asleep_ns, ns);
		const bool goes_on = (product->config.absolute && rr_state_has_begun(state, i)) ||
				     (i == waiter && asleep_ns == 0);
		const int64_t held_ns = goes_on ? asleep_ns : ns;

		if (rr_state_has_ended(state, i))
			continue;
		part->asleep_ns -= asleep_ns;
		if (runs_on && held_ns > 0)
			rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_CLOCK,
								.client = (uint8_t)i,
								.ns = -held_ns });
		if (goes_on)
			pass_own_clock(state, i, ns - asleep_ns);
	}
	if (runs_on)
		tick(state, ns);
}

/* ---- Time that passes ------------------------------------------------------ */

void rr_state_age_client(struct rr_state *state, size_t client, int64_t ns)
{
	rr_state_log(state, (struct rr_action){
				    .kind = RR_ACTION_CLOCK, .client = (uint8_t)client, .ns = ns });
	pass_own_clock(state, client, ns);
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

void rr_state_pass_time(struct rr_state *state, int64_t ns, enum rr_transition_kind kind)
{
	const struct rr_product_config *config = &state->product->config;
	const bool is_expiry = kind == RR_DO_HALF || kind == RR_DO_WHOLE;
	const bool is_pause = kind == RR_DO_PAUSE_HALF || kind == RR_DO_PAUSE;
	struct rr_common *common = &state->common;

	for (size_t i = 0; i < state->product->n_clients; i++) {
		if (rr_state_has_ended(state, i))
			continue;
		if (rr_state_has_begun(state, i) || is_expiry) {
			const struct rr_client_state *it = rr_state_client(state, i);
			struct rr_part *part = &state->clients[i];
			const int64_t asleep_ns = rr_lesser_ns(part->asleep_ns, ns);

			/* The clock of a process has gone on before it sent what it sends after
			 * its sleep. */
			part->asleep_ns -= asleep_ns;
			if (asleep_ns > 0)
				rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_CLOCK,
									.client = (uint8_t)i,
									.ns = -asleep_ns });
			pass_own_clock(state, i, ns - asleep_ns);
			if (rr_state_has_leases(state) && !it->is_attempt)
				part->attempt_ns = rr_lesser_ns(part->attempt_ns + ns,
								config->lease_ns);
			for (uint32_t j = 0; j < it->n_threads; j++) {
				const struct rr_stop *stop = &it->stops[j];

				if (rr_stop_ends_by_time(stop))
					part->waited_ns[j] = rr_lesser_ns(part->waited_ns[j] + ns,
									  stop->duration_ns);
			}
		} else {
			const struct rr_input late = { .kind = RR_INPUT_CLOCK, .value = ns };

			/* A program that has received nothing yet begins so much later. What it
			 * reads of its clock before its first command is later, too: a replay
			 * notes that reading at its own time, and then holds the clock back. */
			if (is_pause && rr_state_client(state, i)->has_read)
				rr_state_feed(state, i, &late);
			rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_CLOCK,
								.client = (uint8_t)i,
								.ns = -ns });
		}
	}
	tick(state, ns);
	if (common->down >= 0)
		common->down_ns = common->down_ns > ns ? common->down_ns - ns : 0;
}

bool rr_state_has_begun(const struct rr_state *state, size_t client)
{
	const struct rr_part *part = &state->clients[client];
	const struct rr_client_state *it = rr_state_client(state, client);
	int64_t left_ns;

	if (!state->product->config.slow_time || it->is_attempt || part->state != 0 ||
	    part->n_answers > 0 || part->asleep_ns > 0)
		return true;
	for (uint32_t i = 0; i < it->n_sent; i++) {
		if (rr_state_is_blocked(state, client, it->sent[i].lane, &left_ns))
			return true;
	}
	return false;
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
