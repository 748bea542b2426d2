/* SPDX-License-Identifier: MIT */
/* How large searches get, and how fast the explorer is. */
#include <stdio.h>

#include "base/machine.h"
#include "base/text.h"
#include "report.h"

static const struct row {
	const char *name;
	size_t n_clients;
	long increments;
} rows[] = {
	{ "none", 4, 2 },        { "lua-delifequals", 4, 2 }, { "multi-watch", 4, 1 },
	{ "multi-watch", 4, 2 }, { "redlock", 2, 1 },
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- A limit -------------------------------------------------------------- */

struct limit {
	struct rr_signals *signals;
	double end_s; /* when it is to be given up */
	struct rr_explore_progress progress;
};

static bool is_within_limit(void *context, unsigned long states, double share)
{
	struct limit *limit = context;

	return rr_explore_progress(&limit->progress, states, share) && rr_clock_s() < limit->end_s;
}

/* ---- The table ------------------------------------------------------------ */

static void print_floor_head(void)
{
	printf("Searches of all states, on one processor\n\n"
	       "%-16s %7s %10s %12s %12s %10s %13s %10s\n",
	       "strategy", "clients", "increments", "states", "transitions", "questions",
	       "transitions/s", "time");
}

/* The time is that of the whole, with checks and mutants. */
static void print_floor_row(const struct row *row, const struct rr_explore_result *result)
{
	const double per_second = result->stats.searching > 0 ?
					  (double)result->transitions / result->stats.searching :
					  0;
	char states[RR_GROUPED_SIZE], transitions[RR_GROUPED_SIZE];
	char questions[RR_GROUPED_SIZE], rate[RR_GROUPED_SIZE];

	printf("%-16s %7zu %10ld %12s %12s %10s %13s %8.2f s%s\n", row->name, row->n_clients,
	       row->increments, rr_grouped(states, (long long)result->states),
	       rr_grouped(transitions, (long long)result->transitions),
	       rr_grouped(questions, (long long)result->stats.questions),
	       rr_grouped(rate, (long long)per_second), result->seconds,
	       result->explored == RR_EXPLORED_STOPPED ? ", not finished" : "");
	fflush(stdout);
}

static bool search_row(struct rr_cluster *cluster, const struct row *row, long limit_s,
		       struct rr_error *error)
{
	struct limit limit = { .signals = &cluster->session->signals,
			       .end_s = rr_clock_s() + (double)limit_s,
			       .progress = { .signals = &cluster->session->signals,
					     .name = row->name,
					     .unit = "states" } };
	const struct rr_explore_config config = {
		.strategy = rr_strategy_find(row->name),
		.n_clients = row->n_clients,
		.increments = row->increments,
		.rounds = 2,
		.ttl_ms = 10000,
		.progress = is_within_limit,
		.context = &limit,
	};
	struct rr_explore_result result;
	const bool good = rr_explore(cluster, &config, &result);

	rr_progress_end(&limit.progress.line);
	if (limit.signals->interrupted)
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
	else if (!good)
		rr_error_set(error, result.error.kind, "%s: %s", row->name, result.error.text);
	else
		print_floor_row(row, &result);
	rr_explore_release(&result);
	return !error->kind;
}

/* ---- The whole ------------------------------------------------------------ */

bool rr_explore_floor(struct rr_session *session, const char *redis_server, long limit_s,
		      struct rr_error *error)
{
	const struct rr_cluster_options cluster_options = {
		.program = redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = rr_placement_cpu(),
	};
	struct rr_cluster cluster;
	bool good;

	rr_placement_settle(cluster_options.cpu);
	good = rr_cluster_open(&cluster, session, &cluster_options, error);
	if (good)
		print_floor_head();
	for (size_t i = 0; i < N_ROWS && good; i++)
		good = search_row(&cluster, &rows[i], limit_s, error);
	rr_cluster_close(&cluster);
	return good;
}
