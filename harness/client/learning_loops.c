/* SPDX-License-Identifier: MIT */
/*
 * Which state may a history be? One that other replies have led to; one more round of a loop, which is
 * followed for many rounds, and left after many; any, where there are many histories. And is there
 * an end to what a client does?
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/random.h"
#include "learning.h"

enum {
	ENOUGH = 2,          /* replies that are tested before others are assumed to do the same */
	GUESSED_MAX = 1000,  /* inputs of a word that is guessed */
	CANDIDATES_MAX = 16, /* states with which a history is compared by runs */
	CANDIDATE_WORDS = 1, /* of the candidate's cover; all are walked later */
	PERIOD_MAX = 12,     /* inputs of one round */
	LOOP_WORDS = 8,      /* of a cover, when a history is one more round */
	SOME = 9,            /* one of so many numbers of rounds */
	SPREAD = 5,          /* so that others take others */
	FEW_ROUNDS = 32,     /* of attempts: after each of so many it leaves, then after some */
	SOME_WORDS = 3       /* by which it leaves after so many, and after more by one */
};

/* Whether there is an end. */
enum {
	ROUNDS_MAX = RR_LOOP_ROUNDS + 1, /* that are counted */
	LIKE_AN_END = 4,  /* rounds after which it is tried whether there is an end to them */
	SAME_ROUNDS = 24, /* where each is as the one before: who changes is seen until then */
	TRIED_MAX = 1000, /* inputs; where each round is the same, RR_LOOP_ROUNDS rounds do */
	WORDS = 4         /* behind which rounds are compared */
};

/* ---- Guessing ------------------------------------------------------------------------- */

/* The command whose reply a thread waits for; RR_NO_ID = none. */
static uint32_t awaited(const struct rr_client_state *state, uint8_t thread)
{
	if (thread >= state->n_threads || state->stops[thread].kind != RR_STOP_RECEIVE)
		return RR_NO_ID;
	for (uint32_t i = 0; i < state->n_sent; i++) {
		if (state->sent[i].lane == state->stops[thread].lane)
			return state->sent[i].command;
	}
	return RR_NO_ID;
}

/* The next input that a client may receive there: what it has heard before when it had sent the same.
 * False: nobody knows. */
static bool guess(const struct rr_client_table *table, uint32_t state, struct rr_received *received)
{
	const struct rr_client_state *it = &table->states[state];
	uint32_t first = RR_NO_ID;

	/* The row by which a history went on first: what it heard then is mostly its longest way,
	 * for who goes on alone comes first. */
	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next)
		first = table->row[r].to != RR_NO_ID ? r : first;

	if (first != RR_NO_ID) {
		*received = (struct rr_received){ table->row[first].input,
						  table->row[first].passed_ns };
		return true;
	}
	for (uint8_t i = 0; i < it->n_threads; i++) {
		const uint32_t command = awaited(it, i);

		for (uint32_t r = table->rows.n; r-- > 0 && command != RR_NO_ID;) {
			const struct rr_client_row *row = &table->row[r];

			if (!(row->to != RR_NO_ID && row->input.kind == RR_INPUT_REPLY) ||
			    awaited(&table->states[row->from], row->input.thread) != command)
				continue;
			*received = (struct rr_received){ row->input, 0 };
			received->input.thread = i;
			return true;
		}
	}
	return false;
}

/* ---- Whatever is possible ---------------------------------------------------------------- */

static bool have_one_name(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_term_command *commands = table->program->terms->command;
	const struct rdl_command *one = &commands[a].words, *other = &commands[b].words;

	return one->n_words > 0 && other->n_words > 0 &&
	       strcasecmp(one->words[0].text, other->words[0].text) == 0;
}

bool rr_learning_may_hear(const struct rr_client_table *table, uint32_t state,
			  const struct rr_input *input)
{
	const uint32_t command = awaited(&table->states[state], input->thread);

	if (input->kind != RR_INPUT_REPLY || command == RR_NO_ID)
		return true;
	for (uint32_t r = table->rows.n; r-- > 0;) {
		const struct rr_client_row *row = &table->row[r];
		const uint32_t answered = awaited(&table->states[row->from], row->input.thread);

		if (row->input.kind == RR_INPUT_REPLY && row->input.value == input->value &&
		    answered != RR_NO_ID && have_one_name(table, answered, command))
			return true;
	}
	return false;
}

/* ---- Assuming --------------------------------------------------------------------------- */

static enum rdl_reply_type type_of(const struct rr_client_table *table,
				   const struct rr_input *input)
{
	return table->program->terms->reply[input->value].reply.type;
}

/* The row that it would be, if two other replies there, at least, were tested and have led to one
 * state, and none to another. */
