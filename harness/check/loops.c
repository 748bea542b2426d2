/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include <stdlib.h>

#include "base/memory.h"

/* Runs at most behind one loop, and behind one that is like another; rounds behind which a loop is left, up to where each of
 * them is tried; and up to where a client is followed that changes its mind. Loops that are
 * tried in all: there is no end to them where clients keep times of day. */
enum { WORDS_MAX = 64, FEW_WORDS = 3, EACH_MAX = 12, FOLLOWED_MAX = RR_LOOP_LEFT, TRIED_MAX = 24 };

/* A state in which a client has done the same, and heard the same, once more than it is
 * followed, and the one before it. */
struct loop {
	struct rr_programs *programs;
	struct rr_client_table *table;
	uint32_t last, first;
	size_t n_words;
	uint32_t *words; /* rows: what else was heard in `first`, up to where that ended */
};

/* ---- What was heard elsewhere ------------------------------------------------------ */

static bool is_behind(const struct rr_client_table *table, uint32_t state, uint32_t first)
{
	while (state != first && table->states[state].depth > table->states[first].depth)
		state = table->states[state].parent;
	return state == first;
}

static void find_words(struct loop *loop)
{
	const struct rr_client_table *table = loop->table;
	bool *leads_on = rr_calloc(table->n_states, sizeof(*leads_on));

	loop->words = rr_calloc(table->rows.n + 1, sizeof(*loop->words));
	for (uint32_t i = 0; i < table->rows.n; i++)
		leads_on[table->row[i].from] |= table->row[i].to != RR_NO_ID;
	for (uint32_t i = 0; i < table->rows.n; i++) {
		const struct rr_client_row *row = &table->row[i];

		if (row->to != RR_NO_ID && row->to != loop->last && !leads_on[row->to] &&
		    is_behind(table, row->from, loop->first))
			loop->words[loop->n_words++] = i;
	}
	free(leads_on);
}

/* ---- Runs ---------------------------------------------------------------------------- */

/* Does a run, fed with that, do what is known? */
static bool does_as(const struct loop *loop, struct rr_client_run *run,
		    const struct rr_input *input, int64_t passed_ns, uint32_t to)
{
	const struct rr_client_state *known = &loop->table->states[to];
	const struct rr_run_view view = rr_client_state_view(known);

	bool does;

	rr_client_run_feed(run, input, passed_ns);
	loop->programs->is_trying = true;
	does = rr_client_run_compare(run, &view, known->client);
	loop->programs->is_trying = false;
	return does;
}

/* What led from the loop's beginning to a state. */
static bool goes_way(const struct loop *loop, struct rr_client_run *run, uint32_t state)
{
	const struct rr_client_state *it = &loop->table->states[state];

	return state == loop->first || (goes_way(loop, run, it->parent) &&
					does_as(loop, run, &it->input, it->passed_ns, state));
}

/* How often another run does the same as a round did, of so many; then it hears what leads to
 * a row, if any. It has then done what is known, or *differs. */
static int go_rounds(const struct loop *loop, int rounds, const struct rr_client_row *row,
		     bool *differs)
{
	const struct rr_client_state *last = &loop->table->states[loop->last];
	int client, n = 0;
	struct rr_client_run *run = rr_client_table_take_run(loop->table, loop->last,
							     last->passed_ns, &client);

	*differs = false;
	if (!run)
		return 0;
	while (n < rounds && does_as(loop, run, &last->input, last->passed_ns, loop->last))
		n++;
	*differs = n < rounds ||
		   (row && !(goes_way(loop, run, row->from) &&
			     does_as(loop, run, &row->input, row->passed_ns, row->to)));
	rr_client_run_free(run);
	return n;
}

/* ---- Trying ---------------------------------------------------------------------------- */

/* The next number of rounds to be tried: each of the first ones, then half as many more. */
static int next_rounds(int rounds)
{
	return rounds < EACH_MAX ? rounds + 1 : rounds + rounds / 2;
}

