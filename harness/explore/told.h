/* SPDX-License-Identifier: MIT */
/*
 * A part of the graph, as a reader is told of it: from a state that some moves lead to,
 * without the faults that are left out, and with each transition in words.
 */
#ifndef RR_TOLD_H
#define RR_TOLD_H

#include <jansson.h>

#include "contents.h"
#include "search.h"

/* Bits of a state. */
enum {
	RR_TOLD_FINAL = 1, /* all have ended or crashed */
	RR_TOLD_WRONG = 2, /* and the count is wrong */
	RR_TOLD_STUCK = 4, /* not everybody can end any more */
	RR_TOLD_OVER = 8   /* something has broken, and no more is told */
};

struct rr_told_edge {
	uint32_t to, move;
	unsigned broken;
};

/* How many ways go on from a state to an end, and how many of them break something.
 * Capped: so many or more. */
#define RR_WAYS_MAX ((UINT64_C(1) << 53) - 1)

struct rr_ways {
	uint64_t all, bad;
};

struct rr_told_state {
	uint32_t state; /* in the graph */
	unsigned flags;
	size_t first, n; /* of its edges */
	struct rr_ways ways;
};

/* A random value as it stands in commands, and what it is called. */
struct rr_told_token {
	char hex[2 * RR_RANDOM_BYTES + 1], name[16];
	size_t length;
};

struct rr_told {
	struct rr_search *explorer;
	struct rr_told_token *tokens;
	size_t n_tokens;
	const struct rr_graph *graph;
	const struct rr_told_config *config;
	struct rr_intern numbers; /* of states that are told */
	struct rr_told_state *states;
	size_t n_states;
	struct rr_told_edge *edges;
	size_t n_edges;
	struct rr_actions actions; /* of the state that is looked at */
	json_t *moves;             /* each once */
	json_t *lookup;            /* their numbers by what they are, written down */
	json_t *before;            /* moves that lead to the beginning */
	struct rr_error *error;
};

/* ---- Words (told_words.c) --------------------------------------------------- */

/* What a transition is called: as in a schedule for redrace play, if that has such a
 * word. */
enum { RR_TOLD_CUE = 80 };
void rr_told_cue(const struct rr_told *told, struct rr_transition transition,
		 char cue[RR_TOLD_CUE]);

/* The move that told->actions make of a transition to a state of the graph: its cue,
 * what is said before it is done, and what happens. NULL: out of memory. */
json_t *rr_told_move(const struct rr_told *told, struct rr_transition transition, const char *cue,
		     uint32_t to);

/* Fills told->tokens. False: out of memory. */
bool rr_told_name_tokens(struct rr_told *told);

/* A copy in which random values and scripts have names; malloc'd, NULL = no memory. */
char *rr_told_tidy(const struct rr_told *told, const char *text);

/* ---- Ways (told_ways.c) ------------------------------------------------------ */

/* False: out of memory. */
bool rr_told_count(struct rr_told *told);

/* ---- JSON (told_json.c) ------------------------------------------------------- */

/* NULL: told->error. */
json_t *rr_told_json(struct rr_told *told);

#endif
