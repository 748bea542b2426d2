/* SPDX-License-Identifier: MIT */
/* What a client can do next: its commands are executed, its threads go on, it begins
 * an attempt. */
#include "base/marks.h"
#include "base/reply.h"
#include "expansion.h"

/* Counted before it is made. */
static void count_transition(struct rr_expansion *it, size_t thread, bool is_busy)
{
	it->n_clients++;
	it->n_busy += is_busy;
	it->n_children += thread > 0;
}

/* ---- Commands are executed ------------------------------------------------ */

static void add_execution(struct rr_expansion *it, const struct rr_state *from, size_t client,
			  const struct rr_sent *sent, enum rr_transition_kind kind)
{
	struct rr_state next;

	if (!rr_expansion_wants(it, kind, client, sent->lane))
		return;
	rr_state_copy(&next, from);
	if (rr_transition_rows[kind].is_fault)
		rr_state_take_from_budget(&next, kind);
	rr_state_deliver(&next, client, sent, kind);
	rr_expansion_add(it, kind, client, sent->lane, &next);
}

static size_t thread_of_lane(const struct rr_client_state *client, uint8_t lane)
{
	for (uint32_t i = 1; i < client->n_threads; i++) {
		if (client->stops[i].kind == RR_STOP_RECEIVE && client->stops[i].lane == lane)
			return i;
	}
	return 0;
}

/* Does a command that blocks time out, although others can act, who are late? Where nothing runs on
 * meanwhile, or in a loop, whose phase is free, only its client's own clock goes on. */
static bool may_time_out(struct rr_expansion *it, const struct rr_state *from, size_t client,
			 int64_t left_ns, bool *slowly)
{
	struct rr_product *product = it->product;
	const int64_t run_on_ns = rr_state_run_on_ns(from, client);

	*slowly = false;
	if (!product->config.slow_time || left_ns == RR_NEVER)
		return false;
	if (!product->config.sleeps) {
		if (run_on_ns != RR_NEVER)
			rr_product_withdraw(product, RR_BELIEF_NO_SLEEPS);
		return run_on_ns == RR_NEVER;
	}
	*slowly = run_on_ns != RR_NEVER && !rr_state_is_in_loop(from, client);
	return !*slowly || (!it->alone && !rr_expansion_is_quiet(it) &&
			    rr_state_may_pass_slowly(from, left_ns, client));
}

/* A command blocks on the lane. A program waits no longer for what others would have sent, had they
 * not been so slow for so long. One whose connection was closed ends at any time. */
static void add_blocked(struct rr_expansion *it, const struct rr_state *from, size_t client,
			uint8_t lane, int64_t left_ns, bool is_busy)
{
	const struct rr_client_state *known = rr_state_client(from, client);
	const struct rr_terms *terms = it->product->config.program->terms;
	const struct rr_sent *sent = rr_state_first_unanswered(from, client, lane);
	const struct rr_sent *end = known->sent + known->n_sent, *behind = sent ? sent + 1 : end;
	bool slowly = false, is_closed;
	struct rr_state next;

	while (behind < end && behind->lane != lane)
		behind++;
	is_closed = behind < end && strcmp(terms->command[behind->command].words.words[0].text,
					   RR_MARK_CLOSED) == 0;
	if (left_ns != RR_NEVER)
		it->product->clients[client].table->states[from->clients[client].state].has_blocked =
			true;
	if (rr_state_is_in_round(from, client))
		it->round_ns = rr_lesser_ns(it->round_ns, left_ns);
	else
		it->next_ns = rr_lesser_ns(it->next_ns, left_ns);
	if (!it->alone && rr_state_is_in_budget(from, RR_DO_LOSE) &&
	    rr_state_can_lose(from, client, lane))
		add_execution(it, from, client, sent, RR_DO_LOSE);
	if (!is_closed && !may_time_out(it, from, client, left_ns, &slowly))
		return;
	count_transition(it, thread_of_lane(rr_state_client(from, client), lane),
			 is_busy && !slowly);
	if (!rr_expansion_wants(it, RR_DO_EXECUTE, client, lane))
		return;
	rr_state_copy(&next, from);
	if (slowly)
		rr_state_pass_slowly(&next, left_ns, client);
	else if (!is_closed)
		rr_state_age_client(&next, client, left_ns);
	if (!slowly)
		rr_state_time_out(&next, client, lane);
	rr_expansion_add(it, RR_DO_EXECUTE, client, lane, &next);
}

