/* SPDX-License-Identifier: MIT */
/* redis-benchmark, the server's own measuring program, as something to be
 * compared with. */
#ifndef RR_PEER_H
#define RR_PEER_H

#include "cluster/cluster.h"

/*
 * Runs `redis-benchmark -t incr` with so many connections and requests against
 * the cluster's data server, on the cluster's processor. RR_EXIT_OK and its
 * requests per second; RR_EXIT_SKIPPED when it is not installed; else what
 * failed, complained of.
 */
enum rr_exit rr_peer_incr(const struct rr_cluster *cluster, int connections,
			  long requests, double *per_s);

#endif
