/* SPDX-License-Identifier: MIT */
/* Makes what an exploration needs, and moves its world in a run: time, and
 * faults of servers. */
#include "explore_inside.h"

#define YIELD_NS INT64_C(100000000)

/* ---- While it runs -------------------------------------------------------- */

static void move_time(void *context, int64_t duration_ns)
{
	struct rr_explorer *explorer = context;

	rr_world_tick_idle(explorer->world, duration_ns);
}

/* A server comes back empty, or its clock jumps; both for the rest of the run. */
static void strike(void *context, enum rr_choice_kind kind, int server,
		   int64_t by_ns)
{
	struct rr_explorer *explorer = context;
	char error[RR_WORLD_ERROR];

	if (kind == RR_CHOOSE_RESTART) {
		rr_access_disconnect(explorer->access, server);
		rr_subject_wipe(explorer->subject, server);
	} else {
		explorer->jumped = server;
		rr_world_skew(explorer->world, server, by_ns, error);
	}
}

/* Clocks are together again. */
static void end_run(void *context)
{
	struct rr_explorer *explorer = context;
	char error[RR_WORLD_ERROR];

	if (explorer->jumped >= 0)
		rr_world_skew(explorer->world, explorer->jumped, 0, error);
	explorer->jumped = -1;
}

/* ---- Setting up ----------------------------------------------------------- */

static enum rr_exit check_strategy(struct rr_explorer *explorer)
{
	const struct rr_strategy *strategy = explorer->config->strategy;
	struct rl_link *link = rl_link_new(&explorer->addresses[0], 2000);
	const char *lacking =
		link && strategy->lacks ? strategy->lacks(link, "spare") : NULL;
	enum rr_exit code = RR_EXIT_OK;

	if (!link)
		code = rr_explorer_fail(explorer, RR_EXIT_INTERNAL,
					"out of memory");
	else if (lacking)
		code = rr_explorer_fail(explorer, RR_EXIT_SKIPPED, lacking);
	rl_link_free(link);
	return code;
}

static enum rr_exit make_search(struct rr_explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;

	explorer->access = rr_access_new(explorer->addresses,
					 rr_explore_servers(config));
	if (!explorer->access)
		return rr_explorer_fail(explorer, RR_EXIT_REDIS,
					"cannot connect");
	if (config->random.runs)
		explorer->pct = rr_pct_new(&config->random, &config->budget);
	if (config->random.runs && !explorer->pct)
		return rr_explorer_fail(explorer, RR_EXIT_INTERNAL,
					"out of memory");
	explorer->search = rr_search_new(&(struct rr_search_config){
		.n_clients = config->n_clients,
		.n_servers = rr_explore_servers(config),
		.separate = config->separate,
		.all = config->all,
		.budget = config->budget,
		.stays_away = config->stays_away,
		.lease_ns = config->ttl_ms * INT64_C(1000000),
		.rounds = config->rounds,
		.access = explorer->access,
		.pct = explorer->pct,
		.split = explorer->share->split,
		.claim = rr_shards_claim,
		.context = explorer->share,
	});
	explorer->room = rr_interleavings_new();
	return explorer->search && explorer->room ?
		       RR_EXIT_OK :
		       rr_explorer_fail(explorer, RR_EXIT_INTERNAL,
					"out of memory");
}

static enum rr_exit make_subject(struct rr_explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;

	explorer->subject = rr_subject_new(
		&(struct rr_subject_config){
			.strategy = config->strategy,
			.addresses = explorer->addresses,
			.prefix = "",
			.n_clients = config->n_clients,
			.separate = config->separate,
			.increments = config->increments,
			.ttl_ms = config->ttl_ms,
			.hold_us = config->work_ms * 1000,
			.lock_servers = config->lock_servers,
			.repeats = config->repeats,
			.day_ns = RR_WORLD_START_NS,
			.yield_ns = YIELD_NS,
			.servers_stay = true,
			.advance = move_time,
			.strike = strike,
			.over = end_run,
			.context = explorer,
			.planted = config->planted,
		},
		explorer->result->error, RR_WORLD_ERROR);
	if (!explorer->subject)
		return RR_EXIT_REDIS;
	rr_access_set_gate(explorer->access,
			   rr_subject_gate(explorer->subject));
	for (size_t i = 0; i < config->n_clients; i++)
		rr_gate_set_skew(rr_subject_gate(explorer->subject), (int)i,
				 (int64_t)i * config->skew_ns);
	if (!rr_subject_prepare(explorer->subject))
		return rr_explorer_fail(explorer, RR_EXIT_REDIS,
					rr_subject_error(explorer->subject));
	return RR_EXIT_OK;
}

enum rr_exit rr_explorer_begin(struct rr_explorer *explorer)
{
	enum rr_exit code;

	for (size_t i = 0; i < explorer->world->n_servers; i++)
		explorer->addresses[i] =
			*rr_world_address(explorer->world, (int)i);
	code = check_strategy(explorer);
	if (code == RR_EXIT_OK)
		code = make_search(explorer);
	if (code == RR_EXIT_OK)
		code = make_subject(explorer);
	return code;
}
