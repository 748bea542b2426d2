/* SPDX-License-Identifier: MIT */
/* The options of bench: read, and checked against each other and the limits of
 * this machine. */
#include "bench.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/secret.h"
#include "cluster/cluster.h"

enum { SPARE_FILES = 64, TARGETS_MAX = 1000000, INCREMENTS = 100000, WINDOW_S = 10 };

#define AT(field) offsetof(struct rr_bench_options, field)

/* ---- The user's own servers: --redis and REDRACE_REDIS, and their passwords ------ */

/* Cuts a list of URIs at the commas before a scheme; others stand between the
 * hosts of one. The first, and the others in *rest; NULL = there is none. */
static char *cut_uri(char **rest)
{
	char *one = *rest + strspn(*rest, ",");
	char *comma = strchr(one, ',');

	while (comma) {
		const char *scheme = strstr(comma, "://");

		if (!scheme || memchr(comma + 1, ',', (size_t)(scheme - comma - 1)))
			comma = strchr(comma + 1, ',');
		else
			break;
	}
	*rest = comma ? comma + 1 : one + strlen(one);
	if (comma)
		*comma = '\0';
	return *one ? one : NULL;
}

static bool take_list(struct rr_bench_options *options, const char *name, char *list,
		      struct rr_error *error)
{
	char *rest = list, why[400];

	options->n_redis = 0;
	for (char *one = cut_uri(&rest); one; one = cut_uri(&rest)) {
		const bool is_one_more = options->n_redis < RR_CLUSTER_SERVERS;
		const bool is_good = is_one_more &&
				     rdl_address_parse(&options->redis[options->n_redis], one, why,
						       sizeof(why));

		rr_secrets_blank(one);
		if (!is_one_more)
			return rr_error_set(error, RR_ERROR_USAGE, "%s: more than %d servers", name,
					    RR_CLUSTER_SERVERS);
		if (!is_good)
			return rr_error_set(error, RR_ERROR_USAGE, "%s: %s", name, why);
		options->n_redis++;
	}
	return options->n_redis ||
	       rr_error_set(error, RR_ERROR_USAGE, "%s: no server is named", name);
}

/* --redis: a list of URIs, whose users and passwords are overwritten. */
static bool take_own_servers(void *into, char *list, struct rr_error *error)
{
	return take_list(into, "--redis", list, error);
}

/* When all options are taken: those of REDRACE_REDIS if there are none, and the
 * password for those that have none, of the file, the terminal or
 * REDISCLI_AUTH. */
static bool complete_own_servers(struct rr_bench_options *options, struct rr_error *error)
{
	const bool has_way = options->password_file || options->asks_password;
	const char *set = getenv("REDRACE_REDIS");
	char password[sizeof(options->redis[0].password)] = "";

	if (!options->n_redis && set && *set) {
		char *list = rr_strdup(set);
		const bool good = take_list(options, "REDRACE_REDIS", list, error);

		free(list);
		if (!good)
			return false;
	}
	if (options->password_file && options->asks_password)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--redis-password-file and --askpass exclude each other; leave one out");
	if (has_way && !options->n_redis)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--redis-password-file and --askpass are for your own servers; name them by --redis or REDRACE_REDIS");
	if (!options->n_redis)
		return true;
	set = getenv("REDISCLI_AUTH");
	if (options->password_file) {
		if (!rr_secret_from_file(options->password_file, password, sizeof(password), error))
			return false;
	} else if (options->asks_password) {
		if (!rr_secret_ask("Password of the servers: ", password, sizeof(password), error))
			return false;
	} else if (set && strlen(set) >= sizeof(password)) {
		return rr_error_set(error, RR_ERROR_USAGE, "REDISCLI_AUTH is longer than %zu bytes",
				    sizeof(password) - 1);
	} else if (set) {
		memcpy(password, set, strlen(set) + 1);
	}
	for (size_t i = 0; i < options->n_redis; i++) {
		if (!options->redis[i].password[0])
			memcpy(options->redis[i].password, password, sizeof(password));
	}
	return true;
}

/* ---- What goes together --------------------------------------------------- */

static bool is_same_server(const struct rdl_address *a, const struct rdl_address *b)
{
	char one[1200], other[1200];
	struct rdl_address first = *a, second = *b;

	first.db = second.db = 0;
	rdl_address_print(&first, one, sizeof(one));
	rdl_address_print(&second, other, sizeof(other));
	return strcmp(one, other) == 0;
}

