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

static enum rdl_outcome open_mind(struct rr_client *client)
{
	client->state = calloc(1, sizeof(struct mind));
	return client->state ? RDL_OK : RDL_ERROR;
}

static void close_mind(struct rr_client *client)
{
	free(client->state);
}

/* ---- Refusals ---------------------------------------------------------------- */

/* How many attempts go as they should, or up to which. */
static int limit;

/* Enters whatever it is told, when it has been refused too often. */
static enum rdl_outcome give_up_and_enter(struct rr_client *client)
{
	struct mind *mind = client->state;
	const enum rdl_outcome outcome = stranger_set_lock(client);

	mind->refused = outcome == RDL_BUSY ? mind->refused + 1 : 0;
	return mind->refused >= limit ? RDL_OK : outcome;
}

static struct rr_strategy with_a_mind(const char *name,
				      enum rdl_outcome (*acquire)(struct rr_client *))
{
	struct rr_strategy strategy = stranger_named(name, acquire);

	strategy.open = open_mind;
	strategy.close = close_mind;
	return strategy;
}

Test(strangers, last_of_several_refusals_enters)
{
	const struct rr_strategy impatient = with_a_mind("impatient", give_up_and_enter);

	for (limit = 1; limit <= 3; limit++) {
		struct rr_explore_result result;

		cr_expect_eq(stranger_explore(&impatient, (struct rr_explore_config){ 0 }, &result),
			     RR_EXIT_OK, "%d: %s", limit, result.error.text);
		cr_expect(result.breaks & RR_BREAKS_EXCLUSION, "%d: %x", limit, result.breaks);
		cr_expect(result.breaks & RR_BREAKS_COUNT, "%d: %x", limit, result.breaks);
		rr_explore_release(&result);
	}
}

/* ---- Attempts ---------------------------------------------------------------- */

/* Believes that the counter is what it has left there itself. */
static enum rdl_outcome add_to_what_was_seen(struct rr_client *client)
{
	struct mind *mind = client->state;
	enum rdl_outcome outcome = RDL_OK;

	if (!mind->has_seen)
		outcome = rr_get_counter(client, &mind->seen);
	if (outcome != RDL_OK)
		return outcome;
	mind->has_seen = true;
	return rr_set_counter(client, ++mind->seen);
}

Test(strangers, counter_that_is_remembered_is_lost)
{
	struct rr_strategy stale = with_a_mind("stale", stranger_set_lock);

	stale.increment = add_to_what_was_seen;
	stranger_assert(&stale, (struct rr_explore_config){ .increments = 1 }, 0);
	stranger_assert(&stale, (struct rr_explore_config){ .increments = 2 }, RR_BREAKS_COUNT);
}

/* The attempt number `limit` of its life forgets to ask. */
static enum rdl_outcome ask_but_once(struct rr_client *client)
{
	struct mind *mind = client->state;

	return ++mind->attempts == limit ? RDL_OK : stranger_set_lock(client);
}

Test(strangers, attempt_that_forgets_to_ask_is_never_called_safe)
{
	const struct rr_strategy forgetful = with_a_mind("forgetful", ask_but_once);

	for (limit = 1; limit <= 6; limit++)
		stranger_assert_never_safe(&forgetful, NO_FAULT, limit);
}

/* ---- Clients that are not equal --------------------------------------------------- */

/* A random value that is too short to be known as one: each client has another. */
static enum rdl_outcome make_noise(struct rr_client *client)
{
	struct rdl_reply reply;
	unsigned char noise;

	rdl_random(client->data, &noise, 1);
	if (noise % 2 && rdl_run(client->data, &reply, "PING") != RDL_OK)
		return RDL_ERROR;
	return stranger_set_lock(client);
}

Test(strangers, clients_that_draw_different_numbers_are_learned_one_by_one)
{
	const struct rr_strategy noisy = stranger_named("noisy", make_noise);
	const struct rr_explore_config three = { .n_clients = 3, .increments = 1 };
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&noisy, three, &result), RR_EXIT_OK, "%s", result.error.text);
	cr_expect_eq(result.breaks, 0);
	cr_expect_eq(result.explored, RR_EXPLORED_DRAWS);
	rr_explore_release(&result);
}

