/* SPDX-License-Identifier: MIT */
/* A search as a section of a page of HTML. */
#ifndef RR_EXPLORE_PAGE_H
#define RR_EXPLORE_PAGE_H

#include <stdio.h>

#include "explore.h"

/* What was printed of it; or its first line and the interleaving that fails, played,
 * beside the strategy's remedy in the same order; `transcript` NULL = nothing fails. False: see the error. */
bool rr_explore_page(FILE *page, const struct rr_explore_config *config, const char *text,
		     const char *transcript, struct rr_cluster *cluster, struct rr_error *error);

#endif