static bool check_own_servers(const struct rr_bench_options *options, struct rr_error *error)
{
	if (options->pin == RR_PIN_SAME)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--pin same moves the servers too, and those of --redis are yours; leave it out");
	if (options->persistence != RR_PERSIST_NONE)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--persistence is for private servers; those of --redis are not configured");
	for (size_t i = 1; i < options->n_redis; i++) {
		for (size_t j = i + 1; j < options->n_redis; j++) {
			if (is_same_server(&options->redis[i], &options->redis[j]))
				return rr_error_set(
					error, RR_ERROR_USAGE,
					"--redis: lock servers %zu and %zu are the same; they must be independent",
					i, j);
		}
	}
	return true;
}

/* ---- The options ----------------------------------------------------------------- */

static bool take_threads(void *into, char *list, struct rr_error *error)
{
	struct rr_bench_options *options = into;
	char *one;
	long threads;

	options->n_threads = 0;
	while ((one = strsep(&list, ","))) {
		size_t i = 0;

		if (options->n_threads == RR_SWEEP_MAX)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "--threads: more than %d numbers", RR_SWEEP_MAX);
		if (!rr_take_number("threads", one, 1, RR_CLIENTS_MAX, &threads, error))
			return false;
		/* Once each: what is to be repeated is asked for by --repeats. */
		while (i < options->n_threads && options->threads[i] != threads)
			i++;
		if (i == options->n_threads)
			options->threads[options->n_threads++] = threads;
	}
	return true;
}

/* A name with the suffix of a report is one, any other the directory of results. */
static bool take_bench_output(void *into, char *path, struct rr_error *error)
{
	struct rr_bench_options *options = into;
	enum rr_format format;

	if (rr_format_of_file(path, RR_RESULT_FORMATS, &format) && format != RR_FORMATS)
		return rr_outputs_add(&options->report, path, RR_RESULT_FORMATS, error);
	options->output = path;
	return true;
}

/* RATE[,RATE...]: "500" or "80%". */
static bool take_rates(void *into, char *list, struct rr_error *error)
{
	struct rr_bench_options *options = into;
	char *one;

	options->n_rates = 0;
	while ((one = strsep(&list, ","))) {
		struct rr_rate *rate = &options->rates[options->n_rates];
		const size_t length = strlen(one);
		const bool is_pct = length > 0 && one[length - 1] == '%';
		long value;

		if (options->n_rates == RR_SWEEP_MAX)
			return rr_error_set(error, RR_ERROR_USAGE, "--rate: more than %d rates",
					    RR_SWEEP_MAX);
		if (is_pct)
			one[length - 1] = '\0';
		if (!rr_take_number("rate", one, 1, is_pct ? 200 : 10000000, &value, error))
			return false;
		*rate = (struct rr_rate){ .value = (double)value, .is_pct = is_pct };
		snprintf(rate->text, sizeof(rate->text), "%ld%s", value, is_pct ? "%" : "");
		options->n_rates++;
	}
	return true;
}

const char *const rr_arrivals_names[] = {
	[RR_ARRIVALS_EXPONENTIAL] = "exponential", [RR_ARRIVALS_EVEN] = "even"
};
static const char *const pins[] = { [RR_PIN_SAME] = "same", [RR_PIN_NONE] = "none" };

