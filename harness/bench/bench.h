/* SPDX-License-Identifier: MIT */
/* Runs one strategy once: servers, workers, barrier, result. */
#ifndef RR_BENCH_H
#define RR_BENCH_H

#include "measurement.h"

/* Told about four times a second while clients count. */
struct rr_watcher {
	void (*watch)(void *context, const struct rr_run *run,
		      const struct rr_board *board, int64_t elapsed_ns);
	void *context;
};

/*
 * Runs it and judges it. Complaints are printed. RR_EXIT_OK: `measurement` and
 * `spectra` are filled, whatever the verdict; RR_EXIT_INTERRUPTED: called off by a signal;
 * anything else: the run failed. The run's keys are deleted in any case where
 * the server still answers. `watcher` may be NULL.
 */
enum rr_exit rr_bench_run(const struct rr_run *run, struct rr_signals *signals,
			  const struct rr_watcher *watcher,
			  struct rr_measurement *measurement,
			  struct rr_spectra *spectra);

#endif
