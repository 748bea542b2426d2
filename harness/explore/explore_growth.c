/* SPDX-License-Identifier: MIT */
/* How searches grow with clients and increments. */
#include <stdio.h>
#include <time.h>

#include "explore.h"
#include "explore_floor.h"
#include "text.h"

static const char *const names[] = { "none", "lua-delifequals", "multi-watch" };

struct cell {
	struct rr_world *world;
	double end_s; /* when it is to be given up */
	long limit_s;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool goes_on(void *context, unsigned long schedules, double share)
{
	const struct cell *cell = context;
	struct rr_signals *signals = &cell->world->session->signals;

	(void)schedules;
	(void)share;
	rr_signals_wait(signals, 0);
	return !signals->interrupted && now_s() < cell->end_s;
}

/* "-" when they were not counted. */
static const char *interleavings_of(char text[RR_GROUPED_SIZE],
				    const struct rr_explore_result *result)
{
	if (result->interleavings == 0)
		return "-";
	if (result->interleavings > INT64_MAX)
		return "more than 9 * 10^18";
	return rr_grouped(text, (long long)result->interleavings);
}

static void print(const struct rr_explore_config *config,
		  const struct rr_explore_result *result, long limit_s)
{
	const unsigned long runs = result->schedules + result->blocked;
	char schedules[RR_GROUPED_SIZE], blocked[RR_GROUPED_SIZE];
	char interleavings[RR_GROUPED_SIZE];

	rr_grouped(schedules, (long long)result->schedules);
	rr_grouped(blocked, (long long)result->blocked);
	printf("%-16s %8zu %11ld", config->strategy->name, config->n_clients,
	       config->increments);
	if (result->explored == RR_EXPLORED_STOPPED)
		printf("  not finished: %s schedules in %ld s, %s blocked (%.1f %%)\n",
		       schedules, limit_s, blocked,
		       100.0 * (double)result->blocked / (double)runs);
	else
		printf(" %10s %8s %8.1f %% %8.2f s %26s\n", schedules,
		       blocked, 100.0 * (double)result->blocked / (double)runs,
		       result->seconds,
		       interleavings_of(interleavings, result));
	fflush(stdout);
}

static enum rr_exit fill(struct rr_world *world, const char *name,
			 size_t n_clients, long increments, long limit_s)
{
	struct cell cell = { .world = world,
			     .end_s = now_s() + (double)limit_s,
			     .limit_s = limit_s };
	const struct rr_explore_config config = {
		.strategy = rr_strategy_find(name),
		.n_clients = n_clients,
		.increments = increments,
		.rounds = 2,
		.ttl_ms = 10000,
		.progress = goes_on,
		.context = &cell,
	};
	struct rr_explore_result result;
	enum rr_exit code = rr_explore(world, &config, &result);

	if (code != RR_EXIT_OK)
		rr_complain(code, "%s: %s", name, result.error);
	else if (world->session->signals.interrupted)
		code = RR_EXIT_INTERRUPTED;
	else
		print(&config, &result, limit_s);
	rr_explore_release(&result);
	return code;
}

enum rr_exit rr_explore_growth(struct rr_world *world, long limit_s)
{
	enum rr_exit code = RR_EXIT_OK;

	printf("Growth: schedules that are run, runs given up on the way, and the interleavings that the schedules stand for\n\n");
	printf("%-16s %8s %11s %10s %8s %10s %10s %26s\n", "strategy",
	       "clients", "increments", "schedules", "blocked", "share", "time",
	       "interleavings");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t clients = 2; clients <= 4; clients++) {
			for (long n = 1; n <= 2 && code == RR_EXIT_OK; n++)
				code = fill(world, names[i], clients, n,
					    limit_s);
		}
	}
	return code;
}
