/* SPDX-License-Identifier: MIT */
/*
 * redrace floor: what the machine allows, and how near each strategy comes.
 * Everything that is compared runs in turns within each round, and the figures
 * are medians of the rounds, so that the machine's moods hit all alike.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "commands.h"
#include "peer.h"
#include "placement.h"
#include "session.h"
#include "statistics.h"
#include "text.h"

enum { ROUNDS_MAX = 99, MANY_THREADS = 8 };

struct floor_options {
	const char *redis_server;
	long rounds, increments;
};

struct setting {
	const struct floor_options *options;
	struct rr_session *session;
	struct rr_fleet fleet;
	const char *placement;
	struct rr_measurement measurement; /* of the newest run */
	struct rr_spectra *scratch;
	enum rr_exit code;
};

/* ---- Options ------------------------------------------------------------------ */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct floor_options *options = state->input;
	bool good = true;

	if (key == 's')
		options->redis_server = text;
	else if (key == 'r')
		good = rr_parse_number(text, 1, ROUNDS_MAX, &options->rounds);
	else if (key == 'n')
		good = rr_parse_number(text, 100, 10000000,
				       &options->increments);
	else if (key == ARGP_KEY_ARG)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': floor takes no arguments", text);
	else
		return ARGP_ERR_UNKNOWN;
	if (!good)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s' is not a number in range: see --help", text);
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "rounds", 'r', "N", 0, "rounds, of which medians are taken: 1 to 99 (5)",
	  0 },
	{ "increments", 'n', "N", 0,
	  "increments in each run: 100 to 10000000 (10000; five times as many against redis-benchmark)",
	  0 },
	{ "redis-server", 's', "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.doc = "Compares INCR with redis-benchmark, each strategy with its floor (its round trips times the round trip of a PING), and redlock with the lock on one server.",
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
	.promise = { RR_LOSSY, RR_LOSSY, RR_LOSSY },
	.round_trips = 1,
	.increment = ping,
};

/* Increments/s of one run; what goes wrong is left in setting->code. */
static double rate(struct setting *setting, const struct rr_strategy *strategy,
		   int threads, long increments)
{
	const struct rr_run run = {
		.strategy = strategy,
		.fleet = &setting->fleet,
		.prefix = setting->session->prefix,
		.threads = threads,
		.processes = 1,
		.increments = increments,
		.warmup = increments / 10,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	const enum rr_exit code = rr_bench_run(
		&run, &setting->session->signals, NULL, &setting->measurement,
		setting->scratch);

	setting->code = rr_exit_worse(setting->code, code);
	return code == RR_EXIT_OK ? rr_increments_per_s(&setting->measurement) : 0;
}

static double median(double *values, long n)
{
	return rr_statistics_of(values, (size_t)n, 1).median;
}

static const char *whole(char buffer[RR_GROUPED_SIZE], double value)
{
	return rr_grouped(buffer, (long long)(value + 0.5));
}

/* ---- INCR against redis-benchmark -------------------------------------------------- */

static void compare_incr(struct setting *setting, int connections)
{
	const struct rr_strategy *incr = rr_strategy_find("incr");
	const long rounds = setting->options->rounds;
	const long requests = setting->options->increments * 5;
	double ours[ROUNDS_MAX], theirs[ROUNDS_MAX];
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];

	for (long i = 0; i < rounds && setting->code == RR_EXIT_OK; i++) {
		ours[i] = rate(setting, incr, connections, requests);
		if (setting->code == RR_EXIT_OK)
			setting->code = rr_peer_incr(&setting->fleet,
						     connections, requests,
						     &theirs[i]);
	}
	if (setting->code != RR_EXIT_OK)
		return;
	printf("%11d  %12s  %15s  %6.2f\n", connections,
	       whole(left, median(ours, rounds)),
	       whole(right, median(theirs, rounds)),
	       median(ours, rounds) / median(theirs, rounds));
	fflush(stdout);
}

static void show_incr(struct setting *setting)
{
	static const int connections[] = { 1, 2, 8, 50 };

	printf("incr against redis-benchmark -t incr, per second, pin %s\n\n",
	       setting->placement);
	printf("%11s  %12s  %15s  %6s\n", "connections", "redrace",
	       "redis-benchmark", "ratio");
	for (size_t i = 0; i < sizeof(connections) / sizeof(connections[0]); i++)
		compare_incr(setting, connections[i]);
	printf("\n");
}

/* ---- Strategies against their floor -------------------------------------------------- */

struct figures {
	double one[ROUNDS_MAX], many[ROUNDS_MAX], commands[ROUNDS_MAX];
};

