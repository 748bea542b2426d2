/* SPDX-License-Identifier: MIT */
/* Clients that remember what they should not, or do as they please: whatever the
 * tables take for granted of a client has to be noticed where it is not so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strangers.h"

struct mind {
	int refused, attempts;
	long long seen;
	bool has_seen;
};

static enum rl_outcome open_mind(struct rr_client *client)
{
	client->state = calloc(1, sizeof(struct mind));
	return client->state ? RL_OK : RL_ERROR;
}

static void close_mind(struct rr_client *client)
{
	free(client->state);
}

static enum rl_outcome set_lock(struct rr_client *client)
{
	struct rl_reply reply;
	const enum rl_outcome outcome =
		rl_run(client->data, &reply, "SETNX %s 1", client->lock);

	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_BUSY;
}

static enum rl_outcome delete_lock(struct rr_client *client)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "DEL %s", client->lock);
}

/* ---- Refusals ---------------------------------------------------------------- */

static int patience;

/* Enters whatever it is told, when it has been refused too often. */
static enum rl_outcome lose_patience(struct rr_client *client)
{
	struct mind *mind = client->state;
	const enum rl_outcome outcome = set_lock(client);

	mind->refused = outcome == RL_BUSY ? mind->refused + 1 : 0;
	return mind->refused >= patience ? RL_OK : outcome;
}

static const struct rr_strategy impatient = {
	.name = "impatient",
	.lock = { RR_LOCK_KEY },
	.open = open_mind,
	.acquire = lose_patience,
	.increment = rr_get_add_set,
	.release = delete_lock,
	.close = close_mind,
};

Test(strangers, last_of_several_refusals_enters)
{
	for (patience = 1; patience <= 3; patience++) {
		struct rr_explore_result result;

		cr_expect_eq(stranger_explore(&impatient,
					      (struct rr_explore_config){ 0 },
					      &result),
			     RR_EXIT_OK, "%d: %s", patience, result.error.text);
		cr_expect(result.breaks & RR_BREAKS_EXCLUSION, "%d: %x",
			  patience, result.breaks);
		cr_expect(result.breaks & RR_BREAKS_COUNT, "%d: %x", patience,
			  result.breaks);
		rr_explore_release(&result);
	}
}

/* More than can be told apart: an error is good enough, `safe` is not. */
Test(strangers, more_refusals_than_are_kept_are_never_called_safe)
{
	for (patience = 4; patience <= 7; patience++) {
		struct rr_explore_result result;
		const enum rr_exit code = stranger_explore(
			&impatient, (struct rr_explore_config){ 0 }, &result);

		cr_expect(code == RR_EXIT_INTERNAL ||
				  result.breaks & RR_BREAKS_EXCLUSION ||
				  result.explored == RR_EXPLORED_ROUNDS,
			  "%d: %d, %x, %s", patience, code, result.breaks,
			  result.error.text);
		rr_explore_release(&result);
	}
}

/* ---- Attempts ---------------------------------------------------------------- */

/* Believes that the counter is what it has left there itself. */
static enum rl_outcome add_to_what_was_seen(struct rr_client *client)
{
	struct mind *mind = client->state;
	enum rl_outcome outcome = RL_OK;

	if (!mind->has_seen)
		outcome = rr_get_counter(client, &mind->seen);
	if (outcome != RL_OK)
		return outcome;
	mind->has_seen = true;
	return rr_set_counter(client, ++mind->seen);
}

static const struct rr_strategy stale = {
	.name = "stale",
	.lock = { RR_LOCK_KEY },
	.open = open_mind,
	.acquire = set_lock,
	.increment = add_to_what_was_seen,
	.release = delete_lock,
	.close = close_mind,
};

Test(strangers, counter_that_is_remembered_is_lost)
{
	stranger_assert(&stale, (struct rr_explore_config){ .increments = 1 },
			0);
	stranger_assert(&stale, (struct rr_explore_config){ .increments = 2 },
			RR_BREAKS_COUNT);
}

/* Every so manieth attempt of its life forgets to ask. */
static enum rl_outcome ask_but_once(struct rr_client *client)
{
	struct mind *mind = client->state;

	return ++mind->attempts == patience ? RL_OK : set_lock(client);
}

Test(strangers, attempt_that_forgets_to_ask_is_never_called_safe)
{
	static const struct rr_strategy strategy = {
		.name = "forgetful",
		.lock = { RR_LOCK_KEY },
		.open = open_mind,
		.acquire = ask_but_once,
		.increment = rr_get_add_set,
		.release = delete_lock,
		.close = close_mind,
	};

	for (patience = 1; patience <= 6; patience++) {
		struct rr_explore_result result;
		const enum rr_exit code = stranger_explore(
			&strategy,
			(struct rr_explore_config){ .increments = 2 }, &result);

		cr_expect(code == RR_EXIT_INTERNAL ||
				  result.breaks & RR_BREAKS_EXCLUSION ||
				  result.explored == RR_EXPLORED_ROUNDS,
			  "%d: %d, %x, %s", patience, code, result.breaks,
			  result.error.text);
		rr_explore_release(&result);
	}
}

/* ---- Chance ------------------------------------------------------------------ */

static int n_asked;

/* What it does depends on what other clients have done in the same process. */
static enum rl_outcome ask_as_it_pleases(struct rr_client *client)
{
	struct rl_reply reply;

	if (n_asked++ % 3 == 2)
		rl_run(client->data, &reply, "PING");
	return set_lock(client);
}

Test(strangers, client_that_does_as_it_pleases_is_named)
{
	static const struct rr_strategy strategy = {
		.name = "moody",
		.lock = { RR_LOCK_KEY },
		.acquire = ask_as_it_pleases,
		.increment = rr_get_add_set,
		.release = delete_lock,
	};
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&strategy,
				      (struct rr_explore_config){
					      .increments = 2 },
				      &result),
		     RR_EXIT_INTERNAL);
	cr_expect(strstr(result.error.text, "not deterministic"), "%s",
		  result.error.text);
	rr_explore_release(&result);
}
