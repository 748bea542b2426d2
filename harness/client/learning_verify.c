/* SPDX-License-Identifier: MIT */
/*
 * What a hypothesis is tested with, when a search is through: words that cover all that is known from a
 * state, behind each history that is taken for one; and walks through all that is known, which a client
 * really goes: some at random; so many that each row is on one that is only believed to lead where it
 * does; and some on which any two of those are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "learning.h"

enum {
	WORD_MAX = 2000,
	RUNS_MAX = 40 /* for histories that are no rounds of a loop, once more when all is known */
};

enum { WALKS = 20, WALKS_MAX = 400, WALK_MAX = 2000, RANDOM_MAX = 40 };

/* For pairs of rows, so many steps together; each walk takes of so many rows one with most new pairs. */
enum { PAIR_STEPS = 4000, PAIR_STEPS_EACH = 400, PAIR_ROWS = 16 };

/* Where attempts are marked, some of which are refused hundreds of times. */
enum {
	ATTEMPTS_WALKS = 45,
	ATTEMPTS_LEAVES = 9,
	ATTEMPTS_RANDOM_MAX = 1200,
	ATTEMPTS_RUNS = 1500, /* for words behind other histories */
	REFUSALS_MAX = 4,     /* kinds of them that are followed from one beginning */
	STEPS_MAX = 60000 /* after which no other beginning is followed, nor, in a second turn, left
			       * behind fewer refusals */
};

/* Nothing was refined since the search began, and nothing has failed. */
static bool stands(const struct rr_client_table *table)
{
	return !rr_learning_has_changed(table) && !rr_client_table_failed(table);
}

/* ---- Words that cover what is known ---------------------------------------------------------- */

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
	struct rr_received *longest = rr_calloc(WORD_MAX, sizeof(*longest));
	size_t n = 0;

	memset(cover.on, 0xff, size);
	*words = rr_calloc(most, sizeof(**words));
	cover.n_reached = rr_learning_reach(table, state, cover.reached, cover.via);
	find_ends(&cover);
	for (uint32_t i = 0; i < cover.n_reached && n < most; i++) {
		for (uint32_t r = table->states[cover.reached[i]].first_row;
		     r != RR_NO_ID && n < most; r = row_at(&cover, r)->next) {
			struct rr_inputs word = { .all = longest };

			if (row_at(&cover, r)->state == RR_NO_ID || cover.is_covered[r])
				continue;
			add_path(&cover, &word, cover.reached[i]);
			for (uint32_t on = r; on != RR_NO_ID && word.n < WORD_MAX;
			     on = cover.on[row_at(&cover, on)->state])
				add_row(&cover, &word, on);
			if (table->program->learning & RR_PLANT_NO_LAST_EDGES)
				word.n -= word.n > 1;
			word.all = rr_memdup(longest, word.n * sizeof(*longest));
			(*words)[n++] = word;
		}
	}
	free(cover.reached);
	free(cover.via);
	free(cover.on);
	free(cover.is_covered);
	free(longest);
	return n;
}

void rr_learning_release_words(struct rr_inputs *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i].all);
	free(words);
}

/* ---- Walks ------------------------------------------------------------------------------------ */

/* Of rows that were on one walk, and the steps of all of these. */
struct pairs {
	struct rr_intern seen;
	size_t steps;
};

struct walk {
	struct rr_client_table *table;
	struct rr_random random;
	uint32_t stays, out_of; /* so many steps stay in loops, where they can */
	uint32_t *leads;        /* of each state: the row that leads to the nearest one that is
			       * to be walked; NULL: any is taken */
	struct pairs *pairs;    /* NULL: it is not for them */
	struct rr_inputs inputs;
	uint32_t *rows; /* that were taken */
	int idle;       /* steps since one was to be walked */
};

/* ---- Where to go -------------------------------------------------------------------- */

/* Is it only believed, so far, where that leads? */
static bool is_believed(const struct rr_client_row *row)
{
	return row->state != RR_NO_ID && row->to != row->state && !row->is_walked;
}

