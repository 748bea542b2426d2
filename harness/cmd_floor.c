/* SPDX-License-Identifier: MIT */
/*
 * redrace floor: what the machine allows, and how near each strategy comes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/option.h"
#include "commands.h"
#include "bench/comparison.h"
#include "explore/explore.h"
#include "bench/peer.h"

enum { MANY_THREADS = 8, KEY_EXPLORE = 0x200, KEY_ALL };

struct options {
	struct rr_comparison_options comparison;
	bool all; /* strategies, basic or not */
	bool explore;
	long limit_s;
};

/* ---- Options ------------------------------------------------------------------ */

static const struct argp_option argp_options[] = {
	{ "all", KEY_ALL, NULL, 0, "all strategies instead of the basic ones", 0 },
	{ "explore", KEY_EXPLORE, NULL, 0,
	  "how large the explorer's searches are instead, and how fast",
	  0 },
	{ "seconds", 's', "N", 0,
	  "with --explore, the limit of each search: 1 to 3600 (15)", 0 },
	{ 0 },
};

static const struct argp_child argp_children[] = {
	{ &rr_comparison_argp, 0, NULL, 0 },
	{ 0 },
};

/* What the options go into, the child's parser has to be told. */
static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->comparison;
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case KEY_EXPLORE:
		options->explore = true;
		return 0;
	case 's':
		options->limit_s =
			rr_option_number(state, "--seconds", text, 1, 3600);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.children = argp_children,
	.doc = "Compares INCR with redis-benchmark, each strategy with its floor (its round trips times the round trip of a PING), and redlock with the lock on one server. With --explore: states, transitions and questions of the explorer's searches, and how fast they are.",
};

void rr_help_floor(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace floor");
}

/* ---- Runs ----------------------------------------------------------------------- */

/* A round trip and nothing else. */
static enum rl_outcome ping(struct rr_client *client)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "PING");
}

static const struct rr_strategy ping_strategy = {
	.name = "ping",
	.breaks = { [RR_THREADS] = RR_BREAKS_COUNT,
		    [RR_PROCESSES] = RR_BREAKS_COUNT },
	.cost = { .round_trips = 1 },
	.increment = ping,
};

static const char *placement(const struct rr_comparison *setting)
{
	return setting->cluster.options.cpu < 0 ? "none" : "same";
}

/* ---- INCR against redis-benchmark -------------------------------------------------- */

static void compare_incr(struct rr_comparison *setting, int connections)
{
	const struct rr_strategy *incr = rr_strategy_find("incr");
	const long rounds = setting->options->rounds;
	const long requests = setting->options->increments * 5;
	double ours[RR_ROUNDS_MAX], theirs[RR_ROUNDS_MAX];
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];

	for (long i = 0; i < rounds && setting->code == RR_EXIT_OK; i++) {
		ours[i] = rr_comparison_rate(setting, incr, connections, requests);
		if (setting->code == RR_EXIT_OK)
			setting->code = rr_peer_incr(&setting->cluster,
						     connections, requests,
						     &theirs[i]);
	}
	if (setting->code != RR_EXIT_OK)
		return;
	printf("%11d  %12s  %15s  %6.2f\n", connections,
	       rr_whole(left, rr_median(ours, rounds)),
	       rr_whole(right, rr_median(theirs, rounds)),
	       rr_median(ours, rounds) / rr_median(theirs, rounds));
	fflush(stdout);
}

static void show_incr(struct rr_comparison *setting)
{
	static const int connections[] = { 1, 2, 8, 50 };

	printf("incr against redis-benchmark -t incr, per second, pin %s\n\n",
	       placement(setting));
	printf("%11s  %12s  %15s  %6s\n", "connections", "redrace",
	       "redis-benchmark", "ratio");
	for (size_t i = 0; i < sizeof(connections) / sizeof(connections[0]); i++)
		compare_incr(setting, connections[i]);
	printf("\n");
}

/* ---- Strategies against their floor -------------------------------------------------- */

struct figures {
	const struct rr_strategy *strategy;
	double one[RR_ROUNDS_MAX], many[RR_ROUNDS_MAX], commands[RR_ROUNDS_MAX];
};

/* Those that take part; what the server lacks commands for is named. */
static size_t choose_strategies(struct rr_comparison *setting,
				struct figures *figures, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *strategy = rr_strategies[i];

		if ((all || strategy->is_basic) &&
		    rr_comparison_admits(setting, strategy))
			figures[n++].strategy = strategy;
	}
	return n;
}

