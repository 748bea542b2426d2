/* SPDX-License-Identifier: MIT */
/* The judge of what a search finds: paths as the search makes them are gone, and paths as
 * a search with a wrong rule would have made them are refused, each for its reason. */
#include <stdlib.h>
#include <string.h>

#include "../cluster/stage.h"
#include "explore/search.h"
#include "strategy.h"

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

/* Changes a path as a wrong rule would. False: it has nothing to be changed. */
typedef bool (*plant)(const struct rr_terms *terms, struct rr_actions *path);

/* What is done with the states of a search. */
struct trial {
	plant plant;       /* NULL: paths are gone as they are, all of them */
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
static bool go_paths(struct rr_search *search, void *context)
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
	return true;
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
static void assert_refused(const char *strategy, struct rr_explore_config config, plant plant,
			   const char *why)
{
	struct trial trial = { .plant = plant };

	try_paths(strategy, config, &trial);
	cr_assert(trial.was_planted, "no path could be changed");
	cr_assert(strstr(trial.error, why), "%s", trial.error);
}

/* Where it makes a difference; in some paths it does. */
static void assert_refused_sometimes(const char *strategy, struct rr_explore_config config,
				     plant plant, const char *why)
{
	struct trial trial = { .plant = plant, .is_sometimes = true };

	try_paths(strategy, config, &trial);
	cr_assert(trial.was_planted, "nothing was noticed");
	cr_assert(strstr(trial.error, why), "%s", trial.error);
}

/* ---- Changing paths --------------------------------------------------------------- */

static bool is_request(const struct rr_action *action)
{
	return action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND &&
	       !action->is_late;
}

static bool is_named(const struct rr_terms *terms, const struct rr_action *action, const char *name)
{
	return is_request(action) &&
	       strcmp(terms->command[action->command].words.words[0].text, name) == 0;
}

static void move_action(struct rr_actions *path, size_t from, size_t to)
{
	const struct rr_action moved = path->all[from];

	for (; from < to; from++)
		path->all[from] = path->all[from + 1];
	for (; from > to; from--)
		path->all[from] = path->all[from - 1];
	path->all[to] = moved;
}

static void insert_action(struct rr_actions *path, size_t at, struct rr_action action)
{
	rr_actions_add(path, &action);
	move_action(path, path->n - 1, at);
}

/* The first action from `at` on that feeds the client; path->n = none does. */
static size_t find_feed(const struct rr_actions *path, size_t at, uint8_t client, uint8_t stop)
{
	while (at < path->n && (path->all[at].kind != RR_ACTION_FEED ||
				path->all[at].client != client || path->all[at].stop.kind != stop))
		at++;
	return at;
}

/* With the beginning of the client's attempt, if that is right before it. */
static void move_with_begin(struct rr_actions *path, size_t from, size_t to)
{
	const struct rr_action *before = &path->all[from - 1];

	if (before->kind == RR_ACTION_FEED && before->client == path->all[from].client &&
	    before->stop.kind == RR_STOP_ATTEMPT)
		move_action(path, from - 1, to++);
	move_action(path, from, to);
}

/* ---- Wrong rules -------------------------------------------------------------------- */

/* The client has heard that its reply is lost; what it had sent is executed again. */
static bool late_command_of_nobody(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		struct rr_action again = path->all[i];
		const size_t heard = find_feed(path, i, again.client, RR_STOP_RECEIVE);

		if (!is_request(&again) || again.answer != RR_ANSWER_LOST || heard == path->n)
			continue;
		again.is_late = true;
		insert_action(path, heard + 1, again);
		return true;
	}
	return false;
}

static bool lost_reply_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 1; i < path->n; i++) {
		if (path->all[i].kind != RR_ACTION_FEED ||
		    path->all[i].input.kind != RR_INPUT_LOST || !is_request(&path->all[i - 1]))
			continue;
		move_action(path, i, i - 1);
		return true;
	}
	return false;
}

/* The client hears of it before it hears the reply that came first. */
static bool lost_reply_overtakes(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 1; i + 1 < path->n; i++) {
		struct rr_action *feed = &path->all[i];
		const struct rr_action *lost = &path->all[i + 1];

		if (feed->kind != RR_ACTION_FEED || feed->input.kind != RR_INPUT_REPLY ||
		    !is_request(lost) || lost->answer != RR_ANSWER_LOST ||
		    lost->client != feed->client || lost->lane != feed->stop.lane)
			continue;
		feed->input.kind = RR_INPUT_LOST;
		move_action(path, i, i + 1);
		return true;
	}
	return false;
}

