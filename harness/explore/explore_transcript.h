/* SPDX-License-Identifier: MIT */
/* A way through the graph as a race: a transcript that `redrace play` plays. */
#ifndef RR_EXPLORE_TRANSCRIPT_H
#define RR_EXPLORE_TRANSCRIPT_H

#include "graph.h"

/* Without its verdict; malloc'd, NULL when out of memory. */
char *rr_explore_transcript(const struct rr_product *product,
			    const struct rr_scripts *scripts,
			    const struct rr_actions *actions);

#endif
