/* SPDX-License-Identifier: MIT */
/* Does a history do what another does, or what is said of a state? Runs of the client tell. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "learning.h"

enum { SUFFIXES_MAX = 64 };

/* ---- What a client does --------------------------------------------------------------- */

static bool have_said_alike(const struct rr_client_table *table, const struct rr_client_state *a,
			    const struct rr_client_state *b)
{
	const struct rr_program *program = table->program;
	const long one = a->tally.ending, other = b->tally.ending;

	/* An app says what it has answered before it ends. */
	if (!a->has_ended && !program->n_requests)
		return !b->has_ended;
	return a->has_ended == b->has_ended && a->tally.failed == b->tally.failed &&
	       (one == other || (program->run_ops && program->run_ops->ends_alike &&
				 program->run_ops->ends_alike(program, one, other)));
}

/* How long it sleeps in each round of a loop is no part of what it does. Nor is it for who sleeps
 * for a random time. */
static bool have_slept_alike(const struct rr_client_table *table, const struct rr_client_state *a,
			     const struct rr_client_state *b)
{
	return table->learning.sleeps_vary || a->is_in_loop || b->is_in_loop ||
	       rr_slept_alike(a->slept_ns, b->slept_ns);
}

bool rr_learning_is_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	return rr_learning_does_same(table, a, b) &&
	       (!table->program->run_ops ||
		have_slept_alike(table, &table->states[a], &table->states[b]));
}

bool rr_learning_does_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *states = table->states;
	struct rr_run_view one, other;

	if (a == b || !table->program->run_ops)
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
	if (table->program->run_ops &&
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
	return table->program->run_ops ? row->state : row->to;
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

/* False: it is known already, or there is no room. */
bool rr_learning_add_suffix(struct rr_client_table *table, const struct rr_received *all, size_t n)
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
		rr_learning_add_suffix(table, word->all, n + 1);
	return n == word->n || rr_client_table_failed(table);
}

/* ---- Testing a history -------------------------------------------------------------------- */

/* Does a history do what the hypothesis says of a state? How many inputs that is so for. */
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

/* The whole history of a state, and some more. */
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

/* Does a history do the same as a state along a word? If it does not, but the state itself
 * does not do it either, something else is wrong with the hypothesis. */
bool rr_learning_test(struct rr_client_table *table, uint32_t history, uint32_t state,
		      const struct rr_inputs *word)
{
	const size_t n = rr_learning_steps_as_said(table, history, state, word);
	struct rr_inputs some = { n + 1, word->all };

	table->learning.tests++;
	if (n == word->n || rr_client_table_failed(table))
		return true;
	if (common_steps(table, history, state, &some) < some.n) {
		rr_learning_add_suffix(table, word->all, n + 1);
		return false;
	}
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
