/* SPDX-License-Identifier: MIT */
/* What the measurements share, and the list of them. */
#ifndef RR_MEASURE_PARTS_H
#define RR_MEASURE_PARTS_H

#include "bench/bench.h"
#include "measures.h"

/* Each fills result->text and result->measured; false: it could not be taken,
 * and result->code and ->text say why. */
bool rr_measure_lost_updates(struct rr_measuring *measuring);
bool rr_measure_incr(struct rr_measuring *measuring);
bool rr_measure_torn_reads(struct rr_measuring *measuring);
bool rr_measure_own_connections(struct rr_measuring *measuring);
bool rr_measure_shared_connection(struct rr_measuring *measuring);
bool rr_measure_mutex_per_operation(struct rr_measuring *measuring);
bool rr_measure_mutex_on_connection(struct rr_measuring *measuring);
bool rr_measure_mutex_in_processes(struct rr_measuring *measuring);
bool rr_measure_lock_in_redis(struct rr_measuring *measuring);
bool rr_measure_take_over(struct rr_measuring *measuring);
bool rr_measure_stalled_getset(struct rr_measuring *measuring);
bool rr_measure_evalsha(struct rr_measuring *measuring);
bool rr_measure_pipeline_size(struct rr_measuring *measuring);
bool rr_measure_pipeline_gain(struct rr_measuring *measuring);
bool rr_measure_methods(struct rr_measuring *measuring);
bool rr_measure_persistence(struct rr_measuring *measuring);

/* The figures, as printf(); the first call sets them, later ones add. */
void rr_measure_say(struct rr_measuring *measuring, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* It could not be taken; false. */
bool rr_measure_fail(struct rr_measuring *measuring, enum rr_exit code,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Starts the server that is measured; false, with a result, when there is none. */
bool rr_measure_open(struct rr_measuring *measuring,
		     enum rr_persistence persistence);

/* `increments` under a strategy, by the bench; false: see rr_measure_fail(). */
bool rr_measure_bench(struct rr_measuring *measuring, const char *strategy,
		      int threads, int processes, long increments,
		      struct rr_measurement *measurement);

/* A connected link to the server; NULL: see rr_measure_fail(). */
struct rl_link *rr_measure_link(struct rr_measuring *measuring);

/*
 * Runs `body` in `n` threads at once, numbered from 0, each with a link of its
 * own. False: see rr_measure_fail().
 */
enum { RR_MEASURE_THREADS = 8 };
struct rr_measure_thread {
	int number;
	struct rl_link *link;
	void *context;
	bool failed; /* set by the body when a command did not work */
};
bool rr_measure_threads(struct rr_measuring *measuring, int n,
			void (*body)(struct rr_measure_thread *thread),
			void *context);

#endif
