/* SPDX-License-Identifier: MIT */
#include "graph_told.h"

#include <stdlib.h>

#include "base/memory.h"

enum { TOLD_NOTHING = -1, TOLD_VARIOUS = -2 };

/* At an end, of each request. */
static void note_end(const struct rr_search *search, struct rr_told *told, uint32_t state)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	const struct rr_serial_end end = rr_serial_end_of(&search->product,
							  rr_graph_key(&search->graph, state), 0);

	for (size_t i = 0; i < told->n_requests; i++)
		told->answers[state * told->n_requests + i] =
			end.endings[i] < 0 ?
				TOLD_NOTHING :
				programs->own_ending(programs->programs, i, end.endings[i]);
}

/* What is told later is told here. Has anything changed? */
static bool take_over(struct rr_told *told, uint32_t state, uint32_t to)
{
	bool has_changed = false;

	for (size_t i = 0; i < told->n_requests; i++) {
		long *here = &told->answers[state * told->n_requests + i];
		const long there = told->answers[to * told->n_requests + i];

		if (*here == there || there == TOLD_NOTHING || *here == TOLD_VARIOUS)
			continue;
		*here = *here == TOLD_NOTHING ? there : TOLD_VARIOUS;
		has_changed = true;
	}
	return has_changed;
}

static bool look_back(const struct rr_graph *graph, struct rr_told *told)
{
	bool has_changed = false;

	for (uint32_t i = graph->n_expanded; i-- > 0;) {
		for (uint64_t e = graph->first[i]; e < graph->first[i + 1]; e++)
			has_changed |= take_over(told, i, graph->edges[e].to);
	}
	return has_changed;
}

struct rr_told rr_told_of(const struct rr_search *search)
{
	const struct rr_graph *graph = &search->graph;
	struct rr_told told = { .n_requests = search->program.n_requests };
	const size_t n = graph->states.n * told.n_requests;

	if (!n)
		return told;
	told.answers = rr_calloc(n, sizeof(*told.answers));
	for (size_t i = 0; i < n; i++)
		told.answers[i] = TOLD_NOTHING;
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (graph->flags[i] & RR_STATE_FINAL)
			note_end(search, &told, i);
	}
	while (look_back(graph, &told))
		;
	return told;
}

void rr_told_release(struct rr_told *told)
{
	free(told->answers);
}

long rr_told_answer(const struct rr_told *told, uint32_t state, size_t request)
{
	const long answer = told->answers[state * told->n_requests + request];

	return answer < 0 ? -1 : answer;
}
