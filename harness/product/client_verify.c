/* SPDX-License-Identifier: MIT */
/* Does a client remember more than its table takes for granted? */
#include "client_table.h"

/* So many refusals in a row are tried. */
enum { TIMES_MAX = 6 };

/* A history that leads to an attempt state and was merged: a row, several times
 * over where it is a refusal that leads back to where it began. */
struct detour {
	const struct rr_client_row *row;
	int times;
};

/* Feeds the run what leads from an attempt state to one of its states. 1: it does
 * something else than the table says. */
static int compare_state(struct rr_client_table *table, struct rr_client_run *run, uint32_t begin,
			 uint32_t to)
{
	const struct rr_client_state state = table->states[to];
	int differs;

	if (to == begin)
		return 0;
	differs = compare_state(table, run, begin, state.parent);
	if (differs)
		return differs;
	rr_client_run_feed(run, &state.input, state.passed_ns);
	return rr_run_view_signature(rr_client_run_view(run)) != state.signature;
}

static int compare_row(struct rr_client_table *table, struct rr_client_run *run,
		       const struct rr_client_row *row)
{
	const int differs = compare_state(table, run, table->states[row->from].attempt, row->from);

	if (differs)
		return differs;
	rr_client_run_feed(run, &row->input, row->passed_ns);
	return rr_run_view_signature(rr_client_run_view(run)) != row->signature;
}

/* A run that has come to an attempt state by a detour. 1: it did something else on
 * the way. */
static int take_detour(struct rr_client_table *table, struct rr_client_run *run,
		       const struct detour *detour)
{
	const struct rr_client_row *row = detour->row;

	rr_client_run_feed(run, &row->input, row->passed_ns);
	for (int i = 1; i < detour->times; i++) {
		if (compare_row(table, run, row))
			return 1;
	}
	return 0;
}

/* Is it the last of its attempt, so that those before are compared with it? */
static bool is_last_row(const struct rr_client_table *table, uint32_t i)
{
	const struct rr_client_row *row = &table->row[i];

	if (row->to == RR_NO_ID)
		return false;
	return row->merges || table->states[row->to].is_attempt || table->states[row->to].has_ended;
}

static int verify_detour(struct rr_client_table *table, const struct detour *detour,
			 unsigned long most, unsigned long *n)
{
	const uint32_t attempt = detour->row->to;
	struct rr_client_run *run;
	int result;

	for (uint32_t i = 0; i < table->rows.n && *n < most; i++) {
		if (!is_last_row(table, i) || table->states[table->row[i].from].attempt != attempt)
			continue;
		++*n;
		run = rr_client_table_bring(table, rr_client_table_next_client(table),
					    detour->row->from);
		if (!run)
			return -1;
		result = take_detour(table, run, detour);
		if (result == 0)
			result = compare_row(table, run, &table->row[i]);
		rr_client_run_free(run);
		if (result)
			return result;
	}
	return 0;
}

int rr_client_table_verify(struct rr_client_table *table, unsigned long most, unsigned long *n)
{
	int result = 0;

	for (int times = 1; times <= TIMES_MAX && result == 0; times++) {
		for (uint32_t i = 0; i < table->rows.n && result == 0; i++) {
			const struct rr_client_row *row = &table->row[i];
			const struct detour detour = { row, times };

			if (row->to == RR_NO_ID || !row->merges ||
			    (times > 1 && table->states[row->from].attempt != row->to))
				continue;
			result = verify_detour(table, &detour, most, n);
		}
	}
	return result;
}

/* ---- Other random values ------------------------------------------------------------ */

/* A run with the values of another draw. */
struct drawn {
	struct rr_client_table *table;
	struct rr_program program;
	struct rr_renaming renaming;
	struct rr_client_run *run;
};

static void feed_drawn(struct drawn *drawn, struct rr_input input, int64_t passed_ns)
{
	if (input.kind == RR_INPUT_REPLY || input.kind == RR_INPUT_MESSAGE)
		input.value = rr_rename_reply(&drawn->renaming, drawn->program.terms,
					      (uint32_t)input.value);
	rr_client_run_feed(drawn->run, &input, passed_ns);
}

/* Does it, but for these values, what has that signature? */
static bool has_signature(const struct drawn *drawn, uint64_t signature)
{
	struct rr_run_view view = *rr_client_run_view(drawn->run);

	for (uint32_t i = 0; i < view.n_sent; i++)
		view.sent[i].command = rr_rename_command(&drawn->renaming, drawn->program.terms,
							 view.sent[i].command);
	return rr_run_view_signature(&view) == signature;
}

static bool follows_drawn(struct drawn *drawn, uint32_t to)
{
	const struct rr_client_state state = drawn->table->states[to];

	if (state.parent != RR_NO_ID) {
		if (!follows_drawn(drawn, state.parent))
			return false;
		feed_drawn(drawn, state.input, state.passed_ns);
	}
	return has_signature(drawn, state.signature);
}

static bool is_same_row(struct drawn *drawn, const struct rr_client_row *row)
{
	bool is_same;

	drawn->run = rr_client_run_new(&drawn->program, row->client);
	drawn->table->n_runs++;
	is_same = follows_drawn(drawn, row->from);
	if (is_same) {
		feed_drawn(drawn, row->input, row->passed_ns);
		is_same = has_signature(drawn, row->signature);
	}
	rr_client_run_free(drawn->run);
	return is_same;
}

bool rr_client_table_is_same_draw(struct rr_client_table *table, unsigned draw, unsigned long most)
{
	struct rr_terms *terms = table->program->terms;
	const size_t n_names = terms->n_names;
	struct drawn drawn = { .table = table, .program = *table->program };
	bool is_same = true;

	drawn.program.draw = draw;
	rr_renaming_add_draws(&drawn.renaming, terms, table->program->draw, draw);
	for (uint32_t i = 0; i < table->rows.n && is_same && most > 0; i++) {
		if (!is_last_row(table, i))
			continue;
		most--;
		is_same = is_same_row(&drawn, &table->row[i]);
	}
	rr_renaming_release(&drawn.renaming);
	/* Nobody else comes across these values. */
	terms->n_names = n_names;
	return is_same;
}
