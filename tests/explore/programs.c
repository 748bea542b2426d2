/* SPDX-License-Identifier: MIT */
/* Runs random programs under the search, and keeps what they end in. */
#include "programs.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum {
	STATES_MAX = 8192,
	GATES = PROGRAM_CLIENTS + 1,
	N_STARTS = 4,
	PATIENCE_MS = 30000,
};

/* Longer than any pop waits. */
#define LEASE_NS INT64_C(10000000000)

struct client {
	struct rl_link *link;
	const struct program *program;
	struct rr_gate *gate; /* that it runs under */
	int number;
	uint64_t told; /* a digest of all replies; a lost one is one, too */
};

struct states {
	size_t n;
	uint64_t digests[STATES_MAX];
};

struct programs {
	struct rr_access *access;
	struct rr_gate *gates[GATES]; /* by the number of clients, 0 and 1 none */
	struct rl_link *link;
	int start; /* what runs begin with, see READ_AND_RESET */
	size_t n_clients;
	struct program programs[PROGRAM_CLIENTS];
	struct client clients[PROGRAM_CLIENTS];
	struct states states[2]; /* of the last search, and the one before */
};

/* Times to live in steps of 100 s, as programs set them: some of it may have
 * passed. Leaves what the next run is to find: nothing, or one of three
 * beginnings. */
#define READ_AND_RESET \
	"local r={} " \
	"for i,k in ipairs(KEYS) do " \
	"local t,v=redis.call('TYPE',k).ok,'' " \
	"if t=='string' then v=redis.call('GET',k) end " \
	"if t=='list' then " \
	"v=table.concat(redis.call('LRANGE',k,0,-1),',') end " \
	"r[i]=t..':'..v..':'..math.ceil(redis.call('TTL',k)/100) end " \
	"redis.call('DEL',unpack(KEYS)) " \
	"local start=tonumber(ARGV[1]) " \
	"if start==1 then redis.call('SET','a','1') end " \
	"if start==2 then redis.call('RPUSH','l','7') end " \
	"if start==3 then redis.call('SET','a','1','EX','100') " \
	"redis.call('RPUSH','l','7','8') end " \
	"return table.concat(r,' ')"

/* ---- What a run ends in --------------------------------------------------- */

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

static bool is_time(const struct program_command *command)
{
	return program_is(command, "TTL");
}

/* A command is one step. */
static void live(void *argument)
{
	struct client *client = argument;

	client->told = 0;
	for (size_t i = 0; i < client->program->n_commands; i++) {
		const struct program_command *given =
			&client->program->commands[i];
		struct rl_command command = { .n_words = 0 };
		struct rl_reply reply = { .type = RL_REPLY_NIL };
		enum rl_outcome outcome;

		while (command.n_words < PROGRAM_WORDS &&
		       given->words[command.n_words]) {
			const char *text = given->words[command.n_words];

			command.words[command.n_words++] =
				(struct rl_word){ text, strlen(text) };
		}
		outcome = rl_run_command(client->link, &reply, &command);
		if (rr_gate_is_dead(client->gate, client->number))
			return;
		if (outcome == RL_UNKNOWN)
			reply = (struct rl_reply){ .integer = 1 };
		if (is_time(given))
			reply.integer = (reply.integer + 99) / 100;
		client->told = digest_of(client->told, &reply);
	}
}

/* Nothing that the next run could notice is left on its connection. Who was stuck
 * has none left. */
static void clean(struct client *client)
{
	struct rl_reply reply;

	if (rr_gate_is_dead(client->gate, client->number))
		return;
	rl_link_set_driver(client->link, NULL);
	rl_queue(client->link, "DISCARD");
	rl_queue(client->link, "UNWATCH");
	rl_flush(client->link);
	rl_receive(client->link, &reply);
	cr_assert_eq(rl_receive(client->link, &reply), RL_OK, "%s",
		     rl_link_error(client->link));
	rl_link_set_driver(client->link,
			   rr_gate_driver(client->gate, client->number));
}

static bool has_transactions(const struct program *program)
{
	for (size_t i = 0; i < program->n_commands; i++) {
		if (program_is(&program->commands[i], "MULTI") ||
		    program_is(&program->commands[i], "WATCH"))
			return true;
	}
	return false;
}

static bool holds(const struct states *states, uint64_t digest)
{
	for (size_t i = 0; i < states->n; i++) {
		if (states->digests[i] == digest)
			return true;
	}
	return false;
}

static uint64_t reset(struct programs *programs, uint64_t digest)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(programs->link, &reply, "EVAL %s 4 a b l m %d",
			    READ_AND_RESET, programs->start),
		     RL_OK, "%s", rl_link_error(programs->link));
	return digest_of(digest, &reply);
}

/* On a machine that has stood still for so long nothing can be compared. */
static void assert_answered(const struct rr_gate_trace *trace)
{
	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];

		if (event->kind == RR_EVENT_STEP &&
		    event->op.kind == RR_OP_SEND && !event->lost)
			cr_assert(event->outcome == RL_OK ||
					  event->outcome == RL_ERROR,
				  "a reply has not come in time");
	}
}

