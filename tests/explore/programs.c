/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { CLIENTS_MAX = 3, COMMANDS_MAX = 5, STATES_MAX = 8192 };

struct program {
	size_t n_commands;
	size_t commands[COMMANDS_MAX]; /* indices */
	const char *keys[COMMANDS_MAX];
	struct rl_link *link;
	uint64_t told; /* a digest of all replies */
};

struct states {
	size_t n;
	uint64_t digests[STATES_MAX];
};

struct programs {
	struct rr_access *access;
	struct rr_gate *gate;
	struct rl_link *link;
	const struct rl_address *address;
	size_t n_clients;
	struct program clients[CLIENTS_MAX];
	struct states states[2]; /* of the last search, and the one before */
};

/* ---- Making --------------------------------------------------------------- */

static const char *const commands[] = {
	"GET %s", "SET %s 1", "SET %s 2", "SETNX %s 1", "DEL %s", "INCR %s",
	"SET %s 3 NX", "EXPIRE %s 100", "SET %s 4 XX", "GETSET %s 5",
	"WATCH %s", "EXISTS %s", "APPEND %s 1", "MULTI", "EXEC",
	"EVAL return{redis.call('INCR',KEYS[1])} 1 %s",
	"EVAL return{redis.call('GET',KEYS[1])} 1 %s",
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

void programs_make(struct programs *programs, uint64_t seed)
{
	struct rr_random random = { seed };
	const size_t n_clients = 2 + rr_random_below(&random, 4) / 3;

	programs->n_clients = n_clients;
	for (size_t i = 0; i < n_clients; i++) {
		struct program *program = &programs->clients[i];

		program->n_commands = n_clients == 3 ?
					      2 :
					      2 + rr_random_below(&random, 4);
		for (size_t j = 0; j < program->n_commands; j++) {
			program->keys[j] = rr_random_below(&random, 3) ? "a" :
									 "b";
			program->commands[j] =
				rr_random_below(&random, N_COMMANDS);
		}
	}
}

/* ---- Running -------------------------------------------------------------- */

static uint64_t mix(uint64_t digest, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		digest = (digest ^ (unsigned char)text[i]) *
			 UINT64_C(0x100000001b3);
	return digest;
}

static uint64_t digest_of(uint64_t digest, const struct rl_reply *reply)
{
	const long long head[2] = { (long long)reply->type, reply->integer };

	digest = mix(digest, (const char *)head, sizeof(head));
	if (reply->type == RL_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->length; i++)
			digest = digest_of(digest, &reply->elements[i]);
	} else if (reply->text) {
		digest = mix(digest, reply->text, reply->length);
	}
	return digest;
}

/* A command is one step. */
static void live(void *argument)
{
	struct program *program = argument;

	program->told = 0;
	for (size_t i = 0; i < program->n_commands; i++) {
		struct rl_reply reply = { .type = RL_REPLY_NIL };

		rl_run(program->link, &reply, commands[program->commands[i]],
		       program->keys[i]);
		program->told = digest_of(program->told, &reply);
	}
}

static void note_state(struct programs *programs, struct states *states)
{
	struct rl_reply reply;
	uint64_t digest = 0;

	for (size_t i = 0; i < programs->n_clients; i++) {
		struct program *program = &programs->clients[i];

		digest = mix(digest, (const char *)&program->told,
			     sizeof(program->told));
		rl_link_set_driver(program->link, NULL);
		rl_run(program->link, &reply, "DISCARD");
		rl_run(program->link, &reply, "UNWATCH");
		rl_link_set_driver(program->link,
				   rr_gate_driver(programs->gate, (int)i));
	}
	rl_run(programs->link, &reply, "MGET a b");
	digest = digest_of(digest, &reply);
	rl_run(programs->link, &reply, "TTL a");
	digest = digest_of(digest, &reply);
	rl_run(programs->link, &reply, "FLUSHALL");
	for (size_t i = 0; i < states->n; i++) {
		if (states->digests[i] == digest)
			return;
	}
	cr_assert_lt(states->n, STATES_MAX);
	states->digests[states->n++] = digest;
}

static void make_gate(struct programs *programs)
{
	struct rr_gate_client clients[CLIENTS_MAX];

	for (size_t i = 0; i < programs->n_clients; i++)
		clients[i] = (struct rr_gate_client){
			.routine = live, .argument = &programs->clients[i]
		};
	programs->gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = programs->n_clients,
		.clients = clients,
		.addresses = programs->address,
		.n_addresses = 1,
	});
	cr_assert_not_null(programs->gate);
	for (size_t i = 0; i < programs->n_clients; i++)
		rl_link_set_driver(programs->clients[i].link,
				   rr_gate_driver(programs->gate, (int)i));
}

static void drop_gate(struct programs *programs)
{
	for (size_t i = 0; i < programs->n_clients; i++)
		rl_link_set_driver(programs->clients[i].link, NULL);
	rr_gate_free(programs->gate);
}

unsigned long programs_run(struct programs *programs, bool all,
			   bool (*forget)(const struct rr_footprint *a,
					  const struct rr_footprint *b))
{
	struct rr_search *search = rr_search_new(&(struct rr_search_config){
		.n_clients = programs->n_clients,
		.separate = true,
		.all = all,
		.access = programs->access,
		.forget = forget,
	});
	unsigned long runs = 0;

	make_gate(programs);
	programs->states[1] = programs->states[0];
	programs->states[0].n = 0;
	do {
		enum rr_gate_end end;
		enum rr_run_end how;

		rr_search_begin(search);
		end = rr_gate_run(programs->gate, rr_search_choose, search);
		how = rr_search_learn(search, end,
				      rr_gate_last_trace(programs->gate));
		cr_assert_neq(how, RR_RUN_BROKEN);
		if (how != RR_RUN_BLOCKED)
			note_state(programs, &programs->states[0]);
		runs++;
	} while (rr_search_next(search));
	drop_gate(programs);
	rr_search_free(search);
	return runs;
}

static bool holds(const struct states *states, uint64_t digest)
{
	for (size_t i = 0; i < states->n; i++) {
		if (states->digests[i] == digest)
			return true;
	}
	return false;
}

bool programs_agree(const struct programs *programs)
{
	const struct states *states = programs->states;

	if (states[0].n != states[1].n)
		return false;
	for (size_t i = 0; i < states[0].n; i++) {
		if (!holds(&states[1], states[0].digests[i]))
			return false;
	}
	return true;
}

/* ---- Opening -------------------------------------------------------------- */

struct programs *programs_open(struct support *support)
{
	struct programs *programs = calloc(1, sizeof(*programs));

	support_open(support, 1);
	programs->address = support->fleet.addresses;
	programs->link = support_link(support, 0);
	programs->access = rr_access_new(programs->address, 1);
	cr_assert_not_null(programs->access);
	for (int i = 0; i < CLIENTS_MAX; i++) {
		programs->clients[i] = (struct program){ .told = 0 };
		programs->clients[i].link = support_link(support, 0);
	}
	return programs;
}

void programs_close(struct programs *programs)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		rl_link_free(programs->clients[i].link);
	rl_link_free(programs->link);
	rr_access_free(programs->access);
	free(programs);
}
