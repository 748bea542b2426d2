/* SPDX-License-Identifier: MIT */
/* The judge of what a search finds: paths as the search makes them are gone, and paths as
 * a search with a wrong rule would have made them are refused, each for its reason. */
#include <stdlib.h>
#include <string.h>

#include "../cluster/stage.h"
#include "explore/search.h"
#include "strategy.h"
#include "wrong_rules.h"

enum { SEEDS = 2000 };

static struct stage stage;

static void setup(void)
{
	stage_open(&stage, RR_CLUSTER_FROZEN);
}

static void teardown(void)
{
	stage_close(&stage);
}

TestSuite(free_replay, .init = setup, .fini = teardown);

/* ---- Paths -------------------------------------------------------------------- */

/* What is done with the states of a search. */
struct trial {
	plant_rule *plant; /* NULL: paths are gone as they are, all of them */
	bool is_sometimes; /* the plant does harm, not in every path */
	unsigned long n_gone;
	bool was_planted;
	char error[RR_ERROR_SIZE]; /* that the replay gave then */
};

static bool go_path(struct rr_search *search, struct rr_free_replay *replay, uint64_t seed,
		    struct trial *trial)
{
	struct rr_graph *graph = &search->graph;
	struct rr_actions actions = { 0 };
	struct rr_path path = { 0 };
	struct rr_error error = { .kind = RR_ERROR_NONE };

	rr_graph_random_path(graph, seed, &path);
	cr_assert(rr_graph_actions(graph, &path, &actions));
	if (!trial->plant || trial->plant(&search->terms, &actions)) {
		const bool good = rr_product_replay(graph->product, replay, &actions,
						    rr_graph_path_end(graph, &path),
						    rr_graph_path_breaks(graph, &path), &error);

		trial->n_gone++;
		trial->was_planted = trial->plant && !(trial->is_sometimes && good);
		cr_assert(good == !trial->plant || (good && trial->is_sometimes), "path %llu: %s",
			  (unsigned long long)seed, good ? "nothing was noticed" : error.text);
		snprintf(trial->error, sizeof(trial->error), "%s", error.text);
	}
	free(actions.all);
	rr_path_release(&path);
	return !trial->was_planted;
}

/* Goes paths until the wrong rule could be planted, or so many. */
static enum rr_going go_paths(struct rr_search *search, void *context)
{
	struct trial *trial = context;
	const unsigned long most = trial->plant ? SEEDS : search->config->audit;
	struct rr_free_replay *replay;

	rr_graph_analyse(&search->graph);
	for (int i = 0; i < 2; i++) {
		if (search->tables[i].asker)
			rr_asker_reset(search->tables[i].asker);
		search->tables[i].at = RR_NO_ID;
	}
	replay = rr_free_replay_new(&(struct rr_free_replay_config){
		.program = &search->program,
		.cluster = search->cluster,
		.scripts = &search->scripts,
		.day_ns = search->wanted.day_ns,
		.skew_ns = search->wanted.skew_ns,
	});
	for (uint64_t seed = 1; seed <= most && go_path(search, replay, seed, trial); seed++)
		continue;
	rr_free_replay_free(replay);
	return RR_GO_ON;
}

static void try_paths(const char *strategy, struct rr_explore_config config, struct trial *trial)
{
	struct rr_explore_result result;
	struct rr_search search;

	config.strategy = rr_strategy_find(strategy);
	config.n_clients = config.n_clients ? config.n_clients : 2;
	config.increments = 1;
	config.rounds = 2;
	config.ttl_ms = 10000;
	config.most = config.most ? config.most : 20000;
	cr_assert(rr_search_open(&search, &stage.cluster, &config, &result), "%s",
		  result.error.text);
	cr_assert(rr_search_run(&search, go_paths, trial), "%s: %s", strategy, result.error.text);
	rr_search_release(&search);
}

/* The replay must say why it refuses the path. */
static void assert_refused(const char *strategy, struct rr_explore_config config, plant_rule *plant,
			   const char *why)
{
	struct trial trial = { .plant = plant };

	try_paths(strategy, config, &trial);
	cr_assert(trial.was_planted, "no path could be changed");
	cr_assert(strstr(trial.error, why), "%s", trial.error);
}

/* Where it makes a difference; in some paths it does. */
static void assert_refused_sometimes(const char *strategy, struct rr_explore_config config,
				     plant_rule *plant, const char *why)
{
	struct trial trial = { .plant = plant, .is_sometimes = true };

	try_paths(strategy, config, &trial);
	cr_assert(trial.was_planted, "nothing was noticed");
	cr_assert(strstr(trial.error, why), "%s", trial.error);
}

