/* SPDX-License-Identifier: MIT */
#include "client_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct rr_program *program_of(const struct rr_client_view *view)
{
	return view->table->program;
}

/* Has a client values of its own? */
static bool has_own(const struct rr_client_view *view)
{
	return program_of(view)->sent_as_own && !(program_of(view)->learning & RR_PLANT_NO_SELF);
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

static void see_state(struct rr_client_view *view, uint32_t id)
{
	struct rr_client_state *state;

	make_room(&view->states, &view->n_states, id, sizeof(*view->states));
	state = &view->states[id];
	if (state->stops)
		return;
	*state = view->table->states[id];
	if (view->is_another) {
		const struct rr_program *program = program_of(view);
		const struct rr_client_state self = *state;
		const size_t stops_size = self.n_threads * sizeof(*self.stops);
		struct rr_run_view seen;

		/* The client's own commands and mutexes instead of self's. */
		state->stops = rr_malloc(stops_size + self.n_sent * sizeof(*self.sent));
		state->sent = (struct rr_sent *)(state->stops + self.n_threads);
		memcpy(state->stops, self.stops, stops_size);
		memcpy(state->sent, self.sent, self.n_sent * sizeof(*self.sent));
		for (uint32_t i = 0; i < self.n_sent && has_own(view); i++)
			state->sent[i].command = program->sent_as_own(
				program->context, view->client, self.sent[i].command);
		for (uint32_t i = 0; i < self.n_threads; i++) {
			if (self.stops[i].kind == RR_STOP_LOCK ||
			    self.stops[i].kind == RR_STOP_UNLOCK)
				state->stops[i].mutex = rr_mutex_as_own(program, view->client,
									self.stops[i].mutex);
		}
		state->names = rr_exchange_mask(self.names, 0, view->client);
		seen = rr_client_state_view(state);
		state->signature = rr_run_view_signature(&seen);
	}
}

bool rr_client_view_init(struct rr_client_view *view, struct rr_client_table *table, int client)
{
	*view = (struct rr_client_view){ .table = table,
					 .client = client,
					 .is_another = client > 0 && table->program->sent_as_own };
	if (!rr_client_table_begin(table))
		return false;
	see_state(view, 0);
	return true;
}

void rr_client_view_release(struct rr_client_view *view)
{
	for (uint32_t i = 0; i < view->n_states; i++) {
		if (view->is_another)
			free(view->states[i].stops);
	}
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

	if (has_own(view) && rr_input_has_reply(input))
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
		see_state(view, row->state);
	return row;
}

/* ---- Verifying -------------------------------------------------------------- */

/* What the client itself has to be told. */
static struct rr_input as_own(const struct rr_client_view *view, const struct rr_input *input)
{
	const struct rr_program *program = program_of(view);
	struct rr_input own = *input;

	if (rr_input_has_reply(input))
		own.value = program->heard_as_self(program->context, view->client,
						   (uint32_t)input->value);
	return own;
}

static bool follows(struct rr_client_view *view, struct rr_client_run *run, uint32_t to)
{
	const struct rr_client_state *known = &view->table->states[to];

	if (known->parent != RR_NO_ID) {
		const struct rr_input input = as_own(view, &known->input);

		if (!follows(view, run, known->parent))
			return false;
		rr_client_run_feed(run, &input, known->passed_ns);
	}
	see_state(view, to);
	return rr_run_view_signature(rr_client_run_view(run)) == view->states[to].signature;
}

bool rr_client_view_verify(struct rr_client_view *view)
{
	struct rr_client_table *table = view->table;
	bool is_same = true;

	for (uint32_t i = 0; i < table->rows.n && is_same; i++) {
		const struct rr_client_row *row = &table->row[i];
		struct rr_client_run *run;
		struct rr_input input;

		if (row->to == RR_NO_ID || row->state == RR_NO_ID ||
		    !(table->states[row->to].is_attempt || table->states[row->to].has_ended))
			continue;
		run = rr_client_run_new(table->program, view->client);
		table->n_runs++;
		input = as_own(view, &row->input);
		see_state(view, row->to);
		is_same = follows(view, run, row->from);
		rr_client_run_feed(run, &input, row->passed_ns);
		is_same = is_same && rr_run_view_signature(rr_client_run_view(run)) ==
					     view->states[row->to].signature;
		rr_client_run_free(run);
	}
	return is_same;
}
