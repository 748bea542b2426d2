/* SPDX-License-Identifier: MIT */
/* Private to report/: the part of a search's graph that a level shows (game_graph.c), and
 * how it is written into the page (game_rows.c). */
#ifndef RR_GAME_GRAPH_H
#define RR_GAME_GRAPH_H

#include <jansson.h>

#include "levels.h"

struct shown_edge {
	uint32_t to;
	json_int_t transition, broken;
};

/* How many schedules go on, and how many of them break something. */
struct count {
	uint64_t all, bad;
};

struct shown_state {
	uint32_t state; /* in the graph */
	unsigned flags;
	size_t first, n; /* of its edges */
	struct count count;
};

struct shown_graph {
	const struct rr_level *level;
	json_t *graph;
	uint32_t *numbers; /* shown states by those of the graph, two each: is it over? */
	struct shown_state *states;
	size_t n_states;
	struct shown_edge *edges;
	size_t n_edges;
	json_t *before; /* transitions that lead to the beginning */
	struct rr_error *error;
};

/* Puts what is shown into shown->graph, and leaves out of its tables what is not. */
void rr_shown_put_states(struct shown_graph *shown);

#endif
