/* SPDX-License-Identifier: MIT */
/* States and rows of the table of a program's clients, and the runs by which they are learned. */
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

/* ---- Keeping ------------------------------------------------------------------ */

static struct rr_kept_run *find_kept(const struct rr_client_table *table, uint32_t state)
{
	struct rr_kept_runs *kept = table->kept;

	for (size_t i = 0; i < kept->n; i++) {
		if (kept->all[i].table == table && kept->all[i].at == state)
			return &kept->all[i];
	}
	return NULL;
}

static void forget_kept(struct rr_kept_runs *kept, struct rr_kept_run *which)
{
	*which = kept->all[--kept->n];
}

static void keep_run(struct rr_client_table *table, uint32_t state, int client,
		     struct rr_client_run *run, int64_t unread_ns)
{
	struct rr_kept_runs *kept = table->kept;

	if (find_kept(table, state)) {
		rr_client_run_free(run);
		return;
	}
	if (kept->n == kept->most) {
		struct rr_kept_run *oldest = &kept->all[0], *newest = &kept->all[0];
		struct rr_kept_run *least;

		for (size_t i = 1; i < kept->n; i++) {
			if (kept->all[i].used < oldest->used)
				oldest = &kept->all[i];
			if (kept->all[i].used > newest->used)
				newest = &kept->all[i];
		}
		least = oldest->used < kept->taken ? oldest : newest;

		rr_client_run_free(least->run);
		forget_kept(kept, least);
	}
	kept->all[kept->n++] = (struct rr_kept_run){
		.table = table,
		.at = state,
		.client = client,
		.run = run,
		.unread_ns = unread_ns,
		.used = ++kept->n_uses,
	};
}

void rr_client_table_drop_run(struct rr_client_table *table, uint32_t state)
{
	struct rr_kept_run *kept = find_kept(table, state);

	if (!kept)
		return;
	rr_client_run_free(kept->run);
	forget_kept(table->kept, kept);
}

static void drop_runs(struct rr_client_table *table)
{
	struct rr_kept_runs *kept = table->kept;

	for (size_t i = kept->n; i-- > 0;) {
		if (kept->all[i].table != table)
			continue;
		rr_client_run_free(kept->all[i].run);
		forget_kept(kept, &kept->all[i]);
	}
}

/* ---- Bringing ----------------------------------------------------------------- */

static bool check_run(struct rr_client_table *table, const struct rr_client_run *run)
{
	const struct rr_error *problem;
	const enum rr_going going = rr_client_run_going(run, &problem);

	if (going == RR_AGAIN)
		return false;
	if (going != RR_GO_ON)
		return rr_error_set(&table->error, problem->kind, "%s", problem->text);
	if (!rr_client_run_view(run)->is_too_much)
		return true;
	return rr_error_set(
		&table->error, RR_ERROR_INTERNAL,
		"a client has more threads, connections, mutexes or commands in flight than there is room for (%d, %d to each server, %d, %d)",
		RR_RUN_THREADS, RR_RUN_OWN_ORDINALS, RR_RUN_MUTEXES, RR_RUN_SENT);
}

/* A run has come to a state that is known. Does it do the same there? */
static bool does_as_known(struct rr_client_table *table, struct rr_client_run *run, int client,
			  struct rr_client_state *state)
{
	/* Exact actions of a client are in its signature. */
	if (!table->program->is_exact ||
	    rr_run_view_signature(rr_client_run_view(run)) != state->signature) {
		const struct rr_run_view known = rr_client_state_view(state);

		rr_client_run_compare(run, &known, state->client);
	}
	state->is_seen_again = check_run(table, run);
	if (state->is_seen_again)
		state->clients |= 1U << client;
	return state->is_seen_again;
}

static bool feed_to(struct rr_client_table *table, struct rr_client_run *run, int client,
		    uint32_t to)
{
	const uint32_t depth = table->states[to].depth;
	uint32_t *way = rr_malloc((depth + 1) * sizeof(*way));
	bool good = check_run(table, run);

	for (uint32_t i = depth + 1; i-- > 0; to = table->states[to].parent)
		way[i] = to;
	for (uint32_t i = 0; i <= depth && good; i++) {
		struct rr_client_state *state = &table->states[way[i]];

		if (i > 0)
			rr_client_run_feed(run, &state->input, state->passed_ns);
		good = does_as_known(table, run, client, state);
	}
	free(way);
	return good;
}

/* A new run, brought to a state. NULL: table->error. */
static struct rr_client_run *bring_run(struct rr_client_table *table, int client, uint32_t to)
{
	struct rr_client_run *run = rr_client_run_new(table->program, client);

	table->n_runs++;
	if (table->n_states == 0 ? check_run(table, run) : feed_to(table, run, client, to))
		return run;
	rr_client_run_free(run);
	return NULL;
}

