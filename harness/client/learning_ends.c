/* SPDX-License-Identifier: MIT */
/* Is there an end to what a client does? Rounds that are like each other, but for values. */
#include <stdlib.h>

#include "base/memory.h"
#include "learning.h"

enum {
	PERIOD_MAX = 12,                 /* inputs of one round */
	ROUNDS_MAX = RR_LOOP_ROUNDS + 1, /* that are counted */
	LIKE_AN_END = 4,  /* rounds after which it is tried whether there is an end to them */
	SAME_ROUNDS = 24, /* where each is as the one before: who changes is seen until then */
	TRIED_MAX = 1000, /* inputs; where each round is the same, RR_LOOP_ROUNDS rounds do */
	WORDS = 4         /* behind which rounds are compared */
};

/* Does it wait for the same kind of thing, and send commands with the same names? */
static bool does_the_like(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *one = &table->states[a], *other = &table->states[b];
	const struct rr_terms *terms = table->program->terms;

	if (one->n_threads != other->n_threads || one->n_sent != other->n_sent ||
	    one->has_ended != other->has_ended)
		return false;
	for (uint32_t i = 0; i < one->n_threads; i++) {
		if (one->stops[i].kind != other->stops[i].kind)
			return false;
	}
	for (uint32_t i = 0; i < one->n_sent; i++) {
		const struct rr_term_command *a = &terms->command[one->sent[i].command];
		const struct rr_term_command *b = &terms->command[other->sent[i].command];

		if (one->sent[i].lane != other->sent[i].lane || a->name != b->name ||
		    a->words.n_words != b->words.n_words)
			return false;
	}
	return true;
}

static int count_rounds(const struct rr_client_table *table, uint32_t state, int period)
{
	const struct rr_client_state *states = table->states;
	uint32_t before = state;
	int n = 0;

	for (int i = 0; i < period && before != RR_NO_ID; i++)
		before = states[before].parent;
	while (before != RR_NO_ID && states[before].parent != RR_NO_ID && n < period * ROUNDS_MAX &&
	       table->states[state].input.kind == table->states[before].input.kind &&
	       table->states[state].input.thread == table->states[before].input.thread &&
	       does_the_like(table, state, before)) {
		state = states[state].parent;
		before = states[before].parent;
		n++;
	}
	return n / period;
}

static uint32_t rounds_before(const struct rr_client_table *table, uint32_t state, int inputs)
{
	while (inputs-- > 0)
		state = table->states[state].parent;
	return state;
}

/* Hears what it has heard in its last round again and again. */
static bool has_no_end(struct rr_client_table *table, uint32_t state, int period)
{
	struct rr_received *round = rr_calloc((size_t)period, sizeof(*round));
	uint32_t *like = rr_calloc((size_t)period, sizeof(*like));
	uint32_t at = state;
	const int rounds = table->program->run_ops ? RR_LOOP_ROUNDS : RR_REFUSALS_ROUNDS;
	const int n = rr_learning_is_round(table, state, period) ? period * rounds : TRIED_MAX;
	bool goes_on = true;

	for (int i = period; i-- > 0; at = table->states[at].parent) {
		round[i] = (struct rr_received){ table->states[at].input,
						 table->states[at].passed_ns };
		like[i] = at;
	}
	at = state;
	for (int i = 0; i < n && goes_on; i++) {
		at = rr_learning_go(table, at, &round[i % period]);
		goes_on = at != RR_NO_ID && does_the_like(table, at, like[i % period]);
	}
	free(round);
	free(like);
	/* A strategy that was refused so often: does one more refusal tell it apart still? */
	return goes_on && (table->program->run_ops ||
			   !rr_learning_is_like(table, rounds_before(table, at, period), at));
}

/* The last rounds are the same: does the client leave them in another way behind each? Then it
 * says how often or until when it has waited. */
static bool is_left_otherwise(struct rr_client_table *table, uint32_t state, int period)
{
	const uint32_t first = rounds_before(table, state, (LIKE_AN_END - 1) * period);
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, WORDS);
	bool is_other = false;

	for (size_t i = 0; i < n && !is_other; i++) {
		is_other = true;
		for (int j = 1; j < LIKE_AN_END && is_other; j++)
			is_other = !rr_learning_tells_same(
				table, rounds_before(table, state, j * period),
				rounds_before(table, state, (j - 1) * period), &words[i]);
	}
	rr_learning_release_words(words, n);
	return is_other;
}

static bool has_sent(const struct rr_client_state *state, uint32_t command)
{
	uint32_t i = 0;

	while (i < state->n_sent && state->sent[i].command != command)
		i++;
	return i < state->n_sent;
}

/* Has the client sent something on its way to a state that it had not sent before? */
static bool sends_something_new(const struct rr_client_table *table, uint32_t state)
{
	const struct rr_client_state *it = &table->states[state];

	for (uint32_t i = 0; i < it->n_sent; i++) {
		uint32_t before = it->parent;

		while (before != RR_NO_ID && !has_sent(&table->states[before], it->sent[i].command))
			before = table->states[before].parent;
		if (before == RR_NO_ID)
			return true;
	}
	return false;
}

static bool has_new_round(const struct rr_client_table *table, uint32_t state, int period)
{
	bool is_new = false;

	for (int i = 0; i < period && !is_new; i++, state = table->states[state].parent)
		is_new = sends_something_new(table, state);
	return is_new;
}

/* Where rounds are the same, or have been there before, a client is followed for some more. */
static bool is_due(struct rr_client_table *table, uint32_t state, int period, int rounds)
{
	if (!rr_learning_is_round(table, state, period))
		return rounds == SAME_ROUNDS ||
		       (rounds == LIKE_AN_END && has_new_round(table, state, period) &&
			has_new_round(table, rounds_before(table, state, period), period));
	return rounds == SAME_ROUNDS ||
	       (rounds == LIKE_AN_END && is_left_otherwise(table, state, period));
}

/* Where one attempt begins, it is a round that the one before has taken; 0: any may be. */
static int only_period(const struct rr_client_table *table, uint32_t state)
{
	const struct rr_client_state *it = &table->states[state];
	uint32_t before;

	if (!it->is_attempt || it->parent == RR_NO_ID)
		return 0;
	before = table->states[it->parent].attempt;
	return (int)(it->depth - table->states[before].depth);
}

void rr_learning_count_rounds(struct rr_client_table *table, uint32_t state)
{
	const int only = only_period(table, state);
	int most = 0, period = 1;

	for (int i = only ? only : 1; i <= (only ? only : PERIOD_MAX); i++) {
		const int n = count_rounds(table, state, i);

		if (n > most) {
			most = n;
			period = i;
		}
	}
	table->states[state].rounds = (uint16_t)most;
	if (table->learning.is_bounded || !is_due(table, state, period, most) ||
	    !has_no_end(table, state, period))
		return;
	rr_learning_bound(table, state, rounds_before(table, state, (most - 1) * period));
}
