/* SPDX-License-Identifier: MIT */
/* Words that cover what is known of a client: to each transition, and on to an end. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learning.h"

enum { WORD_MAX = 2000 };

struct cover {
	const struct rr_client_table *table;
	uint32_t *reached, n_reached; /* states, the nearest first */
	uint32_t *via;                /* of each state: the row by which it was reached */
	uint32_t *on;                 /* the row that leads on towards an end */
	bool *is_covered;             /* of each row */
};

static const struct rr_client_row *row_at(const struct cover *cover, uint32_t row)
{
	return &cover->table->row[row];
}

/* ---- What can be reached ------------------------------------------------------------ */

static void reach(struct cover *cover, uint32_t from)
{
	const struct rr_client_table *table = cover->table;

	cover->reached[cover->n_reached++] = from;
	for (uint32_t i = 0; i < cover->n_reached; i++) {
		const uint32_t state = cover->reached[i];

		for (uint32_t r = table->states[state].first_row; r != RR_NO_ID;
		     r = row_at(cover, r)->next) {
			const uint32_t to = row_at(cover, r)->state;

			if (to == RR_NO_ID || to == from || cover->via[to] != RR_NO_ID)
				continue;
			cover->via[to] = r;
			cover->reached[cover->n_reached++] = to;
		}
	}
}

/* From each state the nearest way to an end, if there is one. */
static void find_ends(struct cover *cover)
{
	const struct rr_client_table *table = cover->table;
	uint32_t *far = rr_malloc(table->n_states * sizeof(*far));
	bool is_better = true;

	memset(far, 0xff, table->n_states * sizeof(*far));
	while (is_better) {
		is_better = false;
		for (uint32_t i = cover->n_reached; i-- > 0;) {
			const uint32_t state = cover->reached[i];

			for (uint32_t r = table->states[state].first_row; r != RR_NO_ID;
			     r = row_at(cover, r)->next) {
				const uint32_t to = row_at(cover, r)->state;
				const uint32_t n = to == RR_NO_ID              ? RR_NO_ID :
						   table->states[to].has_ended ? 0 :
										 far[to];

				if (n == RR_NO_ID || n + 1 >= far[state])
					continue;
				far[state] = n + 1;
				cover->on[state] = r;
				is_better = true;
			}
		}
	}
	free(far);
}

/* ---- Words -------------------------------------------------------------------------- */

static void add_row(struct cover *cover, struct rr_inputs *word, uint32_t row)
{
	word->all[word->n++] = (struct rr_received){ row_at(cover, row)->input,
						     row_at(cover, row)->passed_ns };
	cover->is_covered[row] = true;
}

static void add_path(struct cover *cover, struct rr_inputs *word, uint32_t to)
{
	const uint32_t row = cover->via[to];

	if (row == RR_NO_ID)
		return;
	add_path(cover, word, row_at(cover, row)->from);
	if (word->n < WORD_MAX)
		add_row(cover, word, row);
}

static struct rr_inputs make_word(struct cover *cover, uint32_t row)
{
	struct rr_inputs word = { .all = rr_calloc(WORD_MAX, sizeof(*word.all)) };
	uint32_t state = row_at(cover, row)->state;

	add_path(cover, &word, row_at(cover, row)->from);
	for (uint32_t r = row; r != RR_NO_ID && word.n < WORD_MAX; r = cover->on[state]) {
		add_row(cover, &word, r);
		state = row_at(cover, r)->state;
	}
	if (cover->table->program->learning & RR_PLANT_NO_LAST_EDGES)
		word.n -= word.n > 1;
	word.all = rr_realloc(word.all, word.n, sizeof(*word.all));
	return word;
}

static size_t make_words(struct cover *cover, struct rr_inputs *words, size_t most)
{
	size_t n = 0;

	for (uint32_t i = 0; i < cover->n_reached; i++) {
		const uint32_t state = cover->reached[i];

		for (uint32_t r = cover->table->states[state].first_row; r != RR_NO_ID;
		     r = row_at(cover, r)->next) {
			if (row_at(cover, r)->state == RR_NO_ID || cover->is_covered[r])
				continue;
			if (n == most)
				return n;
			words[n++] = make_word(cover, r);
		}
	}
	return n;
}

size_t rr_learning_cover(const struct rr_client_table *table, uint32_t state,
			 struct rr_inputs **words, size_t most)
{
	const size_t size = table->n_states * sizeof(uint32_t);
	struct cover cover = {
		.table = table,
		.reached = rr_malloc(size),
		.via = rr_malloc(size),
		.on = rr_malloc(size),
		.is_covered = rr_calloc(table->rows.n + 1, sizeof(*cover.is_covered)),
	};
	size_t n;

	memset(cover.via, 0xff, size);
	memset(cover.on, 0xff, size);
	*words = rr_calloc(most, sizeof(**words));
	reach(&cover, state);
	find_ends(&cover);
	n = make_words(&cover, *words, most);
	free(cover.reached);
	free(cover.via);
	free(cover.on);
	free(cover.is_covered);
	return n;
}

void rr_learning_release_words(struct rr_inputs *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i].all);
	free(words);
}