/* What came of another loop in which the client does the same. */
static int outcome_of_alike(const struct loop *loop)
{
	const struct rr_client_state *states = loop->table->states;
	int outcome = RR_LOOP_UNKNOWN;

	for (uint32_t i = 0; i < loop->table->n_states; i++) {
		if (states[i].loop != RR_LOOP_UNKNOWN &&
		    states[i].signature == states[loop->last].signature)
			outcome = outcome == RR_LOOP_OPEN ? outcome : (int)states[i].loop;
	}
	return outcome;
}

/* Behind how many rounds does the client do something else? -1 = it never does. */
static int find_change(const struct loop *loop)
{
	const struct rr_client_row *rows = loop->table->row;
	const bool is_like_another = outcome_of_alike(loop) == RR_LOOP_CLOSED;
	bool differs;
	int n;

	for (size_t i = 0; i < loop->n_words && (i < FEW_WORDS || !is_like_another); i++) {
		go_rounds(loop, 0, &rows[loop->words[i]], &differs);
		if (differs)
			return 0;
	}
	n = go_rounds(loop, is_like_another ? EACH_MAX : RR_LOOP_ROUNDS, NULL, &differs);
	if (differs || loop->n_words == 0 || is_like_another)
		return differs ? n : -1;
	n = 1;
	for (size_t i = 0; n <= FOLLOWED_MAX; n = next_rounds(n), i++) {
		go_rounds(loop, n, &rows[loop->words[i % loop->n_words]], &differs);
		if (differs)
			return n;
	}
	return -1;
}

/* A client that changes its mind is followed until it has. */
static void try_loop(struct loop *loop, bool *again)
{
	struct rr_programs *programs = loop->programs;
	struct rr_client_state *last = &loop->table->states[loop->last];
	const bool is_hopeless = loop->n_words > WORDS_MAX ||
				 outcome_of_alike(loop) == RR_LOOP_OPEN;
	const int change = is_hopeless ? FOLLOWED_MAX : find_change(loop);

	programs->n_tried += !is_hopeless;
	last->loop = change < 0 ? RR_LOOP_CLOSED : RR_LOOP_OPEN;
	last->n_words = (uint32_t)loop->n_words;
	if (change >= 0 && programs->rounds + change + 2 <= FOLLOWED_MAX) {
		programs->rounds += change + 2;
		*again = true;
	}
	*again |= change < 0;
}

/* Where it is followed no further, because it has done the same with one command. */
static bool is_end_of_loop(const struct rr_programs *programs, const struct rr_client_state *state)
{
	return state->parent != RR_NO_ID && state->polls > programs->rounds &&
	       state->repeats[1] >= state->polls && state->loop != RR_LOOP_OPEN;
}

bool rr_loops_try(struct rr_programs *programs, bool *again)
{
	for (size_t i = 0; i < programs->n_lines; i++) {
		struct rr_client_table *table = &programs->lines[i].table;
		const uint32_t n_states = table->n_states;

		for (uint32_t j = 0;
		     j < n_states && !programs->problem.kind && programs->n_tried < TRIED_MAX;
		     j++) {
			const struct rr_client_state *state = &table->states[j];
			struct loop loop = { .programs = programs, .table = table, .last = j };

			if (!is_end_of_loop(programs, state))
				continue;
			loop.first = state->parent;
			find_words(&loop);
			if (state->loop == RR_LOOP_UNKNOWN || state->n_words < loop.n_words)
				try_loop(&loop, again);
			free(loop.words);
		}
		if (table->error.kind)
			return false;
	}
	return !programs->problem.kind;
}

unsigned long rr_loops_closed(const struct rr_client_table *table)
{
	unsigned long n = 0;

	for (uint32_t i = 0; i < table->n_states; i++)
		n += table->states[i].loop == RR_LOOP_CLOSED;
	return n;
}
