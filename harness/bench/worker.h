/* SPDX-License-Identifier: MIT */
/* A worker process: its share of a run's clients, a thread each. */
#ifndef RR_WORKER_H
#define RR_WORKER_H

#include "board.h"
#include "cluster/cluster.h"
#include "scheduler/policy.h"
#include "strategy.h"

/* One measured run of one strategy; the same for all its workers. */
struct rr_run {
	const struct rr_strategy *strategy;
	const struct rr_cluster *cluster;
	const char *prefix; /* of all keys */
	int threads;        /* in each process */
	int processes;
	long increments;    /* in total, exactly */
	long warmup;        /* in total, before the measured ones */
	int keys;           /* counters to spread them over */
	long ttl_ms;
	long hold_us;
	uint64_t seed;
	enum rr_policy policy; /* rr_policy_for(), without objection */
	long kill_workers;     /* with RR_POLICY_DELAY_QUEUE and one thread */
	const struct rl_driver *driver; /* of every link; NULL = run free */
};

/*
 * The life of worker number `process`, called in a fork: connects its clients,
 * stands at the barrier, runs their share, leaves the results on the board. One
 * that comes after a dead one goes on where that one was. Does not return.
 */
_Noreturn void rr_worker(const struct rr_run *run, struct rr_board *board,
			 int process);

#endif
