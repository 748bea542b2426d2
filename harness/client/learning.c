/* SPDX-License-Identifier: MIT */
/* Histories that are taken for one state, and how that is verified and refined. */
#include "learning.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	COVER_MAX = 48,      /* words of a cover, when all is known */
	RUNS_FEW = 100,      /* that a search has asked for: with more, or more histories, or two */
	HISTORIES_FEW = 600, /* loops that are alike, any history may be taken for any state */
	RUNS_MAX = 40 /* for histories that are no rounds of a loop, once more when all is known */
};

/* All histories are asked for anew, and the search begins again. */
static void ask_all_anew(struct rr_client_table *table, enum rr_belief withdrawn)
{
	rr_belief_withdraw(table->program->beliefs, withdrawn, table);
	table->learning.merges = table->learning.loops = 0;
	for (uint32_t i = 1; i < table->n_states; i++)
		table->states[i].same = RR_NO_ID;
	for (uint32_t i = 0; i < table->rows.n; i++)
		table->row[i].state = RR_NO_ID;
}

void rr_learning_bound(struct rr_client_table *table, uint32_t state, uint32_t first_round)
{
	table->learning.endless = state;
	table->learning.first_round = first_round;
	table->learning.is_bounded = table->learning.reuses_names || !table->program->run_ops;
	table->learning.reuses_names = !table->learning.is_bounded;
	table->learning.merges_all = false;
	ask_all_anew(table, RR_BELIEF_CLIENT_ENDS);
}

bool rr_learning_is_behind(const struct rr_client_table *table, uint32_t state, uint32_t first)
{
	while (state != first && table->states[state].depth > table->states[first].depth)
		state = table->states[state].parent;
	return state == first;
}

/* By which rows states are reached from `first`; RR_NO_ID: not at all. */
static uint32_t *find_rows_from(const struct rr_client_table *table, uint32_t first)
{
	const size_t size = table->n_states * sizeof(uint32_t);
	uint32_t *via = rr_malloc(size), *reached = rr_malloc(size), n = 1;

	memset(via, 0xff, size);
	reached[0] = first;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t r = table->states[reached[i]].first_row; r != RR_NO_ID;
		     r = table->row[r].next) {
			const uint32_t to = table->row[r].state;

			if (to == RR_NO_ID || to == first || via[to] != RR_NO_ID)
				continue;
			via[to] = r;
			reached[n++] = to;
		}
	}
	free(reached);
	return via;
}

static bool waits_there(const struct rr_client_state *state)
{
	return state->slept_ns > 0 || state->has_blocked;
}

/* A row leads from `last` to `first`: if there is a path from there, too, that is a loop. */
static void mark_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	uint32_t *via = find_rows_from(table, first);

	if (last == first || via[last] != RR_NO_ID) {
		table->learning.loops += !table->states[first].is_loop_head;
		table->states[first].is_loop_head = table->states[first].is_in_loop = true;
		table->learning.has_waited_round |= waits_there(&table->states[first]);
		for (; last != first; last = table->row[via[last]].from) {
			table->learning.has_waited_round |= waits_there(&table->states[last]);
			table->states[last].is_in_loop = true;
		}
	}
	free(via);
}

static void take_for(struct rr_client_table *table, uint32_t history, uint32_t state)
{
	struct rr_client_state *it = &table->states[history];

	it->same = state;
	table->row[it->row].state = state;
	if (state == history || it->has_ended)
		return;
	table->learning.merges++;
	if (table->program->run_ops) {
		mark_loop(table, state, table->row[it->row].from);
	} else {
		uint32_t last = table->row[it->row].from;

		/* A strategy goes round where one attempt begins like another that led to it. */
		if (rr_learning_is_behind(table, last, state)) {
			table->learning.loops += !table->states[state].is_loop_head;
			table->states[state].is_loop_head = table->states[state].is_in_loop = true;
			for (; last != state; last = table->states[last].parent)
				table->states[last].is_in_loop = true;
		}
	}
}

void rr_learning_keep_apart(struct rr_client_table *table, uint32_t history)
{
	if (table->states[history].same == history)
		return;
	rr_learning_note_refinement(table);
	take_for(table, history, history);
}

static bool classify_attempt(struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];
	const bool is_attempt = it->is_attempt;
	uint32_t same = history;

	if (is_attempt || it->has_ended)
		same = rr_learning_find_attempt(table, history);
	if (same == history && is_attempt && !(table->program->learning & RR_LEARN_NOTHING))
		rr_learning_count_rounds(table, history);
	if (rr_client_table_failed(table))
		return false;
	if (same != history)
		rr_client_table_drop_run(table, history);
	take_for(table, history, same);
	return true;
}

