/* SPDX-License-Identifier: MIT */
/* The graph itself, to look at: small ones. */
#ifndef RR_EXPLORE_EXPORT_H
#define RR_EXPLORE_EXPORT_H

#include "base/exit_code.h"
#include "graph.h"

/* Writes it for Graphviz, and as JSON; NULL = not. A state names what each client
 * is about to do, the counter, whose the lock is and who is inside; states that
 * fail, and the shortest way to what breaks `worst`, are marked. RR_EXIT_FILE,
 * complained of. */
enum rr_exit rr_explore_export(const struct rr_graph *graph, unsigned worst,
			       const char *dot, const char *json);

#endif
