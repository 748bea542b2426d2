/* SPDX-License-Identifier: MIT */
/* The command line of `redrace explore`. */
#include <argp.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/option.h"
#include "commands.h"
#include "explore.h"

enum { AUDIT = 200, MEGABYTE = 1 << 20, KEY_FIRST = 0x100 };

enum kind { FLAG, SMALL, NUMBER, TEXT }; /* bool, int, 8 bytes, const char * */

/* Where in the options an argument goes. */
#define AT(field) offsetof(struct rr_explore_options, field)
#define BUDGET(fault) AT(config.budget.fault), 0, 8

/* The key of each is KEY_FIRST and its index. */
static const struct setting {
	const char *name, *argument, *doc;
	enum kind kind;
	size_t at;
	long min, max;
} settings[] = {
	{ "clients", "N", "how many clients (2)", NUMBER, AT(config.n_clients),
	  1, 8 },
	{ "increments", "N", "of each client (1)", NUMBER,
	  AT(config.increments), 1, 100 },
	{ "processes", NULL,
	  "clients are processes, not threads of one; so they are with faults",
	  FLAG, AT(config.separate), 0, 0 },
	{ "all", NULL,
	  "every schedule for real, without tables of what is known", FLAG,
	  AT(config.all), 0, 0 },
	{ "crashes", "N", "clients may crash, N times", SMALL,
	  BUDGET(crashes) },
	{ "expiries", "N",
	  "leases run out at any point, N times, each in two halves if need be",
	  SMALL, BUDGET(expiries) },
	{ "pauses", "N", "the same, and nobody's renewer runs meanwhile", SMALL,
	  BUDGET(pauses) },
	{ "slow-work", NULL,
	  "the work between reading and writing takes two leases and a half",
	  FLAG, AT(slow_work), 0, 0 },
	{ "lost-replies", "N",
	  "replies may be lost, N times; the caller repeats its increment",
	  SMALL, BUDGET(lost_replies) },
	{ "restarts", "N", "lock servers may come back empty, N times", SMALL,
	  BUDGET(restarts) },
	{ "stays-away", NULL, "they come back after more than a lease", FLAG,
	  AT(config.stays_away), 0, 0 },
	{ "skew", NULL,
	  "each client's clock is ahead of the last by more than a lease", FLAG,
	  AT(skew), 0, 0 },
	{ "jumps", "N",
	  "a server's clock jumps forward by more than a lease, N times", SMALL,
	  BUDGET(jumps) },
	{ "late", "N",
	  "that many commands may be executed after their client died or gave "
	  "up (0); without it none is",
	  SMALL, BUDGET(late) },
	{ "lock-servers", "N",
	  "so many, where the strategy has any (as many as it has)", NUMBER,
	  AT(config.lock_servers), 3, 9 },
	{ "rounds", "N",
	  "how often a refused attempt that writes is repeated (2)", SMALL,
	  AT(config.rounds), 1, 20 },
	{ "ttl-ms", "MS", "the lease (10000)", NUMBER, AT(config.ttl_ms), 5000,
	  3600000 },
	{ "most", "N", "no more states than that", NUMBER, AT(config.most), 1,
	  1000000000 },
	{ "memory", "MB", "no more than that (half of what is free)", NUMBER,
	  AT(config.memory), 1, 1 << 24 },
	{ "audit", "N",
	  "random interleavings that are played for real before a strategy is "
	  "called safe (200)",
	  NUMBER, AT(config.audit), 0, 1000000 },
	{ "mutants", NULL,
	  "try all mutants, weakened commands, and list which are noticed",
	  FLAG, AT(config.all_mutants), 0, 0 },
	{ "stats", NULL, "print what the search was made of", FLAG, AT(stats),
	  0, 0 },
	{ "dot", "FILE", "write the graph of states for Graphviz", TEXT,
	  AT(config.dot), 0, 0 },
	{ "json", "FILE", "write the graph of states as JSON", TEXT,
	  AT(config.json), 0, 0 },
	{ "random", "N",
	  "N random schedules instead, for spaces too large to finish", NUMBER,
	  AT(config.random.runs), 1, 1000000000 },
	{ "seed", "S", "of the first of them; the next has the next number",
	  NUMBER, AT(seed), 0, LONG_MAX / 2 },
	{ "depth", "D", "find failures that need D pairs of steps in order (3)",
	  SMALL, AT(config.random.depth), 1, RR_DEPTH_MAX },
	{ "save", "FILE|DIR/",
	  "where the failing schedule is saved, for redrace play", TEXT,
	  AT(save), 0, 0 },
	{ "redis-server", "PATH", "program for private servers (redis-server)",
	  TEXT, AT(redis_server), 0, 0 },
};

enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void apply_setting(struct rr_explore_options *options,
			  const struct setting *setting, const char *text,
			  struct argp_state *state)
{
	void *at = (char *)options + setting->at;
	char name[32];
	long number;

	if (setting->kind == FLAG) {
		*(bool *)at = true;
		return;
	}
	if (setting->kind == TEXT) {
		*(const char **)at = text;
		return;
	}
	snprintf(name, sizeof(name), "--%s", setting->name);
	number =
		rr_option_number(state, name, text, setting->min, setting->max);
	if (setting->kind == SMALL)
		*(int *)at = (int)number;
	else
		memcpy(at, &number, sizeof(number));
}

static void add_strategy(struct rr_explore_options *options, const char *name,
			 struct argp_state *state)
{
	if (options->n_strategies == RR_EXPLORE_STRATEGIES)
		argp_failure(state, RR_EXIT_USAGE, 0, "too many strategies");
	options->strategies[options->n_strategies++] =
		rr_option_strategy(state, name);
}

static void check_combinations(const struct rr_explore_options *options,
			       struct argp_state *state)
{
	const struct rr_random_config *random = &options->config.random;
	const bool has_graph = options->config.dot || options->config.json;
	const char *wrong = NULL;

	if (!random->runs && (random->depth || options->seed >= 0))
		wrong = "--seed and --depth are of --random";
	else if (random->runs && options->config.all)
		wrong = "--random and --all exclude each other";
	else if (random->runs && has_graph)
		wrong = "--random makes no graph; leave --dot and --json out";
	else if (options->n_strategies > 1 && has_graph)
		wrong = "--dot and --json take one strategy";
	if (wrong)
		argp_failure(state, RR_EXIT_USAGE, 0, "%s", wrong);
}

static error_t parse_explore_option(int key, char *text,
				    struct argp_state *state)
{
	struct rr_explore_options *options = state->input;

	if (key >= KEY_FIRST && key < KEY_FIRST + N_SETTINGS) {
		apply_setting(options, &settings[key - KEY_FIRST], text, state);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_ARG:
		add_strategy(options, text, state);
		return 0;
	case ARGP_KEY_END:
		check_combinations(options, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_failure(
			state, RR_EXIT_USAGE, 0,
			"explore what? 'redrace list' shows the strategies");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The options as argp wants them go to `keys`. */
static struct argp make_explore_argp(struct argp_option keys[N_SETTINGS + 1])
{
	for (int i = 0; i < N_SETTINGS; i++)
		keys[i] = (struct argp_option){ .name = settings[i].name,
						.key = KEY_FIRST + i,
						.arg = settings[i].argument,
						.doc = settings[i].doc };
	keys[N_SETTINGS] = (struct argp_option){ 0 };
	return (struct argp){
		.options = keys,
		.parser = parse_explore_option,
		.args_doc = "STRATEGY...",
		.doc = "Finds all states that a strategy's clients and their "
		       "servers can get into, in every interleaving and with "
		       "faults, and shows the shortest that fails, played on "
		       "real servers.",
	};
}

void rr_help_explore(void)
{
	struct argp_option keys[N_SETTINGS + 1];
	const struct argp argp = make_explore_argp(keys);

	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace explore");
}

static bool has_faults(const struct rr_budget *budget)
{
	return budget->crashes || budget->expiries || budget->pauses ||
	       budget->lost_replies || budget->restarts || budget->jumps;
}

/* Seeds that are drawn are short enough to be typed. */
static void settle_options(struct rr_explore_options *options)
{
	struct rr_explore_config *config = &options->config;
	struct timespec now;

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
}

void rr_explore_options_parse(struct rr_explore_options *options, int argc,
			      char **argv)
{
	struct argp_option keys[N_SETTINGS + 1];
	const struct argp argp = make_explore_argp(keys);

	*options = (struct rr_explore_options){
		.config = { .n_clients = 2,
			    .increments = 1,
			    .rounds = 2,
			    .ttl_ms = 10000,
			    .audit = AUDIT },
		.redis_server = "redis-server",
		.seed = -1,
	};
	argp_err_exit_status = RR_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
	settle_options(options);
}
