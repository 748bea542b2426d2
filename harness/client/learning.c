/* SPDX-License-Identifier: MIT */
/*
 * Which state may a history be? One that other replies have led to; where an attempt begins, one with
 * as much done; one more round of a loop (learning_loops.c); any, where there are many histories. That is
 * a hypothesis, which counterexamples refine.
 */
#include "learning.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"

enum {
	SUFFIXES_MAX = 64,
	RUNS_FEW = 100,      /* that a search has asked for: with more, or more histories, or two */
	HISTORIES_FEW = 600, /* loops that are alike, any history may be merged with any other */
	ENOUGH = 2,          /* replies that are tested before others are assumed to do the same */
	GUESSED_MAX = 1000,  /* inputs of a word that is guessed */
	CANDIDATES_MAX = 16, /* states with which a history is compared by runs */
	CANDIDATE_WORDS = 1  /* of the candidate's cover; all are walked later */
};

/* ---- What a client does --------------------------------------------------------------- */

bool rr_learning_does_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *one = &table->states[a], *other = &table->states[b];
	struct rr_run_view views[2];

	if (a == b || table->program->is_exact)
		return one->signature == other->signature;
	views[0] = rr_client_state_view(one);
	views[1] = rr_client_state_view(other);
	if (!rr_run_view_is_same(&views[0], &views[1]) || one->has_ended != other->has_ended)
		return false;
	/* An app says what it has answered before it ends. */
	return (!one->has_ended && !table->program->requests.n) ||
	       (one->tally.failed == other->tally.failed &&
		rr_program_ends_alike(table->program, one->tally.ending, other->tally.ending));
}

bool rr_learning_is_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_client_state *one = &table->states[a], *other = &table->states[b];

	/* How long a client sleeps in each round of a loop is not a part of what it does. Nor is it for
	 * one that sleeps for a random time. */
	return rr_learning_does_same(table, a, b) &&
	       (table->learning.sleeps_vary || one->is_in_loop || other->is_in_loop ||
		rr_slept_alike(one->slept_ns, other->slept_ns));
}

/* A client takes what it waits for, and nothing else: a word that was received in one state may not
 * fit another. */
static bool is_waited_for(const struct rr_client_state *state, const struct rr_input *input)
{
	static const struct rr_stop absent = { .kind = RR_STOP_ABSENT };
	const struct rr_stop *stop = input->thread < state->n_threads ?
					     &state->stops[input->thread] :
					     &absent;

	switch (stop->kind) {
	case RR_STOP_ABSENT:
	case RR_STOP_ENDED:
		return false;
	case RR_STOP_ATTEMPT:
		return input->kind == RR_INPUT_ATTEMPT;
	case RR_STOP_CLOCK:
		return input->kind == RR_INPUT_CLOCK;
	case RR_STOP_RECEIVE:
		return input->kind == RR_INPUT_REPLY || input->kind == RR_INPUT_LOST ||
		       input->kind == RR_INPUT_REFUSED;
	default:
		return input->kind != RR_INPUT_ATTEMPT && input->kind != RR_INPUT_CLOCK &&
		       input->kind != RR_INPUT_REPLY &&
		       (input->kind != RR_INPUT_TIMEOUT || stop->duration_ns != RR_NEVER);
	}
}

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

/* Was a command of that name, as it is waited for there, ever answered so? A word that was heard in
 * one state may tell another what no server says: a program may do anything then, and hang. */
static bool may_hear(const struct rr_client_table *table, uint32_t state,
		     const struct rr_input *input)
{
	const struct rr_term_command *commands = table->program->terms->command;
	const uint32_t command = awaited(&table->states[state], input->thread);

	if (input->kind != RR_INPUT_REPLY || command == RR_NO_ID)
		return true;
	for (uint32_t r = table->rows.n; r-- > 0;) {
		const struct rr_client_row *row = &table->row[r];
		const uint32_t answered = awaited(&table->states[row->from], row->input.thread);

		if (row->input.kind == RR_INPUT_REPLY && row->input.value == input->value &&
		    answered != RR_NO_ID && commands[answered].words.n_words > 0 &&
		    commands[command].words.n_words > 0 &&
		    strcasecmp(commands[answered].words.words[0].text,
			       commands[command].words.words[0].text) == 0)
			return true;
	}
	return false;
}

