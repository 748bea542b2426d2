/* SPDX-License-Identifier: MIT */
/*
 * What `floor` and `peers` share: their options, and runs of strategies whose
 * rates are to be compared. Everything that is compared runs in turns within
 * each round, and figures are medians of the rounds, so that the machine's
 * moods hit all alike.
 */
#ifndef RR_COMPARISON_H
#define RR_COMPARISON_H

#include <argp.h>

#include "bench.h"
#include "cluster/cluster.h"
#include "base/text.h"

enum { RR_ROUNDS_MAX = 99 };

struct rr_comparison_options {
	const char *redis_server;
	long rounds, increments;
};

/* A parser of --repeats, --increments and --redis-server for a struct
 * rr_comparison_options; others take it as a child. */
extern const struct argp rr_comparison_argp;
struct rr_comparison_options rr_comparison_defaults(void);

struct rr_comparison {
	const struct rr_comparison_options *options;
	struct rr_session *session;
	struct rr_cluster cluster;
	struct rr_measurement measurement; /* of the newest run */
	struct rr_spectra *scratch;
	enum rr_exit code;                 /* the worst so far */
};

/* Starts so many private servers, with everything on one processor or not.
 * comparison->code tells whether it worked. Close it in any case. */
void rr_comparison_open(struct rr_comparison *comparison,
			const struct rr_comparison_options *options,
			struct rr_session *session, size_t servers,
			bool pinned);
void rr_comparison_close(struct rr_comparison *comparison);

/* Can the strategy run on these servers? If not, it is named, on stderr. */
bool rr_comparison_admits(struct rr_comparison *comparison,
			  const struct rr_strategy *strategy);

/* Increments/s of one run; what goes wrong is left in comparison->code. */
double rr_comparison_rate(struct rr_comparison *comparison,
			  const struct rr_strategy *strategy, int threads,
			  long increments);

/* Sorts `values`. */
double rr_median(double *values, long n);

/* 12345.6 -> "12,346". */
const char *rr_whole(char buffer[RR_GROUPED_SIZE], double value);

#endif
