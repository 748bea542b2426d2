/* SPDX-License-Identifier: MIT */
/* All transitions of a state. */
#include "expansion.h"

#include "base/memory.h"

static struct rr_edge *add_edge(struct rr_edges *edges)
{
	if (edges->n == edges->capacity) {
		edges->capacity = edges->capacity ? 2 * edges->capacity : 16;
		edges->all = rr_realloc(edges->all, edges->capacity, sizeof(*edges->all));
	}
	return &edges->all[edges->n++];
}

bool rr_expansion_wants(struct rr_expansion *it, enum rr_transition_kind kind, size_t who,
			size_t lane)
{
	const struct rr_transition transition = { (uint8_t)kind, (uint8_t)who, (uint8_t)lane };

	if (it->is_done || rr_product_failed(it->product))
		return false;
	if (it->wanted)
		return memcmp(it->wanted, &transition, sizeof(transition)) == 0;
	if (it->lists)
		add_edge(it->edges)->transition = transition;
	return !it->lists;
}

void rr_expansion_add(struct rr_expansion *it, enum rr_transition_kind kind, size_t who,
		      size_t lane, const struct rr_state *next)
{
	struct rr_actions *log = it->product->log;
	const size_t before = it->slice;
	struct rr_edge *edge;

	if (rr_product_failed(it->product))
		return;
	it->is_done = it->alone || it->wanted;
	if (it->alone) {
		rr_state_copy(it->alone, next);
		it->n_shared = 0;
	} else {
		edge = add_edge(it->edges);
		edge->transition = (struct rr_transition){ (uint8_t)kind, (uint8_t)who,
							   (uint8_t)lane };
		edge->broken = (uint8_t)next->broken;
		edge->from = it->slice;
		edge->to = log ? log->n : 0;
		rr_state_pack(next, it->from, it->key, edge->key);
	}
	if (!log)
		return;
	/* The actions of the next edge begin, with those that it shares with this one. */
	it->slice = log->n;
	for (size_t i = 0; i < it->n_shared; i++) {
		const struct rr_action action = log->all[before + i];

		rr_actions_add(log, &action);
	}
}

void rr_expansion_drop(struct rr_expansion *it)
{
	if (it->product->log)
		it->product->log->n = it->slice + it->n_shared;
}

/* ---- Servers -------------------------------------------------------------- */

static void add_late(struct rr_expansion *it, const struct rr_state *from, size_t i)
{
	const struct rr_late late = from->common.late[i];
	const uint8_t client = late.slot / RR_RUN_ORDINALS;
	uint32_t left_out;
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = late.slot,
		.argument = rr_product_mutate(it->product, late.command, &left_out),
	};
	const struct rr_server_row *row;
	struct rr_state next;
	struct rr_common *common = &next.common;

	if (!rr_expansion_wants(it, RR_DO_LATE, i, 0))
		return;
	rr_state_copy(&next, from);
	common->n_late--;
	memmove(&common->late[i], &common->late[i + 1], (common->n_late - i) * sizeof(late));
	if (--common->left.of[RR_LATE_COMMANDS] == 0)
		common->n_late = 0;
	memset(&common->late[common->n_late], 0, (RR_LATE_MAX - common->n_late) * sizeof(late));
	row = left_out == RR_NO_ID ? rr_state_ask(&next, late.server, &question) : NULL;
	/* One that would wait finds that its client is gone. */
	if (row && !row->blocks) {
		struct rr_served served;

		row = rr_state_move_server(&next, late.server, &question, client);
		rr_state_log(&next, (struct rr_action){ .kind = RR_ACTION_ASK,
							.client = client,
							.server = late.server,
							.is_late = true,
							.question = question,
							.command = late.command,
							.reply = row->reply });
		rr_state_log_served(&next, late.server, row, &served);
		rr_state_wake_served(&next, late.server, &served);
	}
	rr_expansion_add(it, RR_DO_LATE, i, 0, &next);
}

/* Of several late commands of one connection the first comes first. */
static void add_lates(struct rr_expansion *it, const struct rr_state *from)
{
	const struct rr_late *late = from->common.late;

	for (size_t i = 0; i < from->common.n_late; i++) {
		size_t first = 0;

		while (late[first].slot != late[i].slot || late[first].server != late[i].server)
			first++;
		if (first == i)
			add_late(it, from, i);
	}
}

/* ---- The whole ------------------------------------------------------------ */

