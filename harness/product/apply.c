/* SPDX-License-Identifier: MIT */
/* What is done to servers in a state, and what is broken by that and by clients. */
#include "expansion.h"
#include "expected.h"

void rr_state_log(struct rr_state *state, struct rr_action action)
{
	if (state->product->log)
		rr_actions_add(state->product->log, &action);
}

bool rr_state_has_leases(const struct rr_state *state)
{
	const struct rr_strategy *strategy = state->product->config.strategy;

	return strategy && strategy->lock.lease;
}

static bool lease_is_over(const struct rr_state *state, size_t client)
{
	return rr_state_has_leases(state) &&
	       state->clients[client].attempt_ns >= state->product->config.lease_ns;
}

/* ---- Servers -------------------------------------------------------------- */

const struct rr_server_row *rr_state_ask(struct rr_state *state, size_t server,
					 const struct rr_question *question)
{
	struct rr_server_table *table = state->product->tables[server];
	const struct rr_server_row *row;

	if (rr_product_failed(state->product))
		return NULL;
	row = rr_server_table_ask(table, state->servers[server], question);
	if (!row)
		state->product->error = table->error;
	return row;
}

/* A client's bit; 0 for -1, no client. */
static uint16_t bit_of(int client)
{
	return client < 0 ? 0 : (uint16_t)(1U << client);
}

/* Somebody's lock was changed by another, who is `client`. */
static bool violates_ownership(const struct rr_state *state, uint16_t maker, int client)
{
	const struct rr_strategy *strategy = state->product->config.strategy;
	size_t owner = 0;

	if (client < 0 || !maker || maker == bit_of(client) || !strategy->acquire ||
	    strategy->lock.kind == RR_LOCK_MUTEX)
		return false;
	while (!(maker >> owner & 1))
		owner++;
	return !rr_state_has_ended(state, owner) && rr_state_client(state, owner)->is_holding &&
	       !lease_is_over(state, owner);
}

/* The lock of a strategy, on one of its servers: has another client than its holder changed it? */
static void judge_lock(struct rr_state *state, size_t server, uint32_t before, uint32_t after,
		       int client)
{
	const struct rr_server_snapshot *states = state->product->tables[server]->states;
	const struct rr_server_snapshot *was = &states[before], *is = &states[after];
	const struct rr_strategy *strategy = state->product->config.strategy;
	uint16_t *maker = &state->common.makers[server];
	bool is_other;

	/* The first server that has a lock is the second one, if there are several. */
	if (!strategy || server < (state->product->n_servers > 1))
		return;
	/* Everybody who asks may add to a count, which only says who else wants the lock. */
	is_other = is->lock != was->lock &&
		   !(strategy->lock.kind == RR_LOCK_COUNTER && is->lock && was->lock);
	/* It may have another value, or end at another time. */
	if ((is_other || is->lock_left_ms != was->lock_left_ms) &&
	    violates_ownership(state, *maker, client))
		state->broken |= RR_BREAKS_OWNERSHIP;
	if (is_other)
		*maker = is->lock ? bit_of(client) : 0;
}

/* Whose a command is (owners, as bits) that `client` has asked the first server. */
static uint16_t owners_of(const struct rr_state *state, const struct rr_question *question,
			  int client)
{
	const struct rr_program *program = state->product->config.program;
	const struct rr_sent *sent;
	const uint16_t *owners;

	if (client < 0 || !program->requests.n)
		return bit_of(client);
	sent = rr_state_first_unanswered(state, (size_t)client,
					 rr_slot_lane(program, 0, question->slot));
	owners = rr_intern_get(&state->product->owners, state->clients[client].owners);
	return sent ? owners[sent - rr_state_client(state, (size_t)client)->sent] :
		      rr_owner_of_app((size_t)client);
}

/* The lock of some was changed by others: see struct rr_locks. */
static void judge_holder(struct rr_state *state, uint16_t holders, uint16_t others)
{
	const struct rr_program *program = state->product->config.program;
	uint32_t all = 0;
	uint16_t left;

	/* Those of the owners who may still do something: clients that have not ended; requests
	 * without an answer, or that have sent something that was not executed; and apps. */
	for (size_t i = 0; i < state->product->n_clients; i++) {
		const struct rr_part *part = &state->clients[i];

		if (rr_state_has_ended(state, i))
			continue;
		all |= program->requests.n ?
			       rr_part_open(state->product, part, i) | rr_owner_of_app(i) :
			       1U << i;
	}
	left = holders & (uint16_t)all;

	if (!left || holders == others)
		return;
	if (!(holders & others) && left == holders)
		state->broken |= RR_BREAKS_OWNERSHIP;
	else
		state->product->left_out = "requests wait for each other in the app, and which of "
					   "them changed a lock is not known";
}

/* A question of `client`, or time (-1), has changed what a server holds: whose locks were that? See
 * struct rr_locks. */
