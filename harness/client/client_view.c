/* SPDX-License-Identifier: MIT */
#include "client_table.h"

#include <limits.h>
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

/* ---- Again ------------------------------------------------------------------ */

/* Runs of clients that do again what the table knows: of another client than `self`, or with the random
 * values of another draw. */
struct again {
	struct rr_client_table *table;
	struct rr_client_view *view; /* NULL: the clients are the same, and the draw is another */
	struct rr_program program;
	struct rr_renaming renaming; /* of the values of that draw */
	struct rr_client_run *run;
};

static void feed_again(struct again *it, struct rr_input input, int64_t passed_ns)
{
	if (it->view)
		input = rr_client_view_as_self(it->view, &input);
	else if (rr_input_has_reply(&input))
		input.value = rr_rename_reply(&it->renaming, it->program.terms,
					      (uint32_t)input.value);
	rr_client_run_feed(it->run, &input, passed_ns);
}

static bool does_again(struct again *it, uint32_t state)
{
	const struct rr_run_view *did = rr_client_run_view(it->run);
	struct rr_run_view view;

	if (it->view) {
		see_state(it->view, state);
		return rr_run_view_signature(did) == it->view->states[state].signature;
	}
	view = *did;
	for (uint32_t i = 0; i < view.n_sent; i++)
		view.sent[i].command = rr_rename_command(&it->renaming, it->program.terms,
							 view.sent[i].command);
	return rr_run_view_signature(&view) == it->table->states[state].signature;
}

static bool follows(struct again *it, uint32_t to)
{
	const struct rr_client_state *known = &it->table->states[to];

	if (known->parent != RR_NO_ID) {
		if (!follows(it, known->parent))
			return false;
		feed_again(it, known->input, known->passed_ns);
	}
	return does_again(it, to);
}

/* Up to the ends of so many attempts: those before an end are compared with it. What only tests have
 * seen does not matter. */
static bool do_again(struct again *it, unsigned long most)
{
	struct rr_client_table *table = it->table;
	bool is_same = true;

	for (uint32_t i = 0; i < table->rows.n && is_same && most > 0; i++) {
		const struct rr_client_row *row = &table->row[i];

		if (row->to == RR_NO_ID || row->state == RR_NO_ID ||
		    !(table->states[row->to].is_attempt || table->states[row->to].has_ended))
			continue;
		most--;
		it->run = rr_client_run_new(&it->program,
					    it->view ? it->view->client : row->client);
		table->n_runs++;
		is_same = follows(it, row->to);
		rr_client_run_free(it->run);
	}
	return is_same;
}

bool rr_client_view_verify(struct rr_client_view *view)
{
	struct again again = { .table = view->table, .view = view, .program = *program_of(view) };

	return do_again(&again, ULONG_MAX);
}

bool rr_client_table_is_same_draw(struct rr_client_table *table, unsigned draw, unsigned long most)
{
	struct again again = { .table = table, .program = *table->program };
	struct rr_terms *terms = table->program->terms;
	const size_t n_names = terms->n_names;
	bool is_same;

	again.program.draw = draw;
	rr_renaming_add_draws(&again.renaming, terms, table->program->draw, draw);
	is_same = do_again(&again, most);
	rr_renaming_release(&again.renaming);
	/* Nobody else comes across these values. */
	terms->n_names = n_names;
	return is_same;
}
