/* SPDX-License-Identifier: MIT */
/* All transitions of a state. */
#include "expansion.h"

bool rr_expansion_emit(struct rr_expansion *it, enum rr_transition_kind kind, size_t who,
		       size_t lane, const struct rr_state *next)
{
	const struct rr_transition transition = { (uint8_t)kind, (uint8_t)who, (uint8_t)lane };
	struct rr_actions *log = it->product->log;
	rr_state_key key;

	if (it->stopped || rr_product_failed(it->product))
		return false;
	if (it->first) {
		rr_state_copy(it->first, next);
		it->stopped = true;
		return false;
	}
	rr_state_pack(next, it->from, it->key, key);
	it->stopped = rr_product_failed(it->product) ||
		      !it->emit(it->context, transition, key, next->broken);
	if (!it->stopped && log)
		log->n = it->product->log_kept;
	return !it->stopped;
}

/* What is logged from now on belongs to the next transition alone. */
static void truncate_log(struct rr_product *product, size_t n)
{
	product->log_kept = n;
	if (product->log && product->log->n > n)
		product->log->n = n;
}

/* ---- Servers -------------------------------------------------------------- */

static bool emit_late(struct rr_expansion *it, const struct rr_state *from, size_t i)
{
	const struct rr_late late = from->common.late[i];
	const uint8_t client = late.slot / RR_RUN_ORDINALS;
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = late.slot,
					      .argument = late.command };
	const struct rr_server_row *row;
	struct rr_state next;
	struct rr_common *common = &next.common;

	rr_state_copy(&next, from);
	common->n_late--;
	memmove(&common->late[i], &common->late[i + 1], (common->n_late - i) * sizeof(late));
	if (--common->left.of[RR_LATE_COMMANDS] == 0)
		common->n_late = 0;
	memset(&common->late[common->n_late], 0, (RR_LATE_MAX - common->n_late) * sizeof(late));
	row = rr_state_ask(&next, late.server, &question);
	if (!row)
		return false;
	/* One that would wait finds that its client is gone. */
	if (!row->blocks) {
		row = rr_state_move_server(&next, late.server, &question, client);
		rr_state_log(&next, (struct rr_action){ .kind = RR_ACTION_ASK,
							.client = client,
							.server = late.server,
							.is_late = true,
							.question = question,
							.command = late.command,
							.reply = row->reply });
	}
	return rr_expansion_emit(it, RR_DO_LATE, i, 0, &next);
}

/* Of several late commands of one connection the first comes first. */
static bool emit_lates(struct rr_expansion *it, const struct rr_state *from)
{
	const struct rr_late *late = from->common.late;

	for (size_t i = 0; i < from->common.n_late; i++) {
		size_t first = 0;

		while (late[first].slot != late[i].slot || late[first].server != late[i].server)
			first++;
		if (first == i && !emit_late(it, from, i))
			return false;
	}
	return true;
}

/* A server notices that a dead client listens no more. */
static bool emit_notices(struct rr_expansion *it, const struct rr_state *from)
{
	const int n_lanes = rr_program_lanes(it->product->config.program);

	for (size_t i = 0; i < it->product->n_clients; i++) {
		for (int lane = 0; from->clients[i].is_crashed && lane < n_lanes; lane++) {
			const size_t server = rr_state_lane_server(from, lane);
			struct rr_state next;

			if (!rr_state_connection(from, i, lane))
				continue;
			rr_state_copy(&next, from);
			rr_state_close(&next, i, lane);
			if (next.servers[server] != from->servers[server] &&
			    !rr_expansion_emit(it, RR_DO_NOTICE, i, (size_t)lane, &next))
				return false;
		}
	}
	return true;
}

static bool emit_return(struct rr_expansion *it, const struct rr_state *from)
{
	const int8_t server = from->common.down;
	struct rr_state next;

	if (server < 0 || from->common.down_ns > 0)
		return true;
	rr_state_copy(&next, from);
	next.common.down = -1;
	rr_state_log(&next, (struct rr_action){ .kind = RR_ACTION_UP, .server = (uint8_t)server });
	return rr_expansion_emit(it, RR_DO_RETURN, (size_t)server, 0, &next);
}

/* ---- The whole ------------------------------------------------------------ */

static bool is_final(const struct rr_state *state)
{
	for (size_t i = 0; i < state->product->n_clients; i++) {
		if (!rr_state_has_ended(state, i))
			return false;
	}
	return true;
}

static bool expand_all(struct rr_expansion *it, struct rr_state *from)
{
	struct rr_product *product = it->product;
	const size_t log_kept = product->log ? product->log->n : 0;

	product->log_kept = log_kept;
	if (is_final(from)) {
		it->flags = RR_STATE_FINAL;
		return emit_lates(it, from);
	}
	if (rr_expand_local(it, from))
		return true;
	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_expand_client(it, from, i))
			return false;
		truncate_log(product, log_kept);
	}
	return emit_lates(it, from) && emit_notices(it, from) && emit_return(it, from) &&
	       rr_expand_faults(it, from) && (it->n_busy > 0 || rr_expand_quiet(it, from));
}

bool rr_product_expand(struct rr_product *product, const uint32_t *key, rr_emit emit, void *context,
		       unsigned *flags)
{
	struct rr_state from;
	struct rr_expansion it = { .product = product,
				   .from = &from,
				   .key = key,
				   .emit = emit,
				   .context = context,
				   .next_ns = RR_NEVER };
	bool good;

	rr_state_unpack(product, key, &from);
	good = expand_all(&it, &from);
	*flags = it.flags;
	return good && !it.stopped && !rr_product_failed(product);
}
