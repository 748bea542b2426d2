/* SPDX-License-Identifier: MIT */
/*
 * A results directory: runs.csv grows by a row per finished run; percentiles,
 * summary.csv and env.json describe the newest bench that wrote there. The
 * columns are explained in results/README.md.
 */
#ifndef RR_RESULTS_H
#define RR_RESULTS_H

#include <stdio.h>

#include "bench_options.h"
#include "measurement.h"

enum { RR_RUN_ID_SIZE = 32 };

/* A finished run and its place in the bench. */
struct rr_finished {
	struct rr_measurement measurement;
	long repeat;    /* from 1 */
	long order_idx; /* place in the shuffled order of its repeat, from 1 */
};

struct rr_results {
	char directory[768];
	char run_id[RR_RUN_ID_SIZE];
	int rows; /* runs.csv */
	const struct rr_bench_options *options;
	const char *transport, *placement;
	struct rr_finished **finished;
	size_t n_finished;
};

/* Makes the directory and begins runs.csv. Complains by itself, as all below. */
enum rr_exit rr_results_open(struct rr_results *results,
			     const struct rr_bench_options *options);
void rr_results_close(struct rr_results *results);

/* Takes a finished run over: appends its row, writes its percentiles. */
enum rr_exit rr_results_add(struct rr_results *results,
			    struct rr_finished *finished,
			    const struct rr_spectra *spectra);

/* Writes summary.csv. */
enum rr_exit rr_results_summarise(const struct rr_results *results);

/* Writes env.json: machine, server, build and command line. */
enum rr_exit rr_results_environment(const struct rr_results *results,
				    const struct rr_cluster *cluster,
				    const char *command_line);

/* Prints the table to `file`, a line per strategy and number of threads. */
void rr_results_table(const struct rr_results *results, FILE *file);

/* ---- Groups: repeats of one strategy in one configuration --------------------- */

enum { RR_GROUP_MAX = 1000 };

struct rr_group {
	const struct rr_measurement *members[RR_GROUP_MAX];
	size_t n;
};

/* The next group after `group` in the order of the command line; false when
 * there is none. Begin with *index = 0. */
bool rr_results_next_group(const struct rr_results *results, size_t *index,
			   struct rr_group *group);

#endif
