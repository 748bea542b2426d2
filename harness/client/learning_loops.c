/* SPDX-License-Identifier: MIT */
/* Rounds of a loop: found, followed for many rounds, and left after many. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "learning.h"

enum {
	PERIOD_MAX = 12, /* inputs of one round */
	FEW_WORDS = 8,   /* of a cover, when a history is new */
	FEW_ROUNDS = 32, /* of a strategy: behind each of so many it leaves, then behind some */
	SOME_WORDS = 3,  /* by which it leaves behind so many, and behind more by one */
	COVER_MAX = 48,  /* and when all is known */
	SOME = 9,        /* one of so many numbers of rounds */
	SPREAD = 5       /* so that others take others */
};

int rr_learning_rounds(size_t i)
{
	static const int far[] = { 40, 48, 64, 70, RR_LOOP_ROUNDS };
	const size_t n_near = RR_LOOP_NUMBERS - sizeof(far) / sizeof(far[0]);

	return i < n_near ? (int)i + 1 : far[i - n_near];
}

/* How much time has passed meanwhile may differ. */
static bool is_same_step(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_input *one = &table->states[a].input, *other = &table->states[b].input;

	return one->kind == other->kind && one->thread == other->thread &&
	       one->gone == other->gone && one->value == other->value &&
	       rr_learning_does_same(table, a, b);
}

/* Were the last inputs the same as those before them? */
bool rr_learning_is_round(const struct rr_client_table *table, uint32_t state, int period)
{
	uint32_t before = state;

	for (int i = 0; i < period; i++) {
		before = table->states[before].parent;
		if (before == RR_NO_ID)
			return false;
	}
	for (int i = 0; i < period; i++) {
		if (table->states[before].parent == RR_NO_ID || !is_same_step(table, state, before))
			return false;
		state = table->states[state].parent;
		before = table->states[before].parent;
	}
	return true;
}

/* How many rounds of a loop stand in a history whose last one is behind `first`, that one not
 * counted. */
static int rounds_until(const struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const int period = (int)(table->states[last].depth - table->states[first].depth);
	int rounds = 0;

	while (rr_learning_is_round(table, last, period)) {
		for (int i = 0; i < period; i++)
			last = table->states[last].parent;
		rounds++;
	}
	return rounds;
}

static struct rr_inputs round_behind(const struct rr_client_table *table, uint32_t first,
				     uint32_t last)
{
	const uint32_t n = table->states[last].depth - table->states[first].depth;
	struct rr_inputs round = { n, rr_calloc(n, sizeof(*round.all)) };

	for (uint32_t i = n; i-- > 0; last = table->states[last].parent)
		round.all[i] = rr_learning_received(table, last);
	return round;
}

/* Goes round, as often as is said. False: it does something else at some time, and that tells
 * the histories apart. */
static bool goes_round(struct rr_client_table *table, uint32_t *at, const struct rr_inputs *round,
		       int rounds)
{
	uint32_t *known = rr_calloc(round->n, sizeof(*known));
	bool is_same = true;

	for (size_t i = 0; i < round->n * (size_t)rounds && is_same; i++) {
		*at = rr_learning_go(table, *at, &round->all[i % round->n]);
		is_same = *at != RR_NO_ID &&
			  (i < round->n || rr_learning_does_same(table, *at, known[i % round->n]));
		if (i < round->n && is_same)
			known[i] = *at;
	}
	free(known);
	return is_same || rr_client_table_failed(table);
}

static bool is_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const int before = rounds_until(table, first, last);
	struct rr_inputs round;
	uint32_t at = first;
	bool is_same;

	if (table->program->learning & RR_PLANT_NO_PUMPING || table->states[first].spins)
		return true;
	round = round_behind(table, first, last);
	is_same = goes_round(table, &at, &round,
			     before < RR_LOOP_ROUNDS ? RR_LOOP_ROUNDS - before : 1);
	table->learning.tests++;
	free(round.all);
	return is_same;
}

