/* SPDX-License-Identifier: MIT */
/* A line on stderr that tells how far a bench is; none if it is no terminal. */
#ifndef RR_PROGRESS_H
#define RR_PROGRESS_H

#include "bench.h"

struct rr_progress {
	bool visible;
	size_t index, total; /* run number, from 1 */
};

void rr_progress_init(struct rr_progress *progress, size_t total);

/* A watcher for rr_bench_run() that draws. */
struct rr_watcher rr_progress_watcher(struct rr_progress *progress);

/* Takes the line away. */
void rr_progress_clear(const struct rr_progress *progress);

#endif
