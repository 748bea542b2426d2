/* SPDX-License-Identifier: MIT */
/* What strategies of the tests are made of, and how they are explored. */
#include "strangers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/explore.h"

static const struct stranger_lock *current;

/* The format is a test's own. */
static enum rl_outcome say(struct rr_client *client, const char *format, struct rl_reply *reply)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return rl_run(client->data, reply, format, client->lock, client->lock);
#pragma GCC diagnostic pop
}

static bool is_taken(const struct rl_reply *reply)
{
	if (reply->type == RL_REPLY_INTEGER)
		return reply->integer == current->taken;
	return reply->type == RL_REPLY_STATUS || reply->type == RL_REPLY_STRING;
}

/* What the server refuses with an error is refused. */
static enum rl_outcome acquire(struct rr_client *client)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = say(client, current->take, &reply);

	if (outcome == RL_UNKNOWN)
		return outcome;
	if (outcome != RL_OK)
		return reply.type == RL_REPLY_FAILED ? RL_BUSY : outcome;
	return is_taken(&reply) ? RL_OK : RL_BUSY;
}

static enum rl_outcome release(struct rr_client *client)
{
	struct rl_reply reply;

	return say(client, current->give, &reply);
}

struct rr_strategy stranger_named(const char *name,
				  enum rl_outcome (*acquire_it)(struct rr_client *))
{
	return (struct rr_strategy){
		.name = name,
		.lock = { .kind = RR_LOCK_KEY },
		.acquire = acquire_it,
		.increment = rr_get_add_set,
		.release = stranger_delete_lock,
	};
}

enum rl_outcome stranger_won(enum rl_outcome outcome, const struct rl_reply *reply)
{
	if (outcome != RL_OK)
		return outcome;
	return reply->integer == 1 ? RL_OK : RL_BUSY;
}

enum rl_outcome stranger_set_lock(struct rr_client *client)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run(client->data, &reply, "SETNX %s 1", client->lock);

	return stranger_won(outcome, &reply);
}

enum rl_outcome stranger_delete_lock(struct rr_client *client)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "DEL %s", client->lock);
}

const struct rr_strategy *stranger_of(const struct stranger_lock *lock)
{
	static struct rr_strategy strategy;

	current = lock;
	strategy = stranger_named(lock->name, acquire);
	strategy.summary = lock->take;
	strategy.release = release;
	return &strategy;
}

enum rr_exit stranger_explore(const struct rr_strategy *strategy, struct rr_explore_config config,
			      struct rr_explore_result *result)
{
	struct stage stage;
	enum rr_exit code;

	config.strategy = strategy;
	config.n_clients = config.n_clients ? config.n_clients : 2;
	config.increments = config.increments ? config.increments : 1;
	config.ttl_ms = 10000;
	config.rounds = 2;
	config.audit = 20;
	config.most = 200000;
	config.separate = config.separate || config.budget.of[RR_CRASHES];
	stage_open(&stage, RR_CLUSTER_FROZEN);
	code = rr_explore(&stage.cluster, &config, result) ? RR_EXIT_OK :
							     rr_exit_of(result->error.kind);
	stage_close(&stage);
	return code;
}

bool stranger_is_safe(const struct rr_explore_result *result)
{
	return result->explored == RR_EXPLORED_ALL && !result->breaks && result->noticed[0];
}

static void print_breaks(char *text, size_t size, unsigned breaks)
{
	text[0] = '\0';
	for (int i = 0; i < RR_INVARIANTS; i++) {
		const size_t used = strlen(text);

		if (breaks >> i & 1)
			snprintf(text + used, size - used, "%s ", rr_invariant_name(i));
	}
}

/* What is found gets its verdict when it is played. */
static void assert_concluded(const struct rr_strategy *strategy,
			     const struct rr_explore_result *result)
{
	struct rr_error error = { 0 };
	struct stage stage;
	char *concluded;

	if (!result->breaks)
		return;
	stage_open(&stage, RR_CLUSTER_FROZEN);
	concluded = rr_conclude(result->transcript, result->shortest_breaks, NULL, &stage.cluster,
				&error);
	cr_expect_not_null(concluded, "%s: %s\n%s", strategy->name, error.text, result->transcript);
	stage_close(&stage);
	free(concluded);
}

void stranger_assert(const struct rr_strategy *strategy, struct rr_explore_config config,
		     unsigned breaks)
{
	struct rr_explore_result result;
	const enum rr_exit code = stranger_explore(strategy, config, &result);
	char expected[100], got[100];

	print_breaks(expected, sizeof(expected), breaks);
	print_breaks(got, sizeof(got), result.breaks);
	cr_expect_eq(code, RR_EXIT_OK, "%s: %d: %s", strategy->name, code, result.error.text);
	assert_concluded(strategy, &result);
	cr_expect_eq(result.breaks, breaks, "%s, %lu states: expected '%s', got '%s'\n%s",
		     strategy->name, result.states, expected, got,
		     result.transcript ? result.transcript : "");
	cr_expect(breaks || stranger_is_safe(&result),
		  "%s is not safe: ended %d, random '%s', %zu mutants", strategy->name,
		  result.explored, result.random_command, result.n_mutants);
	rr_explore_release(&result);
}

void stranger_assert_never_safe(const struct rr_strategy *strategy, struct rr_explore_config config,
				int number)
{
	struct rr_explore_result result;
	const enum rr_exit code = stranger_explore(strategy, config, &result);

	cr_expect(code == RR_EXIT_INTERNAL || result.breaks & RR_BREAKS_EXCLUSION ||
			  result.explored == RR_EXPLORED_ROUNDS,
		  "%s %d: %d, %x, %s", strategy->name, number, code, result.breaks,
		  result.error.text);
	rr_explore_release(&result);
}
