/* SPDX-License-Identifier: MIT */
/* States of the whole: numbers of what they consist of, and that unpacked. */
#include <stdlib.h>

#include "base/memory.h"
#include "expansion.h"

enum { OPEN_STEPS_MAX = 20000 };

static size_t part_size(const struct rr_part *part)
{
	return offsetof(struct rr_part, answers) + part->n_answers * sizeof(part->answers[0]);
}

static size_t common_size(const struct rr_common *common)
{
	return offsetof(struct rr_common, leases) + common->n_leases * sizeof(common->leases[0]);
}

void rr_state_unpack(struct rr_product *product, const uint32_t *key, struct rr_state *state)
{
	const struct rr_common *common = rr_product_common(product, key);

	state->product = product;
	state->broken = 0;
	memcpy(state->servers, key, product->n_servers * sizeof(*key));
	memset(&state->common, 0, sizeof(state->common));
	memcpy(&state->common, common, common_size(common));
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part *part = rr_product_part(product, key, i);

		memcpy(&state->clients[i], part, part_size(part));
	}
}

void rr_state_copy(struct rr_state *to, const struct rr_state *from)
{
	memcpy(to, from, offsetof(struct rr_state, clients));
	for (size_t i = 0; i < from->product->n_clients; i++)
		memcpy(&to->clients[i], &from->clients[i], part_size(&from->clients[i]));
}

static bool is_same_part(const struct rr_part *a, const struct rr_part *b)
{
	const size_t size = part_size(a);

	return size == part_size(b) && memcmp(a, b, size) == 0;
}

static bool is_same_common(const struct rr_common *a, const struct rr_common *b)
{
	return a->n_leases == b->n_leases && memcmp(a, b, common_size(a)) == 0;
}

bool rr_state_is_same(const struct rr_state *a, const struct rr_state *b)
{
	const struct rr_product *product = a->product;

	for (size_t i = 0; i < product->n_clients; i++) {
		if (!is_same_part(&a->clients[i], &b->clients[i]))
			return false;
	}
	return is_same_common(&a->common, &b->common) &&
	       memcmp(a->servers, b->servers, product->n_servers * sizeof(a->servers[0])) == 0;
}

void rr_state_pack(const struct rr_state *state, const struct rr_state *near,
		   const uint32_t *near_key, rr_state_key key)
{
	struct rr_product *product = state->product;
	const size_t n_servers = product->n_servers;
	const size_t last = product->n_words - 1;

	memcpy(key, near_key, product->n_words * sizeof(*key));
	memcpy(key, state->servers, n_servers * sizeof(*key));
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part *part = &state->clients[i];

		if (!near || !is_same_part(part, &near->clients[i]))
			key[n_servers + i] = rr_intern_put(&product->parts, part, part_size(part),
							   NULL);
	}
	if (!near || !is_same_common(&state->common, &near->common))
		key[last] = rr_intern_put(&product->commons, &state->common,
					  common_size(&state->common), NULL);
}

bool rr_product_begin(struct rr_product *product, rr_state_key key, struct rr_actions *log)
{
	const rr_state_key nothing = { 0 };
	struct rr_state state;

	memset(&state, 0, sizeof(state));
	state.product = product;
	state.common.left = rr_budget_in_parts(&product->config.budget);
	state.common.down = -1;
	product->log = log;
	for (size_t i = 0; i < product->n_clients; i++) {
		rr_product_note_keys(product, i, rr_state_client(&state, i));
		if (rr_product_follows_owners(product)) {
			const uint32_t n_sent = rr_state_client(&state, i)->n_sent;
			uint16_t owners[RR_RUN_SENT];

			/* What an app sends before a request has begun, it sends of its own
			 * accord. */
			for (uint32_t j = 0; j < n_sent; j++)
				owners[j] = rr_owner_of_app(i);
			state.clients[i].owners = rr_intern_put(&state.product->owners, owners,
								n_sent * sizeof(owners[0]), NULL);
		}
	}
	/* What clients do before their first attempts is done by one after the other. */
	for (size_t i = 0; i < product->n_clients; i++) {
		int left = product->config.strategy ? OPEN_STEPS_MAX : 0;

		while (left-- > 0 && !rr_state_is_idle(&state, i) &&
		       !rr_state_has_ended(&state, i) && rr_state_step_alone(&state, i, false))
			continue;
	}
	/* What is there from the beginning may expire, too. All clients begin at once; one that has
	 * slept first sends what it sends later. */
	for (size_t i = 0; i < product->n_servers; i++)
		product->has_ends |= rr_state_server(&state, i)->first_end_ns != RR_NEVER;
	for (size_t i = 0; i < product->n_clients; i++)
		rr_state_fall_asleep(&state, i);
	product->log = NULL;
	rr_state_pack(&state, NULL, nothing, key);
	return !rr_product_failed(product);
}

