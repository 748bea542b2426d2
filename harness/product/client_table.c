/* SPDX-License-Identifier: MIT */
/* The rows of the client table: states, attempts, runs. */
#include "client_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What an attempt state is known by. */
struct attempt_key {
	long ok, unknown, failed, acknowledged, refused;
	uint64_t memory;                  /* a state + 1; 0 = nothing is remembered */
	uint64_t settled;                 /* attempts since then, so many at most */
	uint64_t histories[RR_HISTORIES]; /* of the last attempts */
	uint64_t has_ended;
	long ending;
};

/* Without `passed_ns` (-1) for rows that are not timed, or to tell which are. */
struct row_key {
	uint32_t state;
	uint8_t kind, thread;
	int64_t value, passed_ns;
};

/* ---- States --------------------------------------------------------------- */

static bool fill_state(struct rr_client_state *state, const struct rr_run_view *view)
{
	const size_t stops_size = view->n_threads * sizeof(*state->stops);

	state->stops = malloc(stops_size + view->n_sent * sizeof(*state->sent));
	if (!state->stops)
		return false;
	state->sent = (struct rr_sent *)(state->stops + view->n_threads);
	memcpy(state->stops, view->stops, stops_size);
	memcpy(state->sent, view->sent, view->n_sent * sizeof(*state->sent));
	state->n_threads = view->n_threads;
	state->n_sent = view->n_sent;
	state->tally = view->tally;
	state->signature = rr_run_view_signature(view);
	state->is_attempt = view->stops[0].kind == RR_STOP_ATTEMPT;
	state->has_ended = view->stops[0].kind == RR_STOP_ENDED;
	state->is_inside = view->is_inside;
	state->polls = view->polls;
	state->is_holding = view->is_holding;
	state->has_entered = view->has_entered;
	state->is_unheard = view->is_unheard;
	return true;
}

/* What of random values can be known: those that it has received and sent. */
static uint64_t names_known_to(const struct rr_client_table *table,
			       const struct rr_client_state *state)
{
	const struct rr_terms *terms = table->program->terms;
	uint64_t names = 0;

	if (state->parent != RR_NO_ID)
		names = table->states[state->parent].names;
	if (state->parent != RR_NO_ID &&
	    (state->input.kind == RR_INPUT_REPLY || state->input.kind == RR_INPUT_MESSAGE))
		names |= terms->reply[state->input.value].names;
	for (uint32_t i = 0; i < state->n_sent; i++)
		names |= terms->command[state->sent[i].command].names;
	return names;
}

/* A digest of what was received since the attempt began. */
static uint64_t history_of(const struct rr_client_table *table, const struct rr_client_state *state)
{
	uint64_t hash = table->states[state->parent].history;

	if (state->input.kind == RR_INPUT_ATTEMPT)
		return hash;
	hash = rr_hash_number(hash, state->input.kind | state->input.thread << 8);
	hash = rr_hash_number(hash, state->input.value);
	return rr_hash_number(hash, state->passed_ns);
}

static uint32_t fail_memory(struct rr_client_table *table)
{
	rr_error_no_memory(&table->error);
	return RR_NO_ID;
}

static uint32_t add_client_state(struct rr_client_table *table, uint32_t parent,
				 const struct rr_input *input, int64_t passed_ns,
				 const struct rr_run_view *view)
{
	const uint32_t id = table->n_states;
	struct rr_client_state state = { .parent = parent, .passed_ns = passed_ns };

	if (input)
		state.input = *input;
	rr_array_grow(&table->states, id, sizeof(state));
	if (!fill_state(&state, view))
		return fail_memory(table);
	state.attempt = parent == RR_NO_ID ? id : table->states[parent].attempt;
	state.names = names_known_to(table, &state);
	if (input)
		state.history = history_of(table, &state);
	table->states[id] = state;
	table->n_states++;
	return id;
}

/* ---- Attempts ------------------------------------------------------------- */

