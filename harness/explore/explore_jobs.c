/* SPDX-License-Identifier: MIT */
/* What a second job is worth: the same search with one and with two. */
#include <stdio.h>

#include "comparison.h"
#include "explore_floor.h"
#include "shards.h"
#include "text.h"

enum { JOBS = RR_EXPLORE_JOBS, CLIENTS = 3, ROUNDS_MOST = 3 };

/* Enough that beginning and ending do not count; and, for the first round, to
 * start the servers of all jobs. */
enum { MOST = 12000, MOST_TO_BEGIN = 1000 };

static const char name[] = "lua-delifequals";

struct rates {
	double schedules[JOBS][ROUNDS_MOST]; /* per second; of one job first */
	double ratios[ROUNDS_MOST];          /* of all jobs to one */
};

static bool goes_on(void *context, unsigned long schedules, double share)
{
	struct rr_signals *signals = context;

	(void)schedules;
	(void)share;
	rr_signals_wait(signals, 0);
	return !signals->interrupted;
}

/* The time is that which a user waits. */
static enum rr_exit search(struct rr_world *world, struct rr_crew *crew,
			   unsigned long most, double *per_second)
{
	const struct rr_explore_config config = {
		.strategy = rr_strategy_find(name),
		.n_clients = CLIENTS,
		.increments = 1,
		.separate = true,
		.budget = { .pauses = 1 },
		.rounds = 2,
		.ttl_ms = 10000,
		.most = most,
		.crew = crew,
		.progress = goes_on,
		.context = &world->session->signals,
	};
	const double begun = rr_explore_seconds();
	struct rr_explore_result result;
	enum rr_exit code = rr_explore(world, &config, &result);

	*per_second = (double)result.schedules /
		      (rr_explore_seconds() - begun);
	if (code != RR_EXIT_OK)
		rr_complain(code, "%s: %s", name, result.error);
	else if (world->session->signals.interrupted)
		code = RR_EXIT_INTERRUPTED;
	rr_explore_release(&result);
	return code;
}

static enum rr_exit measure(struct rr_world *world, struct rr_crew *crew,
			    struct rates *rates, long round)
{
	double *one = &rates->schedules[0][round];
	double *all = &rates->schedules[JOBS - 1][round];
	enum rr_exit code = search(world, NULL, MOST, one);

	if (code == RR_EXIT_OK)
		code = search(world, crew, MOST, all);
	if (code == RR_EXIT_OK)
		rates->ratios[round] = *all / *one;
	return code;
}

static void print(struct rates *rates, long rounds, int processors)
{
	printf("Jobs, on %s: %s, %d clients, one pause\n\n",
	       processors < JOBS ? "one processor" : "a processor each", name,
	       CLIENTS);
	printf("%4s  %11s  %8s\n", "jobs", "schedules/s", "of one");
	for (int i = 0; i < JOBS; i++) {
		char number[RR_GROUPED_SIZE];

		printf("%4d  %11s  %8.2f\n", i + 1,
		       rr_whole(number, rr_median(rates->schedules[i], rounds)),
		       i == 0 ? 1.0 : rr_median(rates->ratios, rounds));
	}
	printf("\n");
	fflush(stdout);
}

enum rr_exit rr_explore_jobs(struct rr_world *world, struct rr_crew *crew,
			     int processors, long rounds)
{
	const long n = rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST;
	struct rates rates;
	enum rr_exit code = search(world, crew, MOST_TO_BEGIN,
				   &rates.schedules[0][0]);

	for (long round = 0; round < n && code == RR_EXIT_OK; round++)
		code = measure(world, crew, &rates, round);
	if (code == RR_EXIT_OK)
		print(&rates, n, processors);
	return code;
}