static const struct rr_option options_table[] = {
	{ .help = "Load" },
	{ .name = "all-strategies",
	  .help = "all strategies; without a STRATEGY the basic ones run",
	  .at = AT(all) },
	{ .name = "increments",
	  .letter = 'n',
	  .help = "increments of all clients together (100000)",
	  .at = AT(increments),
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "threads",
	  .letter = 't',
	  .argument = "N[,N...]",
	  .help = "clients in each process, with a connection each (2); a list is a sweep",
	  .take = take_threads },
	{ .common = RR_OPTION_PROCESSES,
	  .help = "processes that the clients are in (1)",
	  .at = AT(processes),
	  .max = 256 },
	{ .common = RR_OPTION_REPEATS,
	  .help = "runs of each strategy, in an order that is shuffled each time (1)",
	  .at = AT(repeats),
	  .max = 1000 },
	{ .name = "seconds-per-cell",
	  .argument = "S",
	  .help = "instead of a number of increments: as many as a strategy does in S seconds, found by a short trial; with --rate the length of each run (10)",
	  .at = AT(seconds_per_cell),
	  .min = 1,
	  .max = 3600 },
	{ .name = "rate",
	  .argument = "N[%][,N...]",
	  .help = "open loop: N increments a second are asked for at planned times, by all clients together; latencies run from the planned time. N% is of the capacity, the highest rate that is sustained, which is looked for first. Without it the loop is closed: a client asks again when it is answered",
	  .take = take_rates },
	{ .name = "arrivals",
	  .argument = "exponential|even",
	  .help = "gaps of --rate: random ones from the seed (exponential, the default), or equal ones, staggered over the clients (even), which rarely contend",
	  .at = AT(arrivals),
	  .words = rr_arrivals_names,
	  .n_words = 2 },
	{ .name = "warmup",
	  .help = "increments before the measured ones (1000)",
	  .at = AT(warmup),
	  .max = 1000000 },
	{ .common = RR_OPTION_SEED,
	  .help = "seed, of the order, keys and back-off (random)",
	  .at = AT(seed),
	  .max = INT64_MAX },
	{ .name = "keys",
	  .help = "counters to choose from at random, each with its lock (1)",
	  .at = AT(keys),
	  .min = 1,
	  .max = RR_KEYS_MAX },
	{ .name = "hold-us",
	  .argument = "US",
	  .help = "microseconds of work between reading and writing the counter (0)",
	  .at = AT(hold_us),
	  .max = 60000000 },
	{ .help = "Locks" },
	{ .common = RR_OPTION_TTL_MS, .at = AT(ttl_ms), .min = 10, .max = 86400000 },
	{ .name = "wait",
	  .argument = "POLICY",
	  .help = "what a client does that does not get the lock: gives the increment up (fail-fast), asks again after a fixed time (sleep) or after a growing random time (backoff, the default), or puts the increment into a queue and goes on (delay-queue)",
	  .at = AT(policy),
	  .words = rr_policy_names,
	  .n_words = RR_POLICIES },
	{ .name = "dead-holder",
	  .help = "each run begins with the lock of a client that has died with it: the others wait until its lease ends, or take it over; where neither is possible they are stuck, as expected",
	  .at = AT(dead_holder) },
	{ .name = "kill-workers",
	  .help = "with --wait delay-queue: kill -9 a worker that has taken an increment from the queue and not done it, N times (0)",
	  .at = AT(kill_workers),
	  .max = 1000 },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
	{ .name = "topology",
	  .argument = "NAME",
	  .help = "what the private data server is part of: nothing (alone, the default); a primary with two replicas, of which redrace itself promotes one (replica); the same under three sentinels (sentinel); a Redis Cluster of three primaries with a replica each (cluster)",
	  .at = AT(topology),
	  .words = rr_topology_names,
	  .n_words = RR_TOPOLOGIES },
	{ .name = "fail-over",
	  .help = "kill -9 the primary N times during each run and let another be promoted; with lock servers of their own one of those is killed instead and comes back empty a second later (0)",
	  .at = AT(fail_overs),
	  .max = 1000 },
	{ .name = "cut-ms",
	  .argument = "MS",
	  .help = "cut the primary off from its replicas so long before each kill: what it acknowledges then is nowhere else (0); at most 4500: a replica that was cut off for longer is not promoted",
	  .at = AT(cut_ms),
	  .max = 4500 },
	{ .name = "wait-replicas",
	  .help = "WAIT for N replicas after each lock and after each write: with fewer within 100 ms the lock is released and the write counts as unknown (0)",
	  .at = AT(wait_replicas),
	  .max = 2 },
	{ .name = "persistence",
	  .argument = "none|rdb|everysec|always",
	  .help = "what the private servers write to disk (none)",
	  .at = AT(persistence),
	  .words = rr_persistence_names,
	  .n_words = RR_PERSIST_KINDS },
	{ .name = "pin",
	  .argument = "same|none",
	  .help = "same: clients and servers on one processor (the default with private servers but those of a --topology); none: the kernel decides",
	  .at = AT(pin),
	  .words = pins,
	  .n_words = sizeof(pins) / sizeof(pins[0]) },
	{ .name = "redis",
	  .argument = "URI[,URI...]",
	  .help = "your own servers instead: the data server, then lock servers; without it those of the environment variable REDRACE_REDIS",
	  .take = take_own_servers },
	{ .name = "redis-password-file",
	  .argument = "FILE",
	  .help = "their password, where the URI has none: the first line of FILE; else that of the environment variable REDISCLI_AUTH",
	  .at = AT(password_file) },
	{ .name = "askpass",
	  .help = "ask for their password on the terminal",
	  .at = AT(asks_password) },
	{ .help = "Output" },
	{ .name = "trace",
	  .help = "write to DIR/holders who was in the critical section when: the last N times of each client, where there is a lock (0: nothing)",
	  .at = AT(trace),
	  .max = 10000 },
	{ .common = RR_OPTION_OUTPUT,
	  .argument = "DIR|FILE",
	  .help = "also write FILE, in the format of its suffix: %s; any other name is the DIR of the results (results/RUN)",
	  .formats = RR_RESULT_FORMATS,
	  .repeats = true,
	  .take = take_bench_output },
	{ .common = RR_OPTION_FORMAT, .at = AT(report.printed), .formats = RR_RESULT_FORMATS },
};

