/* SPDX-License-Identifier: MIT */
#include "bench_checks.h"

#include <string.h>
#include <sys/resource.h>

enum { SPARE_FILES = 64, TARGETS_MAX = 1000000 };

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

/* A worker holds a connection per client and server, a private server one per
 * client. Raises the soft limit on the way. */
static void check_files(struct argp_state *state,
			const struct rr_bench_options *options)
{
	const long threads = most_threads(options);
	const long clients = threads * options->processes;
	size_t servers = 1;
	struct rlimit limit;
	long need;

	for (size_t i = 0; i < options->n_strategies; i++) {
		const struct rr_strategy *strategy = options->strategies[i];
		const size_t links =
			1 + strategy->lock.servers + strategy->cost.connections;

		servers = links > servers ? links : servers;
	}
	need = threads * (long)servers > clients ? threads * (long)servers :
						   clients;
	need += SPARE_FILES;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur != RLIM_INFINITY && (long)limit.rlim_cur < need) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
		    (limit.rlim_max == RLIM_INFINITY ||
		     (long)limit.rlim_max >= need))
			return;
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--threads %ld needs %ld open files and the limit is %ld; raise it (ulimit -Hn) or ask for fewer threads",
			     threads, need, (long)limit.rlim_max);
	}
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

/* Without a name: the basic ones, or all. */
static void choose_strategies(struct rr_bench_options *options)
{
	if (options->n_strategies)
		return;
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (options->all || rr_strategies[i]->is_basic)
			options->strategies[options->n_strategies++] =
				rr_strategies[i];
	}
}

void rr_bench_options_check(struct argp_state *state,
			    struct rr_bench_options *options)
{
	long clients;

	if (options->all && options->n_strategies)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--all: '%s' is named besides; leave one out",
			     options->strategies[0]->name);
	choose_strategies(options);
	clients = most_threads(options) * options->processes;
	if (clients > RR_CLIENTS_MAX)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "%ld threads in %ld processes are %ld clients; %d is the most",
			     most_threads(options), options->processes, clients,
			     RR_CLIENTS_MAX);
	if (clients * options->keys > TARGETS_MAX)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--keys %ld with %ld clients is too much for memory; %d clients x keys is the most",
			     options->keys, clients, TARGETS_MAX);
	check_leases(state, options);
	check_files(state, options);
	if (options->kill_workers)
		check_kills(state, options);
	if (options->n_redis)
		check_own_servers(state, options);
}
