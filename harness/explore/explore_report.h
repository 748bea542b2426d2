/* SPDX-License-Identifier: MIT */
/* Explores one strategy and prints what came of it. */
#ifndef RR_EXPLORE_REPORT_H
#define RR_EXPLORE_REPORT_H

#include "explore.h"

/* `save`: a file, or a folder ending in a slash, for the transcript of the
 * shortest failing schedule; NULL = nowhere. `stats`: what the search was made of,
 * too. RR_EXIT_OK: as the strategy's table expects; RR_EXIT_VIOLATED: not;
 * RR_EXIT_INCONCLUSIVE: the search was cut; RR_EXIT_INTERNAL: it contradicts what
 * it was played to show, complained of. */
enum rr_exit rr_explore_report(struct rr_cluster *cluster,
			       const struct rr_explore_config *config,
			       const char *save, bool stats);

#endif