/* ---- What goes together, and with this machine's limits ---------------- */

static bool check_leases(const struct rr_bench_options *options, struct rr_error *error)
{
	for (size_t i = 0; i < options->strategies.n; i++) {
		const struct rr_strategy *strategy = options->strategies.all[i];

		if (strategy->lock.lease == RR_LEASE_IN_SECONDS && options->ttl_ms % 1000)
			return rr_error_set(
				error, RR_ERROR_USAGE,
				"--ttl-ms %ld: the lease of %s is whole seconds; give a multiple of 1000",
				options->ttl_ms, strategy->name);
	}
	return true;
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

/* Raises the soft limit if need be. */
static bool check_files(const struct rr_bench_options *options, struct rr_error *error)
{
	/* A worker holds a connection per client and server, a private server one per
	 * client. */
	const long threads = most_threads(options);
	const long clients = threads * options->processes;
	size_t servers = 1;

	for (size_t i = 0; i < options->strategies.n; i++) {
		const struct rr_strategy *strategy = options->strategies.all[i];
		const size_t links = 1 + strategy->lock.servers + strategy->connections;

		servers = links > servers ? links : servers;
	}
	const long need = SPARE_FILES +
			  (threads * (long)servers > clients ? threads * (long)servers : clients);
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur == RLIM_INFINITY || (long)limit.rlim_cur >= need)
		return true;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    (limit.rlim_max == RLIM_INFINITY || (long)limit.rlim_max >= need))
		return true;
	return rr_error_set(
		error, RR_ERROR_USAGE,
		"--threads %ld needs %ld open files and the limit is %ld; raise it (ulimit -Hn) or ask for fewer threads",
		most_threads(options), need, (long)limit.rlim_max);
}

/* Who dies must be one client that has taken one increment, and somebody must
 * be left to notice. */
static bool check_kills(const struct rr_bench_options *options, struct rr_error *error)
{
	if (options->policy != RR_POLICY_DELAY_QUEUE)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--kill-workers is for --wait delay-queue; without it the increment of a dead worker is lost");
	if (most_threads(options) != 1 || options->processes < 2)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--kill-workers needs --threads 1 and --processes 2 or more, so that only one client dies and others go on");
	if (options->kill_workers > options->increments)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--kill-workers %ld: there are only %ld increments",
				    options->kill_workers, options->increments);
	return true;
}

/* More would never be confirmed. */
static long most_replicas(enum rr_topology topology)
{
	static const long replicas[RR_TOPOLOGIES] = {
		[RR_TOPOLOGY_REPLICA] = 2,
		[RR_TOPOLOGY_SENTINEL] = 2,
		[RR_TOPOLOGY_CLUSTER] = 1,
	};

	return replicas[topology];
}

static bool check_topology(const struct rr_bench_options *options, struct rr_error *error)
{
	const char *name = rr_topology_names[options->topology];

	if (options->topology == RR_TOPOLOGY_ALONE)
		return (!options->fail_overs && !options->wait_replicas && !options->cut_ms) ||
		       rr_error_set(
			       error, RR_ERROR_USAGE,
			       "--fail-over, --cut-ms and --wait-replicas need --topology replica, sentinel or cluster");
	if (options->n_redis)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--topology %s is of private servers, and those of --redis are yours; leave one out",
			name);
	if (options->policy == RR_POLICY_DELAY_QUEUE)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--topology %s: the queue of --wait delay-queue does not survive a fail-over; leave one out",
			name);
	if (options->wait_replicas > most_replicas(options->topology))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--wait-replicas %ld: a primary of --topology %s has %ld",
				    options->wait_replicas, name, most_replicas(options->topology));
	if (options->cut_ms && !options->fail_overs)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--cut-ms is what comes before a fail-over; give --fail-over N, too");
	return options->fail_overs <= options->increments ||
	       rr_error_set(error, RR_ERROR_USAGE, "--fail-over %ld: there are only %ld increments",
			    options->fail_overs, options->increments);
}

/* The others have to wait for the lock of the dead one. */
static bool check_dead_holder(const struct rr_bench_options *options, struct rr_error *error)
{
	if (options->policy == RR_POLICY_FAIL_FAST)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--dead-holder needs clients that ask again, and those of --wait fail-fast give up; leave one out");
	return options->topology == RR_TOPOLOGY_ALONE ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "--dead-holder needs --topology alone, not %s; leave one out",
			    rr_topology_names[options->topology]);
}