static bool is_round_behind(struct rr_client_table *table, uint32_t first, uint32_t history)
{
	const bool spins = is_loop(table, first, history);

	table->states[history].spins |= spins;
	return spins && !table->learning.is_bounded && rr_learning_is_like(table, history, first) &&
	       rr_learning_agrees(table, history, first, FEW_WORDS);
}

/* The state of which a history is one more round, or several; RR_NO_ID: none. Where there is
 * no end to what a client does, none is looked for any more. */
uint32_t rr_learning_find_loop(struct rr_client_table *table, uint32_t history)
{
	uint32_t first = table->states[history].parent;

	for (int period = 1; period <= PERIOD_MAX && first != RR_NO_ID; period++) {
		if (rr_learning_is_round(table, history, period) &&
		    table->states[first].same == first && is_round_behind(table, first, history))
			return first;
		first = table->states[first].parent;
	}
	return RR_NO_ID;
}

/* What a client does tells one number of rounds from all smaller ones. So each of these is a state: the
 * next search goes through all of them, and does not come to the number round by round. */
static void unroll(struct rr_client_table *table, uint32_t first, const struct rr_inputs *round,
		   int rounds)
{
	uint32_t at = table->program->learning & RR_PLANT_NO_SUFFIXES ? RR_NO_ID : first;

	for (size_t i = 0; i < round->n * (size_t)rounds && at != RR_NO_ID; i++) {
		at = rr_learning_go(table, at, &round->all[i % round->n]);
		if (at != RR_NO_ID)
			rr_learning_keep_apart(table, at);
	}
}

/* Unrolls the loops that the hypothesis goes round in with these inputs. */
void rr_learning_unroll(struct rr_client_table *table, const struct rr_inputs *inputs)
{
	uint32_t *states = rr_calloc(inputs->n + 1, sizeof(*states));
	size_t n = 0;

	for (const struct rr_client_row *row; n < inputs->n; n++) {
		row = rr_learning_row(table, states[n], &inputs->all[n]);
		if (!row)
			break;
		states[n + 1] = row->state;
	}
	for (size_t i = 0, last; i <= n && !rr_client_table_failed(table); i = last + 1) {
		struct rr_inputs round = { 0, inputs->all + i };
		int rounds = 0;

		last = i;
		if (!table->states[states[i]].is_loop_head)
			continue;
		for (size_t j = i + 1; j <= n; j++) {
			if (states[j] != states[i])
				continue;
			round.n = round.n ? round.n : j - i;
			rounds++;
			last = j;
		}
		unroll(table, states[i], &round, rounds);
	}
	free(states);
}

/* Does it leave a loop in the same way after so many rounds? */
static bool leaves_alike(struct rr_client_table *table, uint32_t first,
			 const struct rr_inputs *round, int rounds, const struct rr_inputs *word)
{
	struct rr_inputs inputs = { .all = rr_calloc(round->n * (size_t)rounds + word->n,
						     sizeof(*inputs.all)) };
	size_t n;
	bool good;

	for (int i = 0; i < rounds; i++, inputs.n += round->n)
		memcpy(inputs.all + inputs.n, round->all, round->n * sizeof(*round->all));
	memcpy(inputs.all + inputs.n, word->all, word->n * sizeof(*word->all));
	inputs.n += word->n;
	table->learning.tests++;
	table->learning.steps += inputs.n;
	n = rr_learning_steps_as_said(table, first, first, &inputs);
	good = n == inputs.n || rr_client_table_failed(table);
	if (!good) {
		/* What comes behind the difference is nothing that a strategy waits for. */
		struct rr_inputs whole = rr_learning_history_and(
			table, first, inputs.all, table->program->run_ops ? inputs.n : n + 1);

		rr_learning_refine(table, &whole);
		unroll(table, first, round, rounds);
		free(whole.all);
	}
	free(inputs.all);
	return good;
}

static bool is_first_of(const struct rr_inputs *word, const struct rr_inputs *round)
{
	return word->n > 0 && rr_learning_is_same_input(&word->all[0], &round->all[0]);
}

