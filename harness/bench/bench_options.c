/* SPDX-License-Identifier: MIT */
#include "bench_options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench_checks.h"
#include "base/option.h"

enum key {
	KEY_THREADS = 't',
	KEY_PROCESSES = 'p',
	KEY_INCREMENTS = 'n',
	KEY_REPEATS = 'r',
	KEY_OUTPUT = 'o',
	KEY_WARMUP = 0x100,
	KEY_SEED,
	KEY_TTL,
	KEY_HOLD,
	KEY_KEYS,
	KEY_PERSISTENCE,
	KEY_PIN,
	KEY_REDIS,
	KEY_REDIS_SERVER,
	KEY_ALL,
	KEY_WAIT,
	KEY_KILL_WORKERS,
};

static const struct argp_option argp_options[] = {
	{ "all", KEY_ALL, NULL, 0, "all strategies; without a STRATEGY the basic ones run", 0 },
	{ "threads", KEY_THREADS, "N[,N...]", 0,
	  "clients in each process, a connection each (2); a list is a sweep", 0 },
	{ "processes", KEY_PROCESSES, "N", 0, "worker processes (1)", 0 },
	{ "increments", KEY_INCREMENTS, "N", 0,
	  "increments over all clients together (100000)", 0 },
	{ "repeats", KEY_REPEATS, "N", 0,
	  "runs of each, shuffled anew every time (1)", 0 },
	{ "warmup", KEY_WARMUP, "N", 0,
	  "increments before the measured ones (1000)", 0 },
	{ "seed", KEY_SEED, "S", 0, "for order, keys and back-off (random)", 0 },
	{ "ttl-ms", KEY_TTL, "MS", 0, "lease of a lock (10000)", 0 },
	{ "hold-us", KEY_HOLD, "US", 0,
	  "work between reading and writing the counter (0)", 0 },
	{ "keys", KEY_KEYS, "N", 0,
	  "counters to choose from at random, each with its lock (1)", 0 },
	{ "wait", KEY_WAIT, "POLICY", 0,
	  "who does not get the lock gives the increment up (fail-fast), asks again after a fixed (sleep) or a growing random time (backoff, default), or puts it off and goes on (delay-queue)",
	  0 },
	{ "kill-workers", KEY_KILL_WORKERS, "N", 0,
	  "with delay-queue, N times: kill -9 of a worker that has taken an increment and not done it (0)", 0 },
	{ "persistence", KEY_PERSISTENCE, "none|rdb|everysec|always", 0,
	  "what the private servers write to disk (none)", 0 },
	{ "pin", KEY_PIN, "same|none", 0,
	  "same: clients and servers on one processor (default for private servers)", 0 },
	{ "redis", KEY_REDIS, "URI[,URI...]", 0,
	  "your own servers: the data server, then lock servers", 0 },
	{ "redis-server", KEY_REDIS_SERVER, "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ "output", KEY_OUTPUT, "DIR", 0, "where results go (results/RUN)", 0 },
	{ 0 },
};

/* ---- One option at a time ---------------------------------------------------- */

/* Once each: what is to be repeated is asked for by --repeats. */
static void add_threads(struct rr_bench_options *options, long threads)
{
	for (size_t i = 0; i < options->n_threads; i++) {
		if (options->threads[i] == threads)
			return;
	}
	options->threads[options->n_threads++] = threads;
}

static void take_threads(struct argp_state *state,
			 struct rr_bench_options *options, char *list)
{
	char *rest = NULL;

	options->n_threads = 0;
	for (char *one = strtok_r(list, ",", &rest); one;
	     one = strtok_r(NULL, ",", &rest)) {
		if (options->n_threads == RR_SWEEP_MAX)
			argp_failure(state, RR_EXIT_USAGE, 0,
				     "--threads: more than %d numbers",
				     RR_SWEEP_MAX);
		add_threads(options, rr_option_number(state, "--threads", one,
						      1, RR_CLIENTS_MAX));
	}
	if (options->n_threads == 0)
		rr_option_number(state, "--threads", "", 1, RR_CLIENTS_MAX);
}

static void take_redis(struct argp_state *state,
		       struct rr_bench_options *options, char *list)
{
	char *rest = NULL, error[400];

	options->n_redis = 0;
	for (char *one = strtok_r(list, ",", &rest); one;
	     one = strtok_r(NULL, ",", &rest)) {
		if (options->n_redis == RR_CLUSTER_SERVERS)
			argp_failure(state, RR_EXIT_USAGE, 0,
				     "--redis: more than %d servers",
				     RR_CLUSTER_SERVERS);
		if (!rl_address_parse(&options->redis[options->n_redis++], one,
				      error, sizeof(error)))
			argp_failure(state, RR_EXIT_USAGE, 0, "--redis: %s",
				     error);
	}
	if (options->n_redis == 0)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--redis: no server is named");
}

static void take_strategy(struct argp_state *state,
			  struct rr_bench_options *options, const char *name)
{
	const struct rr_strategy *strategy = rr_option_strategy(state, name);

	for (size_t i = 0; i < options->n_strategies; i++) {
		if (options->strategies[i] == strategy)
			return;
	}
	options->strategies[options->n_strategies++] = strategy;
}

static error_t parse_number_option(int key, char *text,
				   struct argp_state *state,
				   struct rr_bench_options *options)
{
	if (key == KEY_PROCESSES)
		options->processes =
			rr_option_number(state, "--processes", text, 1, 256);
	else if (key == KEY_INCREMENTS)
		options->increments =
			rr_option_number(state, "--increments", text, 1,
					 1000000000);
	else if (key == KEY_REPEATS)
		options->repeats =
			rr_option_number(state, "--repeats", text, 1, 1000);
	else if (key == KEY_WARMUP)
		options->warmup =
			rr_option_number(state, "--warmup", text, 0, 1000000);
	else if (key == KEY_SEED)
		options->seed = (uint64_t)rr_option_number(
			state, "--seed", text, 0, INT64_MAX);
	else if (key == KEY_TTL)
		options->ttl_ms =
			rr_option_number(state, "--ttl-ms", text, 10, 86400000);
	else if (key == KEY_HOLD)
		options->hold_us =
			rr_option_number(state, "--hold-us", text, 0, 60000000);
	else if (key == KEY_KEYS)
		options->keys =
			rr_option_number(state, "--keys", text, 1, RR_KEYS_MAX);
	else if (key == KEY_KILL_WORKERS)
		options->kill_workers =
			rr_option_number(state, "--kill-workers", text, 0, 1000);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const pins[] = { "", "same", "none" };
	struct rr_bench_options *options = state->input;

	if (text && text[0] == '\0')
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "an option or argument is empty; see --help");
	switch (key) {
	case KEY_THREADS:
		take_threads(state, options, text);
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case KEY_WAIT:
		options->policy = (enum rr_policy)rr_option_choice(
			state, "--wait", text, rr_policy_names, RR_POLICIES);
		return 0;
	case KEY_PERSISTENCE:
		options->persistence = (enum rr_persistence)rr_option_choice(
			state, "--persistence", text, rr_persistence_names,
			RR_PERSIST_KINDS);
		return 0;
	case KEY_PIN:
		options->pin = (enum rr_pin)rr_option_choice(
			state, "--pin", text, pins, 3);
		return 0;
	case KEY_REDIS:
		take_redis(state, options, text);
		return 0;
	case KEY_REDIS_SERVER:
		options->redis_server = text;
		return 0;
	case KEY_OUTPUT:
		options->output = text;
		return 0;
	case ARGP_KEY_ARG:
		take_strategy(state, options, text);
		return 0;
	case ARGP_KEY_SUCCESS:
		rr_bench_options_check(state, options);
		return 0;
	default:
		return parse_number_option(key, text, state, options);
	}
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[STRATEGY...]",
	.doc = "Counts to a known number under each strategy and checks the result.\v"
	       "Without a STRATEGY the basic ones run, with --all all; 'redrace list' shows them.",
};

void rr_bench_options_parse(struct rr_bench_options *options, int argc,
			    char **argv)
{
	*options = (struct rr_bench_options){
		.threads = { 2 },
		.n_threads = 1,
		.processes = 1,
		.increments = 100000,
		.repeats = 1,
		.warmup = 1000,
		.keys = 1,
		.ttl_ms = 10000,
		.redis_server = "redis-server",
	};
	if (getrandom(&options->seed, sizeof(options->seed), 0) < 0)
		options->seed = 1;
	options->seed >>= 32;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

void rr_bench_options_help(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace bench");
}
