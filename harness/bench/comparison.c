/* SPDX-License-Identifier: MIT */
#include "comparison.h"

#include <stdlib.h>

#include "base/option.h"
#include "base/placement.h"
#include "cells.h"
#include "statistics.h"

enum { KEY_REDIS_SERVER = 0x100 };

/* ---- Options ---------------------------------------------------------------- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rr_comparison_options *options = state->input;

	if (key == KEY_REDIS_SERVER)
		options->redis_server = text;
	else if (key == 'r')
		options->rounds = rr_option_number(state, "--repeats", text, 1,
						   RR_ROUNDS_MAX);
	else if (key == 'n')
		options->increments = rr_option_number(
			state, "--increments", text, 100, 10000000);
	else if (key == ARGP_KEY_ARG)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': takes options only, no arguments", text);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "repeats", 'r', "N", 0, "rounds, of which medians are taken: 1 to 99 (5)",
	  0 },
	{ "increments", 'n', "N", 0,
	  "increments in each run: 100 to 10000000 (10000)",
	  0 },
	{ "redis-server", KEY_REDIS_SERVER, "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ 0 },
};

const struct argp rr_comparison_argp = {
	.options = argp_options,
	.parser = parse_option,
};

struct rr_comparison_options rr_comparison_defaults(void)
{
	return (struct rr_comparison_options){ .redis_server = "redis-server",
					       .rounds = 5,
					       .increments = 10000 };
}

/* ---- Runs --------------------------------------------------------------------- */

void rr_comparison_open(struct rr_comparison *comparison,
			const struct rr_comparison_options *options,
			struct rr_session *session, size_t servers,
			bool pinned)
{
	const struct rr_cluster_options cluster_options = {
		.program = options->redis_server,
		.clock = RR_CLUSTER_REAL,
		.cpu = pinned ? rr_placement_cpu() : -1,
	};
	struct rr_error error = { 0 };

	*comparison = (struct rr_comparison){
		.options = options,
		.session = session,
		.scratch = calloc(1, sizeof(*comparison->scratch)),
	};
	if (!comparison->scratch)
		rr_error_no_memory(&error);
	else if (rr_cluster_open(&comparison->cluster, session,
				 &cluster_options, &error))
		rr_cluster_need(&comparison->cluster, servers, &error);
	comparison->code = rr_report_error(&error);
}

void rr_comparison_close(struct rr_comparison *comparison)
{
	rr_cluster_close(&comparison->cluster);
	free(comparison->scratch);
}

bool rr_comparison_admits(struct rr_comparison *comparison,
			  const struct rr_strategy *strategy)
{
	struct rl_link *data = rl_link_new(
		&comparison->cluster.servers[0].address, RR_TIMEOUT_MS);
	bool admitted;

	if (!data) {
		comparison->code =
			rr_complain(RR_EXIT_INTERNAL, "out of memory");
		return false;
	}
	admitted = !rr_cells_is_lacking(strategy, data,
					comparison->session->prefix);
	rl_link_free(data);
	return admitted;
}

double rr_comparison_rate(struct rr_comparison *comparison,
			  const struct rr_strategy *strategy, int threads,
			  long increments)
{
	const struct rr_run run = {
		.strategy = strategy,
		.cluster = &comparison->cluster,
		.prefix = comparison->session->prefix,
		.threads = threads,
		.processes = 1,
		.increments = increments,
		.warmup = increments / 10,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	const enum rr_exit code = rr_bench_run(
		&run, &comparison->session->signals, NULL,
		&comparison->measurement, comparison->scratch);

	comparison->code = rr_exit_worse(comparison->code, code);
	return code == RR_EXIT_OK ?
		       rr_increments_per_s(&comparison->measurement) :
		       0;
}

double rr_median(double *values, long n)
{
	return rr_statistics_of(values, (size_t)n, 1).median;
}

const char *rr_whole(char buffer[RR_GROUPED_SIZE], double value)
{
	return rr_grouped(buffer, (long long)(value + 0.5));
}
