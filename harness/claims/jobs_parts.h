/* SPDX-License-Identifier: MIT */
/* What the files that do jobs share. */
#ifndef RR_JOBS_PARTS_H
#define RR_JOBS_PARTS_H

#include "jobs.h"
#include "cluster/cluster.h"

enum { RR_VERSION_SIZE = 40 };

/* One mapping, inherited by all workers. */
struct rr_jobs_shared {
	atomic_size_t next;
	char versions[RR_JOB_WORKERS_MAX][RR_VERSION_SIZE];
	struct rr_job_result results[];
};

/* The life of a worker, called in a fork, with a guardian of its own. Ends when
 * no job is left. */
_Noreturn void rr_jobs_work(struct rr_jobs *jobs, int worker, pid_t program,
			    const struct rr_signals *signals,
			    const struct rr_guardian *guardian);

#endif