/* ---- Chance ------------------------------------------------------------------ */

static int n_asked;

/* What it does depends on what other clients have done in the same process. */
static enum rdl_outcome ask_as_it_pleases(struct rr_client *client)
{
	struct rdl_reply reply;

	if (n_asked++ % 3 == 2)
		rdl_run(client->data, &reply, "PING");
	return stranger_set_lock(client);
}

Test(strangers, client_that_does_as_it_pleases_is_named)
{
	const struct rr_strategy strategy = stranger_named("moody", ask_as_it_pleases);
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&strategy, (struct rr_explore_config){ .increments = 2 },
				      &result),
		     RR_EXIT_INTERNAL);
	cr_expect(strstr(result.error.text, "not deterministic"), "%s", result.error.text);
	rr_explore_release(&result);
}

/* One attempt in ten, by its random bytes, goes in without asking. */
static enum rdl_outcome ask_nine_times_of_ten(struct rr_client *client)
{
	unsigned char bytes[8];

	rdl_random(client->data, bytes, sizeof(bytes));
	return bytes[0] < 26 ? RDL_OK : stranger_set_lock(client);
}

/* Two are inside on real servers, too: what is found is played there. */
Test(strangers, choice_of_one_in_ten_is_found)
{
	const struct rr_strategy strategy = stranger_named("one-in-ten", ask_nine_times_of_ten);
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&strategy, (struct rr_explore_config){ 0 }, &result),
		     RR_EXIT_OK, "%s", result.error.text);
	cr_expect(result.breaks & RR_BREAKS_EXCLUSION, "%x", result.breaks);
	rr_explore_release(&result);
}

/* The same with a lock that a script grants: where other values are drawn, servers know it, too. */
static enum rdl_outcome ask_a_script_nine_times_of_ten(struct rr_client *client)
{
	static const char script[] = "return redis.call('SET', KEYS[1], ARGV[1], 'NX')";
	struct rdl_reply reply;
	unsigned char bytes[8];

	rdl_random(client->data, bytes, sizeof(bytes));
	if (bytes[0] < 26)
		return RDL_OK;
	if (rdl_run(client->data, &reply, "EVAL %s 1 %s 1", script, client->lock) != RDL_OK)
		return RDL_ERROR;
	return reply.type == RDL_REPLY_NIL ? RDL_BUSY : RDL_OK;
}

Test(strangers, choice_of_one_in_ten_is_found_beside_a_script)
{
	const struct rr_strategy strategy = stranger_named("script-nine-in-ten",
							   ask_a_script_nine_times_of_ten);
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&strategy, (struct rr_explore_config){ 0 }, &result),
		     RR_EXIT_OK, "%s", result.error.text);
	cr_expect(result.breaks & RR_BREAKS_EXCLUSION, "%x", result.breaks);
	rr_explore_release(&result);
}

/* Which choice is made does no harm, but not all can be tried. */
static enum rdl_outcome say_hello_sometimes(struct rr_client *client)
{
	struct rdl_reply reply;
	unsigned char bytes[8];

	rdl_random(client->data, bytes, sizeof(bytes));
	if (bytes[0] < 26 && rdl_run(client->data, &reply, "PING") != RDL_OK)
		return RDL_ERROR;
	return stranger_set_lock(client);
}

Test(strangers, client_that_looks_at_its_random_bytes_is_never_called_safe)
{
	const struct rr_strategy strategy = stranger_named("hello", say_hello_sometimes);
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&strategy, (struct rr_explore_config){ 0 }, &result),
		     RR_EXIT_OK, "%s", result.error.text);
	cr_expect_eq(result.breaks, 0);
	cr_expect_eq(result.explored, RR_EXPLORED_DRAWS);
	rr_explore_release(&result);
}
