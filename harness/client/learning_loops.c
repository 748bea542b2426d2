/* SPDX-License-Identifier: MIT */
/*
 * Is a history one more round of a loop? That is followed for many rounds, and left after many. And is
 * there an end to what a client does?
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "learning.h"

enum {
	PERIOD_MAX = 12, /* inputs of one round */
	LOOP_WORDS = 8,  /* of a cover, when a history is one more round */
	SOME = 9,        /* one of so many numbers of rounds */
	SPREAD = 5,      /* so that others take others */
	FEW_ROUNDS = 32, /* of attempts: after each of so many it leaves, then after some */
	SOME_WORDS = 3   /* by which it leaves after so many, and after more by one */
};

/* Whether there is an end. */
enum {
	ROUNDS_MAX = RR_LOOP_ROUNDS + 1, /* that are counted */
	LIKE_AN_END = 4,  /* rounds after which it is tried whether there is an end to them */
	SAME_ROUNDS = 24, /* where each is as the one before: who changes is seen until then */
	TRIED_MAX = 1000, /* inputs; where each round is the same, RR_LOOP_ROUNDS rounds do */
	WORDS = 4         /* behind which rounds are compared */
};

/* ---- Rounds of a loop ------------------------------------------------------------------------ */

int rr_learning_rounds(size_t i)
{
	static const int far[] = { 40, 48, 64, 70, RR_LOOP_ROUNDS };
	const size_t n_near = RR_LOOP_NUMBERS - sizeof(far) / sizeof(far[0]);

	return i < n_near ? (int)i + 1 : far[i - n_near];
}

/* How much time has passed meanwhile may differ. */
static bool is_same_step(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	return rr_input_is_same(&table->states[a].input, &table->states[b].input) &&
	       rr_learning_does_same(table, a, b);
}

/* The history so many inputs before; RR_NO_ID: it is not so long. */
static uint32_t rounds_before(const struct rr_client_table *table, uint32_t state, int inputs)
{
	while (inputs-- > 0 && state != RR_NO_ID)
		state = table->states[state].parent;
	return state;
}

/* Were the last inputs, so many, the same as those before them, and what it did then? */
static bool is_round(const struct rr_client_table *table, uint32_t state, int period)
{
	uint32_t before = rounds_before(table, state, period);

	for (int i = 0; i < period; i++) {
		if (before == RR_NO_ID || table->states[before].parent == RR_NO_ID ||
		    !is_same_step(table, state, before))
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

	for (; is_round(table, last, period); rounds++)
		last = rounds_before(table, last, period);
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

/* Does a client that goes round, as often as loops are followed, always do the same? If not, that
 * tells the histories apart. */
static bool is_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const int before = rounds_until(table, first, last);
	const size_t rounds = before < RR_LOOP_ROUNDS ? (size_t)(RR_LOOP_ROUNDS - before) : 1;
	struct rr_inputs round;
	uint32_t *known, at = first;
	bool is_same = true;

	if (table->program->learning & RR_PLANT_NO_PUMPING || table->states[first].spins)
		return true;
	round = round_behind(table, first, last);
	known = rr_calloc(round.n, sizeof(*known));
	for (size_t i = 0; i < round.n * rounds && is_same; i++) {
		at = rr_learning_go(table, at, &round.all[i % round.n]);
		is_same = at != RR_NO_ID &&
			  (i < round.n || rr_learning_does_same(table, at, known[i % round.n]));
		if (i < round.n)
			known[i] = at;
	}
	table->learning.tests++;
	free(known);
	free(round.all);
	return is_same || rr_client_table_failed(table);
}

uint32_t rr_learning_find_loop(struct rr_client_table *table, uint32_t history)
{
	uint32_t first = table->states[history].parent;

	for (int period = 1; period <= PERIOD_MAX && first != RR_NO_ID; period++) {
		if (is_round(table, history, period) && table->states[first].same == first &&
		    is_loop(table, first, history)) {
			table->states[history].spins = true;
			if (!table->learning.is_bounded &&
			    rr_learning_is_like(table, history, first) &&
			    rr_learning_agrees(table, history, first, LOOP_WORDS))
				return first;
		}
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
	const size_t n = rr_learning_path(table, inputs, states);

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
		/* What comes after the difference may be nothing that the client waits for. */
		struct rr_inputs whole = rr_learning_history_and(table, first, inputs.all, n + 1);

		rr_learning_refine(table, &whole);
		unroll(table, first, round, rounds);
		free(whole.all);
	}
	free(inputs.all);
	return good;
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
	return rr_learning_common(a, b, false) == (a->n < b->n ? a->n : b->n);
}

/* So do those of a loop that is like another. */
bool rr_learning_leave_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const struct rr_inputs round = round_behind(table, first, last);
	const int before = rounds_until(table, first, last);
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, RR_LEARNING_WORDS);
	const uint32_t left_by = table->states[first].left_by;
	/* Behind all numbers of rounds that have taken another time. */
	const bool is_left_before = left_by && is_same_round(table, first, left_by, last);
	const bool is_first_loop = !is_left_before &&
				   !rr_learning_has_like_loop(table, first, true);
	size_t n_left = !is_first_loop;
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		size_t every = RR_LOOP_NUMBERS;

		if (rr_learning_common(&words[i], &round, true) > 0)
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
		if (every == 1)
			good = leaves_after_each(table, first, before, &round, &words[i],
						 table->learning.n_played);
		for (size_t k = SPREAD * n_left % every; every > 1 && k < RR_LOOP_NUMBERS && good;
		     k += every) {
			const int rounds = rr_learning_rounds(k) - before;

			good = rounds <= 0 || leaves_alike(table, first, &round, rounds, &words[i]);
		}
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
		n = rr_learning_cover(table, i, &words, RR_LEARNING_WORDS);
		while (at < n && rr_learning_common(&words[at], &round, true) > 0)
			at++;
		good = at == n || leaves_after_each(table, i, rounds_until(table, i, left_by),
						    &round, &words[at], 0);
		rr_learning_release_words(words, n);
		free(round.all);
	}
	return good && !rr_client_table_failed(table);
}

