/* SPDX-License-Identifier: MIT */
#include "weakenings.h"

#include <string.h>
#include <strings.h>

#include "script.h"

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

/* The script that this command runs, by its hash or whole, says that. */
static bool runs(const struct rl_link *link, const struct rl_command *command,
		 const char *text)
{
	const char *source = NULL;

	if (is(command, 0, "EVALSHA") && command->n_words > 1)
		source = rl_script_source(link, command->words[1].text);
	else if (is(command, 0, "EVAL") && command->n_words > 1)
		source = command->words[1].text;
	return source && strstr(source, text);
}

static void run_instead(struct rl_command *command, const char *source)
{
	put(command, 0, "EVAL");
	put(command, 1, source);
}

/* Everybody gets it, and with the same number, which no fence can tell apart. */
static enum rl_outcome grant_all(void *context, struct rl_link *link,
				 struct rl_command *command)
{
	(void)context;
	if (runs(link, command, "'NX', 'PX'"))
		run_instead(command,
			    "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
			    "return 1");
	return RL_OK;
}

/* Nobody stands in line; the value that comes along is the third key's. */
static enum rl_outcome skip_line(void *context, struct rl_link *link,
				 struct rl_command *command)
{
	(void)context;
	if (runs(link, command, "'RPUSH'"))
		run_instead(command,
			    "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
			    "return {1, redis.call('GET', KEYS[3])}");
	return RL_OK;
}

static void no_mutex(void *context, struct rl_mutex *mutex, bool take)
{
	(void)context;
	(void)mutex;
	(void)take;
}

/* Without a lease that ends too early nothing depends on a fence. */
static bool has_late_holders(const struct rr_explore_config *config)
{
	const struct rr_budget *budget = &config->budget;

	return budget->expiries || budget->pauses || budget->jumps ||
	       config->skew_ns || config->work_ms;
}

/* What guards a lock comes before what guards the counter alone. */
const struct rr_weakening rr_weakenings[RR_WEAKENINGS] = {
	{ "SET without NX", { .send = drop_nx }, NULL },
	{ "SETNX that always sets", { .send = always_set }, NULL },
	{ "without WATCH", { .send = drop_watch }, NULL },
	{ "without the mutex", { .mutex = no_mutex }, NULL },
	{ "a store without the fence", { .send = drop_fence },
	  has_late_holders },
	{ "a grant to everybody", { .send = grant_all }, NULL },
	{ "a grant past the line", { .send = skip_line }, NULL },
	{ "INCR that adds 2", { .send = add_two }, NULL },
	{ "a script that adds 2", { .send = script_adds_two }, NULL },
};
