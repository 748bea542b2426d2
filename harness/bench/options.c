/* SPDX-License-Identifier: MIT */
/* The options of bench: read, and checked against each other and the limits of
 * this machine. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "base/option.h"
#include "bench.h"
#include "cluster/keys.h"

enum { SPARE_FILES = 64, TARGETS_MAX = 1000000 };

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

#define AT(field) offsetof(struct rr_bench_options, field)

/* Options that are one number. */
static const struct number {
	enum key key;
	const char *option;
	size_t offset;
	long min, max;
} numbers[] = {
	{ KEY_PROCESSES, "--processes", AT(processes), 1, 256 },
	{ KEY_INCREMENTS, "--increments", AT(increments), 1, 1000000000 },
	{ KEY_REPEATS, "--repeats", AT(repeats), 1, 1000 },
	{ KEY_WARMUP, "--warmup", AT(warmup), 0, 1000000 },
	{ KEY_SEED, "--seed", AT(seed), 0, INT64_MAX },
	{ KEY_TTL, "--ttl-ms", AT(ttl_ms), 10, 86400000 },
	{ KEY_HOLD, "--hold-us", AT(hold_us), 0, 60000000 },
	{ KEY_KEYS, "--keys", AT(keys), 1, RR_KEYS_MAX },
	{ KEY_KILL_WORKERS, "--kill-workers", AT(kill_workers), 0, 1000 },
};

/* ---- Checks -------------------------------------------------------------- */

static void check_leases(struct argp_state *state,
			 const struct rr_bench_options *options)
{
	for (size_t i = 0; i < options->n_strategies; i++) {
		const struct rr_strategy *strategy = options->strategies[i];

		if (strategy->lock.lease == RR_LEASE_IN_SECONDS &&
		    options->ttl_ms % 1000)
			argp_failure(state, RR_EXIT_USAGE, 0,
				     "--ttl-ms %ld: the lease of %s is whole seconds; give a multiple of 1000",
				     options->ttl_ms, strategy->name);
	}
}

static long most_threads(const struct rr_bench_options *options)
{
	long most = 0;

	for (size_t i = 0; i < options->n_threads; i++) {
		if (options->threads[i] > most)
			most = options->threads[i];
	}
	return most;
}

/* Files that a process has open at most: a worker a connection per client and
 * server, a private server one per client. */
static long files_needed(const struct rr_bench_options *options)
{
	const long threads = most_threads(options);
	const long clients = threads * options->processes;
	size_t most = 1;

	for (size_t i = 0; i < options->n_strategies; i++) {
		const struct rr_strategy *strategy = options->strategies[i];
		const size_t connections =
			1 + strategy->lock.servers + strategy->cost.connections;

		most = connections > most ? connections : most;
	}
	return SPARE_FILES + (threads * (long)most > clients ?
				      threads * (long)most :
				      clients);
}

static bool allows_files(rlim_t limit, long need)
{
	return limit == RLIM_INFINITY || (long)limit >= need;
}

/* Raises the soft limit on the way. */
static void check_files(struct argp_state *state,
			const struct rr_bench_options *options)
{
	const long need = files_needed(options);
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (allows_files(limit.rlim_cur, need))
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    !allows_files(limit.rlim_max, need))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--threads %ld needs %ld open files and the limit is %ld; raise it (ulimit -Hn) or ask for fewer threads",
			     most_threads(options), need, (long)limit.rlim_max);
}

static bool is_same_server(const struct rl_address *a,
			   const struct rl_address *b)
{
	return a->is_unix == b->is_unix && strcmp(a->host, b->host) == 0 &&
	       a->port == b->port;
}

static void check_own_servers(struct argp_state *state,
			      const struct rr_bench_options *options)
{
	if (options->pin == RR_PIN_SAME)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--pin same moves the servers too, and those of --redis are yours; leave it out");
	if (options->persistence != RR_PERSIST_NONE)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--persistence is for private servers; those of --redis are not configured");
	for (size_t i = 1; i < options->n_redis; i++) {
		for (size_t j = i + 1; j < options->n_redis; j++) {
			if (is_same_server(&options->redis[i],
					   &options->redis[j]))
				argp_failure(state, RR_EXIT_USAGE, 0,
					     "--redis: lock servers %zu and %zu are the same; they must be independent",
					     i, j);
		}
	}
}

/* Who dies must be one client that has taken one increment, and somebody must
 * be left to notice. */
static void check_kills(struct argp_state *state,
			const struct rr_bench_options *options)
{
	if (options->policy != RR_POLICY_DELAY_QUEUE)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--kill-workers is for --wait delay-queue; without it the increment of a dead worker is nowhere");
	if (most_threads(options) != 1 || options->processes < 2)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--kill-workers needs --threads 1 and --processes 2 or more, so that only one client dies and others go on");
	if (options->kill_workers > options->increments)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--kill-workers %ld: there are only %ld increments to be killed at",
			     options->kill_workers, options->increments);
}

static void check_clients(struct argp_state *state,
			  const struct rr_bench_options *options)
{
	const long threads = most_threads(options);
	const long clients = threads * options->processes;

	if (clients > RR_CLIENTS_MAX)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "%ld threads in %ld processes are %ld clients; %d is the most",
			     threads, options->processes, clients,
			     RR_CLIENTS_MAX);
	if (clients * options->keys > TARGETS_MAX)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--keys %ld with %ld clients is too much for memory; %d clients x keys is the most",
			     options->keys, clients, TARGETS_MAX);
}

/* Without a name: the basic ones, or all. */
static void choose_strategies(struct argp_state *state,
			      struct rr_bench_options *options)
{
	if (options->all && options->n_strategies)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--all: '%s' is named besides; leave one out",
			     options->strategies[0]->name);
	if (options->n_strategies)
		return;
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (options->all || rr_strategies[i]->is_basic)
			options->strategies[options->n_strategies++] =
				rr_strategies[i];
	}
}

static void check_together(struct argp_state *state,
			   struct rr_bench_options *options)
{
	choose_strategies(state, options);
	check_clients(state, options);
	check_leases(state, options);
	check_files(state, options);
	if (options->kill_workers)
		check_kills(state, options);
	if (options->n_redis)
		check_own_servers(state, options);
}

/* ---- One option at a time ------------------------------------------------ */

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

static error_t parse_number_option(int key, const char *text,
				   struct argp_state *state)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number *number = &numbers[i];

		if ((int)number->key != key)
			continue;
		*(long *)((char *)state->input + number->offset) =
			rr_option_number(state, number->option, text,
					 number->min, number->max);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
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
		check_together(state, options);
		return 0;
	default:
		return parse_number_option(key, text, state);
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
	uint32_t seed;

	*options = (struct rr_bench_options){
		.threads = { 2 },
		.n_threads = 1,
		.processes = 1,
		.increments = 100000,
		.repeats = 1,
		.warmup = 1000,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
		.redis_server = "redis-server",
	};
	if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
		options->seed = seed;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

void rr_bench_options_help(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace bench");
}