/* Both were sent at once. */
static bool swapped_commands(const struct rr_terms *terms, struct rr_actions *path)
{
	for (size_t i = 0; i < path->n; i++) {
		struct rr_action *set = &path->all[i];
		size_t get = i + 1;

		while (get < path->n && !(is_named(terms, &path->all[get], "GET") &&
					  path->all[get].client == set->client))
			get++;
		if (!is_named(terms, set, "SET") || set->is_inside || get == path->n)
			continue;
		move_action(path, get, i);
		return true;
	}
	return false;
}

/* Another client has the mutex before it was given back. */
static bool mutex_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *unlock = &path->all[i];
		const size_t lock = find_feed(path, i, !unlock->client, RR_STOP_LOCK);

		if (unlock->kind != RR_ACTION_FEED || unlock->stop.kind != RR_STOP_UNLOCK ||
		    lock == path->n)
			continue;
		move_with_begin(path, lock, i);
		return true;
	}
	return false;
}

/* Another client has the lock before it was given back. */
static bool release_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *release = &path->all[i];
		size_t take = i + 1;

		while (take < path->n && (!is_named(terms, &path->all[take], "SETNX") ||
					  path->all[take].client == release->client))
			take++;
		if (!is_named(terms, release, "DEL") || take == path->n)
			continue;
		move_with_begin(path, take, i);
		return true;
	}
	return false;
}

/* The server never notices that a client which listened is dead. */
static bool crash_leaves_a_listener(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *close = &path->all[i];
		size_t later = i + 1;

		while (later < path->n && !is_request(&path->all[later]))
			later++;
		if (close->kind != RR_ACTION_ASK || close->question.kind != RR_ASK_CLOSE ||
		    later == path->n)
			continue;
		move_action(path, i, path->n - 1);
		path->n--;
		return true;
	}
	return false;
}

/* A crash closes what a client that lives has open. */
static bool crash_closes_too_much(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *read = &path->all[i];
		size_t before = i;

		if (read->kind != RR_ACTION_ASK || read->question.kind != RR_ASK_READ)
			continue;
		while (before > 0 && path->all[before].kind != RR_ACTION_CRASH &&
		       !(is_request(&path->all[before]) &&
			 path->all[before].client != read->client))
			before--;
		insert_action(path, before,
			      (struct rr_action){ .kind = RR_ACTION_ASK,
						  .client = read->client,
						  .server = read->server,
						  .question = { .kind = RR_ASK_CLOSE,
								.slot = read->question.slot } });
		return true;
	}
	return false;
}

/* When the client was told that it has ended well, not when its write was answered. */
static bool counted_by_another_field(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *feed = &path->all[i];
		const size_t next = find_feed(path, i + 1, feed->client, RR_STOP_RECEIVE);

		if (feed->kind != RR_ACTION_FEED || !feed->n_counted || next == path->n)
			continue;
		path->all[next].n_counted = feed->n_counted;
		path->all[i].n_counted = 0;
		return true;
	}
	return false;
}

/* What a connection has lost does not arrive, and what is behind it does. */
static bool arrives_behind_a_dropped_one(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *dropped = &path->all[i];
		struct rr_action behind = { .kind = RR_ACTION_ASK };

		if (dropped->kind != RR_ACTION_ANSWER || !dropped->is_fault)
			continue;
		behind.client = dropped->client;
		behind.server = dropped->server;
		behind.lane = dropped->lane;
		behind.command = dropped->command;
		behind.question.kind = RR_ASK_COMMAND;
		insert_action(path, i + 1, behind);
		return true;
	}
	return false;
}

static bool wakes_too_early(const struct rr_terms *terms, struct rr_actions *path)
{
	(void)terms;
	for (size_t i = 0; i < path->n; i++) {
		const struct rr_action *next = &path->all[i + 1];

		if (path->all[i].kind != RR_ACTION_TIME || i + 1 == path->n ||
		    next->kind != RR_ACTION_FEED || next->stop.kind != RR_STOP_WAIT)
			continue;
		path->all[i].ns /= 2;
		return true;
	}
	return false;
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
		"lua-renewed", "fair-queue",  "multi-watch",        "redlock-sequential",
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
