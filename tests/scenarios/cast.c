/* SPDX-License-Identifier: MIT */
#include "cast.h"

#include <string.h>

static bool is(const struct rl_word *word, const char *text)
{
	return word->length == strlen(text) &&
	       memcmp(word->text, text, word->length) == 0;
}

static enum rl_outcome on_send(void *context, struct rl_link *link,
			       struct rl_command *command)
{
	struct actor *actor = context;

	(void)link;
	if (!actor->before || !is(&command->words[0], actor->before))
		return RL_OK;
	actor->before = NULL;
	if (actor->act)
		actor->act(actor->cast);
	return actor->dies ? RL_ERROR : RL_OK;
}

static enum rl_outcome on_receive(void *context, struct rl_link *link,
				  struct rl_reply *reply,
				  enum rl_outcome outcome)
{
	struct actor *actor = context;
	const bool lost = actor->loses_a_reply;

	(void)link;
	(void)reply;
	actor->loses_a_reply = false;
	return lost ? RL_UNKNOWN : outcome;
}

static int64_t on_now(void *context, enum rl_clock clock)
{
	const struct actor *actor = context;

	(void)clock;
	return actor->cast->clock_s * INT64_C(1000000000);
}

static const struct rl_driver_ops ops = { .send = on_send,
					  .receive = on_receive,
					  .now = on_now };

static void open_actor(struct cast *cast, struct actor *actor)
{
	actor->cast = cast;
	actor->driver = (struct rl_driver){ &ops, actor };
	support_client_open(&actor->client, &cast->support, cast->strategy,
			    &actor->driver);
}

void cast_open(struct cast *cast, const char *strategy)
{
	*cast = (struct cast){ .strategy = rr_strategy_find(strategy),
			       .clock_s = 1000 };
	cr_assert_not_null(cast->strategy, "no %s", strategy);
	support_open(&cast->support, 1);
	open_actor(cast, &cast->a);
	open_actor(cast, &cast->b);
	open_actor(cast, &cast->c);
	cast->other = support_link(&cast->support, 0);
}

void cast_close(struct cast *cast)
{
	support_client_close(&cast->a.client, cast->strategy);
	support_client_close(&cast->b.client, cast->strategy);
	support_client_close(&cast->c.client, cast->strategy);
	rl_link_free(cast->other);
	support_close(&cast->support);
}

enum rl_outcome cast_acquire(struct actor *actor)
{
	return actor->cast->strategy->acquire(&actor->client.client);
}

enum rl_outcome cast_increment(struct actor *actor)
{
	return actor->cast->strategy->increment(&actor->client.client);
}

enum rl_outcome cast_release(struct actor *actor)
{
	return actor->cast->strategy->release(&actor->client.client);
}

enum rl_outcome cast_interrupt(struct cast *cast,
			       enum rl_outcome (*operation)(struct actor *),
			       const char *command, void (*act)(struct cast *))
{
	enum rl_outcome outcome;

	cast->a.before = command;
	cast->a.act = act;
	outcome = operation(&cast->a);
	cr_assert_null(cast->a.before, "%s sent no %s", cast->strategy->name,
		       command);
	return outcome;
}

void cast_assert_release_deletes_bs_lock(const char *strategy,
					 void (*takes_over)(struct cast *))
{
	struct cast cast;

	cast_open(&cast, strategy);
	cr_assert_eq(cast_acquire(&cast.a), RL_OK);
	cr_assert_eq(cast_interrupt(&cast, cast_release, "DEL", takes_over),
		     RL_OK);
	cr_assert_eq(cast_acquire(&cast.c), RL_OK, "B's lock survived");
	cast_close(&cast);
}

const char *cast_ask(struct cast *cast, const char *command, const char *key)
{
	return support_ask(cast->other, command, key);
}

void cast_set(struct cast *cast, const char *key, const char *value)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(cast->other, &reply, "SET %s %s", key, value),
		     RL_OK);
}

void cast_expire(struct cast *cast)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(cast->other, &reply, "PEXPIRE lock 0"), RL_OK);
	cr_assert_eq(reply.integer, 1, "there was no lock");
}
