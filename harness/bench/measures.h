/* SPDX-License-Identifier: MIT */
/* Durations and figures, and what is said of a count: for the files of this folder. */
#ifndef RR_MEASURES_H
#define RR_MEASURES_H

#include "bench.h"

/* ---- Durations and repeated figures -------------------------------------- */

/*
 * Durations counted in a log-linear histogram: every recorded value is known
 * to three significant digits (better than 1 in 1024), from 1 ns to 18 minutes,
 * in constant memory. No pointers inside, so it may lie in shared memory.
 */
enum {
	RR_HISTOGRAM_SUB_BITS = 10,
	RR_HISTOGRAM_TOP_BIT = 40, /* from 2^40 ns on, 2^40 - 1 counts */
	RR_HISTOGRAM_BUCKETS = (RR_HISTOGRAM_TOP_BIT - RR_HISTOGRAM_SUB_BITS + 1)
			       << RR_HISTOGRAM_SUB_BITS,
};

struct rr_histogram {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* exact; 0 while empty */
	uint64_t max_ns; /* exact */
	uint32_t buckets[RR_HISTOGRAM_BUCKETS];
};

void rr_histogram_record(struct rr_histogram *histogram, uint64_t value_ns);
void rr_histogram_merge(struct rr_histogram *into, const struct rr_histogram *from);

/* The smallest recorded value (its bucket's upper end, at most the maximum)
 * that at least `quantile` (0 to 1) of all values do not exceed. 0 if empty. */
uint64_t rr_histogram_quantile(const struct rr_histogram *histogram, double quantile);

double rr_histogram_mean(const struct rr_histogram *histogram);

/* Is that quantile more than an accident: are RR_QUANTILE_BEYOND values at least as large? */
enum { RR_QUANTILE_BEYOND = 100 };
bool rr_histogram_knows(const struct rr_histogram *histogram, double quantile);

/*
 * The same durations weighted by themselves. A client that hogs a lock records many short ones
 * while each client that waits records one long one; weighted by time both count alike. The first
 * fills in, for each bucket, which share (0 to 1) of all time was spent in longer durations than
 * those of it; the second returns the value below which that share of all time lies.
 */
void rr_histogram_time_longer(const struct rr_histogram *histogram,
			      double longer[RR_HISTOGRAM_BUCKETS]);
uint64_t rr_histogram_time_quantile(const struct rr_histogram *histogram, double share);

/* Returns the bucket of a value below 2^RR_HISTOGRAM_TOP_BIT. */
size_t rr_histogram_index(uint64_t value);

/* Bounds of bucket `index`: the lowest and highest value that counts there. */
uint64_t rr_histogram_lowest(size_t index);
uint64_t rr_histogram_highest(size_t index);

/* Repeats of one figure, summed up. */
struct rr_statistics {
	size_t n;
	double median, min, max;
	double low, high;    /* the interval of the median, or min and max */
	double coverage_pct; /* of that interval; 0: they are a range */
};

/*
 * The interval of a median by order statistics: from the rank-th smallest of n independent values to
 * the rank-th largest, without any assumption about how they are distributed. Returns its coverage
 * in per cent, 95 at least; 0 with five values or fewer, whose least and largest are a range.
 */
double rr_interval_of(size_t n, size_t *rank);

/* Of two doubles, for qsort(3). */
int rr_by_value(const void *a, const void *b);

/* Sorts `values`. n > 0. */
struct rr_statistics rr_statistics_of(double *values, size_t n);

/* Every duration of a run; three eighths of a megabyte. */
struct rr_spectra {
	struct rr_histogram latency; /* of a whole increment, retries and all */
	struct rr_histogram waiting; /* until it was our turn */
	struct rr_histogram wake;    /* an open loop: how late a client woke for an arrival */
};

/* ---- The machine meanwhile (disturbance.c) ---------------------------------- */

/* Counters of the machine; -1 = not known. */
struct rr_machine_look {
	int64_t now_ns, busy_ns, steal_ns, throttled, frequency_khz;
};

void rr_machine_look(struct rr_machine_look *look);

/* Adds the time between two looks, `ours_ns` of it used by clients and servers of the run; -1: that
 * is not known. A disturbance begins as zeros. */
void rr_disturbance_add(struct rr_disturbance *disturbance, const struct rr_machine_look *before,
			const struct rr_machine_look *after, int64_t ours_ns);

void rr_disturbance_merge(struct rr_disturbance *into, const struct rr_disturbance *from);

/* Of the time of all processors; -1 = not known. */
double rr_disturbance_steal_pct(const struct rr_disturbance *disturbance);
double rr_disturbance_others_pct(const struct rr_disturbance *disturbance);

/* Returns whether figures suffer: more than 1 % was stolen, other programs used more than 10 %, the
 * frequency changed by more than 5 %, or the control group was throttled. */
bool rr_disturbance_matters(const struct rr_disturbance *disturbance);

/* ---- Open loops ------------------------------------------------------------ */

/*
 * Returns whether the rate was sustained: of the arrivals that were not refused at most 1 % were
 * unfinished at the end of the window, and their number did not grow in its second half. A backlog
 * comes and goes; it has grown if there are more by a quarter of a per cent of the arrivals and by
 * more than one for each client.
 */
bool rr_is_sustained(uint64_t offered, uint64_t refused, uint64_t halfway, uint64_t unfinished,
		     size_t clients);

/* ---- Counts --------------------------------------------------------------- */

/* Compares the count with what was promised: sets expected_value, lost, extra,
 * verdict and remark. */
void rr_measurement_judge(struct rr_measurement *measurement);

/* What a strategy promises with so many threads and processes; with one client
 * everything is exact. */
enum rr_promise rr_promise_for(const struct rr_strategy *strategy, int threads, int processes);

/* Of all commands, those of refused attempts too, per increment that was done. */
double rr_commands_per_increment(const struct rr_measurement *measurement);
double rr_failed_pct(const struct rr_measurement *measurement);
double rr_lost_pct(const struct rr_measurement *measurement);

/* "exact", "lossy", "violated", "inconclusive", "stuck", "lost-by-fail-over". */
const char *rr_verdict_name(enum rr_verdict verdict);

#endif
