/* SPDX-License-Identifier: MIT */
/* redrace bench: the counting loop, under each strategy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_options.h"
#include "bench/cells.h"
#include "commands.h"
#include "base/placement.h"
#include "bench/progress.h"
#include "base/random.h"
#include "bench/results.h"
#include "cluster/cluster.h"
#include "base/text.h"

struct work {
	const struct rr_bench_options *options;
	struct rr_session *session;
	struct rr_cluster *cluster;
	struct rr_results *results;
	struct rr_progress progress;
	struct rr_spectra spectra; /* of the run that has just ended */
	struct rr_cells cells;
	enum rr_exit code; /* the worst so far */
};

void rr_help_bench(void)
{
	rr_bench_options_help();
}

/* Appends one server of a list, or any other word: what stands between :// and
 * the last @ is a secret. */
static void describe_piece(FILE *file, const char *piece, size_t length)
{
	const char *secret = memmem(piece, length, "://", 3);
	const char *at = memrchr(piece, '@', length);

	if (secret && at && secret < at)
		fprintf(file, "%.*s***%.*s", (int)(secret + 3 - piece), piece,
			(int)(piece + length - at), at);
	else
		fprintf(file, "%.*s", (int)length, piece);
}

/* The command line again, passwords left out. The caller frees it. */
static char *describe_command(int argc, char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (int i = 0; file && i < argc; i++) {
		const char *word = argv[i];

		fputs(i ? " " : "", file);
		while (*word) {
			const size_t length = strcspn(word, ",");

			describe_piece(file, word, length);
			word += length;
			if (*word)
				fputc(*word++, file);
		}
	}
	if (file)
		fclose(file);
	return text;
}

/* ---- What is run ------------------------------------------------------------------- */

static void run_cell(struct work *work, const struct rr_cell *cell, long repeat,
		     long order_idx)
{
	const struct rr_bench_options *options = work->options;
	const struct rr_run run = {
		.strategy = cell->strategy,
		.cluster = work->cluster,
		.prefix = work->session->prefix,
		.threads = cell->threads,
		.processes = (int)options->processes,
		.increments = options->increments,
		.warmup = options->warmup,
		.keys = (int)options->keys,
		.ttl_ms = options->ttl_ms,
		.hold_us = options->hold_us,
		.seed = options->seed + (uint64_t)repeat,
		.policy = rr_policy_for(options->policy, cell->strategy),
		.kill_workers = options->kill_workers,
	};
	const struct rr_watcher watcher = rr_progress_watcher(&work->progress);
	struct rr_finished *finished = calloc(1, sizeof(*finished));
	enum rr_exit code;

	work->progress.index++;
	if (!finished) {
		work->code = rr_complain(RR_EXIT_INTERNAL, "out of memory");
		return;
	}
	finished->repeat = repeat;
	finished->order_idx = order_idx;
	code = rr_bench_run(&run, &work->session->signals, &watcher,
			    &finished->measurement, &work->spectra);
	rr_progress_clear(&work->progress);
	if (code == RR_EXIT_OK) {
		const enum rr_verdict verdict = finished->measurement.verdict;

		work->code = rr_exit_worse(work->code,
					   rr_verdict_exit(verdict));
		code = rr_results_add(work->results, finished, &work->spectra);
	} else {
		free(finished);
	}
	if (code == RR_EXIT_SKIPPED)
		rr_cells_refuse(&work->cells, run.strategy);
	else
		work->code = rr_exit_worse(work->code, code);
}

/* Does the bench go on after this? A verdict does not end it. */
static bool goes_on(const struct work *work)
{
	return work->code == RR_EXIT_OK || work->code == RR_EXIT_VIOLATED ||
	       work->code == RR_EXIT_INCONCLUSIVE;
}

static void run_all(struct work *work)
{
	struct rr_random random = { work->options->seed };

	rr_progress_init(&work->progress,
			 work->cells.n * (size_t)work->options->repeats);
	for (long repeat = 1; repeat <= work->options->repeats; repeat++) {
		rr_cells_shuffle(&work->cells, &random);
		for (size_t i = 0; i < work->cells.n && goes_on(work); i++) {
			if (!work->cells.all[i].is_refused)
				run_cell(work, &work->cells.all[i], repeat,
					 (long)i + 1);
		}
	}
}

