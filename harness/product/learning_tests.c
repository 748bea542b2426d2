/* SPDX-License-Identifier: MIT */
/* Does a history do what another does, or what is said of a state? Runs of the client tell. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "learning.h"

enum { SUFFIXES_MAX = 64 };

/* ---- What a client does --------------------------------------------------------------- */

static bool have_ended_alike(const struct rr_client_table *table, const struct rr_client_state *a,
			     const struct rr_client_state *b)
{
	const struct rr_program *program = table->program;
	const long one = a->tally.ending, other = b->tally.ending;

	if (!a->has_ended)
		return !b->has_ended;
	return b->has_ended && a->tally.failed == b->tally.failed &&
	       (one == other || (program->run_ops && program->run_ops->ends_alike &&
				 program->run_ops->ends_alike(program, one, other)));
}

bool rr_learning_is_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *states = table->states;
	const struct rr_run_view one = rr_client_state_view(&states[a]);
	const struct rr_run_view other = rr_client_state_view(&states[b]);

	return a == b || (rr_run_view_is_same(&one, &other) &&
			  have_ended_alike(table, &states[a], &states[b]));
}

uint32_t rr_learning_go(struct rr_client_table *table, uint32_t state,
			const struct rr_received *received)
{
	const struct rr_client_row *row;

	if (table->states[state].has_ended)
		return RR_NO_ID;
	row = rr_client_table_follow(table, state, &received->input, received->passed_ns);
	return row ? row->to : RR_NO_ID;
}

/* Where the hypothesis says that a state leads; RR_NO_ID: it does not say. */
uint32_t rr_learning_state_behind(const struct rr_client_table *table, uint32_t state,
				  const struct rr_received *received)
{
	const struct rr_client_row *row = rr_client_table_find(table, state, &received->input,
							       received->passed_ns);

	return row ? row->state : RR_NO_ID;
}

/* ---- Suffixes --------------------------------------------------------------------------- */

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

static bool is_known_suffix(const struct rr_learning *learning, const struct rr_received *all,
			    size_t n)
{
	for (size_t i = 0; i < learning->n_suffixes; i++) {
		size_t same = 0;

		while (same < n && learning->suffixes[i].n == n &&
		       rr_learning_is_same_input(&learning->suffixes[i].all[same], &all[same]))
			same++;
		if (same == n)
			return true;
	}
	return false;
}

/* False: it is known already, or there is no room. */
bool rr_learning_add_suffix(struct rr_client_table *table, const struct rr_received *all, size_t n)
{
	struct rr_learning *learning = &table->learning;

	if (n == 0 || learning->n_suffixes == SUFFIXES_MAX || is_known_suffix(learning, all, n))
		return false;
	rr_array_grow(&learning->suffixes, learning->n_suffixes, sizeof(*learning->suffixes));
	learning->suffixes[learning->n_suffixes++] =
		(struct rr_inputs){ n, rr_memdup(all, n * sizeof(*all)) };
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
			return inputs->n; /* both have ended there */
		if (!rr_learning_is_same(table, a, b))
			return i;
		i++;
	}
	return i;
}

bool rr_learning_is_like(struct rr_client_table *table, uint32_t a, uint32_t b)
{
	if (table->program->learning & RR_PLANT_NO_SUFFIXES)
		return true;
	for (size_t i = 0; i < table->learning.n_suffixes; i++) {
		const struct rr_inputs suffix = table->learning.suffixes[i];

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
	if (n < word->n && !table->error.kind)
		rr_learning_add_suffix(table, word->all, n + 1);
	return n == word->n || table->error.kind;
}

/* ---- Testing a history -------------------------------------------------------------------- */

/* Does a history do what the hypothesis says of a state? How many inputs that is so for. */
size_t rr_learning_steps_as_said(struct rr_client_table *table, uint32_t history, uint32_t state,
				 const struct rr_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++) {
		const uint32_t to = rr_learning_state_behind(table, state, &inputs->all[i]);

		history = rr_learning_go(table, history, &inputs->all[i]);
		if (history == RR_NO_ID || to == RR_NO_ID)
			return inputs->n;
		if (!rr_learning_is_same(table, history, to))
			return i;
		state = to;
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
	if (n == word->n || table->error.kind)
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

	for (size_t i = 0; i < n && good && !table->error.kind; i++)
		good = rr_learning_test(table, history, state, &words[i]);
	rr_learning_release_words(words, n);
	return good;
}
