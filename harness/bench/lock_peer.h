/* SPDX-License-Identifier: MIT */
/* Locks of other projects, run as programs of their own (harness/bench/peers/run):
 * the same counting loop, written with what people use. */
#ifndef RR_LOCK_PEER_H
#define RR_LOCK_PEER_H

#include "cluster/cluster.h"

/* Its name for harness/bench/peers/run, and how many lock servers it wants. */
struct rr_lock_peer {
	const char *name;
	size_t lock_servers;
};

struct rr_lock_peer_versions {
	char peer[128];   /* "redis-py 4.3.4" */
	char runtime[64]; /* "Python 3.11.2" */
};

/* RR_EXIT_OK; RR_EXIT_SKIPPED: not installed; RR_EXIT_USAGE: this is not the
 * project's root. Complains by itself, as the next one. */
enum rr_exit rr_lock_peer_probe(const struct rr_lock_peer *peer,
				struct rr_signals *signals,
				struct rr_lock_peer_versions *versions);

struct rr_lock_peer_run {
	const struct rr_cluster *cluster;
	const char *counter; /* a key that nobody has used yet */
	int clients;
	long increments, warmup;
};

/* RR_EXIT_OK and its increments/s; RR_EXIT_VIOLATED: the final count was not
 * exact. */
enum rr_exit rr_lock_peer_count(const struct rr_lock_peer *peer,
				const struct rr_lock_peer_run *run,
				double *per_s);

#endif