/* Are the inputs of two histories the same, but for the time, back to a state? */
static bool is_same_round(const struct rr_client_table *table, uint32_t first, uint32_t a,
			  uint32_t b)
{
	while (a != first && b != first && is_same_step(table, a, b)) {
		a = table->states[a].parent;
		b = table->states[b].parent;
	}
	return a == first && b == first;
}

bool rr_learning_has_like_loop(const struct rr_client_table *table, uint32_t first, bool is_left)
{
	const struct rr_client_state *states = table->states;
	uint32_t i = 0;

	while (i < table->n_states &&
	       !((is_left ? states[i].left_by != 0 : states[i].is_loop_head) && i != first &&
		 states[i].signature == states[first].signature))
		i++;
	return i < table->n_states;
}

/* After one of so many numbers of rounds; `before` of them have brought it to `first`. */
static bool leaves_after_rounds(struct rr_client_table *table, uint32_t first, int before,
				const struct rr_inputs *round, const struct rr_inputs *word,
				size_t n_before, size_t every)
{
	for (size_t i = SPREAD * n_before % every; i < RR_LOOP_NUMBERS; i += every) {
		const int rounds = rr_learning_rounds(i) - before;

		if (rounds > 0 && !leaves_alike(table, first, round, rounds, word))
			return false;
	}
	return true;
}

/* After each number that was not tried yet. The greatest ones, of which each is a run, are left to runs
 * beside other clients; but after the last one the client stands already. */
static bool leaves_after_each(struct rr_client_table *table, uint32_t first, int before,
			      const struct rr_inputs *round, const struct rr_inputs *word,
			      size_t n_played)
{
	const size_t last = RR_LOOP_NUMBERS - 1;

	for (size_t i = 0; i < RR_LOOP_NUMBERS; i++) {
		const uint64_t bit = UINT64_C(1) << i;
		const int rounds = rr_learning_rounds(i) - before;

		if (table->states[first].left_after & bit || (i < last && i + n_played >= last))
			continue;
		if (rounds > 0 && !leaves_alike(table, first, round, rounds, word))
			return false;
		table->states[first].left_after |= bit;
	}
	return true;
}

/* Are the words the same, as far as the shorter one goes, but for the time? */
static bool differ_in_time(const struct rr_inputs *a, const struct rr_inputs *b)
{
	size_t i = 0;

	for (; i < a->n && i < b->n; i++) {
		struct rr_received one = a->all[i], other = b->all[i];

		one.passed_ns = other.passed_ns = 0;
		if (!rr_learning_is_same_input(&one, &other))
			return false;
	}
	return true;
}

/* So do those of a loop that is like another. */
bool rr_learning_leave_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const struct rr_inputs round = round_behind(table, first, last);
	const int before = rounds_until(table, first, last);
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, COVER_MAX);
	const uint32_t left_by = table->states[first].left_by;
	/* Behind all numbers of rounds that have taken another time. */
	const bool is_left_before = left_by && is_same_round(table, first, left_by, last);
	const bool is_first_loop = !is_left_before &&
				   !rr_learning_has_like_loop(table, first, true);
	size_t n_left = !is_first_loop;
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		size_t every = RR_LOOP_NUMBERS;

		if (is_first_of(&words[i], &round))
			continue;
		if (!is_left_before) {
			bool is_other = !differ_in_time(&words[i], &round);

			/* The first word leaves after each number of rounds, others after some.
			 * What differs from one before, or from the round, only in how much time
			 * passes, leaves after one. */
			for (size_t j = 0; j < i && is_other; j++)
				is_other = words[j].n != words[i].n ||
					   !differ_in_time(&words[j], &words[i]);
			every = !is_other ? RR_LOOP_NUMBERS : n_left == 0 ? 1 : SOME;
		}
		good = every == 1 ? leaves_after_each(table, first, before, &round, &words[i],
						      table->learning.n_played) :
				    leaves_after_rounds(table, first, before, &round, &words[i],
							n_left, every);
		n_left++;
	}
	if (good && is_first_loop)
		table->states[first].left_by = last;
	rr_learning_release_words(words, n);
	free(round.all);
	return good;
}

/* ---- Runs beside other clients --------------------------------------------------------- */

