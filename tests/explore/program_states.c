/* SPDX-License-Identifier: MIT */
/* What a run of programs ends in: a digest of what is stored, of what each client
 * was told and of who is stuck. */
#include "programs_inside.h"

#include <string.h>

#include "link.h"

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
void program_live(void *argument)
{
	struct program_client *client = argument;

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
static void clean(struct program_client *client)
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

static bool holds(const struct program_states *states, uint64_t digest)
{
	for (size_t i = 0; i < states->n; i++) {
		if (states->digests[i] == digest)
			return true;
	}
	return false;
}

uint64_t programs_reset(struct programs *programs, uint64_t digest)
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
 * nobody else can go on. Every run has to be cleaned up after; a blocked one has
 * no end of its own. */
void programs_note(struct programs *programs, bool counts)
{
	struct program_states *states = &programs->states[0];
	const struct rr_view *view =
		rr_gate_last_view(programs->gates[programs->n_clients]);
	uint64_t digest = 0;

	assert_answered(view->trace);
	for (size_t i = 0; i < programs->n_clients; i++) {
		struct program_client *client = &programs->clients[i];
		const uint64_t of_client[2] = { client->told,
						view->actors[i].state ==
							RR_ENDED };

		digest = mix(digest, (const char *)of_client,
			     sizeof(of_client));
		if (has_transactions(client->program))
			clean(client);
	}
	digest = programs_reset(programs, digest);
	if (!counts || holds(states, digest))
		return;
	cr_assert_lt(states->n, STATES_MAX);
	states->digests[states->n++] = digest;
}

bool programs_agree(const struct programs *programs)
{
	const struct program_states *states = programs->states;

	if (states[0].n != states[1].n)
		return false;
	for (size_t i = 0; i < states[0].n; i++) {
		if (!holds(&states[1], states[0].digests[i]))
			return false;
	}
	return true;
}
