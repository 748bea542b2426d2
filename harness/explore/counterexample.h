/* SPDX-License-Identifier: MIT */
/* What happened in a run under the gate, as a race that `redrace play` plays
 * (docs/races.md). Only the verdict is left out: playing it finds that. */
#ifndef RR_COUNTEREXAMPLE_H
#define RR_COUNTEREXAMPLE_H

#include "explore.h"
#include "subject.h"

/* "data", then "n1", "n2", ... */
void rr_counterexample_server_name(char name[RR_SERVER_NAME], size_t server);

/* The last run's; NULL when out of memory, else the caller's to free. */
char *rr_counterexample_write(const struct rr_explore_config *config,
			  const struct rr_gate *gate,
			  const struct rr_subject_result *run);

#endif
