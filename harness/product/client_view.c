/* SPDX-License-Identifier: MIT */
#include "client_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct rr_program *program_of(const struct rr_client_view *view)
{
	return view->table->program;
}

/* Element number `at` of an array whose new elements are 0. */
static void make_room(void *array, uint32_t *n, uint32_t at, size_t size)
{
	const uint32_t n_before = *n;
	char *elements;

	if (at < n_before)
		return;
	memcpy(&elements, array, sizeof(elements));
	*n = at < 32 ? 64 : 2 * at;
	elements = rr_realloc(elements, *n, size);
	memset(elements + n_before * size, 0, (*n - n_before) * size);
	memcpy(array, &elements, sizeof(elements));
}

/* ---- States ----------------------------------------------------------------- */

static bool has_own_commands(const struct rr_client_view *view, const struct rr_client_state *state)
{
	const struct rr_program *program = program_of(view);

	for (uint32_t i = 0; i < state->n_sent; i++) {
		const uint32_t command = state->sent[i].command;

		if (program->sent_as_own(program->context, view->client, command) != command)
			return true;
	}
	return false;
}

/* The client's own commands instead of self's. */
static void fill_in(const struct rr_client_view *view, struct rr_client_state *state)
{
	const struct rr_program *program = program_of(view);
	struct rr_run_view seen;

	state->sent = rr_memdup(state->sent, state->n_sent * sizeof(*state->sent));
	for (uint32_t i = 0; i < state->n_sent; i++)
		state->sent[i].command = program->sent_as_own(program->context, view->client,
							      state->sent[i].command);
	seen = rr_client_state_view(state);
	state->signature = rr_run_view_signature(&seen);
}

static void see_state(struct rr_client_view *view, uint32_t id)
{
	struct rr_client_state *state;

	if (!program_of(view)->sent_as_own) {
		view->states = view->table->states;
		return;
	}
	make_room(&view->states, &view->n_states, id, sizeof(*view->states));
	state = &view->states[id];
	if (state->stops)
		return;
	*state = view->table->states[id];
	if (has_own_commands(view, state))
		fill_in(view, state);
}

bool rr_client_view_init(struct rr_client_view *view, struct rr_client_table *table, int client)
{
	*view = (struct rr_client_view){ .table = table, .client = client };
	if (!rr_client_table_begin(table))
		return false;
	see_state(view, 0);
	return true;
}

void rr_client_view_release(struct rr_client_view *view)
{
	for (uint32_t i = 0; i < view->n_states; i++) {
		if (view->states[i].stops && view->states[i].sent != view->table->states[i].sent)
			free(view->states[i].sent);
	}
	if (view->n_states)
		free(view->states);
	free(view->heard);
}

/* ---- Rows ------------------------------------------------------------------- */

static uint32_t heard_as_self(struct rr_client_view *view, uint32_t reply)
{
	const struct rr_program *program = program_of(view);

	make_room(&view->heard, &view->n_heard, reply, sizeof(*view->heard));
	if (view->heard[reply] == 0)
		view->heard[reply] = program->heard_as_self(program->context, view->client, reply) +
				     1;
	return view->heard[reply] - 1;
}

struct rr_input rr_client_view_as_self(struct rr_client_view *view, const struct rr_input *input)
{
	struct rr_input heard = *input;

	if (program_of(view)->heard_as_self &&
	    (input->kind == RR_INPUT_REPLY || input->kind == RR_INPUT_MESSAGE))
		heard.value = heard_as_self(view, (uint32_t)input->value);
	return heard;
}

const struct rr_client_row *rr_client_view_ask(struct rr_client_view *view, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns)
{
	const struct rr_input heard = rr_client_view_as_self(view, input);
	const struct rr_client_row *row = rr_client_table_ask(view->table, state, &heard,
							      passed_ns);

	if (row)
		see_state(view, row->to);
	return row;
}

uint64_t rr_client_view_signature(const struct rr_client_view *view,
				  const struct rr_client_row *row)
{
	const bool is_process = program_of(view)->run_ops != NULL;

	return row->merges && !is_process ? row->signature : view->states[row->to].signature;
}