/* Of each state, the row that is to be walked next. */
static uint32_t *find_leads(const struct rr_client_table *table)
{
	uint32_t *far = rr_malloc(table->n_states * sizeof(*far));
	uint32_t *leads = rr_malloc(table->n_states * sizeof(*leads));
	bool is_better = true;

	memset(far, 0xff, table->n_states * sizeof(*far));
	memset(leads, 0xff, table->n_states * sizeof(*leads));
	while (is_better) {
		is_better = false;
		for (uint32_t i = table->rows.n; i-- > 0;) {
			const struct rr_client_row *row = &table->row[i];
			const uint32_t n = row->state == RR_NO_ID ? RR_NO_ID :
					   is_believed(row)       ? 0 :
								    far[row->state];

			if (n == RR_NO_ID || n + 1 >= far[row->from])
				continue;
			far[row->from] = n + 1;
			leads[row->from] = i;
			is_better = true;
		}
	}
	free(far);
	return leads;
}

/* A row of the state, any; RR_NO_ID: there is none. */
static uint32_t choose_row(struct walk *walk, uint32_t state)
{
	const struct rr_client_table *table = walk->table;
	const bool wants_loop = rr_random_below(&walk->random, walk->out_of) < walk->stays;
	uint32_t chosen = RR_NO_ID, n = 0, n_stay = 0;

	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next) {
		const bool is_one = table->row[r].state != RR_NO_ID;

		if (is_one && walk->leads && is_believed(&table->row[r]))
			return r;
		if (is_one && wants_loop && table->states[table->row[r].state].is_in_loop) {
			if (rr_random_below(&walk->random, ++n_stay) == 0)
				chosen = r;
		} else if (is_one && n_stay == 0 && rr_random_below(&walk->random, ++n) == 0) {
			chosen = r;
		}
	}
	return walk->leads && walk->leads[state] != RR_NO_ID ? walk->leads[state] : chosen;
}

/* ---- Pairs ---------------------------------------------------------------------------- */

/* Could something else be received where it begins? */
static bool is_choice(const struct rr_client_table *table, uint32_t row)
{
	return table->row[row].next != RR_NO_ID ||
	       table->states[table->row[row].from].first_row != row;
}

static void note_pairs(const struct walk *walk, uint32_t row)
{
	walk->pairs->steps++;
	for (size_t i = 0; i < walk->inputs.n && is_choice(walk->table, row); i++) {
		const uint32_t pair[] = { walk->rows[i], row };

		if (is_choice(walk->table, pair[0]))
			rr_intern_put(&walk->pairs->seen, pair, sizeof(pair), NULL);
	}
}

/* Of some rows of a state the one with most new pairs. */
static uint32_t choose_pairing(struct walk *walk, uint32_t state)
{
	const struct rr_client_table *table = walk->table;
	uint32_t chosen = RR_NO_ID, n_rows = 0, n_equal = 0;
	size_t most = 0;

	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next)
		n_rows += table->row[r].state != RR_NO_ID;
	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next) {
		size_t n;

		if (table->row[r].state == RR_NO_ID ||
		    rr_random_below(&walk->random, n_rows) >= PAIR_ROWS)
			continue;
		/* Two replies, neither of which matters by itself, may matter together. */
		n = 0;
		for (size_t i = 0; i < walk->inputs.n && is_choice(walk->table, r); i++) {
			const uint32_t pair[] = { walk->rows[i], r };

			n += is_choice(walk->table, pair[0]) &&
			     rr_intern_find(&walk->pairs->seen, pair, sizeof(pair)) == RR_NO_ID;
		}
		if (chosen == RR_NO_ID || n > most)
			n_equal = 0;
		if (n < most || rr_random_below(&walk->random, ++n_equal) > 0)
			continue;
		chosen = r;
		most = n;
	}
	return chosen;
}

/* ---- Walks -------------------------------------------------------------------------- */

/* Where nothing ahead is to be walked any more it goes on to the end, but not round in a loop. */
static bool goes_on(struct walk *walk, uint32_t state)
{
	const struct rr_client_table *table = walk->table;

	if (walk->pairs)
		return walk->inputs.n < PAIR_STEPS_EACH;
	if (!walk->leads)
		return walk->inputs.n <
		       (table->program->has_attempts ? ATTEMPTS_RANDOM_MAX : RANDOM_MAX);
	if (walk->inputs.n == WALK_MAX)
		return false;
	if (walk->idle < RANDOM_MAX)
		return true;
	free(walk->leads);
	walk->leads = find_leads(table);
	walk->idle = 0;
	return walk->leads[state] != RR_NO_ID || !table->states[state].is_in_loop;
}