static void measure_round(struct rr_comparison *setting, struct figures *figures,
			  size_t n, double *pings, long round)
{
	const long increments = setting->options->increments;

	pings[round] = rr_comparison_rate(setting, &ping_strategy, 1, increments);
	for (size_t i = 0; i < n; i++) {
		const struct rr_strategy *strategy = figures[i].strategy;

		if (setting->code != RR_EXIT_OK)
			return;
		figures[i].one[round] = rr_comparison_rate(setting, strategy, 1, increments);
		figures[i].many[round] =
			rr_comparison_rate(setting, strategy, MANY_THREADS, increments);
		figures[i].commands[round] =
			rr_commands_per_increment(&setting->measurement);
	}
}

static void show_floor(struct rr_comparison *setting, bool all)
{
	const long rounds = setting->options->rounds;
	struct figures *figures = calloc(rr_n_strategies, sizeof(*figures));
	double pings[RR_ROUNDS_MAX], ping_rate;
	size_t n = figures ? choose_strategies(setting, figures, all) : 0;

	for (long i = 0; figures && i < rounds; i++)
		measure_round(setting, figures, n, pings, i);
	if (!figures || setting->code != RR_EXIT_OK) {
		free(figures);
		return;
	}
	ping_rate = rr_median(pings, rounds);
	printf("Strategies against their floor, pin %s: one round trip takes %.1f us\n\n",
	       placement(setting), 1e6 / ping_rate);
	printf("%-20s %11s  %8s  %8s  %8s  %9s  %11s  %12s\n", "strategy",
	       "round trips", "floor/s", "1 thread", "of floor", "8 threads",
	       "of 1 thread", "commands/inc");
	for (size_t i = 0; i < n; i++) {
		const struct rr_strategy *strategy = figures[i].strategy;
		const double one = rr_median(figures[i].one, rounds);
		const double many = rr_median(figures[i].many, rounds);
		const double least = ping_rate / strategy->cost.round_trips;
		char a[RR_GROUPED_SIZE], b[RR_GROUPED_SIZE], c[RR_GROUPED_SIZE];

		printf("%-20s %11u  %8s  %8s  %8.2f  %9s  %11.2f  %12.1f\n",
		       strategy->name, strategy->cost.round_trips, rr_whole(a, least),
		       rr_whole(b, one), one / least, rr_whole(c, many), many / one,
		       rr_median(figures[i].commands, rounds));
	}
	printf("\n");
	free(figures);
}

/* ---- Redlock against one server -------------------------------------------------------- */

static void show_redlock(struct rr_comparison *setting)
{
	const struct rr_strategy *single = rr_strategy_find("lua-delifequals");
	const struct rr_strategy *quorum = rr_strategy_find("redlock");
	const long rounds = setting->options->rounds;
	const long increments = setting->options->increments;
	double one[RR_ROUNDS_MAX], five[RR_ROUNDS_MAX];

	for (long i = 0; i < rounds && setting->code == RR_EXIT_OK; i++) {
		one[i] = rr_comparison_rate(setting, single, 1, increments);
		five[i] = rr_comparison_rate(setting, quorum, 1, increments);
	}
	if (setting->code != RR_EXIT_OK)
		return;
	printf("redlock on five servers costs %.2f times lua-delifequals on one (1 thread, pin %s)\n\n",
	       rr_median(one, rounds) / rr_median(five, rounds), placement(setting));
}

/* ---- The whole ---------------------------------------------------------------------------- */

static enum rr_exit show(struct rr_session *session,
			 const struct options *options, bool pinned)
{
	const size_t servers = 1 + rr_strategy_find("redlock")->lock.servers;
	struct rr_comparison setting;

	rr_comparison_open(&setting, &options->comparison, session, servers,
			   pinned);
	if (setting.code == RR_EXIT_OK)
		show_incr(&setting);
	if (setting.code == RR_EXIT_OK && pinned)
		show_floor(&setting, options->all);
	if (setting.code == RR_EXIT_OK)
		show_redlock(&setting);
	rr_comparison_close(&setting);
	return setting.code;
}

static enum rr_exit show_both(struct rr_session *session,
			      const struct options *options)
{
	const enum rr_exit code = show(session, options, true);

	return code == RR_EXIT_OK ? show(session, options, false) : code;
}

static enum rr_exit show_explorer(struct rr_session *session,
				  const struct options *options,
				  struct rr_error *error)
{
	return rr_explore_floor(session, options->comparison.redis_server,
				options->limit_s, error);
}

enum rr_exit rr_cmd_floor(int argc, char **argv, struct rr_error *error)
{
	struct options options = { .comparison = rr_comparison_defaults(),
				   .limit_s = 15 };
	struct rr_session session;
	enum rr_exit code = RR_EXIT_OK;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (rr_session_open(&session, error))
		code = options.explore ?
			       show_explorer(&session, &options, error) :
			       show_both(&session, &options);
	rr_session_close(&session);
	return code;
}
