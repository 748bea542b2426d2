/* SPDX-License-Identifier: MIT */
#include "canary.h"

#include <stdio.h>
#include <string.h>

#include "weakenings.h"

/* ---- Those that a strategy is touched by ---------------------------------- */

/* Which of them change anything, as bits. */
struct spy {
	unsigned touched;
};

static bool is_same(const struct rl_command *a, const struct rl_command *b)
{
	if (a->n_words != b->n_words)
		return false;
	return memcmp(a->words, b->words,
		      a->n_words * sizeof(a->words[0])) == 0;
}

/* Tries them all on a copy. */
static enum rl_outcome spy_on_send(void *context, struct rl_link *link,
				   struct rl_command *command)
{
	struct spy *spy = context;

	for (int i = 0; i < RR_WEAKENINGS; i++) {
		struct rl_command copy = *command;

		if (!rr_weakenings[i].ops.send || spy->touched >> i & 1)
			continue;
		rr_weakenings[i].ops.send(NULL, link, &copy);
		if (!is_same(&copy, command))
			spy->touched |= 1U << i;
	}
	return RL_OK;
}

static void spy_on_mutex(void *context, struct rl_mutex *mutex, bool take)
{
	struct spy *spy = context;

	(void)mutex;
	(void)take;
	for (int i = 0; i < RR_WEAKENINGS; i++)
		spy->touched |= (unsigned)(rr_weakenings[i].ops.mutex != NULL) << i;
}

/* One run, in which nothing is weakened but the mutex. */
static enum rr_exit spy_out(struct rr_world *world,
			    const struct rr_explore_config *config,
			    unsigned *touched, char error[RR_WORLD_ERROR])
{
	const struct rl_driver_ops ops = { .send = spy_on_send,
					   .mutex = spy_on_mutex };
	struct spy spy = { 0 };
	const struct rl_driver driver = { &ops, &spy };
	struct rr_explore_config once = *config;
	struct rr_explore_result result;
	enum rr_exit code;

	once.planted = &driver;
	once.most = 1;
	once.crew = NULL;
	code = rr_explore(world, &once, &result);
	snprintf(error, RR_WORLD_ERROR, "%s", result.error);
	rr_explore_release(&result);
	*touched = spy.touched;
	return code;
}

/* ---- The search ----------------------------------------------------------- */

static bool is_worth_it(int i, unsigned touched,
			const struct rr_explore_config *config)
{
	const struct rr_weakening *weakening = &rr_weakenings[i];

	return touched >> i & 1 &&
	       (!weakening->matters || weakening->matters(config));
}

const char *rr_canary_seek(struct rr_world *world,
			   const struct rr_explore_config *config,
			   enum rr_exit *code, char error[RR_WORLD_ERROR])
{
	unsigned touched;

	*code = spy_out(world, config, &touched, error);
	for (int i = 0; i < RR_WEAKENINGS && *code == RR_EXIT_OK; i++) {
		const struct rl_driver driver = { &rr_weakenings[i].ops, NULL };
		struct rr_explore_config weakened = *config;
		struct rr_explore_result result;
		bool fails;

		if (!is_worth_it(i, touched, config))
			continue;
		weakened.planted = &driver;
		weakened.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION;
		*code = rr_explore(world, &weakened, &result);
		snprintf(error, RR_WORLD_ERROR, "%s", result.error);
		fails = result.breaks & (RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION);
		rr_explore_release(&result);
		if (*code != RR_EXIT_OK)
			return NULL;
		if (fails)
			return rr_weakenings[i].name;
		if (result.explored == RR_EXPLORED_STOPPED)
			return NULL;
	}
	return NULL;
}