static bool find_alike(const struct rr_client_table *table, uint32_t state,
		       const struct rr_input *input, int64_t passed_ns, struct rr_client_row *alike)
{
	int n_tested = 0;

	*alike = (struct rr_client_row){ .from = state,
					 .input = *input,
					 .to = RR_NO_ID,
					 .state = RR_NO_ID,
					 .next = RR_NO_ID,
					 .is_assumed = true };
	if (!table->learning.merges_all || input->kind != RR_INPUT_REPLY)
		return false;
	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next) {
		const struct rr_client_row *row = &table->row[r];

		if (row->state == RR_NO_ID ||
		    !(row->input.kind == input->kind && row->input.thread == input->thread &&
		      type_of(table, &row->input) == type_of(table, input)))
			continue;
		if ((alike->state != RR_NO_ID && row->state != alike->state) ||
		    (row->is_timed && row->passed_ns != passed_ns))
			return false;
		alike->state = row->state;
		alike->client = row->client;
		alike->is_timed = row->is_timed;
		alike->has_entered |= row->has_entered;
		n_tested += !row->is_assumed;
	}
	alike->passed_ns = alike->is_timed ? passed_ns : 0;
	return n_tested >= ENOUGH;
}

const struct rr_client_row *rr_learning_assume(struct rr_client_table *table, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns)
{
	struct rr_client_row assumed;

	return find_alike(table, state, input, passed_ns, &assumed) ?
		       rr_client_table_assume(table, &assumed) :
		       NULL;
}

/* Do two histories do something else after the same inputs, as far as that was seen? */
static bool are_known_apart(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	if (!rr_learning_is_same(table, a, b))
		return true;
	for (uint32_t r = table->states[a].first_row; r != RR_NO_ID; r = table->row[r].next) {
		const struct rr_client_row *one = &table->row[r];
		const struct rr_client_row *other = rr_client_table_find(table, b, &one->input,
									 one->passed_ns);

		if (one->to != RR_NO_ID && other && other->to != RR_NO_ID &&
		    are_known_apart(table, one->to, other->to))
			return true;
	}
	return false;
}

uint32_t rr_learning_find_assumed(const struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];
	struct rr_client_row assumed;

	return find_alike(table, it->parent, &it->input, it->passed_ns, &assumed) &&
			       !are_known_apart(table, history, assumed.state) ?
		       assumed.state :
		       RR_NO_ID;
}

/* ---- Histories that may be one -------------------------------------------------------------- */

/* To an end, or once round a loop that has none, by replies that the client has heard before; the
 * client really hears them. */
static struct rr_inputs guess_word(struct rr_client_table *table, uint32_t state)
{
	struct rr_inputs word = { 0 };
	struct rr_received next;

	while (word.n < GUESSED_MAX && state != RR_NO_ID && !table->states[state].has_ended &&
	       !table->states[state].spins && guess(table, state, &next)) {
		rr_array_grow(&word.all, word.n, sizeof(next));
		word.all[word.n++] = next;
		state = rr_learning_go(table, state, &next);
	}
	if (table->program->learning & RR_PLANT_NO_LAST_EDGES)
		word.n -= word.n > 0;
	return word;
}

static bool is_candidate(struct rr_client_table *table, uint32_t history, uint32_t state)
{
	const struct rr_client_state *it = &table->states[state];

	return it->same == state && state != history && !it->has_ended &&
	       !are_known_apart(table, state, history) &&
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
			if (good && rr_learning_agrees(table, history, i, CANDIDATE_WORDS) &&
			    !rr_client_table_failed(table))
				return i;
		}
	}
	return RR_NO_ID;
}

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
	const struct rr_input *one = &table->states[a].input, *other = &table->states[b].input;

	return one->kind == other->kind && one->thread == other->thread &&
	       one->gone == other->gone && one->value == other->value &&
	       rr_learning_does_same(table, a, b);
}

/* Were the last inputs, so many, the same as those before them, and what it did then? */
static bool is_round(const struct rr_client_table *table, uint32_t state, int period)
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

	while (is_round(table, last, period)) {
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
	       rr_learning_agrees(table, history, first, LOOP_WORDS);
}

/* The state of which a history is one more round, or several; RR_NO_ID: none. Where there is
 * no end to what a client does, none is looked for any more. */
uint32_t rr_learning_find_loop(struct rr_client_table *table, uint32_t history)
{
	uint32_t first = table->states[history].parent;

	for (int period = 1; period <= PERIOD_MAX && first != RR_NO_ID; period++) {
		if (is_round(table, history, period) && table->states[first].same == first &&
		    is_round_behind(table, first, history))
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
		n = rr_learning_cover(table, i, &words, RR_LEARNING_WORDS);
		while (at < n && is_first_of(&words[at], &round))
			at++;
		good = at == n || leaves_after_each(table, i, rounds_until(table, i, left_by),
						    &round, &words[at], 0);
		rr_learning_release_words(words, n);
		free(round.all);
	}
	return good && !rr_client_table_failed(table);
}

/* ---- Attempts that are refused again and again -------------------------------------------------- */

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
	const bool is_attempt = table->states[state].is_attempt;
	const int rounds = is_attempt ? RR_REFUSALS_ROUNDS : RR_LOOP_ROUNDS;
	const int n = is_round(table, state, period) ? period * rounds : TRIED_MAX;
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