static void add_lane(struct rr_expansion *it, const struct rr_state *from, size_t client,
		     uint8_t lane, bool is_busy)
{
	const struct rr_sent *sent = rr_state_next_sent(from, client, lane);
	int64_t left_ns;

	if (rr_state_is_blocked(from, client, lane, &left_ns)) {
		add_blocked(it, from, client, lane, left_ns, is_busy);
		return;
	}
	if (!sent)
		return;
	count_transition(it, thread_of_lane(rr_state_client(from, client), lane), is_busy);
	add_execution(it, from, client, sent, RR_DO_EXECUTE);
	if (it->alone || sent->kind != RR_SENT_COMMAND ||
	    !rr_state_is_in_budget(from, RR_DO_LOSE) || !rr_state_can_lose(from, client, lane))
		return;
	add_execution(it, from, client, sent, RR_DO_LOSE);
	add_execution(it, from, client, sent, RR_DO_DROP);
}

/* ---- Clients -------------------------------------------------------------- */

/* It sleeps: when nobody who has begun can act, time passes by itself; else the others are late. */
static void add_wake(struct rr_expansion *it, const struct rr_state *from, size_t client)
{
	const int64_t ns = rr_state_asleep_ns(from, client);
	struct rr_state next;

	it->next_ns = rr_lesser_ns(it->next_ns, ns);
	if (it->alone || rr_expansion_is_quiet(it) || !rr_state_may_pass_slowly(from, ns, client) ||
	    !rr_expansion_wants(it, RR_DO_WAKE, client, 0))
		return;
	rr_state_copy(&next, from);
	rr_state_pass_slowly(&next, ns, client);
	rr_expansion_add(it, RR_DO_WAKE, client, 0, &next);
}

/* It has begun its attempt, and that is all. */
static void add_begin(struct rr_expansion *it, const struct rr_state *begun, size_t client,
		      bool is_busy)
{
	count_transition(it, 0, is_busy);
	if (rr_expansion_wants(it, RR_DO_BEGIN, client, 0))
		rr_expansion_add(it, RR_DO_BEGIN, client, 0, begun);
}

/* An attempt has begun, or goes on: it sends, waits or ends at once. */
static void add_begun(struct rr_expansion *it, const struct rr_state *begun, size_t client,
		      bool is_idle, bool is_busy)
{
	const uint32_t n_threads = rr_state_client(begun, client)->n_threads;
	const size_t n_before = it->n_clients;
	uint32_t n_sent;
	size_t first;
	bool is_end;
	uint64_t done = 0;

	if (rr_state_has_ended(begun, client)) {
		add_begin(it, begun, client, is_busy);
		return;
	}
	if (rr_state_is_idle(begun, client))
		return; /* an attempt that does nothing */
	n_sent = rr_state_client(begun, client)->n_sent;
	is_end = rr_state_is_end_of_apps(begun, &first);
	if (!is_end || client == first) {
		for (uint32_t i = 0; i < n_sent && !it->is_done; i++) {
			const struct rr_sent *sent = &rr_state_client(begun, client)->sent[i];
			const uint8_t lane = sent->lane;

			if (done >> lane & 1 || (sent->kind == RR_SENT_END) != is_end)
				continue;
			done |= UINT64_C(1) << lane;
			add_lane(it, begun, client, lane, is_busy);
		}
	}
	for (uint8_t i = 0; i < n_threads && !it->is_done; i++) {
		struct rr_state next;
		struct rr_input input;

		if (!rr_state_can_wake(begun, client, i)) {
			it->next_ns = rr_lesser_ns(it->next_ns, rr_state_left_ns(begun, client, i));
			continue;
		}
		count_transition(it, i, is_busy);
		if (!rr_expansion_wants(it, RR_DO_GO, client, i))
			continue;
		rr_state_copy(&next, begun);
		rr_state_wake(&next, client, i, &input);
		rr_state_feed(&next, client, &input);
		rr_expansion_add(it, RR_DO_GO, client, i, &next);
	}
	/* What it waits for comes by itself, in time: it has to begin its
	 * attempt to wait for it. */
	if (is_idle && it->n_clients == n_before && it->next_ns != RR_NEVER)
		add_begin(it, begun, client, true);
}

void rr_expand_client(struct rr_expansion *it, const struct rr_state *from, size_t client)
{
	struct rr_product *product = it->product;
	const struct rr_client_table *table = product->clients[client].table;
	const struct rr_client_state *known = &table->states[from->clients[client].state];
	const int64_t next_ns = it->next_ns;
	struct rr_state begun;

	if (rr_state_has_ended(from, client))
		return;
	if (rr_state_asleep_ns(from, client) > 0) {
		add_wake(it, from, client);
		return;
	}
	/* Has it gone round as often as the bound says, in a loop in which it never does the same? */
	if (table->learning.is_bounded && known->rounds > product->config.rounds &&
	    !it->unbounded) {
		it->flags |= RR_STATE_CUT;
		it->is_endless = true;
		return;
	}
	if (!rr_state_is_idle(from, client)) {
		/* May it go round there, as far as is known without trying? */
		const bool is_busy = rr_state_has_begun(from, client) && !known->spins &&
				     !rr_state_is_in_round(from, client);

		add_begun(it, from, client, false, is_busy);
		return;
	}
	if (!it->unbounded && product->config.bounded &&
	    from->clients[client].rounds >= product->config.rounds) {
		it->flags |= RR_STATE_CUT;
		return;
	}
	rr_state_copy(&begun, from);
	if (!rr_state_begin_attempt(&begun, client)) {
		it->flags |= RR_STATE_CUT;
		return;
	}
	if (product->log)
		it->n_shared = product->log->n - it->slice;
	it->next_ns = RR_NEVER;
	add_begun(it, &begun, client, true, false);
	it->next_ns = next_ns;
	it->n_shared = 0;
	rr_expansion_drop(it);
}