int rr_client_table_first_client(const struct rr_client_table *table)
{
	return __builtin_ctz(table->clients);
}

int rr_client_table_next_client(struct rr_client_table *table)
{
	int client;

	if (table->is_of_first)
		return rr_client_table_first_client(table);
	do
		client = table->next_client++ % (int)table->program->n_clients;
	while (!(table->clients >> client & 1));
	return client;
}

bool rr_client_table_run_again(struct rr_client_table *table, int client, uint32_t state,
			       const struct rr_client_row *row)
{
	struct rr_client_run *run = bring_run(table, client, state);
	bool good = run != NULL;

	if (run && row) {
		rr_client_run_feed(run, &row->input, row->passed_ns);
		good = does_as_known(table, run, client, &table->states[row->to]);
	}
	/* Such a run may learn what nobody has seen before. */
	if (run && good && !row && !table->states[state].has_ended &&
	    (!table->is_of_first || client == rr_client_table_first_client(table)))
		keep_run(table, state, client, run, 0);
	else if (run)
		rr_client_run_free(run);
	return good;
}

/* A run that stands at a state: it was kept, unless its clock has gone on for longer than passed_ns
 * since, or is brought there. The caller's to keep or to free. NULL: table->error. */
static struct rr_client_run *take_run(struct rr_client_table *table, uint32_t state,
				      int64_t passed_ns, int *client)
{
	struct rr_kept_run *kept = find_kept(table, state);
	struct rr_client_run *run;

	if (!kept || kept->unread_ns > passed_ns) {
		*client = rr_client_table_next_client(table);
		return bring_run(table, *client, state);
	}
	run = kept->run;
	*client = kept->client;
	table->kept->taken = kept->used;
	forget_kept(table->kept, kept);
	return run;
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
	struct rr_client_run *run = take_run(table, key->state, passed_ns, &row.client);
	const struct rr_run_view *view;
	struct rr_client_state state;

	if (!run)
		return NULL;
	rr_client_run_feed(run, input, passed_ns);
	if (!check_run(table, run)) {
		rr_client_run_free(run);
		return NULL;
	}
	rr_client_run_compare(run, NULL, row.client);
	view = rr_client_run_view(run);
	/* Some processes read their clock now and then: once is enough for all times. */
	row.is_timed |= view->has_read;
	row.has_entered = view->has_entered;
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
		keep_run(table, row.to, row.client, run, row.is_timed ? 0 : passed_ns);
	if (row.is_timed && !table->is_timed && table->program->tables)
		rr_belief_withdraw(table->program->beliefs, RR_BELIEF_TIMELESS, table);
	if (row.is_timed) {
		table->is_timed = true;
		add_timed_mark(table, *key, &row);
		key->passed_ns = passed_ns;
	}
	return add_client_row(table, key, &row);
}

/* With the time that has passed, if it is timed: that is in the key, too, then. */
static const struct rr_client_row *find_timed(const struct rr_client_table *table,
					      struct row_key *key, int64_t passed_ns)
{
	const struct rr_client_row *row = find_row(table, key);

	if (!row || !row->is_timed)
		return row;
	key->passed_ns = passed_ns;
	return find_row(table, key);
}

const struct rr_client_row *rr_client_table_find(const struct rr_client_table *table,
						 uint32_t state, const struct rr_input *input,
						 int64_t passed_ns)
{
	struct row_key key = key_of(state, input);

	return find_timed(table, &key, passed_ns);
}

const struct rr_client_row *rr_client_table_follow(struct rr_client_table *table, uint32_t state,
						   const struct rr_input *input, int64_t passed_ns)
{
	struct row_key key = key_of(state, input);
	const struct rr_client_row *row = find_timed(table, &key, passed_ns);
	const uint32_t assumed = row && row->is_assumed ? row->state : RR_NO_ID;

	if (rr_client_table_failed(table))
		return NULL;
	if (row && !row->is_assumed)
		return row;
	row = learn_client_row(table, &key, input, passed_ns);
	/* A run is made after all of what was only assumed: that is a history now. */
	if (row && assumed != RR_NO_ID) {
		table->row[row - table->row].state = assumed;
		table->states[row->to].same = assumed;
	}
	return row;
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
	run = take_run(table, 0, 0, &client);
	if (!run)
		return false;
	rr_client_run_compare(run, NULL, client);
	state.client = client;
	state.clients = 1U << client;
	first = put_state(table, &state, rr_client_run_view(run));
	keep_run(table, first, client, run, 0);
	if (table->states[first].is_attempt)
		rr_learning_find_attempt(table, first);
	return true;
}

void rr_client_table_release(struct rr_client_table *table)
{
	if (table->kept)
		drop_runs(table);
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
