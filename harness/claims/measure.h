/* SPDX-License-Identifier: MIT */
/*
 * Private to claims/: what is left to chance, or a matter of speed, counted and
 * timed in short runs at full speed. Such a figure proves nothing when it is
 * not the expected one: then the measurement is open. Only what holds in every
 * order of events can be broken.
 */
#ifndef RR_MEASURE_H
#define RR_MEASURE_H

#include "bench/bench.h"
#include "claims.h"
#include "cluster/cluster.h"

/* One being taken: a server of its own, and its result. */
struct rr_measuring {
	enum rr_measure measure;
	struct rr_session *session;
	const char *program;
	struct rr_cluster cluster;
	struct rdl_link *link; /* to its server */
	struct rr_job_result *result;
};

/* Starts a server, measures, ends it. Fills the result. */
void rr_measure_take(enum rr_measure measure, struct rr_session *session, const char *program,
		     struct rr_job_result *result);

/* ---- What the measurements are made of ------------------------------------------ */

/* Starts the server that is measured; false, with a result, when there is none.
 * And ends it. */
bool rr_measure_open(struct rr_measuring *measuring, enum rr_persistence persistence);
void rr_measure_close(struct rr_measuring *measuring);

/* The figures, as printf(); the first call sets them, later ones add. */
void rr_measure_say(struct rr_measuring *measuring, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What the figures come to: is it as it must be, and was what is claimed
 * seen? Of several judgements the worst counts. */
void rr_measure_judge(struct rr_measuring *measuring, bool is_right, bool was_seen);

/* It could not be taken; false. */
bool rr_measure_fail(struct rr_measuring *measuring, enum rr_exit code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* `increments` under a strategy, by the bench; false: see rr_measure_fail(). */
bool rr_measure_bench(struct rr_measuring *measuring, const char *strategy, int threads,
		      int processes, long increments, struct rr_measurement *measurement);

enum { RR_MEASURE_THREADS = 8 };
struct rr_measure_thread {
	int number;            /* from 0 */
	struct rdl_link *link; /* of its own */
	void *context;
	bool failed; /* set by the body when a command did not work */
};

/* Runs `body` in `n` threads at once. False: see rr_measure_fail(). */
bool rr_measure_threads(struct rr_measuring *measuring, int n,
			void (*body)(struct rr_measure_thread *thread), void *context);

/* ---- The measurements -------------------------------------------------------------- */

/* Each fills result->text and judges; false: it could not be taken, and
 * result->code and ->text say why. */
typedef bool rr_measurement_taken(struct rr_measuring *measuring);

/* Connections (measure_connections.c). */
rr_measurement_taken rr_measure_torn_reads, rr_measure_own_connections,
	rr_measure_shared_connection, rr_measure_mutex_on_connection, rr_measure_pipeline_size;

/* Costs (measure_costs.c). */
rr_measurement_taken rr_measure_pipeline_gain, rr_measure_evalsha, rr_measure_methods,
	rr_measure_persistence;

/* Dead locks that many take over (measure_takeover.c). */
rr_measurement_taken rr_measure_take_over, rr_measure_stalled_getset;

#endif
