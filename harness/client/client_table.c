/* SPDX-License-Identifier: MIT */
/* States and rows of the table of a program's clients. */
#include "client_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "learning.h"

/* Without `passed_ns` (-1) for rows that are not timed, or to tell which are. */
struct row_key {
	uint32_t state;
	uint8_t kind, thread, gone;
	int64_t value, passed_ns;
};

static struct row_key key_of(uint32_t state, const struct rr_input *input)
{
	struct row_key key;

	memset(&key, 0, sizeof(key));
	key.state = state;
	key.kind = input->kind;
	key.thread = input->thread;
	key.gone = input->gone;
	key.value = input->value;
	key.passed_ns = -1;
	return key;
}

/* ---- States --------------------------------------------------------------- */

struct rr_run_view rr_client_state_view(const struct rr_client_state *state)
{
	struct rr_run_view view = { .n_threads = state->n_threads,
				    .n_sent = state->n_sent,
				    .tally = state->tally,
				    .slept_ns = state->slept_ns,
				    .is_inside = state->is_inside,
				    .is_holding = state->is_holding,
				    .has_entered = state->has_entered,
				    .has_read = state->has_read,
				    .is_unheard = state->is_unheard };

	memcpy(view.stops, state->stops, state->n_threads * sizeof(*state->stops));
	memcpy(view.sent, state->sent, state->n_sent * sizeof(*state->sent));
	return view;
}

/* What of random values can be known: those that it has received and sent. */
static uint64_t names_known_to(const struct rr_client_table *table,
			       const struct rr_client_state *state)
{
	const struct rr_terms *terms = table->program->terms;
	uint64_t names = 0;

	if (state->parent != RR_NO_ID)
		names = table->states[state->parent].names;
	if (state->parent != RR_NO_ID && rr_input_has_reply(&state->input))
		names |= terms->reply[state->input.value].names;
	for (uint32_t i = 0; i < state->n_sent; i++)
		names |= terms->command[state->sent[i].command].names;
	return names;
}

void rr_client_table_see_names(struct rr_client_table *table)
{
	for (uint32_t i = 0; i < table->n_states; i++)
		table->states[i].names = names_known_to(table, &table->states[i]);
}

/* ---- Adding ------------------------------------------------------------------- */

static uint32_t put_state(struct rr_client_table *table, struct rr_client_state *state,
			  const struct rr_run_view *view)
{
	const uint32_t id = table->n_states++;
	size_t stops_size;

	rr_array_grow(&table->states, id, sizeof(*state));
	stops_size = view->n_threads * sizeof(*state->stops);
	state->stops = rr_malloc(stops_size + view->n_sent * sizeof(*state->sent));
	state->sent = (struct rr_sent *)(state->stops + view->n_threads);
	memcpy(state->stops, view->stops, stops_size);
	memcpy(state->sent, view->sent, view->n_sent * sizeof(*state->sent));
	state->n_threads = view->n_threads;
	state->n_sent = view->n_sent;
	state->tally = view->tally;
	state->signature = rr_run_view_signature(view);
	state->is_attempt = view->stops[0].kind == RR_STOP_ATTEMPT;
	state->has_ended = view->stops[0].kind == RR_STOP_ENDED;
	state->slept_ns = view->slept_ns;
	state->is_inside = view->is_inside;
	state->is_holding = view->is_holding;
	state->has_entered = view->has_entered;
	state->has_read = view->has_read;
	state->is_unheard = view->is_unheard;
	state->is_guessed = view->is_guessed;
	state->names = names_known_to(table, state);
	table->states[id] = *state;
	rr_learning_note_attempt(table, id);
	return id;
}

/* ---- Rows ----------------------------------------------------------------- */

static const struct rr_client_row *add_client_row(struct rr_client_table *table,
						  const struct row_key *key,
						  const struct rr_client_row *row)
{
	bool is_new;
	const uint32_t id = rr_intern_put(&table->rows, key, sizeof(*key), &is_new);
	uint32_t next;

	if (is_new)
		rr_array_grow(&table->row, id, sizeof(*row));
	next = is_new ? table->states[row->from].first_row : table->row[id].next;
	table->row[id] = *row;
	table->row[id].next = next;
	if (is_new && (row->to != RR_NO_ID || row->is_assumed))
		table->states[row->from].first_row = id;
	if (row->to != RR_NO_ID)
		table->states[row->to].row = id;
	return &table->row[id];
}

