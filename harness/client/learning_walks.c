/* SPDX-License-Identifier: MIT */
/* Walks through what is known of a client that are really run: some at random; so many that each row is
 * on one that is only believed to lead where it does; and some on which any two of those are. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "learning.h"

enum { WALKS = 20, WALKS_MAX = 400, WALK_MAX = 2000, RANDOM_MAX = 40 };

/* For pairs of rows, so many steps together; each walk takes of so many rows one with most new pairs. */
enum { PAIR_STEPS = 4000, PAIR_STEPS_EACH = 400, PAIR_ROWS = 16 };

/* Of strategies, some of which are refused hundreds of times. */
enum { STRATEGY_WALKS = 45, STRATEGY_LEAVES = 9, STRATEGY_RANDOM_MAX = 1200 };

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

static bool stays(const struct walk *walk, const struct rr_client_row *row)
{
	return walk->table->states[row->state].is_in_loop;
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
		if (is_one && wants_loop && stays(walk, &table->row[r])) {
			if (rr_random_below(&walk->random, ++n_stay) == 0)
				chosen = r;
		} else if (is_one && n_stay == 0 && rr_random_below(&walk->random, ++n) == 0) {
			chosen = r;
		}
	}
	return walk->leads && walk->leads[state] != RR_NO_ID ? walk->leads[state] : chosen;
}

/* ---- Pairs ---------------------------------------------------------------------------- */

/* Could something else be heard where it begins? */
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
		       (table->program->run_ops ? RANDOM_MAX : STRATEGY_RANDOM_MAX);
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
	const bool is_strategy = !table->program->run_ops;
	const uint32_t out_of = is_strategy ? 1U << number % STRATEGY_LEAVES : 4;
	struct walk walk = { .table = table,
			     .random = { number },
			     .stays = is_strategy ? out_of - 1 : number % 4,
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

	for (; pairs.steps < PAIR_STEPS && idle < RR_LEARNING_IDLE &&
	       !rr_learning_has_changed(table) && !rr_client_table_failed(table);
	     n++) {
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

bool rr_learning_walk(struct rr_client_table *table)
{
	const unsigned planted = table->program->learning;
	const bool is_strategy = !table->program->run_ops;
	const uint32_t n = is_strategy ? STRATEGY_WALKS : WALKS;

	bool good = true;

	table->learning.walks = 0;
	table->learning.has_pairs = table->learning.lacks_pairs = false;
	for (uint32_t i = 0;
	     i < n && good && !table->learning.is_bounded && !(planted & RR_PLANT_NO_WALKS); i++) {
		good = take_walk(table, i, NULL, NULL);
		table->learning.walks += good;
	}
	if (!is_strategy && !(planted & RR_PLANT_GUESSED_REPLY))
		walk_believed(table);
	if (!is_strategy && table->learning.merges_all && !rr_learning_has_changed(table) &&
	    !(planted & RR_PLANT_NO_WALKS))
		walk_pairs(table);
	/* It did something else, and nobody knows where that began. */
	table->learning.untested += !good && !rr_learning_has_changed(table);
	return !rr_client_table_failed(table);
}
