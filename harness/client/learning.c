/* SPDX-License-Identifier: MIT */
/* Histories that are merged into one state: a hypothesis, which counterexamples refine. */
#include "learning.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum {
	SUFFIXES_MAX = 64,
	RUNS_FEW = 100,     /* that a search has asked for: with more, or more histories, or two */
	HISTORIES_FEW = 600 /* loops that are alike, any history may be merged with any other */
};

/* ---- What a client does --------------------------------------------------------------- */

static bool have_said_alike(const struct rr_client_table *table, const struct rr_client_state *a,
			    const struct rr_client_state *b)
{
	/* An app says what it has answered before it ends. */
	if (!a->has_ended && !table->program->requests.n)
		return !b->has_ended;
	return a->has_ended == b->has_ended && a->tally.failed == b->tally.failed &&
	       rr_program_ends_alike(table->program, a->tally.ending, b->tally.ending);
}

bool rr_learning_is_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *one = &table->states[a], *other = &table->states[b];

	/* How long a client sleeps in each round of a loop is not a part of what it does. Nor is it for
	 * one that sleeps for a random time. */
	return rr_learning_does_same(table, a, b) &&
	       (table->learning.sleeps_vary || one->is_in_loop || other->is_in_loop ||
		rr_slept_alike(one->slept_ns, other->slept_ns));
}

bool rr_learning_does_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *states = table->states;
	struct rr_run_view one, other;

	if (a == b || table->program->is_exact)
		return states[a].signature == states[b].signature;
	one = rr_client_state_view(&states[a]);
	other = rr_client_state_view(&states[b]);
	return rr_run_view_is_same(&one, &other) && have_said_alike(table, &states[a], &states[b]);
}

/* A client takes what it waits for, and nothing else: a word that was heard in one state may not
 * fit another. */
static bool is_waited_for(const struct rr_client_state *state, const struct rr_input *input)
{
	static const struct rr_stop absent = { .kind = RR_STOP_ABSENT };
	const struct rr_stop *stop = input->thread < state->n_threads ?
					     &state->stops[input->thread] :
					     &absent;

	switch (stop->kind) {
	case RR_STOP_ABSENT:
	case RR_STOP_ENDED:
		return false;
	case RR_STOP_ATTEMPT:
		return input->kind == RR_INPUT_ATTEMPT;
	case RR_STOP_CLOCK:
		return input->kind == RR_INPUT_CLOCK;
	case RR_STOP_RECEIVE:
		return input->kind == RR_INPUT_REPLY || input->kind == RR_INPUT_LOST ||
		       input->kind == RR_INPUT_REFUSED;
	default:
		return input->kind != RR_INPUT_ATTEMPT && input->kind != RR_INPUT_CLOCK &&
		       input->kind != RR_INPUT_REPLY &&
		       (input->kind != RR_INPUT_TIMEOUT || stop->duration_ns != RR_NEVER);
	}
}

uint32_t rr_learning_go(struct rr_client_table *table, uint32_t state,
			const struct rr_received *received)
{
	const struct rr_client_state *it = &table->states[state];
	const struct rr_client_row *row;

	if (it->has_ended || !is_waited_for(it, &received->input))
		return RR_NO_ID;
	if (!table->program->is_exact &&
	    !rr_client_table_find(table, state, &received->input, received->passed_ns) &&
	    !rr_learning_may_hear(table, state, &received->input))
		return RR_NO_ID;
	row = rr_client_table_follow(table, state, &received->input, received->passed_ns);
	return row ? row->to : RR_NO_ID;
}

const struct rr_client_row *rr_learning_row(const struct rr_client_table *table, uint32_t state,
					    const struct rr_received *received)
{
	const struct rr_client_row *row = rr_client_table_find(table, state, &received->input,
							       received->passed_ns);

	return row && row->state != RR_NO_ID ? row : NULL;
}

uint32_t rr_learning_said(const struct rr_client_table *table, const struct rr_client_row *row)
{
	const struct rr_client_state *state = &table->states[row->state];

	return row->to != RR_NO_ID && (state->is_attempt || state->has_ended) ? row->to :
										row->state;
}

struct rr_received rr_learning_received(const struct rr_client_table *table, uint32_t state)
{
	return (struct rr_received){ table->states[state].input, table->states[state].passed_ns };
}

bool rr_learning_is_same_input(const struct rr_received *a, const struct rr_received *b)
{
	return a->input.kind == b->input.kind && a->input.thread == b->input.thread &&
	       a->input.gone == b->input.gone && a->input.value == b->input.value &&
	       a->passed_ns == b->passed_ns;
}

static struct rr_suffixes *suffixes_of(struct rr_client_table *table)
{
	return table->program->suffixes ? table->program->suffixes : &table->learning.suffixes;
}

void rr_suffixes_release(struct rr_suffixes *suffixes)
{
	rr_learning_release_words(suffixes->all, suffixes->n);
	*suffixes = (struct rr_suffixes){ 0 };
}

