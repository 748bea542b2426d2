/* SPDX-License-Identifier: MIT */
/* What the machine allows, and how near each strategy comes. */
#include <stdio.h>
#include <stdlib.h>

#include "comparison.h"

static const int connections[] = { 1, 2, 8, 50 };

enum {
	MANY_THREADS = 8,
	N_CONNECTIONS = sizeof(connections) / sizeof(connections[0]),
};

static const char *placement(const struct rr_comparison *comparison)
{
	return comparison->cluster.options.cpu < 0 ? "none" : "same";
}

/* ---- INCR beside redis-benchmark ----------------------------------------- */

static bool compare_incr(struct rr_comparison *comparison, int n)
{
	const long requests = comparison->options->increments * 5;
	struct rr_series series[] = {
		{ .strategy = rr_strategy_find("incr"), .clients = n, .increments = requests },
		{ .run_program = rr_redis_benchmark_run, .clients = n, .increments = requests },
	};
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	double ours, theirs;

	if (!rr_comparison_measure(comparison, series, 2))
		return false;
	ours = rr_comparison_rate(comparison, &series[0]);
	theirs = rr_comparison_rate(comparison, &series[1]);
	printf("%11d  %12s  %15s  %6.2f\n", n, rr_whole(left, ours), rr_whole(right, theirs),
	       ours / theirs);
	fflush(stdout);
	return true;
}

static bool show_incr(struct rr_comparison *comparison)
{
	bool good = true;

	printf("incr against redis-benchmark -t incr, per second, pin %s\n\n",
	       placement(comparison));
	printf("%11s  %12s  %15s  %6s\n", "connections", "redrace", "redis-benchmark", "ratio");
	for (size_t i = 0; good && i < N_CONNECTIONS; i++)
		good = compare_incr(comparison, connections[i]);
	printf("\n");
	return good;
}

/* ---- Strategies beside their floor --------------------------------------- */

/* A round trip and nothing else. */
static enum rl_outcome ping(struct rr_client *client)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "PING");
}

static const struct rr_strategy ping_strategy = {
	.name = "ping",
	.cost.round_trips = 1,
	.increment = ping,
};

/* A PING, then each strategy that the server has all commands for, with one
 * client and with many. Their number. */
static size_t choose_series(struct rr_comparison *comparison, struct rr_series *series)
{
	const struct rr_comparison_options *options = comparison->options;
	size_t n = 0;

	series[n].strategy = &ping_strategy;
	series[n++].is_uncounted = true;
	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *strategy = rr_strategies[i];

		if ((!options->all && !strategy->is_basic) ||
		    !rr_bench_can_run(strategy, &comparison->cluster, comparison->session->prefix))
			continue;
		series[n++].strategy = strategy;
		series[n] = series[n - 1];
		series[n++].clients = MANY_THREADS;
	}
	for (size_t i = 0; i < n; i++) {
		series[i].increments = options->increments;
		if (series[i].clients == 0)
			series[i].clients = 1;
	}
	return n;
}

static void print_floor(const struct rr_comparison *comparison, struct rr_series *series, size_t n)
{
	const double pings = rr_comparison_rate(comparison, &series[0]);

	printf("Strategies against their floor, pin %s: one round trip takes %.1f us\n\n",
	       placement(comparison), 1e6 / pings);
	printf("%-20s %11s  %8s  %8s  %8s  %9s  %11s  %12s\n", "strategy", "round trips", "floor/s",
	       "1 thread", "of floor", "8 threads", "of 1 thread", "commands/inc");
	for (size_t i = 1; i < n; i += 2) {
		const struct rr_strategy *strategy = series[i].strategy;
		const unsigned trips = strategy->cost.round_trips;
		const double one = rr_comparison_rate(comparison, &series[i]);
		const double many = rr_comparison_rate(comparison, &series[i + 1]);
		char a[RR_GROUPED_SIZE], b[RR_GROUPED_SIZE], c[RR_GROUPED_SIZE];

		if (series[i].is_refused || series[i + 1].is_refused)
			continue;
		printf("%-20s %11u  %8s  %8s  %8.2f  %9s  %11.2f  %12.1f\n", strategy->name, trips,
		       rr_whole(a, pings / trips), rr_whole(b, one), one * trips / pings,
		       rr_whole(c, many), many / one,
		       rr_comparison_commands(comparison, &series[i + 1]));
	}
	printf("\n");
}

static bool show_floor(struct rr_comparison *comparison)
{
	struct rr_series *series = calloc(1 + 2 * rr_n_strategies, sizeof(*series));
	size_t n;
	bool good;

	if (!series)
		return rr_error_no_memory(comparison->error);
	n = choose_series(comparison, series);
	good = rr_comparison_measure(comparison, series, n);
	if (good)
		print_floor(comparison, series, n);
	free(series);
	return good;
}

/* ---- Redlock beside one server ------------------------------------------- */

static bool show_redlock(struct rr_comparison *comparison)
{
	const long increments = comparison->options->increments;
	struct rr_series series[] = {
		{ .strategy = rr_strategy_find("lua-delifequals"),
		  .clients = 1,
		  .increments = increments },
		{ .strategy = rr_strategy_find("redlock"), .clients = 1, .increments = increments },
	};

	if (!rr_comparison_measure(comparison, series, 2))
		return false;
	printf("redlock on five servers costs %.2f times lua-delifequals on one (1 thread, pin %s)\n\n",
	       rr_comparison_rate(comparison, &series[0]) /
		       rr_comparison_rate(comparison, &series[1]),
	       placement(comparison));
	return true;
}

/* ---- The whole ----------------------------------------------------------- */

enum rr_exit rr_floor_compare(const struct rr_comparison_options *options,
			      struct rr_session *session, struct rr_error *error)
{
	const size_t servers = 1 + rr_strategy_find("redlock")->lock.servers;
	struct rr_comparison comparison;
	bool good = true;

	for (int pinned = 1; good && pinned >= 0; pinned--) {
		good = rr_comparison_open(&comparison, options, session, servers, pinned, error) &&
		       show_incr(&comparison) && (!pinned || show_floor(&comparison)) &&
		       show_redlock(&comparison);
		rr_comparison_close(&comparison);
	}
	return comparison.verdict;
}
