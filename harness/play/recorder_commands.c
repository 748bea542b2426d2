/* SPDX-License-Identifier: MIT */
/* Clients' commands and their answers, told as steps of a race. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "recorder.h"
#include "script.h"

static void mark_used(struct rr_recorder *recorder, uint16_t slot)
{
	recorder->is_used[slot / RR_RUN_ORDINALS][slot % RR_RUN_ORDINALS] = true;
}

static const struct rl_reply *reply_of(const struct rr_recorder *recorder, uint32_t reply)
{
	return &recorder->setup.program->terms->reply[reply].reply;
}

/* A script that is called by its hash is written in full, since no other server
 * knows it; unless this one did not know it either. */
static const char *source_of(const struct rr_recorder *recorder, const struct rl_command *command,
			     const struct rl_reply *reply)
{
	if (command->n_words < 2 || strcasecmp(command->words[0].text, "EVALSHA") != 0 ||
	    (reply && rl_script_is_forgotten(reply)))
		return NULL;
	return rr_scripts_find(recorder->setup.scripts, command->words[1].text);
}

void recorder_keep_words(struct rr_recorder *recorder, struct rr_step *step, uint32_t number,
			 const struct rl_reply *reply)
{
	const struct rl_command *command = &recorder->setup.program->terms->command[number].words;
	const char *source = source_of(recorder, command, reply);
	const char *words[RL_WORDS_MAX];

	step->n_words = command->n_words;
	for (size_t i = 0; i < command->n_words; i++) {
		const char *word = command->words[i].text;

		if (source && i < 2)
			word = i == 0 ? "EVAL" : source;
		words[i] = rr_race_keep(recorder->race, word, strlen(word));
	}
	step->words = (const char *const *)rr_race_keep(recorder->race, (const char *)words,
							step->n_words * sizeof(words[0]));
}

static struct rr_step *add_command(struct rr_recorder *recorder, int client,
				   const struct rr_action *action, const struct rl_reply *reply)
{
	struct rr_step *step = recorder_add_step(recorder, RR_STEP_RUN, client);

	recorder_keep_words(recorder, step, action->command, reply);
	step->server = action->server;
	return step;
}

const char *recorder_keep_reply(struct rr_recorder *recorder, uint32_t reply)
{
	char text[RR_REPLY_TEXT_SIZE];

	rr_reply_text_of(reply_of(recorder, reply), text, sizeof(text));
	rr_reply_to_pattern(text);
	return rr_race_keep(recorder->race, text, strlen(text));
}

/* "A> PING => REPLY": what opens a connection, or finds that it is gone. */
static void add_ping(struct rr_recorder *recorder, size_t server, int client, const char *expected)
{
	static const char *const ping[] = { "PING" };
	struct rr_step *step = recorder_add_step(recorder, RR_STEP_RUN, client);

	step->server = (int)server;
	step->n_words = 1;
	step->words = ping;
	step->expected = expected;
	step->is_lost = !expected;
	recorder_tell(recorder, step, NULL);
}

void rr_recorder_open(struct rr_recorder *recorder, size_t server, uint16_t slot)
{
	recorder_connection(recorder, server, slot)->is_open = true;
	mark_used(recorder, slot);
	add_ping(recorder, server, recorder_client(recorder, slot), "PONG");
}

/* A reply is lost, and with it those behind it, until the client reads on. A race's
 * (lost) closes the connection: what was sent meanwhile has to come before it. */
static void mark_lost(const struct rr_action *action, struct rr_step *step,
		      struct rr_recorded_connection *connection)
{
	step->is_lost = true;
	if (action->answer == RR_ANSWER_UNHEARD) {
		step->kind = RR_STEP_WRITE;
		step->is_lost = false;
		if (connection->lost) {
			connection->lost->kind = RR_STEP_WRITE;
			connection->lost->is_lost = false;
			connection->lost->expected = NULL;
		}
	}
	connection->lost = step;
}

void recorder_add_executed(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t slot = action->question.slot;
	const struct rl_reply *reply = reply_of(recorder, action->reply);
	struct rr_recorded_connection *connection = recorder_connection(recorder, action->server,
									slot);
	const char name = (char)('A' + action->client);
	struct rr_step *step;

	if (action->is_late) {
		rr_recorder_note(recorder, "A command of %c's arrives late.", name);
		step = add_command(recorder, recorder->clients[action->client][RR_LATE_CLIENT],
				   action, reply);
	} else {
		if (recorder->setup.tells && action->input.thread)
			rr_recorder_note(recorder, "%c's renewer:", name);
		mark_used(recorder, slot);
		step = add_command(recorder, recorder_client(recorder, slot), action,
				   action->answer == RR_ANSWER_REPLY ? reply : NULL);
	}
	connection->is_open = action->answer == RR_ANSWER_REPLY;
	if (strcasecmp(step->words[0], "SUBSCRIBE") == 0)
		connection->listens = true;
	if (!action->is_late && action->answer != RR_ANSWER_REPLY)
		mark_lost(action, step, connection);
	else
		step->expected = recorder_keep_reply(recorder, action->reply);
	recorder_tell(recorder, step, action);
}

void recorder_leave_later(struct rr_recorder *recorder, const struct rr_action *action)
{
	unsigned *left = &recorder->leaves_after[action->client];

	if (action->is_inside && !action->is_late && *left > 0 && --*left == 0)
		recorder_add_mark(recorder, RR_STEP_LEAVE, recorder->clients[action->client][0]);
}

/* The command without who sends it and to whom. */
static void note_dropped(struct rr_recorder *recorder, const struct rr_action *action)
{
	struct rr_step step = { .kind = RR_STEP_RUN };
	char *line;
	size_t size;
	FILE *file = rr_open_memory(&line, &size);

	recorder_keep_words(recorder, &step, action->command, NULL);
	rr_race_write_step(file, recorder->race, &step);
	fclose(file);
	rr_recorder_note(recorder, "%c's command never arrives:%s", 'A' + action->client,
			 strchr(line, '>') + 1);
	free(line);
}

void recorder_add_answer(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t slot = recorder_slot(recorder, action, action->lane);
	struct rr_recorded_connection *connection = recorder_connection(recorder, action->server,
									slot);
	const bool was_open = connection->is_open;
	const int client = recorder_client(recorder, slot);
	struct rr_step *step;

	connection->is_open = false;
	if (action->is_fault) { /* its connection is gone as well */
		note_dropped(recorder, action);
		if (was_open)
			add_ping(recorder, action->server, client, NULL);
		return;
	}
	mark_used(recorder, slot);
	step = add_command(recorder, client, action, NULL);
	step->expected = action->answer == RR_ANSWER_REFUSED ? "(refused)" : "(closed)";
	recorder_tell(recorder, step, action);
}