static bool is_known_suffix(const struct rr_suffixes *suffixes, const struct rr_received *all,
			    size_t n)
{
	for (size_t i = 0; i < suffixes->n; i++) {
		size_t same = 0;

		while (same < n && suffixes->all[i].n == n &&
		       rr_learning_is_same_input(&suffixes->all[i].all[same], &all[same]))
			same++;
		if (same == n)
			return true;
	}
	return false;
}

static bool add_suffix(struct rr_client_table *table, const struct rr_received *all, size_t n)
{
	struct rr_suffixes *suffixes = suffixes_of(table);

	if (n == 0 || suffixes->n == SUFFIXES_MAX || is_known_suffix(suffixes, all, n))
		return false;
	rr_array_grow(&suffixes->all, suffixes->n, sizeof(*suffixes->all));
	suffixes->all[suffixes->n++] = (struct rr_inputs){ n, rr_memdup(all, n * sizeof(*all)) };
	return true;
}

/* How many of so many inputs do two histories hear, and do the same? */
static size_t common_steps(struct rr_client_table *table, uint32_t a, uint32_t b,
			   const struct rr_inputs *inputs)
{
	size_t i = 0;

	while (i < inputs->n) {
		a = rr_learning_go(table, a, &inputs->all[i]);
		b = a == RR_NO_ID ? a : rr_learning_go(table, b, &inputs->all[i]);
		if (a == RR_NO_ID || b == RR_NO_ID)
			return inputs->n; /* neither of them hears that */
		if (!rr_learning_is_same(table, a, b))
			return i;
		i++;
	}
	return i;
}

bool rr_learning_is_like(struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_suffixes *suffixes = suffixes_of(table);

	if (table->program->learning & RR_PLANT_NO_SUFFIXES)
		return true;
	for (size_t i = 0; i < suffixes->n; i++) {
		const struct rr_inputs suffix = suffixes->all[i];

		table->learning.tests++;
		if (common_steps(table, a, b, &suffix) < suffix.n)
			return false;
	}
	return true;
}

bool rr_learning_tells_same(struct rr_client_table *table, uint32_t a, uint32_t b,
			    const struct rr_inputs *word)
{
	const size_t n = common_steps(table, a, b, word);

	table->learning.tests++;
	if (n < word->n && !rr_client_table_failed(table))
		add_suffix(table, word->all, n + 1);
	return n == word->n || rr_client_table_failed(table);
}

/* ---- Testing a history -------------------------------------------------------------------- */

size_t rr_learning_steps_as_said(struct rr_client_table *table, uint32_t history, uint32_t state,
				 const struct rr_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++) {
		const struct rr_client_row *row = rr_learning_row(table, state, &inputs->all[i]);
		const uint32_t said = row ? rr_learning_said(table, row) : RR_NO_ID;

		state = row ? row->state : RR_NO_ID;
		history = rr_learning_go(table, history, &inputs->all[i]);
		if (history == RR_NO_ID || said == RR_NO_ID)
			return inputs->n;
		if (!rr_learning_is_same(table, history, said))
			return i;
	}
	return inputs->n;
}

struct rr_inputs rr_learning_history_and(const struct rr_client_table *table, uint32_t state,
					 const struct rr_received *more, size_t n)
{
	const uint32_t depth = table->states[state].depth;
	struct rr_inputs inputs = { .n = depth + n,
				    .all = rr_calloc(depth + n + 1, sizeof(*inputs.all)) };

	for (uint32_t i = depth; i-- > 0; state = table->states[state].parent)
		inputs.all[i] = rr_learning_received(table, state);
	if (n > 0)
		memcpy(inputs.all + depth, more, n * sizeof(*more));
	return inputs;
}

bool rr_learning_test(struct rr_client_table *table, uint32_t history, uint32_t state,
		      const struct rr_inputs *word)
{
	const size_t n = rr_learning_steps_as_said(table, history, state, word);
	struct rr_inputs some = { n + 1, word->all };

	table->learning.tests++;
	if (n == word->n || rr_client_table_failed(table))
		return true;
	if (common_steps(table, history, state, &some) < some.n) {
		add_suffix(table, word->all, n + 1);
		return false;
	}
	/* The state itself does not do it either: something else is wrong. */
	some = rr_learning_history_and(table, state, word->all, n + 1);
	rr_learning_refine(table, &some);
	free(some.all);
	return true;
}

bool rr_learning_agrees(struct rr_client_table *table, uint32_t history, uint32_t state,
			size_t most)
{
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, state, &words, most);
	bool good = true;

	for (size_t i = 0; i < n && good && !rr_client_table_failed(table); i++)
		good = rr_learning_test(table, history, state, &words[i]);
	rr_learning_release_words(words, n);
	return good;
}

/* ---- The hypothesis ------------------------------------------------------------------------------- */