/* A client really goes the same way. False: it did something else than what is known. */
static bool go_walk(struct walk *walk)
{
	struct rr_client_table *table = walk->table;
	uint32_t state = 0, history = 0, row, said;

	while (!table->states[state].has_ended && goes_on(walk, state) &&
	       (row = walk->pairs ? choose_pairing(walk, state) : choose_row(walk, state)) !=
		       RR_NO_ID) {
		struct rr_received *next = &walk->inputs.all[walk->inputs.n];

		if (walk->pairs)
			note_pairs(walk, row);
		*next = (struct rr_received){ table->row[row].input, table->row[row].passed_ns };
		walk->rows[walk->inputs.n++] = row;
		state = table->row[row].state;
		said = rr_learning_said(table, &table->row[row]);
		walk->idle = is_believed(&table->row[row]) ? 0 : walk->idle + 1;
		table->row[row].is_walked = true;
		history = rr_learning_go(table, history, next);
		if (history == RR_NO_ID || !rr_learning_is_same(table, history, said))
			return false;
	}
	return true;
}

/* `leads` are freed. False: the hypothesis was refined. */
static bool take_walk(struct rr_client_table *table, uint32_t number, uint32_t *leads,
		      struct pairs *pairs)
{
	const bool has_attempts = table->program->has_attempts;
	const uint32_t out_of = has_attempts ? 1U << number % ATTEMPTS_LEAVES : 4;
	struct walk walk = { .table = table,
			     .random = { number },
			     .stays = has_attempts ? out_of - 1 : number % 4,
			     .out_of = out_of,
			     .leads = leads,
			     .pairs = pairs,
			     .inputs = { .all = rr_calloc(WALK_MAX, sizeof(*walk.inputs.all)) },
			     .rows = rr_calloc(WALK_MAX, sizeof(*walk.rows)) };
	bool good = go_walk(&walk);

	if (!good && !rr_client_table_failed(table)) {
		for (size_t i = 0; i < walk.inputs.n; i++)
			table->row[walk.rows[i]].is_walked = false;
		rr_learning_refine(table, &walk.inputs);
	}
	free(walk.leads);
	free(walk.inputs.all);
	free(walk.rows);
	return good;
}

/* Until each row has been on a walk. */
static void walk_believed(struct rr_client_table *table)
{
	table->learning.untested = 0;
	for (uint32_t n = 0; n < WALKS_MAX && !rr_client_table_failed(table); n++) {
		uint32_t *leads = find_leads(table);

		if (leads[0] == RR_NO_ID) {
			free(leads);
			return;
		}
		take_walk(table, WALKS + n, leads, NULL);
		table->learning.walks++;
	}
	for (uint32_t i = 0; i < table->rows.n; i++)
		table->learning.untested += is_believed(&table->row[i]);
}

/* Until some in a row have had no new pair, or there were enough of them. */
static void walk_pairs(struct rr_client_table *table)
{
	struct pairs pairs = { 0 };
	uint32_t idle = 0, n = 0;

	for (; pairs.steps < PAIR_STEPS && idle < RR_LEARNING_IDLE && stands(table); n++) {
		const uint32_t before = pairs.seen.n;
		const bool good = take_walk(table, WALKS + WALKS_MAX + n, NULL, &pairs);

		idle = pairs.seen.n > before ? 0 : idle + 1;
		/* It did something else, and nobody knows where that began. */
		table->learning.untested += !good && !rr_learning_has_changed(table);
	}
	table->learning.walks += n;
	table->learning.has_pairs = idle == RR_LEARNING_IDLE;
	table->learning.lacks_pairs = !table->learning.has_pairs;
	rr_intern_release(&pairs.seen);
}

static void walk_all(struct rr_client_table *table)
{
	const unsigned planted = table->program->learning;
	const bool has_attempts = table->program->has_attempts;
	const uint32_t n = has_attempts ? ATTEMPTS_WALKS : WALKS;

	bool good = true;

	table->learning.walks = 0;
	table->learning.has_pairs = table->learning.lacks_pairs = false;
	for (uint32_t i = 0;
	     i < n && good && !table->learning.is_bounded && !(planted & RR_PLANT_NO_WALKS); i++) {
		good = take_walk(table, i, NULL, NULL);
		table->learning.walks += good;
	}
	if (!has_attempts && !(planted & RR_PLANT_GUESSED_REPLY))
		walk_believed(table);
	if (!has_attempts && table->learning.merges_all && !rr_learning_has_changed(table) &&
	    !(planted & RR_PLANT_NO_WALKS))
		walk_pairs(table);
	/* It did something else, and nobody knows where that began. */
	table->learning.untested += !good && !rr_learning_has_changed(table);
}