bool rr_learning_classify(struct rr_client_table *table, uint32_t history)
{
	uint32_t same = RR_NO_ID, loop = RR_NO_ID;

	if (!table->program->run_ops)
		return classify_attempt(table, history);
	if (table->states[history].has_ended)
		same = rr_learning_find_attempt(table, history);
	else
		same = rr_learning_find_assumed(table, history);
	if (same == RR_NO_ID && !(table->program->learning & RR_LEARN_NOTHING))
		same = loop = rr_learning_find_loop(table, history);
	if (same == RR_NO_ID && !(table->program->learning & RR_LEARN_NOTHING))
		same = rr_learning_find_diamond(table, history);
	if (same == RR_NO_ID && table->learning.merges_all)
		same = rr_learning_find_state(table, history);
	if (same == RR_NO_ID && !(table->program->learning & RR_LEARN_NOTHING))
		rr_learning_count_rounds(table, history);
	if (rr_client_table_failed(table))
		return false;
	/* Of an app that goes round in one loop in another place too, a worker that polls, there
	 * are as many as things to remember, which mostly does not matter. */
	if (!table->learning.merges_all && !table->learning.is_bounded &&
	    !(table->program->learning & RR_LEARN_NOTHING) &&
	    (table->learning.n_asked > RUNS_FEW || ++table->learning.n_classified > HISTORIES_FEW ||
	     table->program->learning & RR_LEARN_ALL ||
	     (loop != RR_NO_ID && table->program->n_requests > 0 &&
	      rr_learning_has_like_loop(table, loop, false)))) {
		table->learning.merges_all = true;
		ask_all_anew(table, RR_BELIEF_FEW_HISTORIES);
		return false;
	}
	take_for(table, history, same == RR_NO_ID ? history : same);
	return true;
}

/* What was tested of loops may rest on what was wrong. */
void rr_learning_note_refinement(struct rr_client_table *table)
{
	table->learning.refinements++;
	rr_belief_withdraw(table->program->beliefs, RR_BELIEF_HISTORIES, table);
	for (uint32_t i = 0; i < table->n_states; i++) {
		table->states[i].left_by = 0;
		table->states[i].left_after = 0;
	}
}

/* ---- Refining ----------------------------------------------------------------------------------- */

/* The states that the hypothesis goes through, and what it says is done at the end. False: it
 * does not say. */
static bool find_states(const struct rr_client_table *table, const struct rr_inputs *inputs,
			uint32_t *states, uint32_t *said)
{
	*said = states[0] = 0;
	for (size_t i = 0; i < inputs->n; i++) {
		const struct rr_client_row *row = rr_learning_row(table, states[i],
								  &inputs->all[i]);

		if (!row)
			return false;
		states[i + 1] = row->state;
		*said = rr_learning_said(table, row);
	}
	return true;
}

/* Where a history that is that of a state, and the rest of the inputs, really lead. */
static uint32_t go_rest(struct rr_client_table *table, uint32_t state,
			const struct rr_inputs *inputs, size_t from)
{
	for (size_t i = from; i < inputs->n && state != RR_NO_ID; i++)
		state = rr_learning_go(table, state, &inputs->all[i]);
	return state;
}

/* One of the histories on the way is taken for a state that it is not: from there on, the rest
 * of the inputs tells the two apart. */
static void split(struct rr_client_table *table, const struct rr_inputs *inputs,
		  const uint32_t *states)
{
	const uint32_t end = go_rest(table, 0, inputs, 0);
	size_t good = 0, bad = inputs->n;
	uint32_t history;

	while (bad - good > 1 && !rr_client_table_failed(table)) {
		const size_t middle = good + (bad - good) / 2;
		const uint32_t there = go_rest(table, states[middle], inputs, middle);

		if (there != RR_NO_ID && end != RR_NO_ID && rr_learning_is_same(table, there, end))
			good = middle;
		else
			bad = middle;
	}
	history = rr_learning_go(table, states[good], &inputs->all[good]);
	if (rr_client_table_failed(table) || history == RR_NO_ID || history == states[bad])
		return;
	rr_learning_note_refinement(table);
	if (rr_learning_add_suffix(table, inputs->all + bad, inputs->n - bad) &&
	    table->learning.merges_all && !(table->program->learning & RR_PLANT_NO_SUFFIXES)) {
		/* It is classified when it is asked for again. */
		table->states[history].same = RR_NO_ID;
		table->row[table->states[history].row].state = RR_NO_ID;
	} else {
		take_for(table, history, history);
	}
}