bool rr_product_count(struct rr_product *product, const uint32_t *key, struct rr_count *count)
{
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = RR_ASKER_SLOTS - 1,
		.argument = product->get_counter,
	};
	const struct rr_terms *terms = product->config.program->terms;
	const struct rr_server_row *row;
	struct rr_state state;

	rr_state_unpack(product, key, &state);
	row = rr_state_ask(&state, 0, &question);
	if (!row)
		return false;
	*count = (struct rr_count){ 0 };
	count->is_number = rr_count_of(&terms->reply[row->reply].reply, &count->value);
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part *part = &state.clients[i];
		const struct rr_run_tally *tally = &rr_state_client(&state, i)->tally;

		count->least += part->is_crashed ? part->ok : tally->ok;
		count->most += part->is_crashed ? part->ok + part->unknown + part->cut :
						  tally->ok + tally->unknown;
	}
	return true;
}

uint16_t rr_part_open(const struct rr_product *product, const struct rr_part *part, size_t client)
{
	const struct rr_client_state *state = &product->clients[client].states[part->state];
	const uint16_t *owners = rr_intern_get(&product->owners, part->owners);
	uint32_t open = part->begun &
			~(part->answered | product->config.program->requests.unanswered);
	size_t n[RR_RUN_ORDINALS] = { 0 };

	for (uint32_t i = 0; i < state->n_sent; i++) {
		const uint8_t lane = state->sent[i].lane;

		if (state->sent[i].kind == RR_SENT_COMMAND &&
		    ++n[lane] > rr_part_n_answers(part, lane))
			open |= owners[i];
	}
	return (uint16_t)open;
}

size_t rr_product_client_of(const struct rr_product *product, const uint32_t *key, size_t request)
{
	const struct rr_program *program = product->config.program;
	const size_t first = rr_program_client_of(program, request);
	const struct rr_part *part = rr_product_part(product, key, first);

	if (!program->requests.again || !part->is_crashed || part->begun >> request & 1)
		return first;
	for (size_t i = 0; i < product->n_clients; i++) {
		if (program->requests.again[i] == first + 1)
			return i;
	}
	return first;
}

/* ---- Making and freeing --------------------------------------------------- */

bool rr_product_init(struct rr_product *product, const struct rr_product_config *config,
		     struct rr_server_table *data, struct rr_server_table *locks)
{
	const struct rr_program *program = config->program;
	const bool is_shared = program->sent_as_own != NULL;
	const char *const get[] = { "GET", config->counter ? config->counter : "-", NULL };

	*product = (struct rr_product){
		.config = *config,
		.n_clients = program->n_clients,
		.n_servers = program->n_servers,
		.n_words = program->n_servers + program->n_clients + 1,
		.clients = rr_calloc(program->n_clients, sizeof(*product->clients)),
		.own = program->tables ? NULL :
					 rr_calloc(program->n_clients, sizeof(*product->own)),
	};
	product->tables[0] = data;
	for (size_t i = 1; i < RR_CLUSTER_SERVERS; i++)
		product->tables[i] = locks ? locks : data;
	product->get_counter = rr_terms_words(program->terms, get);
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_client_table *table = program->tables ?
							program->tables[i] :
							&product->own[is_shared ? 0 : i].table;

		if (!program->tables && (i == 0 || !is_shared)) {
			product->own[i].kept.most = is_shared ? product->n_clients : 1;
			rr_client_table_init(table, program, 1U << i, &product->own[i].kept);
		}
		if (!rr_client_view_init(&product->clients[i], table, (int)i)) {
			product->error = table->error;
			return false;
		}
	}
	return true;
}

void rr_product_release(struct rr_product *product)
{
	for (size_t i = 0; product->clients && i < product->n_clients; i++) {
		rr_client_view_release(&product->clients[i]);
		if (product->own)
			rr_client_table_release(&product->own[i].table);
	}
	free(product->clients);
	free(product->own);
	free(product->edges.all);
	free(product->edges.actions.all);
	rr_intern_release(&product->parts);
	rr_intern_release(&product->commons);
	rr_intern_release(&product->owners);
	product->clients = NULL;
	product->own = NULL;
	product->edges = (struct rr_edges){ 0 };
}