static const struct rr_client_row *find_row(const struct rr_client_table *table,
					    const struct row_key *key)
{
	const uint32_t id = rr_intern_find(&table->rows, key, sizeof(*key));

	return id == RR_NO_ID ? NULL : &table->row[id];
}

/* Whether the row depends on the time is known once it has been filled for any. */
static void add_timed_mark(struct rr_client_table *table, struct row_key key,
			   const struct rr_client_row *row)
{
	key.passed_ns = -1;
	add_client_row(table, &key,
		       &(struct rr_client_row){ .from = row->from,
						.to = RR_NO_ID,
						.state = RR_NO_ID,
						.next = RR_NO_ID,
						.input = row->input,
						.is_timed = true });
}

static const struct rr_client_row *learn_client_row(struct rr_client_table *table,
						    struct row_key *key,
						    const struct rr_input *input, int64_t passed_ns)
{
	struct rr_client_row row = { .from = key->state,
				     .input = *input,
				     .is_timed = key->passed_ns != -1 };
	struct rr_client_run *run = rr_client_table_take_run(table, key->state, passed_ns,
							     &row.client);
	const struct rr_run_view *view;
	struct rr_client_state state;

	if (!run)
		return NULL;
	rr_client_run_feed(run, input, passed_ns);
	if (!rr_client_table_check_run(table, run)) {
		rr_client_run_free(run);
		return NULL;
	}
	rr_client_run_compare(run, NULL, row.client);
	view = rr_client_run_view(run);
	/* Some processes read their clock now and then: once is enough for all times. */
	row.is_timed |= view->has_read;
	row.has_entered = view->has_entered;
	row.signature = rr_run_view_signature(view);
	row.passed_ns = row.is_timed ? passed_ns : 0;
	/* Where a row leads to. */
	state = (struct rr_client_state){ .parent = row.from,
					  .input = row.input,
					  .passed_ns = row.passed_ns,
					  .client = row.client,
					  .clients = 1U << row.client,
					  .same = RR_NO_ID,
					  .row = RR_NO_ID,
					  .first_row = RR_NO_ID };
	state.depth = table->states[row.from].depth + 1;
	state.attempt = table->states[row.from].attempt;
	row.to = put_state(table, &state, view);
	row.state = RR_NO_ID;
	if (table->states[row.to].has_ended)
		rr_client_run_free(run);
	else
		rr_client_table_keep_run(table, row.to, row.client, run,
					 row.is_timed ? 0 : passed_ns);
	if (row.is_timed && !table->is_timed && table->program->tables)
		rr_belief_withdraw(table->program->beliefs, RR_BELIEF_TIMELESS, table);
	if (row.is_timed) {
		table->is_timed = true;
		add_timed_mark(table, *key, &row);
		key->passed_ns = passed_ns;
	}
	return add_client_row(table, key, &row);
}

/* A run is made after all of what was only assumed: that is a history now. */
static const struct rr_client_row *learn_assumed(struct rr_client_table *table, struct row_key *key,
						 const struct rr_client_row *row, int64_t passed_ns)
{
	const struct rr_client_row assumed = *row;

	row = learn_client_row(table, key, &assumed.input, passed_ns);
	if (!row)
		return NULL;
	table->row[row - table->row].state = assumed.state;
	table->states[row->to].same = assumed.state;
	return row;
}

const struct rr_client_row *rr_client_table_find(const struct rr_client_table *table,
						 uint32_t state, const struct rr_input *input,
						 int64_t passed_ns)
{
	struct row_key key = key_of(state, input);
	const struct rr_client_row *row = find_row(table, &key);

	if (!row || !row->is_timed)
		return row;
	key.passed_ns = passed_ns;
	return find_row(table, &key);
}