static void judge_locks(struct rr_state *state, uint32_t before, uint32_t after,
			const struct rr_question *question, int client)
{
	const struct rr_locks *locks = state->product->config.locks;
	const struct rr_server_table *table = state->product->tables[0];
	struct rr_common *common = &state->common;
	uint16_t owners;

	if (!locks || table->states[before].contents == table->states[after].contents)
		return;
	owners = owners_of(state, question, client);
	for (size_t i = 0; i < locks->n; i++) {
		const struct rr_lock_key *lock = &locks->all[i];
		const bool is_late = common->late_makers >> i & 1;
		struct rr_server_key was, is;
		const bool there = rr_server_find_key(table, before, lock, &was);
		const bool remains = rr_server_find_key(table, after, lock, &is);
		const bool is_other = there != remains ||
				      (there && (was.dump_length != is.dump_length ||
						 memcmp(was.dump, is.dump, is.dump_length) != 0));
		const bool is_put_off = there && remains && was.left_ms >= 0 &&
					was.left_ms != is.left_ms;

		if (owners && (is_other || is_put_off) && !(is_other && remains && is_late))
			judge_holder(state, common->makers[i], owners);
		if (!remains)
			common->makers[i] = 0;
		else if (is_other && owners)
			common->makers[i] = owners & lock->clients ? owners : 0;
		if (!remains || (is_other && owners))
			common->late_makers &= (uint16_t) ~(1U << i);
	}
}

const struct rr_server_row *rr_state_move_server(struct rr_state *state, size_t server,
						 const struct rr_question *question, int client)
{
	const uint32_t before = state->servers[server];
	const struct rr_server_row *row = rr_state_ask(state, server, question);

	if (!row)
		return NULL;
	state->servers[server] = row->to;
	rr_state_note_leases(state, server, before, client);
	judge_lock(state, server, before, row->to, client);
	judge_locks(state, before, row->to, question, client);
	return row;
}

/* ---- Commands that block -------------------------------------------------------- */

void rr_state_log_served(struct rr_state *state, size_t server, const struct rr_server_row *row,
			 struct rr_served *served)
{
	const struct rr_program *program = state->product->config.program;
	const struct rr_wake *wakes = rr_server_table_wakes(state->product->tables[server], row,
							    &served->n);

	memcpy(served->all, wakes, served->n * sizeof(wakes[0]));
	for (size_t i = 0; i < served->n; i++) {
		const size_t client = served->all[i].slot / RR_RUN_ORDINALS;
		const uint8_t lane = rr_slot_lane(program, server, served->all[i].slot);

		rr_state_log(state,
			     (struct rr_action){
				     .kind = RR_ACTION_SERVE,
				     .client = (uint8_t)client,
				     .server = (uint8_t)server,
				     .lane = lane,
				     .answer = rr_part_is_deaf(&state->clients[client], lane) ?
						       RR_ANSWER_UNHEARD :
						       RR_ANSWER_REPLY,
				     .reply = served->all[i].reply });
	}
}

void rr_state_wake_served(struct rr_state *state, size_t server, const struct rr_served *served)
{
	const struct rr_program *program = state->product->config.program;

	for (size_t i = 0; i < served->n && !rr_product_failed(state->product); i++) {
		const size_t client = served->all[i].slot / RR_RUN_ORDINALS;
		const uint8_t lane = rr_slot_lane(program, server, served->all[i].slot);

		if (rr_part_is_deaf(&state->clients[client], lane))
			rr_state_feed(state, client, NULL);
		else
			rr_state_answer(state, client, lane, RR_ANSWER_REPLY, served->all[i].reply);
	}
}

bool rr_state_has_servers_of(const struct rr_state *a, const struct rr_state *b)
{
	const struct rr_product *product = a->product;
	size_t i = 0;

	while (i < product->n_servers &&
	       rr_server_table_are_alike(product->tables[i], a->servers[i], b->servers[i]))
		i++;
	return i == product->n_servers;
}

/* ---- Connections ------------------------------------------------------------------ */

void rr_state_close(struct rr_state *state, size_t client, int lane)
{
	const size_t server = rr_state_lane_server(state, lane);
	const struct rr_question question = { .kind = RR_ASK_CLOSE,
					      .slot = rr_state_lane_slot(state, client, lane) };
	const struct rr_server_row *row;

	if (!rr_state_connection(state, client, lane))
		return;
	rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_ASK,
						.server = (uint8_t)server,
						.client = (uint8_t)client,
						.question = question });
	row = rr_state_ask(state, server, &question);
	if (row)
		state->servers[server] = row->to;
}

/* ---- The critical section ------------------------------------------------- */

static bool is_in_critical_section(const struct rr_state *state, size_t client)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	const struct rr_part *part = &state->clients[client];
	size_t n[RR_RUN_LANES] = { 0 };
	bool is = it->is_inside;

	/* A command that was sent from within may still be on its way. */
	for (uint32_t i = 0; i < it->n_sent && !is; i++) {
		const uint8_t lane = it->sent[i].lane;

		is = ++n[lane] > rr_part_n_answers(part, lane) && it->sent[i].is_inside;
	}
	return is && !rr_state_has_ended(state, client);
}

void rr_state_judge_entry(struct rr_state *state, size_t client)
{
	const struct rr_strategy *strategy = state->product->config.strategy;

	if (strategy && (!strategy->acquire || strategy->lock.is_fenced))
		return;
	for (size_t i = 0; i < state->product->n_clients; i++) {
		if (i == client || !is_in_critical_section(state, i))
			continue;
		state->broken |= RR_BREAKS_EXCLUSION;
		if (rr_state_has_leases(state) && !lease_is_over(state, i))
			state->broken |= RR_BREAKS_LEASE;
	}
}
