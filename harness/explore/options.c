/* SPDX-License-Identifier: MIT */
/* The command line of `redrace explore`. */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/files.h"
#include "base/machine.h"
#include "explore.h"

enum { CLIENTS = 2, AUDIT = 200, MEGABYTE = 1 << 20 };
enum { FORMATS = RR_RESULT_FORMATS | RR_ONLY(RR_FORMAT_HTML) };

#define AT(field) offsetof(struct rr_explore_options, field)

bool rr_explore_take_graph(void *into, char *path, struct rr_error *error)
{
	struct rr_explore_config *config = into;
	const char *suffix = strrchr(path, '.');

	if (suffix && strcmp(suffix, ".dot") == 0)
		config->dot = path;
	else if (suffix && strcmp(suffix, ".json") == 0)
		config->json = path;
	else
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--graph '%s': expected a name ending in .dot or .json", path);
	return rr_files_can_write(path, error);
}

static const char *invariant_at(size_t index)
{
	return index < RR_INVARIANTS ? rr_invariant_name((int)index) : NULL;
}

static bool take_shown(void *into, char *name, struct rr_error *error)
{
	struct rr_explore_options *options = into;
	size_t index;

	if (!rr_take_name("invariant", name, invariant_at,
			  "there are count, exclusion, lease, ownership, deadlock and starvation",
			  &index, error))
		return false;
	options->config.shows = 1U << index;
	return true;
}

static const struct rr_option options_table[] = {
	{ .help = "Bounds" },
	{ .common = RR_OPTION_CLIENTS,
	  .help = "number of clients (2; with --crashes or --lost-replies 3 of a lock that clients take over by its timestamp)",
	  .at = AT(config.n_clients),
	  .min = 1,
	  .max = 8 },
	{ .common = RR_OPTION_INCREMENTS_EACH, .at = AT(config.increments), .min = 1, .max = 100 },
	{ .common = RR_OPTION_PROCESSES,
	  .help = "processes that the clients are in: 1, and they are threads of it, or as many as clients (1; with faults always the latter)",
	  .at = AT(processes),
	  .min = 1,
	  .max = 8 },
	{ .name = "lock-servers",
	  .help = "number of lock servers, for strategies that use several (as many as the strategy has)",
	  .at = AT(config.lock_servers),
	  .min = 3,
	  .max = 9 },
	{ .common = RR_OPTION_TTL_MS, .at = AT(config.ttl_ms), .min = 5000, .max = 3600000 },
	{ .common = RR_OPTION_ROUNDS,
	  .help = "rounds of a client that leaves something new in each: how often it is refused in a row (2)",
	  .at = AT(config.rounds) },
	{ .help = "Faults, at any point of the schedule" },
	{ .row_at = rr_budget_option, .at = AT(config.budget) },
	{ .name = "slow-work",
	  .help = "the work between reading and writing takes two and a half leases",
	  .at = AT(slow_work) },
	{ .name = "stays-away",
	  .help = "a lock server that restarts is away for longer than a lease",
	  .at = AT(config.stays_away) },
	{ .name = "skew",
	  .help = "the clock of each client is ahead of the previous one by more than a lease",
	  .at = AT(skew) },
	{ .help = "Search" },
	{ .name = "stateless",
	  .help = "run every schedule for real: no two paths are merged into one state",
	  .at = AT(config.all) },
	{ .name = "random",
	  .help = "run N random schedules instead, for spaces too large to finish",
	  .at = AT(config.random.runs),
	  .min = 1,
	  .max = 1000000000 },
	{ .name = "depth",
	  .help = "random schedules are drawn for failures that need N pairs of steps in a certain order (3)",
	  .kind = RR_TAKES_INT,
	  .at = AT(config.random.depth),
	  .min = 1,
	  .max = RR_DEPTH_MAX },
	{ .common = RR_OPTION_SEED,
	  .help = "seed, of the first random schedule; the next one has the next number",
	  .at = AT(seed),
	  .max = LONG_MAX / 2 },
	{ .common = RR_OPTION_MAX_STATES, .at = AT(config.most) },
	{ .name = "memory",
	  .argument = "MB",
	  .help = "use at most this much memory (half of what is free)",
	  .at = AT(config.memory),
	  .min = 1,
	  .max = 1 << 24 },
	{ .help = "Checks of the verdict" },
	{ .common = RR_OPTION_AUDIT,
	  .help = "play N random interleavings for real, before a strategy is called safe (200)",
	  .at = AT(config.audit),
	  .max = 1000000 },
	{ .name = "mutants",
	  .help = "try all mutants, each with one command weakened or left out, and list which are noticed",
	  .at = AT(config.all_mutants) },
	{ .help = "Output" },
	{ .common = RR_OPTION_SAVE,
	  .argument = "FILE|DIR/",
	  .help = "save the schedule as a race, for redrace play: the one that fails",
	  .at = AT(save) },
	{ .name = "show",
	  .argument = "INVARIANT",
	  .help = "the schedule that is shown is the shortest that breaks this: count, exclusion, lease, ownership, deadlock or starvation (the first of these that is broken)",
	  .take = take_shown },
	{ .common = RR_OPTION_GRAPH, .take = rr_explore_take_graph, .at = AT(config) },
	{ .common = RR_OPTION_STATS, .at = AT(stats) },
	{ .common = RR_OPTION_OUTPUT, .at = AT(report), .formats = FORMATS },
	{ .common = RR_OPTION_FORMAT, .at = AT(report.printed), .formats = FORMATS },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
};

