/* SPDX-License-Identifier: MIT */
/* The program's own look at the servers of a run: it clears the keys before,
 * reads the counters and the servers' processor time after. */
#ifndef RR_INSPECTOR_H
#define RR_INSPECTOR_H

#include "worker.h"

struct rr_inspector {
	const struct rr_run *run;
	struct rl_link *servers[RR_CLUSTER_SERVERS];
	size_t n_servers;
};

/* RR_EXIT_OK, or complained of; so are the failures of the other calls. Close
 * it in any case. */
enum rr_exit rr_inspector_open(struct rr_inspector *inspector,
			       const struct rr_run *run);

/* Deletes the run's keys, as far as servers still answer, and disconnects. */
void rr_inspector_close(struct rr_inspector *inspector);

enum rr_exit rr_inspector_clear(struct rr_inspector *inspector);

/* The sum of all counters. */
enum rr_exit rr_inspector_count(struct rr_inspector *inspector,
				long long *sum);

/* What all servers have spent so far, background threads included (INFO cpu);
 * 0 for those that do not tell. */
int64_t rr_inspector_cpu_ns(struct rr_inspector *inspector);

#endif