/* All histories are asked for again, and so is the search. */
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
	table->learning.is_bounded = table->learning.reuses_names ||
				     table->states[state].is_attempt;
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

uint32_t rr_learning_reach(const struct rr_client_table *table, uint32_t from, uint32_t *reached,
			   uint32_t *via)
{
	uint32_t n = 1;

	memset(via, 0xff, table->n_states * sizeof(*via));
	reached[0] = from;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t r = table->states[reached[i]].first_row; r != RR_NO_ID;
		     r = table->row[r].next) {
			const uint32_t to = table->row[r].state;

			if (to == RR_NO_ID || to == from || via[to] != RR_NO_ID)
				continue;
			via[to] = r;
			reached[n++] = to;
		}
	}
	return n;
}

static bool waits_there(const struct rr_client_state *state)
{
	return state->slept_ns > 0 || state->has_blocked;
}

/* A row leads from `last` to `first`: if there is a path from there, too, that is a loop. */
static void mark_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const size_t size = table->n_states * sizeof(uint32_t);
	uint32_t *via = rr_malloc(size), *reached = rr_malloc(size);

	rr_learning_reach(table, first, reached, via);
	if (last == first || via[last] != RR_NO_ID) {
		table->learning.loops += !table->states[first].is_loop_head;
		table->states[first].is_loop_head = table->states[first].is_in_loop = true;
		table->learning.has_waited_round |= waits_there(&table->states[first]);
		for (; last != first; last = table->row[via[last]].from) {
			table->learning.has_waited_round |= waits_there(&table->states[last]);
			table->states[last].is_in_loop = true;
		}
	}
	free(reached);
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
	mark_loop(table, state, table->row[it->row].from);
}

void rr_learning_keep_apart(struct rr_client_table *table, uint32_t history)
{
	if (table->states[history].same == history)
		return;
	rr_learning_note_refinement(table);
	take_for(table, history, history);
}

bool rr_learning_classify(struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];
	const bool learns = !(table->program->learning & RR_LEARN_NOTHING);
	const bool is_between = it->is_attempt || it->has_ended;
	/* Rounds of attempts are found where these begin. Each is followed to its end. */
	const bool may_go_round = learns && !rr_client_table_is_in_attempt(table, history);
	uint32_t same = RR_NO_ID, loop = RR_NO_ID;

	same = is_between ? rr_learning_find_attempt(table, history) :
			    rr_learning_find_assumed(table, history);
	if (same == RR_NO_ID && may_go_round)
		same = loop = rr_learning_find_loop(table, history);
	if (same == RR_NO_ID && learns)
		same = rr_learning_find_diamond(table, history);
	if (same == RR_NO_ID && table->learning.merges_all)
		same = rr_learning_find_state(table, history);
	if (same == RR_NO_ID)
		same = history;
	if (same == history && may_go_round && !table->states[history].has_ended)
		rr_learning_count_rounds(table, history);
	if (rr_client_table_failed(table))
		return false;
	/* Of an app that goes round in one loop in another place too, a worker that polls, there
	 * are as many as things to remember, which mostly does not matter. Where attempts are marked,
	 * beginnings of attempts are merged instead. */
	if (!table->learning.merges_all && !table->learning.is_bounded && learns &&
	    !table->program->has_attempts &&
	    (table->learning.n_asked > RUNS_FEW || ++table->learning.n_classified > HISTORIES_FEW ||
	     table->program->learning & RR_LEARN_ALL ||
	     (loop != RR_NO_ID && table->program->requests.n > 0 &&
	      rr_learning_has_like_loop(table, loop, false)))) {
		table->learning.merges_all = true;
		ask_all_anew(table, RR_BELIEF_FEW_HISTORIES);
		return false;
	}
	take_for(table, history, same);
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

size_t rr_learning_path(const struct rr_client_table *table, const struct rr_inputs *inputs,
			uint32_t *states)
{
	size_t n = 0;

	states[0] = 0;
	for (const struct rr_client_row *row; n < inputs->n; n++) {
		row = rr_learning_row(table, states[n], &inputs->all[n]);
		if (!row)
			break;
		states[n + 1] = row->state;
	}
	return n;
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
	if (add_suffix(table, inputs->all + bad, inputs->n - bad) && table->learning.merges_all &&
	    !(table->program->learning & RR_PLANT_NO_SUFFIXES)) {
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
	const size_t n = inputs->n;

	if (n > 0 && rr_learning_path(table, inputs, states) == n) {
		const uint32_t said = rr_learning_said(table, rr_learning_row(table, states[n - 1],
									      &inputs->all[n - 1]));
		const uint32_t end = go_rest(table, 0, inputs, 0);

		if (!rr_client_table_failed(table) &&
		    (end == RR_NO_ID || !rr_learning_is_same(table, end, said)))
			split(table, inputs, states);
	}
	free(states);
	if (table->program->is_exact && !rr_learning_has_changed(table) &&
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