static bool is_left(const struct rr_client_state *state)
{
	return state->left_by && state->left_after;
}

uint64_t rr_learning_left(const struct rr_client_table *table)
{
	uint64_t left = (UINT64_C(1) << RR_LOOP_NUMBERS) - 1;
	bool is_any = false;

	for (uint32_t i = 0; i < table->n_states; i++) {
		if (!is_left(&table->states[i]))
			continue;
		left &= table->states[i].left_after;
		is_any = true;
	}
	return is_any ? left : 0;
}

int rr_learning_untried(const struct rr_client_table *table)
{
	int most = 0;

	for (uint32_t i = 0; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];
		size_t n = RR_LOOP_NUMBERS;
		int rounds;

		if (!is_left(state))
			continue;
		while (n > 0 && state->left_after >> (n - 1) & 1)
			n--;
		rounds = n > 0 ? rr_learning_rounds(n - 1) -
					 rounds_until(table, i, state->left_by) :
				 0;
		most = rounds > most ? rounds : most;
	}
	return most;
}

void rr_learning_note_state(struct rr_client_table *table, struct rr_rounds_run *run,
			    uint32_t state)
{
	const bool is_head = is_left(&table->states[state]);

	if (is_head && state == run->head) {
		run->rounds++;
	} else if (is_head || !table->states[state].is_in_loop) {
		for (size_t i = 0; run->head != RR_NO_ID && i < RR_LOOP_NUMBERS; i++) {
			if (rr_learning_rounds(i) == run->rounds)
				table->states[run->head].left_after |= UINT64_C(1) << i;
		}
		*run = (struct rr_rounds_run){
			.head = is_head ? state : RR_NO_ID,
			.rounds = is_head ?
					  rounds_until(table, state, table->states[state].left_by) :
					  0,
		};
	}
}

bool rr_learning_leave_rest(struct rr_client_table *table)
{
	bool good = true;

	for (uint32_t i = 0; i < table->n_states && good; i++) {
		const uint32_t left_by = table->states[i].left_by;
		struct rr_inputs round, *words;
		size_t n, at = 0;

		if (!is_left(&table->states[i]))
			continue;
		round = round_behind(table, i, left_by);
		n = rr_learning_cover(table, i, &words, COVER_MAX);
		while (at < n && is_first_of(&words[at], &round))
			at++;
		good = at == n || leaves_after_each(table, i, rounds_until(table, i, left_by),
						    &round, &words[at], 0);
		rr_learning_release_words(words, n);
		free(round.all);
	}
	return good && !rr_client_table_failed(table);
}

/* ---- Strategies ----------------------------------------------------------------------- */

static bool begins_with(const struct rr_inputs *word, const struct rr_inputs *round)
{
	size_t i = 0;

	while (i < round->n && i < word->n &&
	       rr_learning_is_same_input(&word->all[i], &round->all[i]))
		i++;
	return i == round->n;
}

void rr_learning_follow_loop(struct rr_client_table *table, uint32_t first, uint32_t last,
			     const struct rr_inputs *words, size_t n, int rounds)
{
	const struct rr_inputs round = round_behind(table, first, last);
	struct rr_random random = { first };
	bool good = true;

	while (good && !rr_client_table_failed(table)) {
		int left = rounds <= FEW_ROUNDS ? SOME_WORDS : 1;

		/* Behind so many rounds by so many words, which take turns. */
		for (size_t i = 0; i < n && left > 0 && good; i++) {
			const struct rr_inputs *word = &words[(i + (size_t)rounds) % n];

			if (n > 1 && begins_with(word, &round))
				continue;
			good = leaves_alike(table, first, &round, rounds, word);
			left--;
		}
		if (rounds == RR_REFUSALS_ROUNDS)
			break;
		rounds += rounds < FEW_ROUNDS ? 1 : 1 + (int)rr_random_below(&random, FEW_ROUNDS);
		rounds = rounds < RR_REFUSALS_ROUNDS ? rounds : RR_REFUSALS_ROUNDS;
	}
	free(round.all);
}