uint32_t rr_learning_go(struct rr_client_table *table, uint32_t state,
			const struct rr_received *received)
{
	const struct rr_client_state *it = &table->states[state];
	const struct rr_client_row *row;

	if (it->has_ended || !is_waited_for(it, &received->input))
		return RR_NO_ID;
	if (!table->program->is_exact &&
	    !rr_client_table_find(table, state, &received->input, received->passed_ns) &&
	    !may_hear(table, state, &received->input))
		return RR_NO_ID;
	row = rr_client_table_follow(table, state, &received->input, received->passed_ns);
	return row ? row->to : RR_NO_ID;
}

/* The row of the hypothesis from a state; NULL: it has none. */
static const struct rr_client_row *row_from(const struct rr_client_table *table, uint32_t state,
					    const struct rr_received *received)
{
	const struct rr_client_row *row = rr_client_table_find(table, state, &received->input,
							       received->passed_ns);

	return row && row->state != RR_NO_ID ? row : NULL;
}

uint32_t rr_learning_said(const struct rr_client_table *table, const struct rr_client_row *row)
{
	const struct rr_client_state *state = &table->states[row->state];

	return row->to != RR_NO_ID && (state->is_attempt || state->has_ended) ? row->to :
										row->state;
}

struct rr_received rr_learning_received(const struct rr_client_table *table, uint32_t state)
{
	return (struct rr_received){ table->states[state].input, table->states[state].passed_ns };
}

size_t rr_learning_common(const struct rr_inputs *a, const struct rr_inputs *b, bool timed)
{
	size_t i = 0;

	while (i < a->n && i < b->n && rr_input_is_same(&a->all[i].input, &b->all[i].input) &&
	       (!timed || a->all[i].passed_ns == b->all[i].passed_ns))
		i++;
	return i;
}

/* ---- Suffixes --------------------------------------------------------------------------- */

static struct rr_suffixes *suffixes_of(struct rr_client_table *table)
{
	return table->program->suffixes ? table->program->suffixes : &table->learning.suffixes;
}

void rr_suffixes_release(struct rr_suffixes *suffixes)
{
	rr_learning_release_words(suffixes->all, suffixes->n);
	*suffixes = (struct rr_suffixes){ 0 };
}

/* False: it was known. */
static bool add_suffix(struct rr_client_table *table, struct rr_inputs suffix)
{
	struct rr_suffixes *suffixes = suffixes_of(table);

	if (suffix.n == 0 || suffixes->n == SUFFIXES_MAX)
		return false;
	for (size_t i = 0; i < suffixes->n; i++) {
		if (suffixes->all[i].n == suffix.n &&
		    rr_learning_common(&suffixes->all[i], &suffix, true) == suffix.n)
			return false;
	}
	rr_array_grow(&suffixes->all, suffixes->n, sizeof(*suffixes->all));
	suffix.all = rr_memdup(suffix.all, suffix.n * sizeof(*suffix.all));
	suffixes->all[suffixes->n++] = suffix;
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
			return inputs->n; /* neither of them hears that */
		if (!rr_learning_is_same(table, a, b))
			return i;
		i++;
	}
	return i;
}

bool rr_learning_is_like(struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_suffixes *suffixes = suffixes_of(table);

	if (table->program->learning & RR_PLANT_NO_SUFFIXES)
		return true;
	for (size_t i = 0; i < suffixes->n; i++) {
		const struct rr_inputs suffix = suffixes->all[i];

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
	if (n < word->n && !rr_client_table_failed(table))
		add_suffix(table, (struct rr_inputs){ n + 1, word->all });
	return n == word->n || rr_client_table_failed(table);
}

/* ---- Testing a history -------------------------------------------------------------------- */

size_t rr_learning_steps_as_said(struct rr_client_table *table, uint32_t history, uint32_t state,
				 const struct rr_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++) {
		const struct rr_client_row *row = row_from(table, state, &inputs->all[i]);
		const uint32_t said = row ? rr_learning_said(table, row) : RR_NO_ID;

		state = row ? row->state : RR_NO_ID;
		history = rr_learning_go(table, history, &inputs->all[i]);
		if (history == RR_NO_ID || said == RR_NO_ID)
			return inputs->n;
		if (!rr_learning_is_same(table, history, said))
			return i;
	}
	return inputs->n;
}

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

bool rr_learning_test(struct rr_client_table *table, uint32_t history, uint32_t state,
		      const struct rr_inputs *word)
{
	const size_t n = rr_learning_steps_as_said(table, history, state, word);
	struct rr_inputs some = { n + 1, word->all };

	table->learning.tests++;
	if (n == word->n || rr_client_table_failed(table))
		return true;
	if (common_steps(table, history, state, &some) < some.n) {
		add_suffix(table, (struct rr_inputs){ n + 1, word->all });
		return false;
	}
	/* The state itself does not do it either: something else is wrong. */
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

	for (size_t i = 0; i < n && good && !rr_client_table_failed(table); i++)
		good = rr_learning_test(table, history, state, &words[i]);
	rr_learning_release_words(words, n);
	return good;
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

static uint32_t find_assumed(const struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];
	struct rr_client_row assumed;

	return find_alike(table, it->parent, &it->input, it->passed_ns, &assumed) &&
			       !are_known_apart(table, history, assumed.state) ?
		       assumed.state :
		       RR_NO_ID;
}

