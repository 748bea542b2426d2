/* SPDX-License-Identifier: MIT */
/* What one run of one strategy came to: added up over clients, and judged. */
#ifndef RR_MEASUREMENT_H
#define RR_MEASUREMENT_H

#include "worker.h"

enum rr_verdict {
	RR_VERDICT_EXACT,        /* promised, and counted exactly */
	RR_VERDICT_LOSSY,        /* expected to lose, and lost */
	RR_VERDICT_VIOLATED,     /* promised exact, and was not */
	RR_VERDICT_INCONCLUSIVE, /* nothing shown either way */
};

/* Every duration of a run; a quarter of a megabyte. */
struct rr_spectra {
	struct rr_histogram latency; /* of a whole increment, retries and all */
	struct rr_histogram waiting; /* until it was our turn */
};

/* What is kept of them, in nanoseconds. */
struct rr_times {
	uint64_t min, p50, p90, p99, p999, max;
	double mean;
	uint64_t wait_p50, wait_p99;
};

struct rr_measurement {
	const struct rr_strategy *strategy;
	enum rr_promise promise; /* in this configuration */
	int threads, processes;
	long hold_us, ttl_ms;
	enum rr_policy policy;
	long killed, to_kill; /* workers, on purpose: seen dead, and asked for */

	uint64_t attempted, ok, failed, unknown;
	long long expected_value, final_value;
	long long lost, extra;
	uint64_t overlaps; /* entries into an occupied critical section */
	uint64_t overruns; /* critical sections that outlived the lease */
	enum rr_verdict verdict;
	const char *remark; /* why, in a few words */

	int64_t wall_ns;
	uint64_t retries, retry_max, commands;
	uint64_t thread_ops_min, thread_ops_max; /* when the first was done */
	double fairness_jain;                    /* 1 = all equal, 1/n = one */
	int64_t client_user_ns, client_sys_ns, server_cpu_ns;
	struct rr_times times;
};

/* Adds up the board, the durations into `spectra`. Final value and server time
 * are the caller's to fill. */
void rr_measurement_gather(struct rr_measurement *measurement,
			   struct rr_spectra *spectra,
			   const struct rr_run *run,
			   const struct rr_board *board);

/* Compares the count with what was promised: sets expected_value, lost, extra,
 * verdict and remark. */
void rr_measurement_judge(struct rr_measurement *measurement);

/* What a strategy promises with so many threads and processes; with one client
 * everything is exact. */
enum rr_promise rr_promise_for(const struct rr_strategy *strategy, int threads,
			       int processes);

double rr_increments_per_s(const struct rr_measurement *measurement);
double rr_commands_per_increment(const struct rr_measurement *measurement);
double rr_lost_pct(const struct rr_measurement *measurement);

/* "exact", "lossy", "violated", "inconclusive". */
const char *rr_verdict_name(enum rr_verdict verdict);

/* What the program exits with for it. */
enum rr_exit rr_verdict_exit(enum rr_verdict verdict);

#endif
