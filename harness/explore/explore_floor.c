/* SPDX-License-Identifier: MIT */
#include "explore_floor.h"

#include <stdio.h>
#include <time.h>

#include "explore.h"
#include "scheduler/gate.h"
#include "base/placement.h"
#include "base/text.h"

static const struct row {
	const char *name;
	size_t n_clients;
	long increments;
} rows[] = {
	{ "none", 4, 2 },
	{ "lua-delifequals", 4, 2 },
	{ "multi-watch", 4, 1 },
	{ "multi-watch", 4, 2 },
	{ "redlock", 2, 1 },
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- A limit -------------------------------------------------------------- */

struct limit {
	struct rr_signals *signals;
	double end_s; /* when it is to be given up */
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool goes_on(void *context, unsigned long states, double share)
{
	const struct limit *limit = context;

	(void)states;
	(void)share;
	rr_signals_wait(limit->signals, 0);
	return !limit->signals->interrupted && now_s() < limit->end_s;
}

/* ---- The table ------------------------------------------------------------ */

static void print_head(void)
{
	printf("Searches of all states, on one processor\n\n"
	       "%-16s %7s %10s %12s %12s %10s %13s %10s\n",
	       "strategy", "clients", "increments", "states", "transitions",
	       "questions", "transitions/s", "time");
}

/* The time is that of the whole, with checks and mutants. */
static void print_row(const struct row *row,
		      const struct rr_explore_result *result)
{
	const double per_second =
		result->stats.searching > 0 ?
			(double)result->transitions / result->stats.searching :
			0;
	char states[RR_GROUPED_SIZE], transitions[RR_GROUPED_SIZE];
	char questions[RR_GROUPED_SIZE], rate[RR_GROUPED_SIZE];

	printf("%-16s %7zu %10ld %12s %12s %10s %13s %8.2f s%s\n", row->name,
	       row->n_clients, row->increments,
	       rr_grouped(states, (long long)result->states),
	       rr_grouped(transitions, (long long)result->transitions),
	       rr_grouped(questions, (long long)result->stats.questions),
	       rr_grouped(rate, (long long)per_second), result->seconds,
	       result->explored == RR_EXPLORED_STOPPED ? ", not finished" : "");
	fflush(stdout);
}

static enum rr_exit show_row(struct rr_cluster *cluster, const struct row *row,
			     long limit_s)
{
	struct limit limit = { .signals = &cluster->session->signals,
			       .end_s = now_s() + (double)limit_s };
	const struct rr_explore_config config = {
		.strategy = rr_strategy_find(row->name),
		.n_clients = row->n_clients,
		.increments = row->increments,
		.rounds = 2,
		.ttl_ms = 10000,
		.progress = goes_on,
		.context = &limit,
	};
	struct rr_explore_result result;
	enum rr_exit code = rr_explore(cluster, &config, &result);

	if (limit.signals->interrupted)
		code = RR_EXIT_INTERRUPTED;
	else if (code != RR_EXIT_OK)
		rr_complain(code, "%s: %s", row->name, result.error);
	else
		print_row(row, &result);
	rr_explore_release(&result);
	return code;
}

/* ---- The whole ------------------------------------------------------------ */

static enum rr_exit show(struct rr_cluster *cluster, long limit_s)
{
	enum rr_exit code = RR_EXIT_OK;

	print_head();
	for (size_t i = 0; i < N_ROWS && code == RR_EXIT_OK; i++)
		code = show_row(cluster, &rows[i], limit_s);
	return code;
}

enum rr_exit rr_explore_floor(struct rr_session *session,
			      const struct rr_explore_floor_options *options)
{
	const struct rr_cluster_options cluster_options = {
		.program = options->redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = rr_placement_cpu(),
	};
	char error[RR_CLUSTER_ERROR];
	struct rr_cluster cluster;
	enum rr_exit code;

	rr_gate_settle(cluster_options.cpu);
	code = rr_cluster_open(&cluster, session, &cluster_options, error);
	if (code == RR_EXIT_OK)
		code = show(&cluster, options->limit_s);
	else
		rr_complain(code, "%s", error);
	rr_cluster_close(&cluster);
	return code;
}