/* Seeds that are drawn are short enough to be typed. */
static bool settle_options(void *into, struct rr_error *error)
{
	struct rr_explore_options *options = into;
	struct rr_explore_config *config = &options->config;
	const struct rr_random_config *random = &options->config.random;
	const bool has_graph = options->config.dot || options->config.json;
	const char *wrong = NULL;
	long clients;

	if (!random->runs && (random->depth || options->seed >= 0))
		wrong = "--seed and --depth need --random";
	else if (random->runs && options->config.all)
		wrong = "--random and --stateless exclude each other";
	else if (random->runs && has_graph)
		wrong = "--random makes no graph: leave --graph out";
	else if (options->strategies.n > 1 && has_graph)
		wrong = "--graph takes one strategy";
	if (wrong)
		return rr_error_set(error, RR_ERROR_USAGE, "%s", wrong);
	config->random.seed = options->seed >= 0 ? (uint64_t)options->seed :
						   (uint64_t)rr_clock_wall_ns() % 1000000000;
	if (!config->random.depth)
		config->random.depth = 3;
	config->memory *= MEGABYTE;
	if (options->skew)
		config->skew_ns = (config->ttl_ms + 2000) * INT64_C(1000000);
	if (options->slow_work)
		config->work_ms = 5 * config->ttl_ms / 2;
	if (options->skew || options->slow_work || rr_budget_has_faults(&config->budget))
		config->separate = true;
	/* Faults are those of processes: whether clients share one is decided by then. */
	clients = config->n_clients ? (long)config->n_clients : CLIENTS;
	if (!options->processes)
		return true;
	if (options->processes == 1 && config->separate && clients > 1)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--processes 1: with faults each client is a process of its own");
	if (options->processes != 1 && options->processes != clients)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--processes %ld: expected 1, or %ld, as many as clients",
				    options->processes, clients);
	config->n_clients = (size_t)clients;
	config->separate = config->separate || options->processes > 1;
	return true;
}

const struct rr_command_line rr_explore_command_line = {
	.about =
		"Finds all states that a strategy's clients and their servers can reach, in every interleaving and with faults, and shows the shortest interleaving that fails, played on real servers."
		"\vA strategy is called safe when all states were seen, none of them fails, and a mutant of the strategy, with one command weakened or left out, does fail. "
		"What breaks is compared with what the strategy's table expects of the faults that are asked for: more is exit 1. "
		"Ctrl-C ends a search; what is known so far is printed.",
	.arguments = "STRATEGY...",
	.examples = "redrace explore multi-watch-split\n"
		    "redrace explore --stats --crashes 1 --late 1 lua-delifequals\n"
		    "redrace explore --random 100000 --clients 3 redlock",
	.name_at = rr_strategy_name,
	.missing = "explore what? 'redrace list' shows the strategies",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
	.take_argument = rr_take_strategy,
	.check = settle_options,
};

struct rr_explore_options rr_explore_defaults(void)
{
	return (struct rr_explore_options){
		.config = { .increments = 1, .rounds = 2, .ttl_ms = 10000, .audit = AUDIT },
		.redis_server = "redis-server",
		.seed = -1,
	};
}

struct rr_explore_config rr_explore_config_of(const struct rr_explore_options *options,
					      const struct rr_strategy *strategy)
{
	struct rr_explore_config config = options->config;
	const int *faults = config.budget.of;
	const bool leaves_lock = strategy->lock.kind == RR_LOCK_TIMESTAMP &&
				 (faults[RR_CRASHES] || faults[RR_LOST_REPLIES]);

	config.strategy = strategy;
	if (!config.n_clients)
		config.n_clients = CLIENTS + leaves_lock;
	return config;
}
