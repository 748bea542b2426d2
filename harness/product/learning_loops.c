/* SPDX-License-Identifier: MIT */
/* Rounds of a loop: found, followed for many rounds, and left behind many. */
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
	NUMBERS = 16,    /* of rounds, behind which a loop is left */
	SOME = 4,        /* one of so many of these */
	SPREAD = 5,      /* so that others take others */
	EACH_MAX = 12    /* a loop is left behind each of so many rounds, then behind some */
};

/* How much time has passed meanwhile may differ. */
static bool is_same_step(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_input *one = &table->states[a].input, *other = &table->states[b].input;

	return one->kind == other->kind && one->thread == other->thread &&
	       one->gone == other->gone && one->value == other->value &&
	       rr_learning_is_same(table, a, b);
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
			  (i < round->n || rr_learning_is_same(table, *at, known[i % round->n]));
		if (i < round->n && is_same)
			known[i] = *at;
	}
	free(known);
	return is_same || table->error.kind;
}

static bool is_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	struct rr_inputs round;
	uint32_t at = first;
	bool is_same;

	if (table->program->learning & RR_PLANT_NO_PUMPING || table->states[first].spins)
		return true;
	round = round_behind(table, first, last);
	is_same = goes_round(table, &at, &round, RR_LOOP_ROUNDS);
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

/* Does it leave a loop in the same way behind so many rounds? */
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
	good = n == inputs.n || table->error.kind;
	if (!good) {
		/* What comes behind the difference is nothing that a strategy waits for. */
		struct rr_inputs whole = rr_learning_history_and(
			table, first, inputs.all, table->program->run_ops ? inputs.n : n + 1);

		rr_learning_refine(table, &whole);
		free(whole.all);
	}
	free(inputs.all);
	return good;
}

static bool is_first_of(const struct rr_inputs *word, const struct rr_inputs *round)
{
	return word->n > 0 && rr_learning_is_same_input(&word->all[0], &round->all[0]);
}

static int next_rounds(int rounds)
{
	return rounds < EACH_MAX ? rounds + 1 : rounds + rounds / 2;
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

/* Was it left behind all numbers of rounds that have taken another time? */
static bool is_left_in_time(const struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const uint32_t left_by = table->states[first].left_by;

	return left_by && is_same_round(table, first, left_by, last);
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

/* Behind one of so many numbers of rounds. */
static bool leaves_behind_rounds(struct rr_client_table *table, uint32_t first,
				 const struct rr_inputs *round, const struct rr_inputs *word,
				 size_t n_before, size_t every)
{
	size_t i = 0;

	for (int rounds = 1; rounds <= RR_LOOP_LEFT; rounds = next_rounds(rounds), i++) {
		if (i % every == SPREAD * n_before % every &&
		    !leaves_alike(table, first, round, rounds, word))
			return false;
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

/* The first word leaves behind each number of rounds, others behind some. What differs from one
 * before, or from the round, only in how much time passes, leaves behind one. */
static size_t how_seldom(const struct rr_inputs *words, size_t i, const struct rr_inputs *round,
			 size_t n_before)
{
	bool is_other = !differ_in_time(&words[i], round);

	for (size_t j = 0; j < i && is_other; j++)
		is_other = words[j].n != words[i].n || !differ_in_time(&words[j], &words[i]);
	return !is_other ? NUMBERS : n_before == 0 ? 1 : SOME;
}

/* So do those of a loop that is like another. */
bool rr_learning_leave_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const struct rr_inputs round = round_behind(table, first, last);
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, COVER_MAX);
	const bool is_left_before = is_left_in_time(table, first, last);
	const bool is_first_loop = !is_left_before &&
				   !rr_learning_has_like_loop(table, first, true);
	size_t n_left = !is_first_loop;
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		if (is_first_of(&words[i], &round))
			continue;
		good = leaves_behind_rounds(table, first, &round, &words[i], n_left,
					    is_left_before ? NUMBERS :
							     how_seldom(words, i, &round, n_left));
		n_left++;
	}
	if (good && is_first_loop)
		table->states[first].left_by = last;
	rr_learning_release_words(words, n);
	free(round.all);
	return good;
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

/* Behind so many rounds by so many words, which take turns. */
static bool leaves_by_words(struct rr_client_table *table, uint32_t first,
			    const struct rr_inputs *round, int rounds,
			    const struct rr_inputs *words, size_t n)
{
	int left = rounds <= FEW_ROUNDS ? SOME_WORDS : 1;
	bool good = true;

	for (size_t i = 0; i < n && left > 0 && good; i++) {
		const struct rr_inputs *word = &words[(i + (size_t)rounds) % n];

		if (n > 1 && begins_with(word, round))
			continue;
		good = leaves_alike(table, first, round, rounds, word);
		left--;
	}
	return good;
}

void rr_learning_follow_loop(struct rr_client_table *table, uint32_t first, uint32_t last,
			     const struct rr_inputs *words, size_t n, int rounds)
{
	const struct rr_inputs round = round_behind(table, first, last);
	struct rr_random random = { first };
	bool good = true;

	while (good && !table->error.kind) {
		good = leaves_by_words(table, first, &round, rounds, words, n);
		if (rounds == RR_REFUSALS_ROUNDS)
			break;
		rounds += rounds < FEW_ROUNDS ? 1 : 1 + (int)rr_random_below(&random, FEW_ROUNDS);
		rounds = rounds < RR_REFUSALS_ROUNDS ? rounds : RR_REFUSALS_ROUNDS;
	}
	free(round.all);
}
