/* SPDX-License-Identifier: MIT */
/* The command line of `redrace explore`. */
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "explore.h"

enum { AUDIT = 200, MEGABYTE = 1 << 20 };

#define AT(field) offsetof(struct rr_explore_options, field)

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_CLIENTS, .at = AT(config.n_clients), .min = 1,
	  .max = 8 },
	{ .common = RR_OPTION_INCREMENTS, .at = AT(config.increments),
	  .min = 1, .max = 100 },
	{ .name = "separate",
	  .help = "clients are processes, not threads of one; so they are with faults",
	  .kind = RR_TAKES_NOTHING, .at = AT(config.separate) },
	{ .name = "stateless",
	  .help = "every schedule for real: no two paths are merged into one state",
	  .kind = RR_TAKES_NOTHING, .at = AT(config.all) },
	{ .name = "crashes", .argument = "N",
	  .help = "clients may crash, N times", .kind = RR_TAKES_INT,
	  .at = AT(config.budget.crashes), .max = 8 },
	{ .name = "expiries", .argument = "N",
	  .help = "leases run out at any point, N times, each in two halves if need be",
	  .kind = RR_TAKES_INT, .at = AT(config.budget.expiries), .max = 8 },
	{ .name = "pauses", .argument = "N",
	  .help = "clients stop for half a lease or a whole one at any point, N times, and no renewer runs",
	  .kind = RR_TAKES_INT, .at = AT(config.budget.pauses), .max = 8 },
	{ .name = "slow-work",
	  .help = "the work between reading and writing takes two leases and a half",
	  .kind = RR_TAKES_NOTHING, .at = AT(slow_work) },
	{ .name = "lost-replies", .argument = "N",
	  .help = "replies may be lost, N times; the caller repeats its increment",
	  .kind = RR_TAKES_INT, .at = AT(config.budget.lost_replies), .max = 8 },
	{ .name = "restarts", .argument = "N",
	  .help = "lock servers may come back empty, N times",
	  .kind = RR_TAKES_INT, .at = AT(config.budget.restarts), .max = 8 },
	{ .name = "stays-away",
	  .help = "servers that restart come back after more than a lease",
	  .kind = RR_TAKES_NOTHING, .at = AT(config.stays_away) },
	{ .name = "skew",
	  .help = "each client's clock is ahead of the last by more than a lease",
	  .kind = RR_TAKES_NOTHING, .at = AT(skew) },
	{ .name = "jumps", .argument = "N",
	  .help = "a server's clock jumps forward by more than a lease, N times",
	  .kind = RR_TAKES_INT, .at = AT(config.budget.jumps), .max = 8 },
	{ .name = "late", .argument = "N",
	  .help = "that many commands may be executed after their client died or gave up (0); without it none is",
	  .kind = RR_TAKES_INT, .at = AT(config.budget.late), .max = 8 },
	{ .name = "lock-servers", .argument = "N",
	  .help = "so many, where the strategy has any (as many as it has)",
	  .kind = RR_TAKES_NUMBER, .at = AT(config.lock_servers), .min = 3,
	  .max = 9 },
	{ .name = "rounds", .argument = "N",
	  .help = "how often a refused attempt that writes is repeated (2)",
	  .kind = RR_TAKES_INT, .at = AT(config.rounds), .min = 1, .max = 20 },
	{ .common = RR_OPTION_TTL_MS, .help = "the lease (10000)",
	  .at = AT(config.ttl_ms), .min = 5000, .max = 3600000 },
	{ .common = RR_OPTION_MOST, .at = AT(config.most) },
	{ .name = "memory", .argument = "MB",
	  .help = "no more memory than that (half of what is free)",
	  .kind = RR_TAKES_NUMBER, .at = AT(config.memory), .min = 1,
	  .max = 1 << 24 },
	{ .name = "audit", .argument = "N",
	  .help = "random interleavings that are played for real before a strategy is called safe (200)",
	  .kind = RR_TAKES_NUMBER, .at = AT(config.audit), .max = 1000000 },
	{ .name = "mutants",
	  .help = "try all mutants, weakened commands, and list which are noticed",
	  .kind = RR_TAKES_NOTHING, .at = AT(config.all_mutants) },
	{ .name = "stats", .help = "print what the search was made of",
	  .kind = RR_TAKES_NOTHING, .at = AT(stats) },
	{ .name = "dot", .argument = "FILE",
	  .help = "write the graph of states for Graphviz",
	  .kind = RR_TAKES_TEXT, .at = AT(config.dot) },
	{ .name = "json", .argument = "FILE",
	  .help = "write the graph of states as JSON", .kind = RR_TAKES_TEXT,
	  .at = AT(config.json) },
	{ .name = "random", .argument = "N",
	  .help = "N random schedules instead, for spaces too large to finish",
	  .kind = RR_TAKES_NUMBER, .at = AT(config.random.runs), .min = 1,
	  .max = 1000000000 },
	{ .common = RR_OPTION_SEED,
	  .help = "of the first random schedule; the next has the next number",
	  .at = AT(seed), .max = LONG_MAX / 2 },
	{ .name = "depth", .argument = "D",
	  .help = "random schedules find failures that need D pairs of steps in order (3)",
	  .kind = RR_TAKES_INT, .at = AT(config.random.depth), .min = 1,
	  .max = RR_DEPTH_MAX },
	{ .common = RR_OPTION_SAVE, .argument = "FILE|DIR/",
	  .help = "where the failing schedule is saved, for redrace play",
	  .at = AT(save) },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
};

