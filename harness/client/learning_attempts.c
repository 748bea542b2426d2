/* SPDX-License-Identifier: MIT */
/*
 * Of programs of attempts: which beginnings of attempts are one state. Those are taken for each
 * other that have as much done, until something tells them apart: so a client that is refused
 * is where it was.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "learning.h"

enum {
	LOOPS_MAX = 4,     /* kinds of refusal that are followed from one beginning */
	RUNS_MAX = 1500,   /* for words behind other histories */
	STEPS_FAR = 60000, /* after which no other beginning is followed */
	STEPS_EACH = 60000 /* nor left behind fewer refusals */
};

/* What beginnings have in common that may be one state; so with clients that have ended. */
struct attempt_key {
	long ok, unknown, failed, acknowledged, ending;
	uint64_t memory;
	uint64_t is_settled; /* what is in its memory is over */
	uint64_t opening;
	uint64_t has_ended;
};

/* ---- Beginnings ----------------------------------------------------------------------- */

/* Has the client nothing open but its next attempt? */
static bool is_at_rest(const struct rr_client_state *state)
{
	for (uint32_t i = 1; i < state->n_threads; i++) {
		if (state->stops[i].kind != RR_STOP_ENDED && state->stops[i].kind != RR_STOP_ABSENT)
			return false;
	}
	return state->n_sent == 0;
}

/* What the attempt before had in mind, unless that one lost a reply itself. */
static uint64_t memory_of(const struct rr_client_table *table, uint32_t id,
			  const struct rr_client_state *before)
{
	const struct rr_client_state *state = &table->states[id];

	if (state->has_ended && is_at_rest(state))
		return 0;
	if (!is_at_rest(state) || state->is_unheard || table->program->learning & RR_LEARN_NOTHING)
		return (uint64_t)id + 1;
	return before->is_attempt ? before->memory : 0;
}

void rr_learning_note_attempt(struct rr_client_table *table, uint32_t id)
{
	struct rr_client_state *state = &table->states[id];
	const struct rr_client_state before = table->states[state->attempt];

	state->next_alike = RR_NO_ID;
	if (!state->is_attempt && !state->has_ended)
		return;
	state->memory = memory_of(table, id, &before);
	state->opening = before.is_attempt ? before.opening : id;
	if (state->is_attempt)
		state->attempt = id;
	if (state->memory == 0)
		state->names = 0;
}

static struct attempt_key key_of(const struct rr_client_table *table, uint32_t id)
{
	const struct rr_client_state *state = &table->states[id];
	const struct rr_run_tally *tally = &state->tally;

	return (struct attempt_key){ .ok = tally->ok,
				     .unknown = tally->unknown,
				     .failed = tally->failed,
				     .acknowledged = tally->acknowledged,
				     .ending = tally->ending,
				     .memory = state->memory,
				     .is_settled = state->memory &&
						   state->memory != (uint64_t)id + 1,
				     .opening = state->has_ended ? 0 : state->opening,
				     .has_ended = state->has_ended };
}

/* Does its next attempt begin alike with other random values than those it has drawn? */
static bool keeps_no_value(struct rr_client_table *table, uint32_t id, uint32_t other)
{
	struct rr_received begins = { .input = { .kind = RR_INPUT_ATTEMPT,
						 .value = RR_GENERATIONS - 1 } };
	const struct rr_inputs word = { 1, &begins };

	return rr_learning_tells_same(table, id, other, &word);
}

uint32_t rr_learning_find_attempt(struct rr_client_table *table, uint32_t id)
{
	const struct attempt_key key = key_of(table, id);
	bool is_new;
	const uint32_t number = rr_intern_put(&table->attempts, &key, sizeof(key), &is_new);
	uint32_t at, last = RR_NO_ID;

	if (is_new) {
		rr_array_grow(&table->attempt, number, sizeof(id));
		table->attempt[number] = id;
		return id;
	}
	for (at = table->attempt[number]; at != RR_NO_ID; at = table->states[at].next_alike) {
		if (at == id ||
		    (rr_learning_is_like(table, id, at) && keeps_no_value(table, id, at)))
			return at;
		last = at;
	}
	table->states[last].next_alike = id;
	return id;
}

/* ---- Is it so? ------------------------------------------------------------------------ */

static bool goes_on(const struct rr_client_table *table)
{
	return !rr_learning_has_changed(table) && !rr_client_table_failed(table);
}

/* Behind histories the client does what is said of the state that they are taken for. */
static void compare_histories(struct rr_client_table *table, uint32_t first, uint32_t n_histories,
			      uint64_t most_runs)
{
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, RR_LEARNING_WORDS);

	for (uint32_t i = 0; i < n_histories && table->n_runs < most_runs; i++) {
		if (i == first || table->states[i].same != first)
			continue;
		for (size_t j = 0; j < n && goes_on(table); j++) {
			if (!rr_learning_test(table, i, first, &words[j]))
				rr_learning_note_refinement(table);
		}
	}
	rr_learning_release_words(words, n);
}

/* So it does behind many refusals: of `most` kinds, behind so many rounds and more. */
static void follow_loops(struct rr_client_table *table, uint32_t first, uint32_t n_histories,
			 int most, int rounds)
{
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, RR_LEARNING_WORDS);

	for (uint32_t i = 0; i < n_histories && most > 0 && !rr_learning_has_changed(table); i++) {
		if (i == first || table->states[i].same != first || rr_client_table_failed(table) ||
		    !rr_learning_is_behind(table, i, first))
			continue;
		rr_learning_follow_loop(table, first, i, words, n, rounds);
		most--;
	}
	rr_learning_release_words(words, n);
}

static bool is_beginning(const struct rr_client_table *table, uint32_t state)
{
	return table->states[state].is_attempt && table->states[state].same == state;
}

void rr_learning_verify_attempts(struct rr_client_table *table)
{
	const uint64_t most_runs = table->n_runs + RUNS_MAX;
	const uint32_t n = table->n_states;

	for (uint32_t i = 0; i < n && goes_on(table) && table->n_runs < most_runs; i++) {
		if (is_beginning(table, i))
			compare_histories(table, i, n, most_runs);
	}
	if (goes_on(table)) {
		struct rr_learning *learning = &table->learning;

		/* From each beginning as far as clients are followed; then, from the first ones,
		 * behind fewer refusals, and of other kinds. */
		learning->steps = learning->untested = 0;
		for (uint32_t i = 0; i < n && goes_on(table); i++) {
			if (!is_beginning(table, i) || !table->states[i].is_loop_head)
				continue;
			if (learning->steps < STEPS_FAR)
				follow_loops(table, i, n, 1, RR_REFUSALS_ROUNDS);
			else
				learning->untested++;
		}
		learning->steps = 0;
		for (uint32_t i = 0; i < n && goes_on(table) && learning->steps < STEPS_EACH; i++) {
			if (is_beginning(table, i) && table->states[i].is_loop_head)
				follow_loops(table, i, n, LOOPS_MAX, 1);
		}
	}
}