/* Has the client nothing open but its next attempt? */
static bool is_at_rest(const struct rr_client_state *state)
{
	for (uint32_t i = 1; i < state->n_threads; i++) {
		if (state->stops[i].kind != RR_STOP_ENDED && state->stops[i].kind != RR_STOP_ABSENT)
			return false;
	}
	return state->n_sent == 0;
}

/* The memory of the attempt that has just ended: that of its beginning, unless it
 * had lost replies. */
static uint64_t memory_after(const struct rr_client_table *table, uint32_t id,
			     const struct rr_client_state *state)
{
	const struct rr_client_state *begin;

	if (!is_at_rest(state) || state->is_unheard || table->remembers < 0)
		return (uint64_t)id + 1;
	begin = &table->states[state->attempt];
	if (state->parent == RR_NO_ID || !begin->is_attempt || begin->is_forgetful)
		return 0;
	return begin->memory;
}

/* The first levels of memory are refusals in a row, the next attempts as a whole. */
static long n_refusals(const struct rr_client_table *table)
{
	return table->remembers < RR_REFUSALS ? table->remembers : RR_REFUSALS;
}

static void keep_histories(const struct rr_client_table *table, const struct rr_client_state *state,
			   uint64_t histories[RR_HISTORIES])
{
	const struct rr_client_state *begin = &table->states[state->attempt];
	const int n = table->remembers - RR_REFUSALS;

	for (int i = 0; i < n && i < RR_HISTORIES; i++)
		histories[i] = i == 0 ? state->history : begin->histories[i - 1];
}

/* How many attempts there have been since what it remembers; more than one more
 * than refusals are remembered do not matter. */
static uint64_t settled_after(const struct rr_client_table *table,
			      const struct rr_client_state *state)
{
	const uint64_t before = table->states[state->attempt].settled;

	return before <= (uint64_t)table->remembers ? before + 1 : before;
}

static struct attempt_key attempt_key_of(const struct rr_client_table *table, uint32_t id)
{
	const struct rr_client_state *state = &table->states[id];
	const struct rr_run_tally *tally = &state->tally;
	struct attempt_key key = { .ok = tally->ok,
				   .unknown = tally->unknown,
				   .failed = tally->failed,
				   .acknowledged = tally->acknowledged,
				   .refused = tally->refused,
				   .has_ended = state->has_ended,
				   .ending = tally->ending };

	if (state->has_ended)
		key.refused = 0;
	else if (table->remembers >= 0 && key.refused > n_refusals(table))
		key.refused = n_refusals(table);
	if (!state->has_ended || !is_at_rest(state))
		key.memory = memory_after(table, id, state);
	if (key.memory && key.memory != (uint64_t)id + 1)
		key.settled = settled_after(table, state);
	if (!state->has_ended)
		keep_histories(table, state, key.histories);
	return key;
}

/* The attempt state of a new state at which an attempt is to begin: itself, or one
 * that was there. So with clients that have ended. */
static uint32_t merge_attempt(struct rr_client_table *table, uint32_t id)
{
	const struct attempt_key key = attempt_key_of(table, id);
	struct rr_client_state *state = &table->states[id];
	bool is_new;
	const uint32_t number = rr_intern_put(&table->attempts, &key, sizeof(key), &is_new);

	if (number == RR_NO_ID)
		return fail_memory(table);
	if (!is_new) {
		free(state->stops);
		table->n_states--;
		return table->attempt[number];
	}
	rr_array_grow(&table->attempt, number, sizeof(id));
	table->attempt[number] = id;
	state->attempt = id;
	memcpy(state->histories, key.histories, sizeof(key.histories));
	state->history = 0;
	state->memory = key.memory;
	state->settled = key.settled;
	state->is_forgetful = state->is_attempt && key.memory == 0;
	if (key.memory == 0)
		state->names = 0;
	return id;
}

/* ---- Texts ---------------------------------------------------------------- */

static void print_command(FILE *file, const struct rr_program *program, uint32_t command)
{
	const struct rl_command *words = &program->terms->command[command].words;

	for (size_t i = 0; i < words->n_words; i++)
		fprintf(file, "%s%.60s", i ? " " : "", words->words[i].text);
}

