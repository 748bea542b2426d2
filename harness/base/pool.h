/* SPDX-License-Identifier: MIT */
/*
 * A pool: numbered jobs, done by several worker processes, results handed to
 * the program. Nothing is shared: a job's result is one message over its
 * worker's socket, and counts when all of it has arrived.
 *
 * The protocol. Each worker calls begin() once, then run() for one job after
 * another, and end() when there is none left. What run() writes into worker->result
 * becomes the job's result when it returns true. The program gets take() once
 * for each result, or lost() for a job whose worker died at it or made no
 * progress; each job gets at most one of the two, in any order of jobs. So a
 * worker that is killed
 *  - at a job, or while it sends the result: that job is lost, nothing of it is
 *    seen;
 *  - after that: the result counts, once;
 *  - between two jobs: nobody loses anything, another one does the next.
 * In its place another worker starts, unless it never came as far as a job.
 *
 * A worker that cannot begin says why and is not replaced; the others go on.
 * Only when jobs are left that nobody can do is that an error of the whole.
 *
 * When a signal comes, workers get a SIGTERM, which they find in their signals
 * (machine.h): run() then returns false. One that does not end within
 * RR_POOL_INTERRUPTED_MS is killed, and so is one that does not get on. Nothing of the
 * pool is left when rr_pool_run() returns. What a worker starts besides
 * (servers) must end with it: a session and its guardian are opened in begin().
 */
#ifndef RR_POOL_H
#define RR_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "machine.h"
#include "processes.h"

enum {
	RR_POOL_WORKERS_MAX = 64,
	RR_POOL_END_MS = 10000,        /* for workers that were asked to end ... */
	RR_POOL_INTERRUPTED_MS = 1000, /* ... by somebody who is waiting */
	RR_POOL_NAME = 100,
};

/* A worker, as its own process sees it. */
struct rr_pool_worker {
	int number;      /* from 0; a replacement has that of the one before it */
	int socket;      /* to the program */
	void *state;     /* what begin() made of it */
	int64_t told_ns; /* when progress was told last */
	FILE *result;    /* of the job at hand: bytes */
};

struct rr_pool {
	size_t n_jobs; /* 0 to n_jobs - 1, begun in this order */
	int n_workers; /* at once; more than RR_POOL_WORKERS_MAX are so many */
	void *context;
	/* In the worker. begin() may leave something in worker->state, and
	 * false is an error; end(), if there is one, is called in any case. run():
	 * false = called off, the job is not done, and the worker ends. */
	bool (*begin)(void *context, struct rr_pool_worker *worker, struct rr_error *error);
	bool (*run)(void *context, struct rr_pool_worker *worker, size_t job);
	void (*end)(void *context, struct rr_pool_worker *worker);
	/* In the program; a worker was at the job for so many seconds. `why`: "its process was
	 * killed by signal 9 (SIGKILL)" or the like, which is also told at once when there are
	 * other jobs. */
	void (*take)(void *context, size_t job, const char *result, size_t size, double seconds);
	void (*lost)(void *context, size_t job, const char *why, double seconds);
	/* What a job is called while it runs, for the progress line and when it is lost. */
	void (*name)(void *context, size_t job, char text[RR_POOL_NAME]);
	int stall_s;      /* without progress; 0 = as long as it takes */
	const char *unit; /* what progress is counted in: "new state" */
	bool is_uneven;   /* how long jobs took says nothing of the others: no time left is shown */
};

/* ---- In the program ------------------------------------------------------- */

/*
 * Does all jobs. True: each was taken or lost. RR_ERROR_INTERRUPTED: a signal
 * came and some were not begun or not finished. Other errors: nobody could do
 * the rest. Progress is shown on stderr when that is a terminal.
 */
bool rr_pool_run(const struct rr_pool *pool, struct rr_signals *signals, struct rr_error *error);

/* ---- In a worker ---------------------------------------------------------- */

/* The job gets on: `n` units of it are done. Cheap: most calls tell nobody. */
void rr_pool_progress(struct rr_pool_worker *worker, unsigned long n);

#endif
