/* SPDX-License-Identifier: MIT */
/*
 * What floor and peers share. Everything that is compared runs in turns within
 * each round, and figures are medians of the rounds, so that the machine's
 * moods hit all alike.
 */
#ifndef RR_BENCH_COMPARISON_H
#define RR_BENCH_COMPARISON_H

#include "base/progress.h"
#include "base/text.h"
#include "measures.h"

enum { RR_ROUNDS_MAX = 99 };

struct rr_comparison {
	const struct rr_comparison_options *options;
	struct rr_session *session;
	struct rr_cluster cluster;
	long n_runs;                 /* so far */
	struct rr_progress progress; /* of what is measured at the moment: */
	long n_measured, n_to_measure;
	enum rr_exit verdict; /* RR_EXIT_OK: counts are as promised */
	struct rr_error *error;
};

/* What is measured once in each round: a strategy, or another program. */
struct rr_series {
	const struct rr_strategy *strategy;
	/* The program, in its place: false after an error or a verdict. */
	bool (*run_program)(struct rr_comparison *comparison, struct rr_series *series,
			    double *per_s);
	const void *program; /* for run_program */
	int clients;
	long increments;
	bool is_uncounted;              /* it does not add to the counter */
	bool is_refused;                /* by the server: no figures */
	bool is_wrong;                  /* a program miscounted: no figures */
	double rates[RR_ROUNDS_MAX];    /* increments/s */
	double commands[RR_ROUNDS_MAX]; /* in each increment of a strategy */
};

/* Starts so many private servers, with everything on one processor or not.
 * Close it in any case. */
bool rr_comparison_open(struct rr_comparison *comparison,
			const struct rr_comparison_options *options, struct rr_session *session,
			size_t servers, bool pinned, struct rr_error *error);
void rr_comparison_close(struct rr_comparison *comparison);

/* All rounds of all series. False: an error, or see comparison->verdict. */
bool rr_comparison_measure(struct rr_comparison *comparison, struct rr_series *series, size_t n);

/* Medians over the rounds; they sort the figures. */
double rr_comparison_rate(const struct rr_comparison *comparison, struct rr_series *series);
double rr_comparison_commands(const struct rr_comparison *comparison, struct rr_series *series);

/* 12345.6 -> "12,346". */
const char *rr_whole(char buffer[RR_GROUPED_SIZE], double value);

/* ---- Other programs (programs.c) ----------------------------------------- */

/* A lock of another project, run by harness/bench/peers/run: the same counting
 * loop, written with what people use. */
struct rr_lock_peer {
	const char *name;
	size_t lock_servers; /* how many it wants */
};

struct rr_lock_peer_versions {
	char peer[128];   /* "redis-py 4.3.4" */
	char runtime[64]; /* "Python 3.11.2" */
};

/* Is it there? RR_ERROR_SKIPPED: not installed; RR_ERROR_USAGE: this is not the
 * project's root. */
bool rr_lock_peer_probe(const struct rr_lock_peer *peer, struct rr_signals *signals,
			struct rr_lock_peer_versions *versions, struct rr_error *error);

/* A run_program whose `program` is a struct rr_lock_peer. A wrong count is said,
 * is the verdict, and ends nothing. */
bool rr_lock_peer_run(struct rr_comparison *comparison, struct rr_series *series, double *per_s);

/* A run_program: redis-benchmark -t incr, with so many connections and
 * requests. */
bool rr_redis_benchmark_run(struct rr_comparison *comparison, struct rr_series *series,
			    double *per_s);

#endif
