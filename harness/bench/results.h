/* SPDX-License-Identifier: MIT */
/*
 * A results directory: runs.csv grows by a row per finished run; percentiles,
 * summary.csv and env.json describe the newest bench that wrote there. The
 * columns are explained in results/README.md.
 */
#ifndef RR_BENCH_RESULTS_H
#define RR_BENCH_RESULTS_H

#include <jansson.h>
#include <stdio.h>

#include "base/cases.h"
#include "base/files.h"
#include "measures.h"

enum { RR_RUN_ID_SIZE = 32 };

/* A finished run and its place in the bench. */
struct rr_finished {
	struct rr_measurement measurement;
	long repeat;    /* from 1 */
	long order_idx; /* place in the shuffled order of its repeat, from 1 */
};

/* The durations of all repeats of a strategy in one configuration. */
struct rr_pool {
	struct rr_run run;
	struct rr_histogram latency;
};

struct rr_results {
	char directory[768];
	char run_id[RR_RUN_ID_SIZE];
	int rows; /* runs.csv */
	const struct rr_bench_options *options;
	const char *transport, *placement;
	struct rr_finished **finished;
	size_t n_finished;
	struct rr_pool **pools;
	size_t n_pools;
	struct rr_histogram wake;          /* of all open loops: how late clients woke */
	struct rr_disturbance disturbance; /* of all runs */
	json_t *environment;               /* env.json */
};

/* Makes the directory and begins runs.csv. `data` is where the data server is
 * found. Close it in any case. */
bool rr_results_open(struct rr_results *results, const struct rr_bench_options *options,
		     const struct rr_cluster *cluster, const struct rdl_address *data,
		     struct rr_error *error);
void rr_results_close(struct rr_results *results);

/* Takes a finished run over, whatever comes of it: appends its row, writes its
 * percentiles. */
bool rr_results_add(struct rr_results *results, struct rr_finished *finished,
		    const struct rr_spectra *spectra, struct rr_error *error);

/* Writes who was in the critical section when. */
bool rr_results_trace(const struct rr_results *results, const struct rr_finished *finished,
		      const struct rr_holds *trace, struct rr_error *error);

/* Writes the spectrum of one repeat, or with 0 of all repeats pooled. */
bool rr_results_spectrum(const struct rr_results *results, const struct rr_run *run, long repeat,
			 const struct rr_histogram *latency, struct rr_error *error);

/* Writes summary.csv, simple.csv and pooled spectra. */
bool rr_results_summarise(const struct rr_results *results, struct rr_error *error);

/* Prints a sentence about a disturbance; and returns it as JSON (disturbance.c). */
void rr_disturbance_print(const struct rr_disturbance *disturbance, FILE *file);
json_t *rr_disturbance_as_json(const struct rr_disturbance *disturbance);

/* Writes env.json again, with the disturbances of all runs. */
bool rr_results_disturbance(struct rr_results *results, struct rr_error *error);

/* Writes env.json: machine, server, build and command line. */
bool rr_results_environment(struct rr_results *results, const struct rr_cluster *cluster,
			    const char *command_line, struct rr_error *error);

/* Prints the table to `file`, a line per strategy and number of threads. */
void rr_results_table(const struct rr_results *results, FILE *file);

/* Prints beneath it what fail-overs did, a line per run. */
void rr_results_fail_overs(const struct rr_results *results, FILE *file);

/* Adds them to the cases, one per strategy and number of threads. */
void rr_results_as_cases(const struct rr_results *results, struct rr_cases *cases);

/* Makes a folder of the directory. A symbolic link in its place is refused: it might lead
 * anywhere. */
bool rr_results_make_folder(const struct rr_results *results, const char *name,
			    struct rr_error *error);

/* Replaces a file of the directory by the draft; and one of a run's own, in a folder of it;
 * repeat 0: of all its repeats. */
bool rr_results_replace(const struct rr_results *results, const char *name, struct rr_draft *draft,
			struct rr_error *error);
bool rr_results_replace_own(const struct rr_results *results, const struct rr_run *run, long repeat,
			    const char *folder, struct rr_draft *draft, struct rr_error *error);

#endif
