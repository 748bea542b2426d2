/* SPDX-License-Identifier: MIT */
/* What a way through the graph consists of, to be played for real: the clients' own
 * code and real servers must do what the tables say (rr_execution_replay()). */
#ifndef RR_LIVE_H
#define RR_LIVE_H

#include "graph.h"

/* The actions that a way consists of; release actions->all. False: it is no way of
 * the product (product->error, or an edge that is not there). */
bool rr_live_actions(struct rr_product *product, const struct rr_graph *graph,
		     const struct rr_way *way, struct rr_actions *actions);

#endif