static bool take_strategy(void *into, char *name, struct rr_error *error)
{
	struct rr_explore_options *options = into;

	return rr_strategy_choose(name, options->strategies,
				  &options->n_strategies) ||
	       rr_refuse_name("strategy", name, rr_strategy_name,
			      "'redrace list' shows them", error);
}

static bool check_combinations(const struct rr_explore_options *options,
			       struct rr_error *error)
{
	const struct rr_random_config *random = &options->config.random;
	const bool has_graph = options->config.dot || options->config.json;
	const char *wrong = NULL;

	if (!random->runs && (random->depth || options->seed >= 0))
		wrong = "--seed and --depth are of --random";
	else if (random->runs && options->config.all)
		wrong = "--random and --stateless exclude each other";
	else if (random->runs && has_graph)
		wrong = "--random makes no graph; leave --dot and --json out";
	else if (options->n_strategies > 1 && has_graph)
		wrong = "--dot and --json take one strategy";
	return !wrong || rr_error_set(error, RR_ERROR_USAGE, "%s", wrong);
}

static bool has_faults(const struct rr_budget *budget)
{
	return budget->crashes || budget->expiries || budget->pauses ||
	       budget->lost_replies || budget->restarts || budget->jumps;
}

/* Seeds that are drawn are short enough to be typed. */
static bool settle_options(void *into, struct rr_error *error)
{
	struct rr_explore_options *options = into;
	struct rr_explore_config *config = &options->config;
	struct timespec now;

	if (!check_combinations(options, error))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	config->random.seed =
		options->seed >= 0 ?
			(uint64_t)options->seed :
			(uint64_t)(now.tv_sec ^ now.tv_nsec) % 1000000000;
	if (!config->random.depth)
		config->random.depth = 3;
	config->memory *= MEGABYTE;
	config->repeats = config->budget.lost_replies > 0;
	if (options->skew)
		config->skew_ns = (config->ttl_ms + 2000) * INT64_C(1000000);
	if (options->slow_work)
		config->work_ms = 5 * config->ttl_ms / 2;
	if (options->skew || options->slow_work || has_faults(&config->budget))
		config->separate = true;
	return true;
}

const struct rr_command_line rr_explore_command_line = {
	.about = "Finds all states that a strategy's clients and their servers can get into, in every interleaving and with faults, and shows the shortest that fails, played on real servers.",
	.arguments = "STRATEGY...",
	.missing = "explore what? 'redrace list' shows the strategies",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
	.take_argument = take_strategy,
	.check = settle_options,
};

struct rr_explore_options rr_explore_defaults(void)
{
	return (struct rr_explore_options){
		.config = { .n_clients = 2,
			    .increments = 1,
			    .rounds = 2,
			    .ttl_ms = 10000,
			    .audit = AUDIT },
		.redis_server = "redis-server",
		.seed = -1,
	};
}
