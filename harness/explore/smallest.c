/* SPDX-License-Identifier: MIT */
/* The smallest findings: of each invariant the schedules with the fewest transitions that
 * break it, and how many of these there are. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "explore.h"
#include "graph.h"

/* How far each state is from the beginning, and how many paths of that length lead there.
 * States have the order in which they were found: the nearest come first. */
struct distances {
	uint32_t *steps;
	uint64_t *paths;
};

static void note_broken(struct rr_smallest *smallest, unsigned broken, uint32_t steps,
			uint64_t paths)
{
	for (int bit = 0; broken >> bit && bit < RR_INVARIANTS; bit++) {
		struct rr_smallest *it = &smallest[bit];

		if (!(broken >> bit & 1) || (it->n && it->steps < steps))
			continue;
		*it = (struct rr_smallest){ steps,
					    it->n && it->steps == steps ? it->n + paths : paths };
	}
}

void rr_graph_smallest(const struct rr_graph *graph, struct rr_smallest *smallest)
{
	struct distances distances;

	if (!graph->breaks)
		return;
	distances = (struct distances){
		.steps = rr_calloc(graph->states.n, sizeof(*distances.steps)),
		.paths = rr_calloc(graph->states.n, sizeof(*distances.paths)),
	};
	distances.paths[0] = 1;
	for (uint32_t i = 0; i < graph->states.n; i++) {
		for (uint64_t j = graph->first[i]; j < rr_graph_last(graph, i); j++) {
			const uint32_t to = graph->edges[j].to;

			if (!distances.paths[to])
				distances.steps[to] = distances.steps[i] + 1;
			if (distances.steps[to] == distances.steps[i] + 1)
				distances.paths[to] += distances.paths[i];
		}
	}
	for (uint32_t i = 0; i < graph->states.n; i++) {
		const uint32_t steps = distances.steps[i];

		note_broken(smallest, rr_graph_broken_by(graph, i), steps, distances.paths[i]);
		for (uint64_t j = graph->first[i]; j < rr_graph_last(graph, i); j++)
			note_broken(smallest, graph->edges[j].broken, steps + 1,
				    distances.paths[i]);
	}
	free(distances.steps);
	free(distances.paths);
}

const char *rr_smallest_text(const struct rr_smallest smallest[RR_INVARIANTS],
			     char text[RR_SMALLEST_SIZE])
{
	FILE *file = rr_open_fixed(text, RR_SMALLEST_SIZE);

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (smallest[i].n)
			fprintf(file, "%s%s %u*%llu", ftell(file) ? ", " : "", rr_invariant_name(i),
				smallest[i].steps, (unsigned long long)smallest[i].n);
	}
	fclose(file);
	return text;
}
