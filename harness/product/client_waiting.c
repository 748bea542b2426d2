/* SPDX-License-Identifier: MIT */
/* How a client would have ended if it had not waited: histories without their loops. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "client_table.h"

/* Loops that are tried to be left out of one history. */
enum { LOOPS_TRIED = 32 };

/* Where a client was on its way, and what it received there. */
struct way {
	uint32_t n; /* inputs; states[n] is where it has ended */
	uint32_t *states;
	struct rr_input *inputs;
	int64_t *passed_ns;
};

static struct way way_to(const struct rr_client_table *table, const struct rr_client_row *row)
{
	struct way way = { .n = table->states[row->from].depth + 1 };
	uint32_t state = row->from;

	way.states = rr_calloc(way.n + 1, sizeof(*way.states));
	way.inputs = rr_calloc(way.n, sizeof(*way.inputs));
	way.passed_ns = rr_calloc(way.n, sizeof(*way.passed_ns));
	way.states[way.n] = row->to;
	way.inputs[way.n - 1] = row->input;
	way.passed_ns[way.n - 1] = row->passed_ns;
	for (uint32_t i = way.n - 1; i > 0; i--) {
		way.states[i] = state;
		way.inputs[i - 1] = table->states[state].input;
		way.passed_ns[i - 1] = table->states[state].passed_ns;
		state = table->states[state].parent;
	}
	return way;
}

static bool do_the_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_run_view one = rr_client_state_view(&table->states[a]);
	const struct rr_run_view other = rr_client_state_view(&table->states[b]);

	return rr_run_view_is_same(&one, &other);
}

/* Leaves out what the client received between two of its states. Does it do the same
 * afterwards, until it ends? If so, that is the way. */
static bool leave_out(struct rr_client_table *table, struct way *way, uint32_t from, uint32_t to)
{
	uint32_t *states = rr_calloc(way->n + 1, sizeof(*states));
	const uint32_t length = to - from;
	bool good = true;

	memcpy(states, way->states, (from + 1) * sizeof(*states));
	for (uint32_t i = to; i < way->n && good; i++) {
		const struct rr_client_row *row = rr_client_table_follow(
			table, states[i - length], &way->inputs[i], way->passed_ns[i]);

		good = row && (do_the_same(table, row->to, way->states[i + 1]) ||
			       (i + 1 == way->n && table->states[row->to].has_ended));
		if (good)
			states[i + 1 - length] = row->to;
	}
	if (good) {
		way->n -= length;
		memcpy(way->states, states, (way->n + 1) * sizeof(*states));
		memmove(&way->inputs[from], &way->inputs[to],
			(way->n - from) * sizeof(*way->inputs));
		memmove(&way->passed_ns[from], &way->passed_ns[to],
			(way->n - from) * sizeof(*way->passed_ns));
	}
	free(states);
	return good;
}

/* The shortest loop that can be left out. */
static bool leave_loop_out(struct rr_client_table *table, struct way *way, int *n_tried)
{
	for (uint32_t length = 1; length < way->n; length++) {
		for (uint32_t from = 0; from + length < way->n; from++) {
			if (!do_the_same(table, way->states[from], way->states[from + length]))
				continue;
			if (++*n_tried > LOOPS_TRIED)
				return false;
			if (leave_out(table, way, from, from + length))
				return true;
		}
	}
	return false;
}

uint32_t rr_client_table_without_waiting(struct rr_client_table *table,
					 const struct rr_client_row *row)
{
	struct way way = way_to(table, row);
	int n_tried = 0;
	uint32_t end;

	while (leave_loop_out(table, &way, &n_tried))
		;
	end = way.states[way.n];
	free(way.states);
	free(way.inputs);
	free(way.passed_ns);
	return end;
}
