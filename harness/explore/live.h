/* SPDX-License-Identifier: MIT */
/*
 * A way through the graph, played for real: the clients' own code, all of them at
 * once, and real servers. What each move consists of is done in its order; every
 * reply, and all that clients do next, must be what the tables say.
 */
#ifndef RR_LIVE_H
#define RR_LIVE_H

#include "graph.h"

struct rr_live;

/* Servers 0 to n_servers - 1 of `cluster`, of which the tables' own askers are not in
 * use meanwhile. NULL and a message. */
struct rr_live *rr_live_new(struct rr_cluster *cluster,
			    const struct rr_product *product,
			    const struct rr_scripts *scripts,
			    char error[RR_CLUSTER_ERROR]);
void rr_live_free(struct rr_live *live);

/* The actions that a way consists of; release actions->all. False: it is no way of
 * the product (product->error, or an edge that is not there). */
bool rr_live_actions(struct rr_product *product, const struct rr_graph *graph,
		     const struct rr_way *way, struct rr_actions *actions);

/* Plays them from the beginning. RR_EXIT_OK; RR_EXIT_INTERNAL and what differs; or
 * RR_EXIT_REDIS. */
enum rr_exit rr_live_play(struct rr_live *live,
			  const struct rr_actions *actions,
			  char error[RR_CLUSTER_ERROR]);

#endif