void rr_client_state_text(const struct rr_program *program, const struct rr_client_state *state,
			  char *text, size_t size)
{
	static const char *const names[] = {
		[RR_STOP_ABSENT] = "is not there",
		[RR_STOP_RECEIVE] = "waits for a reply",
		[RR_STOP_LISTEN] = "waits for a message",
		[RR_STOP_SLEEP] = "sleeps",
		[RR_STOP_WAIT] = "waits",
		[RR_STOP_CLOCK] = "reads the clock",
		[RR_STOP_LOCK] = "takes a mutex",
		[RR_STOP_UNLOCK] = "releases a mutex",
		[RR_STOP_JOIN] = "waits for a thread",
		[RR_STOP_ATTEMPT] = "begins an attempt",
		[RR_STOP_ENDED] = "has ended",
	};
	FILE *file = fmemopen(text, size, "w");

	text[0] = '\0';
	if (!file)
		return;
	if (state->n_sent && state->stops[0].kind == RR_STOP_RECEIVE)
		print_command(file, program, state->sent[0].command);
	else
		fputs(names[state->stops[0].kind], file);
	fclose(file);
}

/* The same history, and another thing that it does next. */
static uint32_t fail_differing(struct rr_client_table *table, const struct rr_client_state *known,
			       const struct rr_run_view *view)
{
	struct rr_client_state state = { .parent = RR_NO_ID };
	char before[150], now[150];

	if (!fill_state(&state, view))
		return fail_memory(table);
	rr_client_state_text(table->program, known, before, sizeof(before));
	rr_client_state_text(table->program, &state, now, sizeof(now));
	free(state.stops);
	rr_error_set(&table->error, RR_ERROR_INTERNAL,
		     "client %c is not deterministic: after the same replies it "
		     "does '%s' one time, '%s' another",
		     'A' + table->client, before, now);
	return RR_NO_ID;
}

/* ---- Runs ----------------------------------------------------------------- */

void rr_client_table_drop_run(struct rr_client_table *table)
{
	if (table->run)
		rr_client_run_free(table->run);
	table->run = NULL;
	table->run_at = RR_NO_ID;
}

static bool check_room(struct rr_client_table *table, const struct rr_run_view *view)
{
	const char *problem = table->run ? rr_client_run_problem(table->run) : NULL;

	if (!view->is_too_much && !problem)
		return true;
	if (problem)
		return rr_error_set(&table->error, RR_ERROR_USAGE, "%s", problem);
	return rr_error_set(
		&table->error, RR_ERROR_INTERNAL,
		"a client has more threads, connections, mutexes or commands on their way than there is room for (18, 4 to each server, 16, 96)");
}

static bool start_run(struct rr_client_table *table)
{
	rr_client_table_drop_run(table);
	table->run = rr_client_run_new(table->program, table->client);
	table->n_runs++;
	if (!table->run)
		fail_memory(table);
	return table->run && check_room(table, rr_client_run_view(table->run));
}

bool rr_client_table_follow(struct rr_client_table *table, uint32_t to)
{
	const struct rr_client_state state = table->states[to];
	const struct rr_run_view *view;

	if (state.parent == RR_NO_ID) {
		if (!start_run(table))
			return false;
	} else {
		if (!rr_client_table_follow(table, state.parent))
			return false;
		rr_client_run_feed(table->run, &state.input, state.passed_ns);
	}
	view = rr_client_run_view(table->run);
	if (rr_run_view_signature(view) == state.signature)
		return check_room(table, view);
	fail_differing(table, &state, view);
	return false;
}

static bool bring_run_to(struct rr_client_table *table, uint32_t state)
{
	if (table->run && table->run_at == state)
		return true;
	table->run_at = RR_NO_ID;
	if (!rr_client_table_follow(table, state))
		return false;
	table->run_at = state;
	return true;
}

/* ---- Rows ----------------------------------------------------------------- */

