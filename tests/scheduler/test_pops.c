/* SPDX-License-Identifier: MIT */
/* Blocking pops under a gate: who has nothing to take is blocked, and no server
 * waits. */
#include <string.h>

#include "gated.h"

enum { CLIENTS = 2, COMMANDS = 4, TEXT_SIZE = 64 };
#define SECOND_NS INT64_C(1000000000)

/* What a client sends, and what it was answered. */
struct script {
	struct rl_link *link;
	const char *commands[COMMANDS];
	char replies[COMMANDS][TEXT_SIZE];
	int n_answered;
};

struct scene {
	struct support support;
	struct rr_gate *gate;
	struct script scripts[CLIENTS];
};

/* The last text in it, however deep. */
static void describe(char *text, const struct rl_reply *reply)
{
	if (reply->type == RL_REPLY_ARRAY && reply->length > 0)
		describe(text, &reply->elements[reply->length - 1]);
	else if (reply->type == RL_REPLY_NIL)
		strcpy(text, "(nil)");
	else
		snprintf(text, TEXT_SIZE, "%s", reply->text ? reply->text : "");
}

static void say(void *argument)
{
	struct script *script = argument;

	script->n_answered = 0;
	for (int i = 0; i < COMMANDS && script->commands[i]; i++) {
		struct rl_reply reply = { .type = RL_REPLY_NIL };

		if (rl_run(script->link, &reply, script->commands[i]) !=
			    RL_OK &&
		    reply.type != RL_REPLY_FAILED)
			return;
		describe(script->replies[i], &reply);
		script->n_answered++;
	}
}

static void scene_open(struct scene *scene)
{
	struct rr_gate_client clients[CLIENTS];

	*scene = (struct scene){ 0 };
	support_open(&scene->support, 1);
	for (int i = 0; i < CLIENTS; i++) {
		scene->scripts[i].link = support_link(&scene->support, 0);
		clients[i] = (struct rr_gate_client){
			say, &scene->scripts[i], i, 0
		};
	}
	scene->gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = CLIENTS,
		.clients = clients,
		.addresses = scene->support.addresses,
		.n_addresses = 1,
	});
	cr_assert_not_null(scene->gate);
}

static void scene_close(struct scene *scene)
{
	for (int i = 0; i < CLIENTS; i++) {
		rl_link_set_driver(scene->scripts[i].link, NULL);
		rl_link_free(scene->scripts[i].link);
	}
	rr_gate_free(scene->gate);
	support_close(&scene->support);
}

/* From an empty server, the clients in order as long as they can go on. */
static enum rr_gate_end play(struct scene *scene, const char *const *a,
			     const char *const *b)
{
	const char *const *lines[CLIENTS] = { a, b };

	for (int i = 0; i < CLIENTS; i++) {
		struct script *script = &scene->scripts[i];

		rl_link_set_driver(script->link, NULL);
		if (i == 0)
			support_ask(script->link, "FLUSHALL", "SYNC");
		rl_link_set_driver(script->link,
				   rr_gate_driver(scene->gate, i));
		memset(script->commands, 0, sizeof(script->commands));
		for (int j = 0; j < COMMANDS && lines[i][j]; j++)
			script->commands[j] = lines[i][j];
	}
	return rr_gate_run(scene->gate, rr_choose_serial, NULL);
}

static void assert_told(const struct scene *scene, int client, int command,
			const char *text)
{
	const struct script *script = &scene->scripts[client];

	cr_assert_lt(command, script->n_answered, "%s was not answered",
		     script->commands[command]);
	cr_assert_str_eq(script->replies[command], text, "%s",
			 script->commands[command]);
}

static int64_t end_ns(const struct scene *scene)
{
	return rr_gate_last_view(scene->gate)->now_ns;
}

/* ---- Tests ---------------------------------------------------------------- */

/* Each pop with a time-out of 9 s, and what fills its second key, or its only
 * one. */
static const struct {
	const char *pop, *push;
} pops[] = {
	{ "BLPOP p q 9", "RPUSH q x" },
	{ "BRPOP p q 9", "RPUSH q x" },
	{ "BLMOVE q p LEFT RIGHT 9", "RPUSH q x" },
	{ "BRPOPLPUSH q p 9", "RPUSH q x" },
	{ "BLMPOP 9 2 p q LEFT", "RPUSH q x" },
	{ "BZPOPMIN p q 9", "ZADD q 1 x" },
	{ "BZPOPMAX p q 9", "ZADD q 1 x" },
	{ "BZMPOP 9 2 p q MIN", "ZADD q 1 x" },
};

enum { N_POPS = sizeof(pops) / sizeof(pops[0]) };

