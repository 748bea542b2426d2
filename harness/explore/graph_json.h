/* SPDX-License-Identifier: MIT */
/* Private to graph_json.c and graph_transitions.c: a graph that is being written as JSON, and
 * its tables. */
#ifndef RR_GRAPH_JSON_H
#define RR_GRAPH_JSON_H

#include <jansson.h>

#include "compare/compare.h"
#include "naming.h"
#include "play/play.h"
#include "search.h"

/* JSON values that stand in a table once and are named by their numbers. */
struct graph_table {
	json_t *all, *numbers;
};

/* What each request of an app is told, by states of the graph: the answer that it has at all
 * ends which can be reached from there. Of a state in which it is answered there is but one,
 * since histories with other answers are other states. */
struct graph_answers {
	size_t n_requests; /* 0 = the clients are no requests */
	long *of;          /* of each state; what describe_request() is asked for */
};

struct graph_writer {
	struct rr_search *search;
	struct rr_naming naming;
	struct rr_contents contents[2];
	struct rr_recorder recorder;
	struct rr_trace trace;        /* of the recorder's race */
	struct graph_answers answers; /* answers to requests of an app */
	json_t *steps;                /* of the transition that is looked at, and */
	uint32_t to;                  /* the state that it leads to */
	struct graph_table servers, clients, transitions;
	json_t *known;            /* numbers in tables by what they were made of */
	struct rr_intern sources; /* what transitions were made of, and */
	json_t **transition_of;   /* their numbers in the table, by those of `sources` */
};

/* The number of `item`, which it takes. */
json_t *graph_put(struct graph_table *table, json_t *item);

/* -1: it has none, or not the same one at all ends. */
long graph_answer(const struct graph_answers *answers, uint32_t state, size_t request);

/* False: there are too many clients. */
bool graph_begin_steps(struct graph_writer *writer);

/* Whose steps there are, by the names that steps have: a name and the number of its client. */
json_t *graph_lanes(const struct graph_writer *writer);

/* The number of an edge's transition, with the state that it leads from and to. */
json_t *graph_transition(struct graph_writer *writer, const uint32_t *key,
			 const struct rr_edge *edge, uint32_t to);

#endif