static void expand_all(struct rr_expansion *it, struct rr_state *from)
{
	const bool is_step = it->wanted && rr_transition_is_step(*it->wanted);
	const int8_t down = from->common.down;
	struct rr_state next;
	int n_lanes;

	if (rr_product_all_are_over(it->product, it->key)) {
		it->flags = RR_STATE_FINAL;
		add_lates(it, from);
		return;
	}
	if (rr_expand_served(it, from) || rr_expand_local(it, from))
		return;
	for (size_t i = 0; i < it->product->n_clients; i++) {
		if (!is_step || it->wanted->who == i)
			rr_expand_client(it, from, i);
	}
	if (it->is_done || is_step)
		return;
	add_lates(it, from);
	/* A server notices that a dead client listens no more. */
	n_lanes = rr_program_lanes(it->product->config.program);
	for (size_t i = 0; i < it->product->n_clients; i++) {
		for (int lane = 0; from->clients[i].is_crashed && lane < n_lanes; lane++) {
			const size_t server = rr_state_lane_server(from, lane);

			if (!rr_state_connection(from, i, lane))
				continue;
			rr_state_copy(&next, from);
			rr_state_close(&next, i, lane);
			if (next.servers[server] != from->servers[server] &&
			    rr_expansion_wants(it, RR_DO_NOTICE, i, (size_t)lane))
				rr_expansion_add(it, RR_DO_NOTICE, i, (size_t)lane, &next);
			else
				rr_expansion_drop(it);
		}
	}
	if (down >= 0 && from->common.down_ns <= 0 &&
	    rr_expansion_wants(it, RR_DO_RETURN, (size_t)down, 0)) {
		rr_state_copy(&next, from);
		next.common.down = -1;
		rr_state_log(&next,
			     (struct rr_action){ .kind = RR_ACTION_UP, .server = (uint8_t)down });
		rr_expansion_add(it, RR_DO_RETURN, (size_t)down, 0, &next);
	}
	rr_expand_faults(it, from);
	if (it->n_busy == 0 && rr_expansion_is_quiet(it))
		rr_expand_quiet(it, from);
	else
		rr_expand_ending(it, from);
}

/* `how` says what is wanted. */
static const struct rr_edges *expand_state(struct rr_product *product, const uint32_t *key,
					   bool is_logged, struct rr_expansion how)
{
	struct rr_edges *edges = &product->edges;
	struct rr_state from;
	rr_state_key from_key;

	memcpy(from_key, key, product->n_words * sizeof(*key));
	rr_state_unpack(product, from_key, &from);
	edges->n = edges->actions.n = 0;
	how.product = product;
	how.from = &from;
	how.key = from_key;
	how.edges = edges;
	how.next_ns = how.round_ns = RR_NEVER;
	product->log = is_logged ? &edges->actions : NULL;
	expand_all(&how, &from);
	product->log = NULL;
	edges->flags = how.flags;
	return rr_product_failed(product) ? NULL : edges;
}

const struct rr_edges *rr_product_expand(struct rr_product *product, const uint32_t *key,
					 bool is_logged)
{
	return expand_state(product, key, is_logged, (struct rr_expansion){ 0 });
}

const struct rr_edges *rr_product_list(struct rr_product *product, const uint32_t *key)
{
	return expand_state(product, key, false, (struct rr_expansion){ .lists = true });
}

const struct rr_edge *rr_product_take(struct rr_product *product, const uint32_t *key,
				      struct rr_transition transition)
{
	const struct rr_edges *edges = expand_state(product, key, true,
						    (struct rr_expansion){ .wanted = &transition });

	return edges && edges->n > 0 ? edges->all : NULL;
}

bool rr_product_times_out(const struct rr_product *product, const uint32_t *key,
			  struct rr_transition transition)
{
	const struct rr_program *program = product->config.program;
	const size_t server = (size_t)rr_lane_server(program, transition.lane);
	const struct rr_connection *connection;

	if (transition.kind != RR_DO_EXECUTE)
		return false;
	connection =
		rr_server_table_connection(product->tables[server], key[server],
					   (uint16_t)(transition.who * RR_RUN_ORDINALS +
						      rr_lane_ordinal(program, transition.lane)));
	return connection && connection->blocks;
}

bool rr_product_pass(struct rr_product *product, const uint32_t *key, int64_t ns, rr_state_key next)
{
	struct rr_state state;
	rr_state_key from;

	memcpy(from, key, product->n_words * sizeof(*key));
	rr_state_unpack(product, from, &state);
	rr_state_pass_time(&state, ns, RR_DO_WAIT);
	rr_state_pack(&state, NULL, from, next);
	return !rr_product_failed(product);
}

uint16_t rr_product_next_owners(const struct rr_product *product, const uint32_t *key,
				struct rr_transition transition)
{
	const struct rr_sent *sent = rr_product_next_sent(product, key, transition);
	const uint16_t *owners = rr_intern_get(
		&product->owners, rr_product_part(product, key, transition.who)->owners);

	return sent ? owners[sent - rr_product_client(product, key, transition.who)->sent] : 0;
}

bool rr_product_is_through(const struct rr_product *product, const uint32_t *key, size_t request)
{
	const size_t client = rr_product_client_of(product, key, request);
	const struct rr_part *part = rr_product_part(product, key, client);

	return part->is_crashed ||
	       ((part->begun & ~rr_part_open(product, part, client)) >> request & 1);
}

const struct rr_sent *rr_product_next_sent(const struct rr_product *product, const uint32_t *key,
					   struct rr_transition transition)
{
	return rr_part_first_unanswered(rr_product_part(product, key, transition.who),
					rr_product_client(product, key, transition.who),
					transition.lane);
}

void rr_product_keep_actions(const struct rr_product *product, const struct rr_edge *edge,
			     struct rr_actions *actions)
{
	const size_t first = actions->n;

	for (size_t i = edge->from; i < edge->to; i++)
		rr_actions_add(actions, &product->edges.actions.all[i]);
	if (actions->n > first)
		actions->all[first].fault = rr_transition_rows[edge->transition.kind].fault;
}
