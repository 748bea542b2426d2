/* SPDX-License-Identifier: MIT */
/* Which of all states of a client may a history be? */
#include <stdlib.h>

#include "base/array.h"
#include "learning.h"

enum {
	CANDIDATES_MAX = 16, /* states with which a history is compared by runs */
	FEW_WORDS = 1,       /* of the candidate's cover; all are walked later */
	GUESSED_MAX = 1000   /* inputs of a word that is guessed */
};

bool rr_learning_are_known_apart(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	if (!rr_learning_is_same(table, a, b))
		return true;
	for (uint32_t r = table->states[a].first_row; r != RR_NO_ID; r = table->row[r].next) {
		const struct rr_client_row *one = &table->row[r];
		const struct rr_client_row *other = rr_client_table_find(table, b, &one->input,
									 one->passed_ns);

		if (one->to != RR_NO_ID && other && other->to != RR_NO_ID &&
		    rr_learning_are_known_apart(table, one->to, other->to))
			return true;
	}
	return false;
}

/* To an end, or once round a loop that has none, by replies that the client has heard before; the
 * client really hears them. */
static struct rr_inputs guess_word(struct rr_client_table *table, uint32_t state)
{
	struct rr_inputs word = { 0 };
	struct rr_received next;

	while (word.n < GUESSED_MAX && state != RR_NO_ID && !table->states[state].has_ended &&
	       !table->states[state].spins && rr_learning_guess(table, state, &next)) {
		rr_array_grow(&word.all, word.n, sizeof(next));
		word.all[word.n++] = next;
		state = rr_learning_go(table, state, &next);
	}
	if (table->program->learning & RR_PLANT_NO_LAST_EDGES)
		word.n -= word.n > 0;
	return word;
}

static bool agrees_with_cover(struct rr_client_table *table, uint32_t history, uint32_t state)
{
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, state, &words, FEW_WORDS);
	bool good = true;

	for (size_t i = 0; i < n && good; i++)
		good = rr_learning_test(table, history, state, &words[i]);
	rr_learning_release_words(words, n);
	return good;
}

static bool is_candidate(struct rr_client_table *table, uint32_t history, uint32_t state)
{
	const struct rr_client_state *it = &table->states[state];

	return it->same == state && state != history && !it->has_ended &&
	       !rr_learning_are_known_apart(table, state, history) &&
	       rr_learning_is_like(table, history, state);
}

/* ---- Diamonds ----------------------------------------------------------------------------- */

/* The connection on which a row's input is heard. What comes on two may come in either order, and
 * mostly that does not matter. */
static uint8_t lane_of(const struct rr_client_table *table, const struct rr_client_row *row)
{
	return table->states[row->from].stops[row->input.thread].lane;
}

/* The row from a state by which the same is heard on the same connection; NULL: none. */
static const struct rr_client_row *row_alike(const struct rr_client_table *table, uint32_t state,
					     const struct rr_client_row *like)
{
	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next) {
		const struct rr_client_row *row = &table->row[r];

		if (row->state != RR_NO_ID && row->input.kind == like->input.kind &&
		    row->input.value == like->input.value && row->input.gone == like->input.gone &&
		    row->passed_ns == like->passed_ns &&
		    lane_of(table, row) == lane_of(table, like))
			return row;
	}
	return NULL;
}

uint32_t rr_learning_find_diamond(struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_row *last = &table->row[table->states[history].row];
	const struct rr_client_row *first, *other;
	uint32_t state;

	if (table->states[last->from].row == RR_NO_ID)
		return RR_NO_ID;
	first = &table->row[table->states[last->from].row];
	if (!rr_input_has_reply(&first->input) || !rr_input_has_reply(&last->input) ||
	    lane_of(table, first) == lane_of(table, last))
		return RR_NO_ID;
	other = row_alike(table, first->from, last);
	other = other ? row_alike(table, other->state, first) : NULL;
	state = other ? other->state : RR_NO_ID;
	return other && is_candidate(table, history, state) && !rr_client_table_failed(table) ?
		       state :
		       RR_NO_ID;
}

/* ---- All that are known --------------------------------------------------------------------- */

/* Those that are as far from the beginning come first: what differs is then the order or the
 * reply of one thing. */
uint32_t rr_learning_find_state(struct rr_client_table *table, uint32_t history)
{
	const uint32_t depth = table->states[history].depth, n = table->n_states;
	int n_tried = 0;

	for (int turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0;
		     i < n && !rr_client_table_failed(table) && n_tried < CANDIDATES_MAX; i++) {
			struct rr_inputs word;
			bool good;

			if ((table->states[i].depth == depth) == (turn == 1) ||
			    !is_candidate(table, history, i))
				continue;
			n_tried++;
			word = guess_word(table, i);
			good = rr_learning_tells_same(table, history, i, &word);
			free(word.all);
			if (good && agrees_with_cover(table, history, i) &&
			    !rr_client_table_failed(table))
				return i;
		}
	}
	return RR_NO_ID;
}