static void measure_round(struct setting *setting, struct figures *figures,
			  double *pings, long round)
{
	const long increments = setting->options->increments;

	pings[round] = rate(setting, &ping_strategy, 1, increments);
	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *strategy = rr_strategies[i];

		if (setting->code != RR_EXIT_OK)
			return;
		figures[i].one[round] = rate(setting, strategy, 1, increments);
		figures[i].many[round] =
			rate(setting, strategy, MANY_THREADS, increments);
		figures[i].commands[round] =
			rr_commands_per_increment(&setting->measurement);
	}
}

static void show_floor(struct setting *setting)
{
	const long rounds = setting->options->rounds;
	struct figures *figures = calloc(rr_n_strategies, sizeof(*figures));
	double pings[ROUNDS_MAX], ping_rate;

	for (long i = 0; figures && i < rounds; i++)
		measure_round(setting, figures, pings, i);
	if (!figures || setting->code != RR_EXIT_OK) {
		free(figures);
		return;
	}
	ping_rate = median(pings, rounds);
	printf("Strategies against their floor, pin %s: one round trip takes %.1f us\n\n",
	       setting->placement, 1e6 / ping_rate);
	printf("%-20s %11s  %8s  %8s  %8s  %9s  %11s  %12s\n", "strategy",
	       "round trips", "floor/s", "1 thread", "of floor", "8 threads",
	       "of 1 thread", "commands/inc");
	for (size_t i = 0; i < rr_n_strategies; i++) {
		const struct rr_strategy *strategy = rr_strategies[i];
		const double one = median(figures[i].one, rounds);
		const double many = median(figures[i].many, rounds);
		const double least = ping_rate / strategy->round_trips;
		char a[RR_GROUPED_SIZE], b[RR_GROUPED_SIZE], c[RR_GROUPED_SIZE];

		printf("%-20s %11u  %8s  %8s  %8.2f  %9s  %11.2f  %12.1f\n",
		       strategy->name, strategy->round_trips, whole(a, least),
		       whole(b, one), one / least, whole(c, many), many / one,
		       median(figures[i].commands, rounds));
	}
	printf("\n");
	free(figures);
}

/* ---- Redlock against one server -------------------------------------------------------- */

static void show_redlock(struct setting *setting)
{
	const struct rr_strategy *single = rr_strategy_find("lua-delifequals");
	const struct rr_strategy *quorum = rr_strategy_find("redlock");
	const long rounds = setting->options->rounds;
	const long increments = setting->options->increments;
	double one[ROUNDS_MAX], five[ROUNDS_MAX];

	for (long i = 0; i < rounds && setting->code == RR_EXIT_OK; i++) {
		one[i] = rate(setting, single, 1, increments);
		five[i] = rate(setting, quorum, 1, increments);
	}
	if (setting->code != RR_EXIT_OK)
		return;
	printf("redlock on five servers costs %.2f times lua-delifequals on one (1 thread, pin %s)\n\n",
	       median(one, rounds) / median(five, rounds), setting->placement);
}

/* ---- The whole ---------------------------------------------------------------------------- */

static enum rr_exit show(struct rr_session *session,
			 const struct floor_options *options, bool pinned)
{
	struct setting setting = {
		.options = options,
		.session = session,
		.fleet = rr_session_private_fleet(
			session, options->redis_server, RR_PERSIST_NONE,
			pinned ? rr_placement_cpu() : -1),
		.placement = pinned ? "same" : "none",
		.scratch = calloc(1, sizeof(*setting.scratch)),
	};

	if (!setting.scratch)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	setting.code =
		rr_fleet_need(&setting.fleet,
			      1 + rr_strategy_find("redlock")->lock_servers);
	if (setting.code == RR_EXIT_OK)
		show_incr(&setting);
	if (setting.code == RR_EXIT_OK && pinned)
		show_floor(&setting);
	if (setting.code == RR_EXIT_OK)
		show_redlock(&setting);
	rr_fleet_stop(&setting.fleet);
	free(setting.scratch);
	return setting.code;
}

int rr_cmd_floor(int argc, char **argv)
{
	struct floor_options options = { .redis_server = "redis-server",
					 .rounds = 5,
					 .increments = 10000 };
	struct rr_session session;
	enum rr_exit code;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	code = rr_session_open(&session);
	if (code == RR_EXIT_OK)
		code = show(&session, &options, true);
	if (code == RR_EXIT_OK)
		code = show(&session, &options, false);
	code = rr_finish_output(code);
	rr_session_close(&session);
	return code;
}