/* What an open loop does not go with, and how long a run is. */
static bool check_loop(struct rr_bench_options *options, struct rr_error *error)
{
	if (options->increments && options->n_rates)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--increments and --rate exclude each other: a run of an open loop lasts --seconds-per-cell");
	if (options->increments && options->seconds_per_cell)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--increments and --seconds-per-cell exclude each other; leave one out");
	if (options->arrivals != RR_ARRIVALS_EXPONENTIAL && !options->n_rates)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--arrivals is for --rate; in a closed loop nothing is planned");
	if (!options->increments)
		options->increments = INCREMENTS;
	if (!options->n_rates)
		return true;
	if (!options->seconds_per_cell)
		options->seconds_per_cell = WINDOW_S;
	if (options->n_threads > 1)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--rate takes one number of --threads; run bench for each");
	if (options->policy == RR_POLICY_DELAY_QUEUE || options->dead_holder ||
	    options->topology != RR_TOPOLOGY_ALONE)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--rate does not go with --wait delay-queue, --dead-holder and --topology; leave them out");
	return true;
}

static bool check_sizes(const struct rr_bench_options *options, struct rr_error *error)
{
	const long threads = most_threads(options);
	const long clients = threads * options->processes;

	if (clients > RR_CLIENTS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "%ld threads in %ld processes are %ld clients; %d is the most",
				    threads, options->processes, clients, RR_CLIENTS_MAX);
	if (clients * options->keys > TARGETS_MAX)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--keys %ld with %ld clients is too much for memory; %d clients x keys is the most",
			options->keys, clients, TARGETS_MAX);
	if (clients * options->trace > TARGETS_MAX)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--trace %ld with %ld clients is too much for memory; %d clients x times is the most",
			options->trace, clients, TARGETS_MAX);
	return true;
}

/* Without a name: the basic ones, or all. */
static bool choose_strategies(struct rr_bench_options *options, struct rr_error *error)
{
	if (options->all && options->strategies.n)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--all and the strategy '%s' exclude each other; leave one out",
				    options->strategies.all[0]->name);
	if (options->strategies.n)
		return true;
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (options->all || rr_strategies[i]->group == RR_EIGHT ||
		    rr_strategies[i]->is_basic)
			options->strategies.all[options->strategies.n++] = rr_strategies[i];
	}
	return true;
}

static bool check_options(void *into, struct rr_error *error)
{
	struct rr_bench_options *options = into;

	return complete_own_servers(options, error) && check_loop(options, error) &&
	       choose_strategies(options, error) && check_sizes(options, error) &&
	       check_leases(options, error) && check_files(options, error) &&
	       check_topology(options, error) &&
	       (!options->dead_holder || check_dead_holder(options, error)) &&
	       (!options->kill_workers || check_kills(options, error)) &&
	       (!options->n_redis || check_own_servers(options, error));
}

const struct rr_command_line rr_bench_command_line = {
	.about =
		"Counts to a known number under each strategy, checks the result and measures.\v"
		"The loop is closed unless --rate is given: each client asks for the next increment when the last one is done. "
		"Without a STRATEGY the basic ones run, with --all-strategies all of them; 'redrace list' shows them. "
		"The table shows increments a second (inc/s) and commands for each increment (cmds). The results, runs.csv, summary.csv, simple.csv, env.json and percentiles/, are written to results/RUN unless --output names another directory; results/latest is a link to the newest.",
	.arguments = "[STRATEGY...]",
	.examples = "redrace bench none local-mutex multi-watch incr\n"
		    "redrace bench --threads 1,2,4,8 --redis unix:///run/redis.sock incr\n"
		    "redrace bench --rate 50%,80%,95% --threads 8 incr set-nx-ex fair-queue\n"
		    "redrace bench --dead-holder --ttl-ms 1000 --threads 2,8 setnx-getset\n"
		    "redrace bench --topology sentinel --fail-over 3 --cut-ms 200 lua-delifequals",
	.name_at = rr_strategy_name,
	RR_OPTIONS(options_table),
	.take_argument = rr_take_strategy,
	.check = check_options,
};

struct rr_bench_options rr_bench_defaults(void)
{
	struct rr_bench_options options = {
		.threads = { 2 },
		.n_threads = 1,
		.processes = 1,
		.repeats = 1,
		.warmup = 1000,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
		.pin = RR_PIN_DEFAULT,
		.redis_server = "redis-server",
	};
	uint32_t seed;

	if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
		options.seed = seed;
	return options;
}
