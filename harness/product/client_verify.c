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
