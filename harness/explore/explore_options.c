/* SPDX-License-Identifier: MIT */
#include "explore_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "explore_keys.h"
#include "base/option.h"

enum { AUDIT = 200, JOBS_MAX = 64, MEGABYTE = 1 << 20 };

static void add_strategy(struct rr_explore_options *options, const char *name,
			 struct argp_state *state)
{
	if (options->n_strategies == RR_EXPLORE_STRATEGIES)
		argp_failure(state, RR_EXIT_USAGE, 0, "too many strategies");
	options->strategies[options->n_strategies++] =
		rr_option_strategy(state, name);
}

static int how_often(struct argp_state *state, const char *fault,
		     const char *text)
{
	return (int)rr_option_number(state, fault, text, 0, 8);
}

static bool parse_random(int key, const char *text, struct argp_state *state)
{
	struct rr_explore_options *options = state->input;
	struct rr_random_config *random = &options->config.random;

	switch (key) {
	case KEY_RANDOM:
		random->runs = (unsigned long)rr_option_number(
			state, "--random", text, 1, 1000000000);
		return true;
	case KEY_SEED:
		options->seed = rr_option_number(state, "--seed", text, 0,
						 LONG_MAX / 2);
		return true;
	case KEY_DEPTH:
		random->depth = (int)rr_option_number(
			state, "--depth", text, 1, RR_DEPTH_MAX);
		return true;
	default:
		return false;
	}
}

static bool parse_budget(int key, const char *text, struct argp_state *state)
{
	struct rr_explore_options *options = state->input;
	struct rr_budget *budget = &options->config.budget;

	switch (key) {
	case KEY_CRASHES:
		budget->crashes = how_often(state, "--crashes", text);
		return true;
	case KEY_EXPIRIES:
		budget->expiries = how_often(state, "--expiries", text);
		return true;
	case KEY_PAUSES:
		budget->pauses = how_often(state, "--pauses", text);
		return true;
	case KEY_RESTARTS:
		budget->restarts = how_often(state, "--restarts", text);
		return true;
	case KEY_JUMPS:
		budget->jumps = how_often(state, "--jumps", text);
		return true;
	case KEY_LATE:
		budget->late = how_often(state, "--late", text);
		return true;
	case KEY_LOST:
		budget->lost_replies =
			how_often(state, "--lost-replies", text);
		return true;
	default:
		return false;
	}
}

/* Seeds that are drawn are short enough to be typed. */
static void settle_random(struct rr_explore_options *options,
			  struct argp_state *state)
{
	struct rr_random_config *random = &options->config.random;
	struct timespec now;

	if (!random->runs && (random->depth || options->seed >= 0))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--seed and --depth are of --random");
	if (random->runs && options->config.all)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--random and --all exclude each other");
	if (random->runs && (options->config.dot || options->config.json))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--random makes no graph; leave --dot and --json out");
	clock_gettime(CLOCK_REALTIME, &now);
	random->seed = options->seed >= 0 ?
			       (uint64_t)options->seed :
			       (uint64_t)(now.tv_sec ^ now.tv_nsec) % 1000000000;
	if (!random->depth)
		random->depth = 3;
}

static void settle_graph(struct rr_explore_options *options,
			 struct argp_state *state)
{
	if (options->n_strategies > 1 &&
	    (options->config.dot || options->config.json))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--dot and --json take one strategy");
}

/* What the search is about. */
static bool parse_bounds(int key, const char *text, struct argp_state *state)
{
	struct rr_explore_options *options = state->input;
	struct rr_explore_config *config = &options->config;

	switch (key) {
	case KEY_CLIENTS:
		config->n_clients = (size_t)rr_option_number(
			state, "--clients", text, 1, 8);
		return true;
	case KEY_INCREMENTS:
		config->increments = rr_option_number(state, "--increments",
						      text, 1, 100);
		return true;
	case KEY_PROCESSES:
		config->separate = true;
		return true;
	case KEY_ALL:
		config->all = true;
		return true;
	case KEY_STAYS_AWAY:
		config->stays_away = true;
		return true;
	case KEY_SKEW:
		config->skew_ns = 1;
		return true;
	case KEY_SLOW_WORK:
		config->work_ms = 1;
		return true;
	case KEY_LOCK_SERVERS:
		config->lock_servers = (size_t)rr_option_number(
			state, "--lock-servers", text, 3, 9);
		return true;
	case KEY_TTL:
		config->ttl_ms = rr_option_number(state, "--ttl-ms", text, 5000,
						  3600000);
		return true;
	default:
		return false;
	}
}

/* How far it goes, and what is done besides. */
static bool parse_effort(int key, const char *text, struct argp_state *state)
{
	struct rr_explore_options *options = state->input;
	struct rr_explore_config *config = &options->config;

	switch (key) {
	case KEY_ROUNDS:
		config->rounds = (int)rr_option_number(state, "--rounds", text,
						       1, 20);
		return true;
	case KEY_MOST:
		config->most = (unsigned long)rr_option_number(
			state, "--most", text, 1, 1000000000);
		return true;
	case KEY_MEMORY:
		config->memory = (size_t)rr_option_number(state, "--memory",
							  text, 1, 1 << 24) *
				 MEGABYTE;
		return true;
	case KEY_AUDIT:
		config->audit = (unsigned long)rr_option_number(
			state, "--audit", text, 0, 1000000);
		return true;
	case KEY_MUTANTS:
		config->all_mutants = true;
		return true;
	case KEY_STATS:
		options->stats = true;
		return true;
	case KEY_JOBS:
		rr_option_number(state, "--jobs", text, 1, JOBS_MAX);
		return true;
	default:
		return false;
	}
}

static bool parse_files(int key, const char *text, struct argp_state *state)
{
	struct rr_explore_options *options = state->input;

	switch (key) {
	case KEY_SAVE:
		options->save = text;
		return true;
	case KEY_DOT:
		options->config.dot = text;
		return true;
	case KEY_JSON:
		options->config.json = text;
		return true;
	case KEY_REDIS_SERVER:
		options->redis_server = text;
		return true;
	default:
		return false;
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rr_explore_options *options = state->input;

	if (parse_budget(key, text, state) || parse_random(key, text, state) ||
	    parse_bounds(key, text, state) || parse_effort(key, text, state) ||
	    parse_files(key, text, state))
		return 0;
	switch (key) {
	case ARGP_KEY_ARG:
		add_strategy(options, text, state);
		break;
	case ARGP_KEY_END:
		settle_random(options, state);
		settle_graph(options, state);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "explore what? 'redrace list' shows the strategies");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = rr_explore_keys,
	.parser = parse_option,
	.args_doc = "STRATEGY...",
	.doc = "Finds all states that a strategy's clients and their servers can "
	       "get into, in every interleaving and with faults, and shows the "
	       "shortest that fails, played on real servers.",
};

void rr_help_explore(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace explore");
}

static bool has_faults(const struct rr_budget *budget)
{
	return budget->crashes || budget->expiries || budget->pauses ||
	       budget->lost_replies || budget->restarts || budget->jumps;
}

void rr_explore_options_parse(struct rr_explore_options *options, int argc,
			      char **argv)
{
	struct rr_explore_config *config = &options->config;

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
	config->repeats = config->budget.lost_replies > 0;
	if (config->skew_ns)
		config->skew_ns = (config->ttl_ms + 2000) * INT64_C(1000000);
	if (config->work_ms)
		config->work_ms = 5 * config->ttl_ms / 2;
	if (config->work_ms || config->skew_ns || has_faults(&config->budget))
		config->separate = true;
}