/* ---- All that are known --------------------------------------------------------------------- */

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

/* The row from a state by which the same is received on the same connection; NULL: none. */
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

/* Because it has heard the same as another one, and only what it heard last, on two connections, in
 * another order. No run is made for that: it is tested when the search is through. */
static uint32_t find_diamond(struct rr_client_table *table, uint32_t history)
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

/* Those that are as far from the beginning come first: what differs is then the order or the
 * reply of one thing. */
static uint32_t find_state(struct rr_client_table *table, uint32_t history)
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

/* ---- Where an attempt begins, or a client has ended ------------------------------------------ */

/* What those have in common that may be one state. */
struct attempt_key {
	long ok, unknown, failed, acknowledged, ending;
	uint64_t memory;
	uint64_t is_settled; /* what is in its memory is over */
	uint64_t opening;
	uint64_t has_ended;
};

void rr_learning_note_attempt(struct rr_client_table *table, uint32_t id)
{
	struct rr_client_state *state = &table->states[id];
	const struct rr_client_state *before = &table->states[state->attempt];
	bool is_at_rest = state->n_sent == 0;

	state->next_alike = RR_NO_ID;
	if (!state->is_attempt && !state->has_ended)
		return;
	/* Has the client nothing open but its next attempt? */
	for (uint32_t i = 1; i < state->n_threads; i++)
		is_at_rest &= state->stops[i].kind == RR_STOP_ENDED ||
			      state->stops[i].kind == RR_STOP_ABSENT;
	/* What the attempt before had in mind, unless that one lost a reply itself. */
	if (state->has_ended && is_at_rest)
		state->memory = 0;
	else if (!is_at_rest || state->is_unheard || table->program->learning & RR_LEARN_NOTHING)
		state->memory = (uint64_t)id + 1;
	else
		state->memory = before->is_attempt ? before->memory : 0;
	state->opening = before->is_attempt ? before->opening : id;
	if (state->is_attempt)
		state->attempt = id;
	if (state->memory == 0)
		state->names = 0;
}

uint32_t rr_learning_find_attempt(struct rr_client_table *table, uint32_t id)
{
	/* Does its next attempt begin alike with other random values than those it has drawn? */
	struct rr_received begins = { .input = { .kind = RR_INPUT_ATTEMPT,
						 .value = RR_GENERATIONS - 1 } };
	const struct rr_inputs word = { 1, &begins };
	const struct rr_client_state *state = &table->states[id];
	const struct attempt_key key = {
		.ok = state->tally.ok,
		.unknown = state->tally.unknown,
		.failed = state->tally.failed,
		.acknowledged = state->tally.acknowledged,
		.ending = state->tally.ending,
		.memory = state->memory,
		.is_settled = state->memory && state->memory != (uint64_t)id + 1,
		.opening = state->has_ended ? 0 : state->opening,
		.has_ended = state->has_ended,
	};
	bool is_new;
	const uint32_t number = rr_intern_put(&table->attempts, &key, sizeof(key), &is_new);
	uint32_t at, last = RR_NO_ID;

	if (is_new) {
		rr_array_grow(&table->attempt, number, sizeof(id));
		table->attempt[number] = id;
		return id;
	}
	for (at = table->attempt[number]; at != RR_NO_ID; at = table->states[at].next_alike) {
		if (at == id || (rr_learning_is_like(table, id, at) &&
				 rr_learning_tells_same(table, id, at, &word)))
			return at;
		last = at;
	}
	table->states[last].next_alike = id;
	return id;
}

/* ---- The hypothesis ------------------------------------------------------------------------------- */

/* All histories are asked for again, and so is the search. */
static void ask_all_anew(struct rr_client_table *table, enum rr_belief withdrawn)
{
	rr_belief_withdraw(table->program->beliefs, withdrawn, table);
	table->learning.merges = table->learning.loops = 0;
	for (uint32_t i = 1; i < table->n_states; i++)
		table->states[i].same = RR_NO_ID;
	for (uint32_t i = 0; i < table->rows.n; i++)
		table->row[i].state = RR_NO_ID;
}