/* Whether who is stuck crashes as well makes no difference, and is not tried when
 * nobody else can go on. Every run has to be cleaned up after; a blocked one has no end of its own. */
static void note_state(struct programs *programs, bool counts)
{
	struct states *states = &programs->states[0];
	const struct rr_view *view =
		rr_gate_last_view(programs->gates[programs->n_clients]);
	uint64_t digest = 0;

	assert_answered(view->trace);
	for (size_t i = 0; i < programs->n_clients; i++) {
		struct client *client = &programs->clients[i];
		const uint64_t of_client[2] = { client->told,
						view->actors[i].state ==
							RR_ENDED };

		digest = mix(digest, (const char *)of_client,
			     sizeof(of_client));
		if (has_transactions(client->program))
			clean(client);
	}
	digest = reset(programs, digest);
	if (!counts || holds(states, digest))
		return;
	cr_assert_lt(states->n, STATES_MAX);
	states->digests[states->n++] = digest;
}

/* ---- Running -------------------------------------------------------------- */

void programs_make(struct programs *programs, uint64_t seed)
{
	programs->start = seed % N_STARTS;
	programs->n_clients = program_make(programs->programs, seed);
	reset(programs, 0);
	for (size_t i = 0; i < programs->n_clients; i++) {
		struct client *client = &programs->clients[i];

		client->gate = programs->gates[programs->n_clients];
		rl_link_set_driver(client->link,
				   rr_gate_driver(client->gate, (int)i));
	}
}

char *programs_text(const struct programs *programs)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	cr_assert_not_null(file);
	fprintf(file, " start %d", programs->start);
	program_print(file, programs->programs, programs->n_clients);
	fclose(file);
	return text;
}

static void count(struct programs_run *run, enum rr_run_end how)
{
	run->schedules++;
	run->blocked += how == RR_RUN_BLOCKED;
	run->stuck += how == RR_RUN_STUCK;
}

void programs_run(struct programs *programs, struct programs_run *run)
{
	struct rr_gate *gate = programs->gates[programs->n_clients];
	struct rr_search *search = rr_search_new(&(struct rr_search_config){
		.n_clients = programs->n_clients,
		.separate = true,
		.all = run->all,
		.budget = run->budget,
		.lease_ns = LEASE_NS,
		.access = programs->access,
		.distort = run->distort,
		.never_wakes = run->never_wakes,
		.forgets_stuck = run->forgets_stuck,
	});

	cr_assert_not_null(search);
	programs->states[1] = programs->states[0];
	programs->states[0].n = 0;
	do {
		enum rr_gate_end end;
		enum rr_run_end how;

		rr_search_begin(search);
		end = rr_gate_run(gate, rr_search_choose, search);
		how = rr_search_learn(search, end, rr_gate_last_view(gate));
		cr_assert_neq(how, RR_RUN_BROKEN);
		note_state(programs, how != RR_RUN_BLOCKED);
		count(run, how);
	} while (rr_search_next(search));
	rr_search_free(search);
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

static struct rr_gate *make_gate(struct programs *programs,
				 struct support *support, size_t n)
{
	struct rr_gate_client clients[PROGRAM_CLIENTS];
	struct rr_gate *gate;

	for (size_t i = 0; i < n; i++)
		clients[i] = (struct rr_gate_client){
			live, &programs->clients[i], (int)i, 0
		};
	gate = rr_gate_new(&(struct rr_gate_config){
		.n_clients = n,
		.clients = clients,
		.addresses = support->fleet.addresses,
		.n_addresses = 1,
	});
	cr_assert_not_null(gate);
	return gate;
}

static struct rl_link *connect_to(struct support *support)
{
	struct rl_link *link =
		rl_link_new(&support->fleet.addresses[0], PATIENCE_MS);

	cr_assert_eq(rl_link_connect(link), RL_OK, "%s", rl_link_error(link));
	return link;
}

/* The server and the clients share the processor that the test happens to be
 * on. */
struct programs *programs_open(struct support *support)
{
	struct programs *programs = calloc(1, sizeof(*programs));

	cr_assert_not_null(programs);
	rr_gate_settle(sched_getcpu());
	support_open(support, 1);
	programs->link = connect_to(support);
	programs->access = rr_access_new(support->fleet.addresses, 1);
	cr_assert_not_null(programs->access);
	for (int i = 0; i < PROGRAM_CLIENTS; i++)
		programs->clients[i] = (struct client){
			.link = connect_to(support),
			.program = &programs->programs[i],
			.number = i,
		};
	for (size_t n = 2; n < GATES; n++)
		programs->gates[n] = make_gate(programs, support, n);
	return programs;
}

void programs_close(struct programs *programs)
{
	for (int i = 0; i < PROGRAM_CLIENTS; i++) {
		rl_link_set_driver(programs->clients[i].link, NULL);
		rl_link_free(programs->clients[i].link);
	}
	for (size_t n = 2; n < GATES; n++)
		rr_gate_free(programs->gates[n]);
	rl_link_free(programs->link);
	rr_access_free(programs->access);
	free(programs);
}