/* ---- Planted ---------------------------------------------------------------------- */

static const struct rr_explore_config two = { .separate = true };
static const struct rr_explore_config lost = { .separate = true, .budget.of[RR_LOST_REPLIES] = 1 };
static const struct rr_explore_config crash = { .separate = true, .budget.of[RR_CRASHES] = 1 };

Test(free_replay, late_command_needs_a_connection_that_was_left)
{
	assert_refused("setnx", lost, late_command_of_nobody, "has left no connection in which");
}

Test(free_replay, reply_is_not_lost_before_there_is_one)
{
	assert_refused("setnx", lost, lost_reply_too_early, "nothing has come");
}

Test(free_replay, lost_reply_comes_behind_those_before_it)
{
	assert_refused("lua-pipelined", lost, lost_reply_overtakes, "which was not lost");
}

Test(free_replay, connection_keeps_the_order)
{
	assert_refused("lua-pipelined", two, swapped_commands, "and the path has");
}

Test(free_replay, nothing_arrives_behind_what_did_not)
{
	assert_refused("lua-pipelined", lost, arrives_behind_a_dropped_one, "client");
}

Test(free_replay, mutex_is_one_clients_until_it_gives_it_back)
{
	assert_refused("local-mutex", (struct rr_explore_config){ 0 }, mutex_too_early,
		       "takes a mutex that client");
}

Test(free_replay, lock_is_not_free_before_it_is_released)
{
	assert_refused("setnx", two, release_too_early, "is answered (integer) 0");
}

Test(free_replay, server_counts_a_listener_until_it_has_noticed)
{
	assert_refused_sometimes("fair-queue", crash, crash_leaves_a_listener, "played for real");
}

Test(free_replay, living_listener_is_not_closed)
{
	assert_refused("fair-queue", two, crash_closes_too_much, "played for real");
}

Test(free_replay, increments_count_when_they_are_acknowledged)
{
	assert_refused("setnx", two, counted_by_another_field, "more, and in the path");
}

Test(free_replay, time_is_what_clocks_say)
{
	struct rr_explore_config slow = two;

	slow.work_ms = 25000;
	assert_refused("lua-renewed", slow, wakes_too_early, "before its time is over");
}

/* ---- As they are -------------------------------------------------------------------- */

/* A client that knows that its connection is gone opens one to the new server: a second
 * restart before that takes nothing from it. */
Test(free_replay, restart_cuts_what_is_open)
{
	struct rr_explore_config restarts = { .separate = true,
					      .audit = 160,
					      .most = 30000,
					      .lock_servers = 3,
					      .budget.of[RR_RESTARTS] = 2 };
	struct trial trial = { .plant = NULL };

	try_paths("redlock", restarts, &trial);
	cr_assert_eq(trial.n_gone, restarts.audit);
}

/* Over one connection the second command does not arrive without the first, however late. */
Test(free_replay, late_command_keeps_the_order)
{
	struct rr_explore_config late = { .separate = true,
					  .audit = 100,
					  .budget.of[RR_LOST_REPLIES] = 1,
					  .budget.of[RR_LATE_COMMANDS] = 1 };
	struct trial trial = { .plant = NULL };

	try_paths("lua-pipelined", late, &trial);
	cr_assert_eq(trial.n_gone, late.audit);
}

/* Paths of searches in which much fails, too: what breaks is seen where it was found and
 * nowhere else. */
Test(free_replay, every_fault_is_what_happens)
{
	static const char *const strategies[] = {
		"none",        "local-mutex", "setnx-del-takeover", "lua-pipelined",
		"lua-renewed", "fair-queue",  "multi-watch",        "redlock",
	};
	static const int budgets[] = { RR_CRASHES,  RR_PAUSES, RR_LOST_REPLIES,
				       RR_RESTARTS, RR_JUMPS,  RR_EXPIRIES };

	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
		for (size_t j = 0; j < sizeof(budgets) / sizeof(budgets[0]); j++) {
			struct rr_explore_config config = {
				.separate = true, .audit = 15, .most = 3000, .lock_servers = 3
			};
			struct trial trial = { .plant = NULL };

			config.budget.of[budgets[j]] = 1 + (budgets[j] == RR_RESTARTS);
			config.budget.of[RR_LATE_COMMANDS] = budgets[j] == RR_CRASHES ||
							     budgets[j] == RR_LOST_REPLIES;
			config.stays_away = budgets[j] == RR_RESTARTS && i % 2;
			try_paths(strategies[i], config, &trial);
			cr_assert_eq(trial.n_gone, 15);
		}
	}
}