void rr_learning_bound(struct rr_client_table *table, uint32_t state, uint32_t first_round)
{
	table->learning.endless = state;
	table->learning.first_round = first_round;
	table->learning.is_bounded = table->learning.reuses_names ||
				     table->states[state].is_attempt;
	table->learning.reuses_names = !table->learning.is_bounded;
	table->learning.merges_all = false;
	ask_all_anew(table, RR_BELIEF_CLIENT_ENDS);
}

bool rr_learning_is_behind(const struct rr_client_table *table, uint32_t state, uint32_t first)
{
	while (state != first && table->states[state].depth > table->states[first].depth)
		state = table->states[state].parent;
	return state == first;
}

uint32_t rr_learning_reach(const struct rr_client_table *table, uint32_t from, uint32_t *reached,
			   uint32_t *via)
{
	uint32_t n = 1;

	memset(via, 0xff, table->n_states * sizeof(*via));
	reached[0] = from;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t r = table->states[reached[i]].first_row; r != RR_NO_ID;
		     r = table->row[r].next) {
			const uint32_t to = table->row[r].state;

			if (to == RR_NO_ID || to == from || via[to] != RR_NO_ID)
				continue;
			via[to] = r;
			reached[n++] = to;
		}
	}
	return n;
}

/* A row leads from `last` to `first`: if there is a path from there, too, that is a loop. */
static void mark_loop(struct rr_client_table *table, uint32_t first, uint32_t last)
{
	const size_t size = table->n_states * sizeof(uint32_t);
	uint32_t *via = rr_malloc(size), *reached = rr_malloc(size);
	bool is_in_loop;

	rr_learning_reach(table, first, reached, via);
	is_in_loop = last == first || via[last] != RR_NO_ID;
	if (is_in_loop) {
		table->learning.loops += !table->states[first].is_loop_head;
		table->states[first].is_loop_head = true;
	}
	while (is_in_loop) {
		struct rr_client_state *state = &table->states[last];

		state->is_in_loop = true;
		table->learning.has_waited_round |= state->slept_ns > 0 || state->has_blocked;
		is_in_loop = last != first;
		last = is_in_loop ? table->row[via[last]].from : last;
	}
	free(reached);
	free(via);
}

static void take_for(struct rr_client_table *table, uint32_t history, uint32_t state)
{
	struct rr_client_state *it = &table->states[history];

	it->same = state;
	table->row[it->row].state = state;
	if (state == history || it->has_ended)
		return;
	table->learning.merges++;
	mark_loop(table, state, table->row[it->row].from);
}

void rr_learning_keep_apart(struct rr_client_table *table, uint32_t history)
{
	if (table->states[history].same == history)
		return;
	rr_learning_note_refinement(table);
	take_for(table, history, history);
}

bool rr_learning_classify(struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];
	const bool learns = !(table->program->learning & RR_LEARN_NOTHING);
	const bool is_between = it->is_attempt || it->has_ended;
	/* Rounds of attempts are found where these begin. Each is followed to its end. */
	const bool may_go_round = learns && !rr_client_table_is_in_attempt(table, history);
	uint32_t same = is_between ? rr_learning_find_attempt(table, history) :
				     find_assumed(table, history);
	uint32_t loop = RR_NO_ID;

	if (same == RR_NO_ID && may_go_round)
		same = loop = rr_learning_find_loop(table, history);
	if (same == RR_NO_ID && learns)
		same = find_diamond(table, history);
	if (same == RR_NO_ID && table->learning.merges_all)
		same = find_state(table, history);
	if (same == RR_NO_ID)
		same = history;
	if (same == history && may_go_round && !table->states[history].has_ended)
		rr_learning_count_rounds(table, history);
	if (rr_client_table_failed(table))
		return false;
	/* Of an app that goes round in one loop in another place too, a worker that polls, there
	 * are as many as things to remember, which mostly does not matter. Where attempts are marked,
	 * beginnings of attempts are merged instead. */
	if (!table->learning.merges_all && !table->learning.is_bounded && learns &&
	    !table->program->has_attempts &&
	    (table->learning.n_asked > RUNS_FEW || ++table->learning.n_classified > HISTORIES_FEW ||
	     table->program->learning & RR_LEARN_ALL ||
	     (loop != RR_NO_ID && table->program->requests.n > 0 &&
	      rr_learning_has_like_loop(table, loop, false)))) {
		table->learning.merges_all = true;
		ask_all_anew(table, RR_BELIEF_FEW_HISTORIES);
		return false;
	}
	take_for(table, history, same);
	return true;
}

