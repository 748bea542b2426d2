/* SPDX-License-Identifier: MIT */
#include "graph_answers.h"

#include <stdlib.h>

#include "base/memory.h"

enum { NO_ANSWER = -1, VARIOUS_ANSWERS = -2 };

/* At an end, of each request. */
static void note_end(const struct rr_search *search, struct rr_graph_answers *answers,
		     uint32_t state)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	const struct rr_serial_end end = rr_serial_end_of(&search->product,
							  rr_graph_key(&search->graph, state), 0);

	for (size_t i = 0; i < answers->n_requests; i++)
		answers->of[state * answers->n_requests + i] =
			end.endings[i] < 0 ?
				NO_ANSWER :
				programs->own_ending(programs->programs, i, end.endings[i]);
}

/* What is told later is told here. Has anything changed? */
static bool take_over(struct rr_graph_answers *answers, uint32_t state, uint32_t to)
{
	bool has_changed = false;

	for (size_t i = 0; i < answers->n_requests; i++) {
		long *here = &answers->of[state * answers->n_requests + i];
		const long there = answers->of[to * answers->n_requests + i];

		if (*here == there || there == NO_ANSWER || *here == VARIOUS_ANSWERS)
			continue;
		*here = *here == NO_ANSWER ? there : VARIOUS_ANSWERS;
		has_changed = true;
	}
	return has_changed;
}

static bool look_back(const struct rr_graph *graph, struct rr_graph_answers *answers)
{
	bool has_changed = false;

	for (uint32_t i = graph->n_expanded; i-- > 0;) {
		for (uint64_t e = graph->first[i]; e < graph->first[i + 1]; e++)
			has_changed |= take_over(answers, i, graph->edges[e].to);
	}
	return has_changed;
}

struct rr_graph_answers rr_graph_answers_of(const struct rr_search *search)
{
	const struct rr_graph *graph = &search->graph;
	struct rr_graph_answers answers = { .n_requests = search->program.n_requests };
	const size_t n = graph->states.n * answers.n_requests;

	if (!n)
		return answers;
	answers.of = rr_calloc(n, sizeof(*answers.of));
	for (size_t i = 0; i < n; i++)
		answers.of[i] = NO_ANSWER;
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (graph->flags[i] & RR_STATE_FINAL)
			note_end(search, &answers, i);
	}
	while (look_back(graph, &answers))
		;
	return answers;
}

void rr_graph_answers_release(struct rr_graph_answers *answers)
{
	free(answers->of);
}

long rr_graph_answers_get(const struct rr_graph_answers *answers, uint32_t state, size_t request)
{
	const long answer = answers->of[state * answers->n_requests + request];

	return answer < 0 ? -1 : answer;
}
