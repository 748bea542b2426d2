/* SPDX-License-Identifier: MIT */
#include "canary.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is(const struct rl_command *command, size_t word, const char *text)
{
	return word < command->n_words &&
	       command->words[word].length == strlen(text) &&
	       strncasecmp(command->words[word].text, text, strlen(text)) == 0;
}

static void put(struct rl_command *command, size_t word, const char *text)
{
	command->words[word] = (struct rl_word){ text, strlen(text) };
}

/* ---- Weakened commands ---------------------------------------------------- */

static enum rl_outcome drop_nx(void *context, struct rl_link *link,
			       struct rl_command *command)
{
	(void)context;
	(void)link;
	if (!is(command, 0, "SET"))
		return RL_OK;
	for (size_t i = 3; i < command->n_words; i++) {
		if (!is(command, i, "NX"))
			continue;
		command->n_words--;
		memmove(&command->words[i], &command->words[i + 1],
			(command->n_words - i) * sizeof(command->words[0]));
		break;
	}
	return RL_OK;
}

/* Sets it in any case, and says that it was free. */
static enum rl_outcome always_set(void *context, struct rl_link *link,
				  struct rl_command *command)
{
	(void)context;
	(void)link;
	if (!is(command, 0, "SETNX") || command->n_words != 3)
		return RL_OK;
	command->words[3] = command->words[1];
	command->words[4] = command->words[2];
	put(command, 0, "EVAL");
	put(command, 1, "redis.call('SET', KEYS[1], ARGV[1]) return 1");
	put(command, 2, "1");
	command->n_words = 5;
	return RL_OK;
}

static enum rl_outcome drop_watch(void *context, struct rl_link *link,
				  struct rl_command *command)
{
	(void)context;
	(void)link;
	if (is(command, 0, "WATCH")) {
		put(command, 0, "PING");
		command->n_words = 1;
	}
	return RL_OK;
}

static enum rl_outcome add_two(void *context, struct rl_link *link,
			       struct rl_command *command)
{
	(void)context;
	(void)link;
	if (!is(command, 0, "INCR"))
		return RL_OK;
	put(command, 0, "INCRBY");
	put(command, command->n_words++, "2");
	return RL_OK;
}

/* A script of one key and nothing else is the increment. */
static enum rl_outcome script_adds_two(void *context, struct rl_link *link,
				       struct rl_command *command)
{
	(void)context;
	(void)link;
	if (!is(command, 0, "EVALSHA") || command->n_words != 4)
		return RL_OK;
	put(command, 0, "EVAL");
	put(command, 1, "return redis.call('INCRBY', KEYS[1], 2)");
	return RL_OK;
}

/* The store takes what any holder brings, however old its number. */
static enum rl_outcome drop_fence(void *context, struct rl_link *link,
				  struct rl_command *command)
{
	(void)context;
	(void)link;
	if (!is(command, 0, "EVALSHA") || command->n_words != 7 ||
	    !memmem(command->words[3].text, command->words[3].length,
		    "counter", strlen("counter")))
		return RL_OK;
	put(command, 0, "EVAL");
	put(command, 1, "redis.call('SET', KEYS[1], ARGV[2]) return {1}");
	return RL_OK;
}

static void no_mutex(void *context, struct rl_mutex *mutex, bool take)
{
	(void)context;
	(void)mutex;
	(void)take;
}

static const struct canary {
	const char *name;
	struct rl_driver_ops ops;
} canaries[] = {
	{ "SET without NX", { .send = drop_nx } },
	{ "SETNX that always sets", { .send = always_set } },
	{ "without WATCH", { .send = drop_watch } },
	{ "without the mutex", { .mutex = no_mutex } },
	{ "a store without the fence", { .send = drop_fence } },
	{ "INCR that adds 2", { .send = add_two } },
	{ "a script that adds 2", { .send = script_adds_two } },
};

const char *rr_canary_seek(struct rr_world *world,
			   const struct rr_explore_config *config,
			   enum rr_exit *code, char error[RR_WORLD_ERROR])
{
	for (size_t i = 0; i < sizeof(canaries) / sizeof(canaries[0]); i++) {
		const struct rl_driver driver = { &canaries[i].ops, NULL };
		struct rr_explore_config weakened = *config;
		struct rr_explore_result result;
		bool fails;

		weakened.planted = &driver;
		weakened.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION;
		*code = rr_explore(world, &weakened, &result);
		snprintf(error, RR_WORLD_ERROR, "%s", result.error);
		fails = result.breaks & (RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION);
		rr_explore_release(&result);
		if (*code != RR_EXIT_OK)
			return NULL;
		if (fails)
			return canaries[i].name;
		if (result.explored == RR_EXPLORED_STOPPED)
			return NULL;
	}
	return NULL;
}