/* What was tested of loops may rest on what was wrong. */
void rr_learning_note_refinement(struct rr_client_table *table)
{
	table->learning.refinements++;
	rr_belief_withdraw(table->program->beliefs, RR_BELIEF_HISTORIES, table);
	for (uint32_t i = 0; i < table->n_states; i++) {
		table->states[i].left_by = 0;
		table->states[i].left_after = 0;
	}
}

/* ---- Refining ----------------------------------------------------------------------------------- */

size_t rr_learning_path(const struct rr_client_table *table, const struct rr_inputs *inputs,
			uint32_t *states)
{
	size_t n = 0;

	states[0] = 0;
	for (const struct rr_client_row *row; n < inputs->n; n++) {
		row = row_from(table, states[n], &inputs->all[n]);
		if (!row)
			break;
		states[n + 1] = row->state;
	}
	return n;
}

/* Where a history that is that of a state, and the rest of the inputs, really lead. */
static uint32_t go_rest(struct rr_client_table *table, uint32_t state,
			const struct rr_inputs *inputs, size_t from)
{
	for (size_t i = from; i < inputs->n && state != RR_NO_ID; i++)
		state = rr_learning_go(table, state, &inputs->all[i]);
	return state;
}

/* One of the histories on the way is taken for a state that it is not: from there on, the rest
 * of the inputs tells the two apart. */
static void split(struct rr_client_table *table, const struct rr_inputs *inputs,
		  const uint32_t *states)
{
	const uint32_t end = go_rest(table, 0, inputs, 0);
	size_t good = 0, bad = inputs->n;
	uint32_t history;

	while (bad - good > 1 && !rr_client_table_failed(table)) {
		const size_t middle = good + (bad - good) / 2;
		const uint32_t there = go_rest(table, states[middle], inputs, middle);

		if (there != RR_NO_ID && end != RR_NO_ID && rr_learning_is_same(table, there, end))
			good = middle;
		else
			bad = middle;
	}
	history = rr_learning_go(table, states[good], &inputs->all[good]);
	if (rr_client_table_failed(table) || history == RR_NO_ID || history == states[bad])
		return;
	rr_learning_note_refinement(table);
	if (add_suffix(table, (struct rr_inputs){ inputs->n - bad, inputs->all + bad }) &&
	    table->learning.merges_all && !(table->program->learning & RR_PLANT_NO_SUFFIXES)) {
		/* It is classified when it is asked for again. */
		table->states[history].same = RR_NO_ID;
		table->row[table->states[history].row].state = RR_NO_ID;
	} else {
		take_for(table, history, history);
	}
}

void rr_learning_begin(struct rr_client_table *table)
{
	table->learning.loops = table->learning.n_verified = 0;
	for (uint32_t i = 0; i < table->n_states; i++)
		table->states[i].is_in_loop = table->states[i].is_loop_head = false;
	for (uint32_t i = 0; i < table->rows.n; i++) {
		const struct rr_client_row *row = &table->row[i];

		if (row->state != RR_NO_ID && row->to != row->state &&
		    !table->states[row->state].has_ended)
			mark_loop(table, row->state, row->from);
	}
	table->learning.has_waited_round = false;
}

void rr_learning_refine(struct rr_client_table *table, const struct rr_inputs *inputs)
{
	uint32_t *states = rr_calloc(inputs->n + 1, sizeof(*states));
	const size_t n = inputs->n;

	if (n > 0 && rr_learning_path(table, inputs, states) == n) {
		const uint32_t said = rr_learning_said(table, row_from(table, states[n - 1],
								       &inputs->all[n - 1]));
		const uint32_t end = go_rest(table, 0, inputs, 0);

		if (!rr_client_table_failed(table) &&
		    (end == RR_NO_ID || !rr_learning_is_same(table, end, said)))
			split(table, inputs, states);
	}
	free(states);
	if (table->program->is_exact && !rr_learning_has_changed(table) &&
	    !rr_client_table_failed(table))
		rr_error_set(&table->error, RR_ERROR_INTERNAL,
			     "a client remembers what cannot be told from its histories");
}

bool rr_learning_refute(struct rr_client_table *table, const struct rr_inputs *inputs,
			const struct rr_run_view *did)
{
	const unsigned long before = table->learning.refinements;
	const uint32_t end = go_rest(table, 0, inputs, 0);
	struct rr_run_view view;

	if (end == RR_NO_ID)
		return false;
	view = rr_client_state_view(&table->states[end]);
	if (!rr_run_view_is_same(&view, did))
		return false;
	rr_learning_unroll(table, inputs);
	rr_learning_refine(table, inputs);
	return table->learning.refinements > before;
}