/* ---- The whole ------------------------------------------------------------------------------------ */

/* Does the client do behind a history what is said of the state that it is taken for, along so many words
 * at most? If not, it is a state of its own. */
static void verify_merge(struct rr_client_table *table, uint32_t history, bool is_round,
			 size_t most)
{
	const uint32_t state = table->states[history].same;
	bool good = rr_learning_is_like(table, history, state) &&
		    rr_learning_agrees(table, history, state, most);

	if (table->states[history].same != state)
		return; /* it was refined meanwhile */
	if (good && is_round && !(table->program->learning & RR_PLANT_NO_PUMPING))
		good = rr_learning_leave_loop(table, state, history);
	if (!good && !rr_client_table_failed(table) && table->states[history].same == state)
		rr_learning_keep_apart(table, history);
}

/* Behind histories the client does what is said of the beginning that they are merged with. */
static void compare_histories(struct rr_client_table *table, uint32_t first, uint32_t n_histories,
			      uint64_t most_runs)
{
	struct rr_inputs *words;
	const size_t n = rr_learning_cover(table, first, &words, RR_LEARNING_WORDS);

	for (uint32_t i = 0; i < n_histories && table->n_runs < most_runs; i++) {
		if (i == first || table->states[i].same != first)
			continue;
		for (size_t j = 0; j < n && stands(table); j++) {
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

	for (uint32_t i = 0; i < n_histories && most > 0 && stands(table); i++) {
		if (i == first || table->states[i].same != first ||
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

static void verify_attempts(struct rr_client_table *table)
{
	const uint64_t most_runs = table->n_runs + ATTEMPTS_RUNS;
	const uint32_t n = table->n_states;
	struct rr_learning *learning = &table->learning;

	for (uint32_t i = 0; i < n && stands(table) && table->n_runs < most_runs; i++) {
		if (is_beginning(table, i))
			compare_histories(table, i, n, most_runs);
	}
	if (!stands(table))
		return;
	/* From each beginning as far as clients are followed; then, from the first ones, behind fewer
	 * refusals, and of other kinds. */
	learning->steps = learning->untested = 0;
	for (uint32_t i = 0; i < n && stands(table); i++) {
		if (!is_beginning(table, i) || !table->states[i].is_loop_head)
			continue;
		if (learning->steps < STEPS_MAX)
			follow_loops(table, i, n, 1, RR_REFUSALS_ROUNDS);
		else
			learning->untested++;
	}
	learning->steps = 0;
	for (uint32_t i = 0; i < n && stands(table) && learning->steps < STEPS_MAX; i++) {
		if (is_beginning(table, i) && table->states[i].is_loop_head)
			follow_loops(table, i, n, REFUSALS_MAX, 1);
	}
}

/* Serial orders that are looked at afterwards may have asked for more, or for nothing. */
bool rr_learning_verify(struct rr_client_table *table)
{
	const uint32_t n = table->n_states;
	const uint64_t n_runs = table->n_runs;
	uint32_t n_rows = 0;

	for (uint32_t i = 0; i < table->rows.n; i++)
		n_rows += table->row[i].state != RR_NO_ID;
	if (n_rows == table->learning.n_verified && !rr_learning_has_changed(table))
		return true;
	verify_attempts(table);
	for (uint32_t i = 1; i < n && !rr_client_table_failed(table); i++) {
		const struct rr_client_state *it = &table->states[i];
		const size_t ran = (size_t)(table->n_runs - n_runs);
		bool is_round;

		/* Beginnings of attempts have been tested. */
		if (it->same == RR_NO_ID || it->same == i || it->has_ended || it->is_attempt)
			continue;
		is_round = rr_learning_is_behind(table, i, it->same);
		if (is_round || ran < RUNS_MAX)
			verify_merge(table, i, is_round,
				     is_round ? RR_LEARNING_WORDS : RUNS_MAX - ran);
	}
	if (table->learning.merges > 0 && stands(table))
		walk_all(table);
	table->learning.n_verified = n_rows;
	return !rr_client_table_failed(table);
}