/* ---- Commands that servers have had before ------------------------------------- */

bool rr_expand_served(struct rr_expansion *it, struct rr_state *from)
{
	for (size_t i = 0; i < it->product->n_clients; i++) {
		const struct rr_client_state *client = rr_state_client(from, i);

		for (uint32_t j = 0; !rr_state_has_ended(from, i) && j < client->n_sent; j++) {
			const struct rr_sent *sent = &client->sent[j];

			if (!sent->is_waiting || sent != rr_state_next_sent(from, i, sent->lane))
				continue;
			add_lane(it, from, i, sent->lane, true);
			return true;
		}
	}
	return false;
}

/* ---- Steps that nobody else can notice -------------------------------------- */

/* Does it make no difference to any fault whether such a step has been made? */
static bool no_fault_can_tell(const struct rr_budget *left, bool changes_data)
{
	for (int i = 0; i < RR_BUDGETS; i++) {
		if ((i != RR_CRASHES || changes_data) && left->of[i] > 0)
			return false;
	}
	return true;
}

/* SELECT, MULTI, and what a server queues behind it: nothing happens before EXEC,
 * whatever others do, and what they do is the same before and after it. So with RESET,
 * unless it ends subscriptions: PUBLISH says how many there are. */
static bool is_local_command(struct rr_state *state, size_t client, const struct rr_sent *sent)
{
	const struct rr_terms *terms = state->product->config.program->terms;
	const struct rdl_word *name = &terms->command[sent->command].words.words[0];
	const struct rr_connection *connection = rr_state_connection(state, client, sent->lane);

	if (rr_word_is(name, "MULTI") || rr_word_is(name, "SELECT"))
		return true;
	if (rr_word_is(name, "RESET"))
		return !connection || !connection->listens;
	return connection && rr_state_is_queued(state, client, sent);
}

/* Does no other client name a key of the command, and has its client commands on their way on that
 * connection only? */
static bool is_of_own_keys(struct rr_state *state, size_t client, const struct rr_sent *sent)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	struct rr_product *product = state->product;
	struct rr_key_use *use = product->config.key_use;
	struct rr_actions *log = product->log;
	struct rr_state next;

	if (!use || !no_fault_can_tell(&state->common.left, true) ||
	    sent->kind != RR_SENT_COMMAND || rr_state_connection(state, client, sent->lane))
		return false;
	for (uint32_t i = 0; i < it->n_sent; i++) {
		if (it->sent[i].lane != sent->lane)
			return false;
	}
	rr_state_copy(&next, state);
	product->log = NULL;
	rr_state_deliver(&next, client, sent, RR_DO_EXECUTE);
	product->log = log;
	return !rr_product_failed(product) &&
	       rr_key_use_is_own(use, product->tables[0]->asker, client, sent->command,
				 rr_state_next_end_ns(&next) != rr_state_next_end_ns(state));
}

/* Such a step is a persistent set of its own (Godefroid 1996), and it is in no loop that is not
 * followed to its end. */
bool rr_expand_local(struct rr_expansion *it, struct rr_state *from)
{
	const struct rr_product_config *config = &it->product->config;

	if (!config->is_local_first || !no_fault_can_tell(&from->common.left, false))
		return false;
	for (size_t i = 0; i < it->product->n_clients; i++) {
		const struct rr_client_state *client = rr_state_client(from, i);
		const struct rr_sent *sent;

		/* In which order a client that waits on several lanes hears may matter to it. */
		if (rr_state_has_ended(from, i) || rr_state_asleep_ns(from, i) > 0 ||
		    rr_state_is_in_loop(from, i) || client->n_threads != 1 ||
		    client->stops[0].kind != RR_STOP_RECEIVE)
			continue;
		sent = rr_state_next_sent(from, i, client->stops[0].lane);
		if (sent && (is_local_command(from, i, sent) || is_of_own_keys(from, i, sent))) {
			add_execution(it, from, i, sent, RR_DO_EXECUTE);
			return true;
		}
	}
	return false;
}