/* ---- Servers ------------------------------------------------------------------------ */

static bool open_cluster(struct work *work, struct rr_error *error)
{
	const struct rr_bench_options *options = work->options;
	const bool pinned = options->pin != RR_PIN_NONE && !options->n_redis;
	size_t servers = 1;

	for (size_t i = 0; i < work->cells.n; i++) {
		const struct rr_strategy *strategy =
			work->cells.all[i].strategy;

		if (1 + strategy->lock.servers > servers)
			servers = 1 + strategy->lock.servers;
	}
	if (options->n_redis)
		return rr_cluster_open_own(work->cluster, work->session,
					   options->redis, options->n_redis,
					   (int)options->keys, error);
	return rr_cluster_open(work->cluster, work->session,
			       &(struct rr_cluster_options){
				       .program = options->redis_server,
				       .clock = RR_CLUSTER_REAL,
				       .persistence = options->persistence,
				       .cpu = pinned ? rr_placement_cpu() : -1,
			       },
			       error) &&
	       rr_cluster_need(work->cluster, servers, error);
}

/* ---- The whole --------------------------------------------------------------------- */

static void print_heading(const struct work *work)
{
	const struct rr_bench_options *options = work->options;
	char increments[RR_GROUPED_SIZE];

	printf("%s %s", rr_grouped(increments, options->increments),
	       options->increments == 1 ? "increment" : "increments");
	if (options->n_threads == 1)
		printf(", %ld %s", options->threads[0],
		       options->threads[0] == 1 ? "thread" : "threads");
	printf(", %ld %s, %ld %s, %s, pin %s", options->processes,
	       options->processes == 1 ? "process" : "processes",
	       options->repeats, options->repeats == 1 ? "repeat" : "repeats",
	       work->results->transport, work->results->placement);
	if (options->policy != RR_POLICY_BACKOFF)
		printf(", wait %s", rr_policy_names[options->policy]);
	printf(", seed %llu\n\n", (unsigned long long)options->seed);
}

/* What is done with results, finished ones of a broken-off bench included. */
static enum rr_exit report(struct work *work)
{
	enum rr_exit code;

	if (work->results->n_finished == 0)
		return RR_EXIT_SKIPPED; /* the least that kept it from rows */
	code = rr_results_summarise(work->results);
	print_heading(work);
	rr_results_table(work->results, stdout);
	printf("\nresults: %s\n", work->results->directory);
	return code;
}

/* How the clients reach the data server. */
static const char *transport(const struct rr_cluster *cluster)
{
	return rr_cluster_address(cluster, 0)->is_unix ? "unix" : "tcp";
}

static enum rr_exit run_work(struct work *work, const char *command_line,
			     struct rr_error *error)
{
	enum rr_exit code;

	rr_cells_choose(&work->cells, work->options);
	if (work->cells.n == 0)
		return RR_EXIT_SKIPPED;
	if (!open_cluster(work, error))
		return rr_exit_of(error->kind);
	code = rr_cells_drop_lacking(&work->cells, work->cluster,
				     work->session->prefix);
	if (code != RR_EXIT_OK)
		return code;
	code = rr_results_open(work->results, work->options);
	work->results->transport = transport(work->cluster);
	work->results->placement = work->cluster->options.cpu >= 0 ? "same" :
								     "none";
	if (code == RR_EXIT_OK)
		code = rr_results_environment(work->results, work->cluster,
					      command_line);
	if (code != RR_EXIT_OK)
		return code;
	run_all(work);
	return rr_exit_worse(work->code, report(work));
}

enum rr_exit rr_cmd_bench(int argc, char **argv, struct rr_error *error)
{
	char *command_line = describe_command(argc, argv);
	struct rr_bench_options options;
	struct rr_session session;
	struct rr_cluster cluster = { 0 };
	struct rr_results results = { .rows = -1 };
	struct work work = { .options = &options,
			     .session = &session,
			     .cluster = &cluster,
			     .results = &results };
	enum rr_exit code = RR_EXIT_OK;

	rr_bench_options_parse(&options, argc, argv);
	if (rr_session_open(&session, error))
		code = run_work(&work, command_line, error);
	rr_results_close(&results);
	rr_cluster_close(&cluster);
	rr_session_close(&session);
	free(command_line);
	return code;
}
