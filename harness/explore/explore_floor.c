/* SPDX-License-Identifier: MIT */
/* Schedules per second, and of their floor. */
#include "explore_floor.h"

#include <stdio.h>

#include "comparison.h"
#include "explore.h"
#include "placement.h"

/* Searches are repeated until they have taken so long together. */
#define MEASURE_S 0.3

/* So many of all their schedules. */
enum { MOST = 500 };

static const struct measured {
	const char *name;
	long increments;
} measured[] = {
	{ "none", 2 },
	{ "multi", 1 },
	{ "incr-lock", 1 },
	{ "multi-watch", 1 },
	{ "lua-delifequals", 2 },
};

enum { N_MEASURED = sizeof(measured) / sizeof(measured[0]) };

struct rates {
	double schedules[RR_ROUNDS_MAX]; /* per second */
	double shares[RR_ROUNDS_MAX];    /* of the floor */
	double commands;                 /* of a schedule */
};

struct floor {
	struct rr_world *world;
	const struct rr_explore_floor_options *options;
	double round_trips_us[2 * N_MEASURED * RR_ROUNDS_MAX];
	long n_round_trips;
	struct rates rates[N_MEASURED];
};

/* ---- Measuring ------------------------------------------------------------ */

/* Of a PING to the server that the last search ran on; 0 when it is gone. */
static double round_trip_s(struct floor *floor)
{
	const long n = floor->options->pings;
	struct rl_link *link = rl_link_new(rr_world_address(floor->world, 0),
					   2000);
	enum rl_outcome outcome = link ? rl_link_connect(link) : RL_ERROR;
	int64_t begun_ns = 0, ended_ns = 0;
	struct rl_reply reply;

	for (long i = 0; i < n && outcome == RL_OK; i++) {
		if (i == 1)
			begun_ns = rl_now_ns(link, RL_CLOCK_MONOTONIC);
		outcome = rl_run(link, &reply, "PING");
	}
	if (outcome == RL_OK)
		ended_ns = rl_now_ns(link, RL_CLOCK_MONOTONIC);
	rl_link_free(link);
	if (outcome != RL_OK)
		return 0;
	floor->round_trips_us[floor->n_round_trips++] =
		(double)(ended_ns - begun_ns) / 1e3 / (double)(n - 1);
	return (double)(ended_ns - begun_ns) / 1e9 / (double)(n - 1);
}

static enum rr_exit search(struct floor *floor, const struct measured *what,
			   struct rr_explore_result *sum)
{
	const struct rr_explore_config config = {
		.strategy = rr_strategy_find(what->name),
		.n_clients = 2,
		.increments = what->increments,
		.all = true,
		.rounds = 2,
		.ttl_ms = 10000,
		.most = MOST,
	};
	struct rr_explore_result result;
	const enum rr_exit code = rr_explore(floor->world, &config, &result);

	if (code != RR_EXIT_OK)
		rr_complain(code, "%s: %s", what->name, result.error);
	sum->schedules += result.schedules;
	sum->commands += result.commands;
	sum->seconds += result.seconds;
	rr_explore_release(&result);
	return code;
}

static enum rr_exit measure(struct floor *floor, size_t i, long round)
{
	struct rr_explore_result sum = { 0 };
	struct rates *rates = &floor->rates[i];
	enum rr_exit code = RR_EXIT_OK;
	double before_s, after_s;

	before_s = round_trip_s(floor);
	while (code == RR_EXIT_OK && sum.seconds < MEASURE_S)
		code = search(floor, &measured[i], &sum);
	if (code != RR_EXIT_OK)
		return code;
	after_s = round_trip_s(floor);
	if (before_s <= 0 || after_s <= 0)
		return rr_complain(RR_EXIT_REDIS, "a server is gone");
	rates->commands = (double)sum.commands / (double)sum.schedules;
	rates->schedules[round] = (double)sum.schedules / sum.seconds;
	rates->shares[round] = rates->schedules[round] *
			       (rates->commands + 1) * (before_s + after_s) / 2;
	return RR_EXIT_OK;
}

/* ---- Printing ------------------------------------------------------------- */

static void print(struct floor *floor)
{
	const long rounds = floor->options->rounds;

	printf("Schedules per second and processor, two clients: one round trip takes %.1f us\n\n",
	       rr_median(floor->round_trips_us, floor->n_round_trips));
	printf("%-20s %17s  %11s  %8s\n", "strategy", "commands/schedule",
	       "schedules/s", "of floor");
	for (size_t i = 0; i < N_MEASURED; i++) {
		struct rates *rates = &floor->rates[i];
		char number[RR_GROUPED_SIZE];

		printf("%-20s %17.1f  %11s  %8.2f\n", measured[i].name,
		       rates->commands,
		       rr_whole(number, rr_median(rates->schedules, rounds)),
		       rr_median(rates->shares, rounds));
	}
	printf("\n");
	fflush(stdout);
}

/* ---- The whole ------------------------------------------------------------ */

static enum rr_exit show_rates(struct rr_world *world,
			       const struct rr_explore_floor_options *options)
{
	struct floor floor = { .world = world, .options = options };
	struct rr_explore_result warm_up = { 0 };
	enum rr_exit code = search(&floor, &measured[0], &warm_up);

	for (long round = 0; round < options->rounds; round++) {
		for (size_t i = 0; i < N_MEASURED && code == RR_EXIT_OK; i++)
			code = measure(&floor, i, round);
	}
	if (code == RR_EXIT_OK)
		print(&floor);
	return code;
}

static enum rr_exit show(struct rr_world *world, struct rr_crew *crew,
			 int processors,
			 const struct rr_explore_floor_options *options)
{
	enum rr_exit code = show_rates(world, options);

	if (code == RR_EXIT_OK)
		code = rr_explore_jobs(world, crew, processors,
				       options->rounds);
	if (code == RR_EXIT_OK)
		code = rr_explore_growth(world, options->limit_s);
	return code;
}

enum rr_exit rr_explore_floor(struct rr_session *session,
			      const struct rr_explore_floor_options *options)
{
	const struct rr_world_options world_options = {
		.program = options->redis_server,
		.clock = RR_WORLD_FROZEN,
		.cpu = rr_placement_cpu(),
	};
	const int processors = rr_placement_count();
	struct rr_crew *crew =
		rr_crew_new(session, RR_EXPLORE_JOBS, &world_options);
	char error[RR_WORLD_ERROR];
	struct rr_world world;
	enum rr_exit code;

	if (!crew)
		return RR_EXIT_INTERNAL;
	rr_gate_settle(world_options.cpu);
	code = rr_world_open(&world, session, &world_options, error);
	if (code == RR_EXIT_OK)
		code = show(&world, crew, processors, options);
	else
		rr_complain(code, "%s", error);
	rr_world_close(&world);
	rr_crew_free(crew);
	return code;
}
