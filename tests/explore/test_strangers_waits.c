/* SPDX-License-Identifier: MIT */
/* Strategies that wait on the server, and ones that ask what a search cannot know. */
#include <string.h>

#include "link.h"
#include "strangers.h"

#define THREE_CLIENTS              \
	(struct rr_explore_config) \
	{                          \
		.n_clients = 3     \
	}
#define ONE_EACH                   \
	(struct rr_explore_config) \
	{                          \
		.increments = 1    \
	}

/* ---- Woken by an entry of a stream ------------------------------------------------ */

static enum rdl_outcome wait_for_entry(struct rr_client *client, struct rdl_reply *reply)
{
	const enum rdl_outcome outcome = rdl_run(client->data, reply,
						 "XREAD BLOCK 30000 STREAMS given-back $");

	if (outcome != RDL_OK)
		return outcome;
	return reply->type == RDL_REPLY_NIL ? RDL_BUSY : RDL_OK;
}

/* Whoever is woken takes the lock for its own. */
static enum rdl_outcome enter_when_woken(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = stranger_set_lock(client);

	return outcome == RDL_BUSY ? wait_for_entry(client, &reply) : outcome;
}

/* Whoever is woken asks again. */
static enum rdl_outcome ask_when_woken(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = stranger_set_lock(client);

	if (outcome == RDL_BUSY && wait_for_entry(client, &reply) == RDL_UNKNOWN)
		return RDL_UNKNOWN;
	return outcome;
}

static enum rdl_outcome give_back_and_tell(struct rr_client *client)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = stranger_delete_lock(client);

	return outcome == RDL_OK ? rdl_run(client->data, &reply, "XADD given-back * by me") :
				   outcome;
}

static struct rr_strategy woken(const char *name, enum rdl_outcome (*acquire)(struct rr_client *))
{
	struct rr_strategy strategy = stranger_named(name, acquire);

	strategy.release = give_back_and_tell;
	return strategy;
}

/* One entry wakes all that wait. */
Test(strangers, one_entry_of_a_stream_wakes_all_that_wait)
{
	const struct rr_strategy wrong = woken("enter-when-woken", enter_when_woken);
	const struct rr_strategy right = woken("ask-when-woken", ask_when_woken);
	struct rr_explore_result result;

	cr_assert_eq(stranger_explore(&wrong, THREE_CLIENTS, &result), RR_EXIT_OK, "%s",
		     result.error.text);
	cr_expect(result.breaks & RR_BREAKS_EXCLUSION, "%x", result.breaks);
	rr_explore_release(&result);
	cr_assert_eq(stranger_explore(&right, ONE_EACH, &result), RR_EXIT_OK, "%s",
		     result.error.text);
	cr_expect_eq(result.breaks, 0);
	rr_explore_release(&result);
}

/* ---- What cannot be judged -------------------------------------------------------- */

static const char *asked;

static enum rdl_outcome ask_first(struct rr_client *client)
{
	struct rdl_reply reply;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (rdl_run(client->data, &reply, asked, client->lock) == RDL_UNKNOWN)
		return RDL_UNKNOWN;
#pragma GCC diagnostic pop
	return stranger_set_lock(client);
}

/* Idle times and encodings are no part of the data: the strategy is refused by the command's name,
 * and no verdict is given. */
Test(strangers, what_is_no_part_of_the_data_is_refused_by_name)
{
	static const char *const refused[] = { "OBJECT IDLETIME %s", "OBJECT ENCODING %s",
					       "OBJECT FREQ %s", "MEMORY USAGE %s" };
	const struct rr_strategy strategy = stranger_named("asks", ask_first);

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct rr_explore_result result;
		char name[20];

		asked = refused[i];
		sscanf(asked, "%19s", name);
		cr_assert_eq(stranger_explore(&strategy, ONE_EACH, &result), RR_EXIT_DATA, "%s: %s",
			     asked, result.error.text);
		cr_assert(strstr(result.error.text, name), "%s", result.error.text);
		rr_explore_release(&result);
	}
}

/* A script that draws, or asks for an encoding, takes the yes away. */
Test(strangers, a_script_that_draws_is_never_called_safe)
{
	static const char *const scripts[] = {
		"EVAL return(redis.call('RANDOMKEY')) 0",
		"EVAL return(redis.call('OBJECT','ENCODING',KEYS[1])) 1 %s",
	};
	const struct rr_strategy strategy = stranger_named("draws", ask_first);

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct rr_explore_result result;

		enum rr_exit code;

		asked = scripts[i];
		code = stranger_explore(&strategy, ONE_EACH, &result);
		cr_assert(code == RR_EXIT_DATA || code == RR_EXIT_OK, "%s: %d, %s", asked, code,
			  result.error.text);
		cr_assert_not(stranger_is_safe(&result), "%s", asked);
		cr_assert(code == RR_EXIT_DATA ? !!strstr(result.error.text, "EVAL") :
						 result.explored == RR_EXPLORED_RANDOM_REPLIES,
			  "%s: %s", asked, result.error.text);
		rr_explore_release(&result);
	}
}