void rr_learning_begin(struct rr_client_table *table)
{
	table->learning.loops = table->learning.n_verified = 0;
	for (uint32_t i = 0; i < table->n_states; i++)
		table->states[i].is_in_loop = table->states[i].is_loop_head = false;
	for (uint32_t i = 0; i < table->rows.n; i++) {
		const struct rr_client_row *row = &table->row[i];

		if (row->state != RR_NO_ID && row->to != row->state &&
		    !table->states[row->state].has_ended)
			mark_loop(table, row->state, row->from);
	}
	table->learning.has_waited_round = false;
}

void rr_learning_refine(struct rr_client_table *table, const struct rr_inputs *inputs)
{
	uint32_t *states = rr_calloc(inputs->n + 1, sizeof(*states));
	struct rr_inputs some = *inputs;
	uint32_t said;

	if (find_states(table, inputs, states, &said)) {
		const uint32_t end = go_rest(table, 0, &some, 0);

		if (!rr_client_table_failed(table) &&
		    (end == RR_NO_ID || !rr_learning_is_same(table, end, said)))
			split(table, &some, states);
	}
	free(states);
	if (!table->program->run_ops && !rr_learning_has_changed(table) &&
	    !rr_client_table_failed(table))
		rr_error_set(&table->error, RR_ERROR_INTERNAL,
			     "a client remembers what cannot be told from its histories");
}

bool rr_learning_refute(struct rr_client_table *table, const struct rr_inputs *inputs,
			const struct rr_run_view *did)
{
	const unsigned long before = table->learning.refinements;
	const uint32_t end = go_rest(table, 0, inputs, 0);
	struct rr_run_view view;

	if (end == RR_NO_ID)
		return false;
	view = rr_client_state_view(&table->states[end]);
	if (!rr_run_view_is_same(&view, did))
		return false;
	rr_learning_unroll(table, inputs);
	rr_learning_refine(table, inputs);
	return table->learning.refinements > before;
}

/* ---- The whole ------------------------------------------------------------------------------------ */

static bool is_merged(const struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];

	return it->same != RR_NO_ID && it->same != history && !it->has_ended;
}

static bool is_round_of(const struct rr_client_table *table, uint32_t history)
{
	return rr_learning_is_behind(table, history, table->states[history].same);
}

/* Along so many words at most. */
static bool verify_merge(struct rr_client_table *table, uint32_t history, size_t most)
{
	const uint32_t state = table->states[history].same;
	bool good = rr_learning_is_like(table, history, state) &&
		    rr_learning_agrees(table, history, state, most);

	if (good && table->states[history].same == state && is_round_of(table, history) &&
	    !(table->program->learning & RR_PLANT_NO_PUMPING))
		good = rr_learning_leave_loop(table, state, history);
	if (good || rr_client_table_failed(table))
		return good;
	if (table->states[history].same == state) {
		rr_learning_note_refinement(table);
		take_for(table, history, history);
	}
	return false;
}

/* Serial orders that are looked at afterwards may have asked for more, or for nothing. */
bool rr_learning_verify(struct rr_client_table *table)
{
	const uint32_t n = table->n_states;
	const uint64_t n_runs = table->n_runs;
	uint32_t n_rows = 0;

	if (!table->program->run_ops)
		return rr_learning_verify_attempts(table);
	for (uint32_t i = 0; i < table->rows.n; i++)
		n_rows += table->row[i].state != RR_NO_ID;
	if (n_rows == table->learning.n_verified && !rr_learning_has_changed(table))
		return true;
	for (uint32_t i = 1; i < n && !rr_client_table_failed(table); i++) {
		const size_t ran = (size_t)(table->n_runs - n_runs);
		const bool is_round = is_merged(table, i) && is_round_of(table, i);

		if (is_round || (is_merged(table, i) && ran < RUNS_MAX))
			verify_merge(table, i, is_round ? COVER_MAX : RUNS_MAX - ran);
	}
	if (table->learning.merges > 0 && !rr_learning_has_changed(table) &&
	    !rr_client_table_failed(table))
		rr_learning_walk(table);
	table->learning.n_verified = n_rows;
	return !rr_client_table_failed(table);
}