#define LINE(...) ((const char *const[COMMANDS]){ __VA_ARGS__ })

/* No time passes. */
Test(pops, served_by_the_push_that_comes)
{
	struct scene scene;

	scene_open(&scene);
	for (int i = 0; i < N_POPS; i++) {
		cr_assert_eq(play(&scene, LINE(pops[i].pop),
				  LINE("PING", pops[i].push, "EXISTS p q")),
			     RR_GATE_DONE, "%s", pops[i].pop);
		cr_assert_neq(strcmp(scene.scripts[0].replies[0], "(nil)"), 0,
			      "%s", pops[i].pop);
		cr_assert_eq(end_ns(&scene), 0, "%s", pops[i].pop);
	}
	scene_close(&scene);
}

/* By the gate's clock, and not by the server's. */
Test(pops, in_vain_after_their_time_out, .timeout = 20)
{
	struct scene scene;

	scene_open(&scene);
	for (int i = 0; i < N_POPS; i++) {
		cr_assert_eq(play(&scene, LINE(pops[i].pop), LINE("PING")),
			     RR_GATE_DONE, "%s", pops[i].pop);
		assert_told(&scene, 0, 0, "(nil)");
		cr_assert_eq(end_ns(&scene), 9 * SECOND_NS, "%s", pops[i].pop);
	}
	scene_close(&scene);
}

Test(pops, wait_for_ever_without_a_time_out)
{
	const struct rr_view *view;
	struct scene scene;

	scene_open(&scene);
	cr_assert_eq(play(&scene, LINE("BLPOP q 0"), LINE("BLPOP q 0.0")),
		     RR_GATE_DEADLOCK);
	view = rr_gate_last_view(scene.gate);
	for (int i = 0; i < CLIENTS; i++) {
		cr_assert_eq(view->actors[i].state, RR_BLOCKED);
		cr_assert_eq(view->actors[i].ready_ns, RR_NEVER);
	}
	cr_assert_eq(play(&scene, LINE("BLPOP q 0"),
			  LINE("RPUSH q x", "BLPOP q 0")),
		     RR_GATE_DEADLOCK, "one element is for one of them");
	cr_assert_eq(scene.scripts[0].n_answered, 1);
	cr_assert_eq(scene.scripts[1].n_answered, 1);
	scene_close(&scene);
}

Test(pops, do_not_block_in_a_transaction)
{
	struct scene scene;

	scene_open(&scene);
	cr_assert_eq(play(&scene, LINE("MULTI", "BLPOP q 0", "EXEC"),
			  LINE("PING")),
		     RR_GATE_DONE);
	assert_told(&scene, 0, 1, "QUEUED");
	assert_told(&scene, 0, 2, "(nil)");
	cr_assert_eq(play(&scene, LINE("MULTI", "DISCARD", "BLPOP q 0"),
			  LINE("PING")),
		     RR_GATE_DEADLOCK, "DISCARD ends it");
	scene_close(&scene);
}

/* What the server answers at once, whatever is stored. */
Test(pops, refused_ones_do_not_block)
{
	static const char *const refused[] = { "BLPOP q -1", "BLPOP q often",
					       "BLPOP q", "BLMPOP 0 0 q LEFT" };
	struct scene scene;

	scene_open(&scene);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		cr_assert_eq(play(&scene, LINE(refused[i]), LINE("PING")),
			     RR_GATE_DONE, "%s", refused[i]);
	cr_assert_eq(play(&scene, LINE("SET q x", "BLPOP q 0"), LINE("PING")),
		     RR_GATE_DONE, "a key of another type");
	scene_close(&scene);
}

/* Whoever pops nothing pays nothing. */
Test(pops, keys_are_asked_for_only_before_a_pop)
{
	struct rl_link *link;
	struct rl_reply reply;
	struct scene scene;

	scene_open(&scene);
	link = support_link(&scene.support, 0);
	cr_assert_eq(play(&scene, LINE("RPUSH q x", "LPOP q"),
			  LINE("MULTI", "BLPOP q 0", "EXEC")),
		     RR_GATE_DONE);
	cr_assert_eq(rl_run(link, &reply, "INFO commandstats"), RL_OK);
	cr_assert_null(strstr(reply.text, "cmdstat_exists:"));
	cr_assert_eq(play(&scene, LINE("BLPOP q 1"), LINE("PING")),
		     RR_GATE_DONE);
	cr_assert_eq(rl_run(link, &reply, "INFO commandstats"), RL_OK);
	cr_assert_not_null(strstr(reply.text, "cmdstat_exists:"));
	rl_link_free(link);
	scene_close(&scene);
}
