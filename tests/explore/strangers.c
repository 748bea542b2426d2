/* SPDX-License-Identifier: MIT */
/* What strategies of the tests are made of, and how they are explored. */
#include "strangers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/explore.h"

static const struct stranger_lock *current;

/* The format is a test's own. */
static enum rdl_outcome say(struct rr_client *client, const char *format, struct rdl_reply *reply)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return rdl_run(client->data, reply, format, client->lock, client->lock);
#pragma GCC diagnostic pop
}

static bool is_taken(const struct rdl_reply *reply)
{
	if (reply->type == RDL_REPLY_INTEGER)
		return reply->integer == current->taken;
	return reply->type == RDL_REPLY_STATUS || reply->type == RDL_REPLY_STRING;
}

/* What the server refuses with an error is refused. */
static enum rdl_outcome acquire(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = say(client, current->take, &reply);

	if (outcome == RDL_UNKNOWN)
		return outcome;
	if (outcome != RDL_OK)
		return reply.type == RDL_REPLY_FAILED ? RDL_BUSY : outcome;
	return is_taken(&reply) ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome release(struct rr_client *client)
{
	struct rdl_reply reply;

	return say(client, current->give, &reply);
}

struct rr_strategy stranger_named(const char *name,
				  enum rdl_outcome (*acquire_it)(struct rr_client *))
{
	return (struct rr_strategy){
		.name = name,
		.lock = { .kind = RR_LOCK_KEY },
		.acquire = acquire_it,
		.increment = rr_get_add_set,
		.release = stranger_delete_lock,
	};
}

enum rdl_outcome stranger_won(enum rdl_outcome outcome, const struct rdl_reply *reply)
{
	if (outcome != RDL_OK)
		return outcome;
	return reply->integer == 1 ? RDL_OK : RDL_BUSY;
}

enum rdl_outcome stranger_set_lock(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "SETNX %s 1", client->lock);

	return stranger_won(outcome, &reply);
}

enum rdl_outcome stranger_delete_lock(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "DEL %s", client->lock);
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

void stranger_assert(const struct rr_strategy *strategy, struct rr_explore_config config,
		     unsigned breaks)
{
	struct rr_explore_result result;
	const enum rr_exit code = stranger_explore(strategy, config, &result);
	char expected[100], got[100];

	print_breaks(expected, sizeof(expected), breaks);
	print_breaks(got, sizeof(got), result.breaks);
	cr_expect_eq(code, RR_EXIT_OK, "%s: %d: %s", strategy->name, code, result.error.text);
	cr_expect_eq(result.breaks, breaks, "%s, %lu states: expected '%s', got '%s'",
		     strategy->name, result.states, expected, got);
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