/* ---- Attempts that are refused again and again -------------------------------------------------- */

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

			if (n > 1 && rr_learning_common(word, &round, true) == round.n)
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

/* ---- Is there an end? ----------------------------------------------------------------------------- */

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
	uint32_t before = rounds_before(table, state, period);
	int n = 0;

	while (before != RR_NO_ID && states[before].parent != RR_NO_ID && n < period * ROUNDS_MAX &&
	       states[state].input.kind == states[before].input.kind &&
	       states[state].input.thread == states[before].input.thread &&
	       does_the_like(table, state, before)) {
		state = states[state].parent;
		before = states[before].parent;
		n++;
	}
	return n / period;
}

/* Receives what it has received in its last round again and again. */
static bool has_no_end(struct rr_client_table *table, uint32_t state, int period)
{
	const struct rr_inputs round = round_behind(table, rounds_before(table, state, period),
						    state);
	const bool is_attempt = table->states[state].is_attempt;
	const int rounds = is_attempt ? RR_REFUSALS_ROUNDS : RR_LOOP_ROUNDS;
	const int n = is_round(table, state, period) ? period * rounds : TRIED_MAX;
	uint32_t *like = rr_calloc(round.n, sizeof(*like)), at = state;
	bool goes_on = true;

	for (int i = period; i-- > 0; at = table->states[at].parent)
		like[i] = at;
	at = state;
	for (int i = 0; i < n && goes_on; i++) {
		at = rr_learning_go(table, at, &round.all[i % period]);
		goes_on = at != RR_NO_ID && does_the_like(table, at, like[i % period]);
	}
	free(round.all);
	free(like);
	/* After so many refusals: does one more tell the histories apart still? */
	return goes_on &&
	       (!is_attempt || !rr_learning_is_like(table, rounds_before(table, at, period), at));
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
	if (!is_round(table, state, period))
		return rounds == SAME_ROUNDS ||
		       (rounds == LIKE_AN_END && has_new_round(table, state, period) &&
			has_new_round(table, rounds_before(table, state, period), period));
	return rounds == SAME_ROUNDS ||
	       (rounds == LIKE_AN_END && is_left_otherwise(table, state, period));
}

void rr_learning_count_rounds(struct rr_client_table *table, uint32_t state)
{
	const struct rr_client_state *states = table->states;
	const uint32_t parent = states[state].parent;
	int least = 1, longest = PERIOD_MAX, most = 0, period = 1;

	/* Where an attempt begins, a round is what the one before it has taken. */
	if (states[state].is_attempt && parent != RR_NO_ID)
		least = longest = (int)(states[state].depth - states[states[parent].attempt].depth);
	for (int i = least; i <= longest; i++) {
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