const struct rr_client_row *rr_client_table_follow(struct rr_client_table *table, uint32_t state,
						   const struct rr_input *input, int64_t passed_ns)
{
	struct row_key key = key_of(state, input);
	const struct rr_client_row *row = find_row(table, &key);

	if (row && row->is_timed) {
		key.passed_ns = passed_ns;
		row = find_row(table, &key);
	}
	if (rr_client_table_failed(table))
		return NULL;
	if (!row || !row->is_assumed)
		return row ? row : learn_client_row(table, &key, input, passed_ns);
	return learn_assumed(table, &key, row, passed_ns);
}

const struct rr_client_row *rr_client_table_ask(struct rr_client_table *table, uint32_t state,
						const struct rr_input *input, int64_t passed_ns)
{
	const struct rr_client_row *row = rr_client_table_find(table, state, input, passed_ns);
	const uint64_t n_runs = table->n_runs;
	uint32_t id;

	if (!row || (row->to == RR_NO_ID && row->state == RR_NO_ID))
		row = rr_learning_assume(table, state, input, passed_ns);
	if (!row)
		row = rr_client_table_follow(table, state, input, passed_ns);
	table->learning.n_asked += table->n_runs - n_runs;
	if (!row || row->state != RR_NO_ID)
		return rr_client_table_failed(table) ? NULL : row;
	id = (uint32_t)(row - table->row);
	return rr_learning_classify(table, row->to) ? &table->row[id] : NULL;
}

const struct rr_client_row *rr_client_table_assume(struct rr_client_table *table,
						   const struct rr_client_row *row)
{
	struct row_key key = key_of(row->from, &row->input);

	if (row->is_timed) {
		add_timed_mark(table, key, row);
		key.passed_ns = row->passed_ns;
	}
	return add_client_row(table, &key, row);
}

struct rr_client_end rr_client_table_longest(const struct rr_client_table *table)
{
	struct rr_client_end end = { .to = RR_NO_ID };

	if (table->n_states > 0 && table->states[0].has_ended)
		end = (struct rr_client_end){ .client = table->states[0].client };
	for (uint32_t i = 0; i < table->rows.n; i++) {
		const struct rr_client_row *row = &table->row[i];

		if (row->to == RR_NO_ID || row->state == RR_NO_ID ||
		    !table->states[row->to].has_ended ||
		    (end.row && table->states[row->from].depth <= table->states[end.from].depth))
			continue;
		end = (struct rr_client_end){ row->from, row->to, row, row->client };
	}
	return end;
}

uint32_t rr_client_table_count_states(const struct rr_client_table *table)
{
	uint32_t n = table->n_states > 0;

	for (uint32_t i = 1; i < table->n_states; i++)
		n += table->states[i].same == i;
	return n;
}

/* ---- Making and freeing ------------------------------------------------------ */

void rr_client_table_init(struct rr_client_table *table, const struct rr_program *program,
			  uint32_t clients, struct rr_kept_runs *kept)
{
	*table = (struct rr_client_table){ .program = program, .clients = clients, .kept = kept };
}

bool rr_client_table_begin(struct rr_client_table *table)
{
	struct rr_client_state state = { .parent = RR_NO_ID,
					 .row = RR_NO_ID,
					 .first_row = RR_NO_ID };
	struct rr_client_run *run;
	uint32_t first;
	int client;

	table->error.kind = RR_ERROR_NONE;
	if (table->n_states > 0)
		return true;
	run = rr_client_table_take_run(table, 0, 0, &client);
	if (!run)
		return false;
	rr_client_run_compare(run, NULL, client);
	state.client = client;
	state.clients = 1U << client;
	first = put_state(table, &state, rr_client_run_view(run));
	rr_client_table_keep_run(table, first, client, run, 0);
	if (table->states[first].is_attempt)
		rr_learning_find_attempt(table, first);
	return true;
}

void rr_client_table_release(struct rr_client_table *table)
{
	if (table->kept)
		rr_client_table_drop_runs(table);
	for (uint32_t i = 0; i < table->n_states; i++)
		free(table->states[i].stops);
	free(table->states);
	free(table->row);
	free(table->attempt);
	rr_suffixes_release(&table->learning.suffixes);
	rr_intern_release(&table->rows);
	rr_intern_release(&table->attempts);
	*table = (struct rr_client_table){ .kept = table->kept };
}
