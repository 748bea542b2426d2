/* SPDX-License-Identifier: MIT */
/*
 * A graph that is searched once more, with spans of commands as one step: a client that is
 * within its span goes on until it is over. These schedules are a part of those that are
 * known, so nothing new is asked.
 */
#ifndef RR_SPANS_H
#define RR_SPANS_H

#include "graph.h"

enum { RR_SPAN_COMMANDS = 24 }; /* of a client, at most */

/* A command, by its place in the sequence of all clients that run the same program. */
struct rr_command_slot {
	uint32_t command; /* the first that was seen; RR_NO_ID = none */
	uint8_t lane;     /* its connection */
	bool varies;      /* there are others here, or other connections */
	bool key_varies;  /* they have other first keys */
	bool is_alone;    /* it was the only thing to be done, while others were there: a step that
			   * nobody can notice may also come earlier or later */
	bool waits;       /* a client may have waited for something else before it */
};

/* From command `first` to `last`; none if they are the same. */
struct rr_span {
	size_t first, last;
};

/* Who does what in all interleavings, and which spans are one step. */
struct rr_mender {
	const struct rr_graph *graph;
	struct rr_graph mended; /* of places */
	size_t n_groups;
	size_t group[RR_PRODUCT_CLIENTS];   /* of each client: who runs the same program */
	size_t example[RR_PRODUCT_CLIENTS]; /* of each group: a client */
	struct rr_command_slot slots[RR_PRODUCT_CLIENTS][RR_SPAN_COMMANDS];
	struct rr_span spans[RR_PRODUCT_CLIENTS]; /* of each group */
	bool surveys;                             /* slots are being filled in, without spans */
	unsigned long left;                       /* states that may still be looked at */
};

/* Looks what clients do. False: too much. Release it in any case. */
bool rr_mender_init(struct rr_mender *mender, const struct rr_graph *graph);
void rr_mender_release(struct rr_mender *mender);

/* Is nothing wrong, with these spans? Then `mended` has the interleavings. */
bool rr_mender_search(struct rr_mender *mender);

static inline struct rr_server_table *rr_mender_table(const struct rr_mender *mender)
{
	return mender->graph->product->tables[0];
}

#endif