static const struct rr_client_row *add_client_row(struct rr_client_table *table,
						  const struct row_key *key,
						  const struct rr_client_row *row)
{
	bool is_new;
	const uint32_t id = rr_intern_put(&table->rows, key, sizeof(*key), &is_new);

	if (id == RR_NO_ID)
		return NULL;
	if (is_new)
		rr_array_grow(&table->row, id, sizeof(*row));
	table->row[id] = *row;
	return &table->row[id];
}

static const struct rr_client_row *find_row(const struct rr_client_table *table,
					    const struct row_key *key)
{
	const uint32_t id = rr_intern_find(&table->rows, key, sizeof(*key));

	return id == RR_NO_ID ? NULL : &table->row[id];
}

/* The run is where the row begins, and has received the input: where has that led? */
static bool fill_row(struct rr_client_table *table, struct rr_client_row *row, int64_t passed_ns)
{
	const struct rr_run_view *view = rr_client_run_view(table->run);
	const struct rr_client_state *to;
	uint32_t n_before;

	if (!check_room(table, view))
		return false;
	row->is_timed = view->has_read;
	row->has_entered = view->has_entered;
	row->signature = rr_run_view_signature(view);
	row->passed_ns = row->is_timed ? passed_ns : 0;
	row->to = add_client_state(table, row->from, &row->input, row->passed_ns, view);
	if (row->to == RR_NO_ID)
		return false;
	to = &table->states[row->to];
	n_before = table->n_states;
	if (to->is_attempt || to->has_ended) {
		row->to = merge_attempt(table, row->to);
		row->merges = table->n_states < n_before;
	}
	return row->to != RR_NO_ID;
}

static const struct rr_client_row *learn_client_row(struct rr_client_table *table,
						    struct row_key *key,
						    const struct rr_input *input, int64_t passed_ns)
{
	struct rr_client_row row = { .from = key->state, .input = *input };

	if (!bring_run_to(table, key->state))
		return NULL;
	table->run_at = RR_NO_ID;
	rr_client_run_feed(table->run, input, passed_ns);
	if (!fill_row(table, &row, passed_ns))
		return NULL;
	if (!row.merges)
		table->run_at = row.to;
	if (row.is_timed) {
		const struct rr_client_row timed = {
			.from = row.from, .to = RR_NO_ID, .input = *input, .is_timed = true
		};

		key->passed_ns = -1;
		if (!add_client_row(table, key, &timed))
			return NULL;
		key->passed_ns = passed_ns;
	}
	return add_client_row(table, key, &row);
}

const struct rr_client_row *rr_client_table_ask(struct rr_client_table *table, uint32_t state,
						const struct rr_input *input, int64_t passed_ns)
{
	struct row_key key;
	const struct rr_client_row *row;

	memset(&key, 0, sizeof(key));
	key.state = state;
	key.kind = input->kind;
	key.thread = input->thread;
	key.value = input->value;
	key.passed_ns = -1;
	row = find_row(table, &key);
	if (row && row->is_timed) {
		key.passed_ns = passed_ns;
		row = find_row(table, &key);
	}
	if (table->error.kind)
		return NULL;
	if (row)
		return row;
	row = learn_client_row(table, &key, input, passed_ns);
	if (!row)
		fail_memory(table);
	return row;
}

bool rr_client_table_init(struct rr_client_table *table, const struct rr_program *program,
			  int client, int remembers)
{
	uint32_t first;

	*table = (struct rr_client_table){
		.program = program, .client = client, .remembers = remembers, .run_at = RR_NO_ID
	};
	if (!start_run(table))
		return false;
	first = add_client_state(table, RR_NO_ID, NULL, 0, rr_client_run_view(table->run));
	if (first == RR_NO_ID)
		return false;
	table->run_at = first;
	return !table->states[first].is_attempt || merge_attempt(table, first) != RR_NO_ID;
}

void rr_client_table_release(struct rr_client_table *table)
{
	rr_client_table_drop_run(table);
	for (uint32_t i = 0; i < table->n_states; i++)
		free(table->states[i].stops);
	free(table->states);
	free(table->row);
	free(table->attempt);
	rr_intern_release(&table->rows);
	rr_intern_release(&table->attempts);
	*table = (struct rr_client_table){ 0 };
}
