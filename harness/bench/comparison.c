/* SPDX-License-Identifier: MIT */
#include "comparison.h"

#include <stdlib.h>

#include "base/machine.h"

struct rr_comparison_options rr_comparison_defaults(void)
{
	return (struct rr_comparison_options){ .redis_server = "redis-server",
					       .repeats = 5,
					       .increments = 10000 };
}

/* ---- Servers ------------------------------------------------------------- */

bool rr_comparison_open(struct rr_comparison *comparison,
			const struct rr_comparison_options *options, struct rr_session *session,
			size_t servers, bool pinned, struct rr_error *error)
{
	const struct rr_cluster_options servers_options = {
		.program = options->redis_server,
		.clock = RR_CLUSTER_REAL,
		.cpu = pinned ? rr_placement_cpu() : -1,
	};

	*comparison = (struct rr_comparison){
		.options = options,
		.session = session,
		.error = error,
	};
	return rr_cluster_open(&comparison->cluster, session, &servers_options, error) &&
	       rr_cluster_need(&comparison->cluster, servers, error);
}

void rr_comparison_close(struct rr_comparison *comparison)
{
	rr_cluster_close(&comparison->cluster);
}

/* ---- Rounds -------------------------------------------------------------- */

/* For a watcher. */
struct watched {
	struct rr_comparison *comparison;
	const struct rr_series *series;
};

/* Was the count as promised? What is expected to be lossy is let be. */
static bool accept_count(struct rr_comparison *comparison, const struct rr_measurement *m)
{
	if (m->verdict == RR_VERDICT_EXACT || m->promise != RR_EXACT)
		return true;
	comparison->verdict = rr_verdict_exit(m->verdict);
	rr_progress_end(&comparison->progress);
	rr_complain(comparison->verdict, "%s, %d clients: %s", m->strategy->name, m->threads,
		    m->remark);
	return false;
}

/* What is measured, in which of the rounds. */
static void show_round(struct rr_comparison *comparison, const struct rr_series *series)
{
	struct rr_progress *progress = &comparison->progress;
	const struct rr_lock_peer *peer = series->program;
	const char *name = series->strategy ? series->strategy->name :
			   peer             ? peer->name :
					      "redis-benchmark";

	const double share = (double)comparison->n_measured / (double)comparison->n_to_measure;

	if (rr_progress_is_due(progress))
		rr_progress_show(progress, rr_progress_left(progress, share),
				 "%ld of %ld, %s with %d client%s", comparison->n_measured + 1,
				 comparison->n_to_measure, name, series->clients,
				 series->clients == 1 ? "" : "s");
}

static void watch_round(void *context, const struct rr_run *run, uint64_t done, int64_t elapsed_ns)
{
	const struct watched *watched = context;

	(void)run;
	(void)done;
	(void)elapsed_ns;
	show_round(watched->comparison, watched->series);
}

static bool run_strategy(struct rr_comparison *comparison, struct rr_series *series, long round)
{
	struct rr_error *error = comparison->error;
	const struct rr_run run = {
		.strategy = series->strategy,
		.cluster = &comparison->cluster,
		.prefix = comparison->session->prefix,
		.threads = series->clients,
		.processes = 1,
		.increments = series->increments,
		.warmup = series->increments / 10,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	struct watched watched = { comparison, series };
	const struct rr_watcher watcher = { watch_round, &watched };
	struct rr_measurement m;

	if (rr_bench_run(&run, &comparison->session->signals, &watcher, &m, NULL, error)) {
		series->rates[round] = rr_increments_per_s(&m);
		series->commands[round] = rr_commands_per_increment(&m);
		return series->is_uncounted || accept_count(comparison, &m);
	}
	series->is_refused = rr_error_set_aside(error, RR_ERROR_SKIPPED);
	return series->is_refused;
}

bool rr_comparison_measure(struct rr_comparison *comparison, struct rr_series *series, size_t n)
{
	bool good = true;

	comparison->n_measured = 0;
	comparison->n_to_measure = comparison->options->repeats * (long)n;
	rr_progress_begin(&comparison->progress);
	for (long round = 0; round < comparison->options->repeats; round++) {
		for (size_t i = 0; good && i < n; i++) {
			struct rr_series *one = &series[i];

			comparison->n_runs++;
			show_round(comparison, one);
			if (one->run_program && !one->is_wrong)
				good = one->run_program(comparison, one, &one->rates[round]);
			else if (one->strategy && !one->is_refused)
				good = run_strategy(comparison, one, round);
			comparison->n_measured++;
		}
	}
	rr_progress_end(&comparison->progress);
	return good;
}

double rr_comparison_rate(const struct rr_comparison *comparison, struct rr_series *series)
{
	const size_t n = (size_t)comparison->options->repeats;

	return rr_statistics_of(series->rates, n, 1).median;
}

double rr_comparison_commands(const struct rr_comparison *comparison, struct rr_series *series)
{
	const size_t n = (size_t)comparison->options->repeats;

	return rr_statistics_of(series->commands, n, 1).median;
}

const char *rr_whole(char buffer[RR_GROUPED_SIZE], double value)
{
	return rr_grouped(buffer, (long long)(value + 0.5));
}
