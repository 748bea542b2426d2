/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/marks.h"
#include "base/memory.h"
#include "base/reply.h"
#include "script.h"

/* ---- A step ----------------------------------------------------------------------- */

enum { NOTE_SIZE = 240, HEADING_SIZE = 120 };

/* A step to be completed, and then finished; where there is no room, one that goes nowhere. */
static struct rr_step *add_step(struct rr_recorder *recorder, enum rr_step_kind kind, int client)
{
	struct rr_race *race = recorder->race;
	struct rr_step *step = &recorder->spare;

	recorder->is_full |= race->n_steps == RR_STEPS_MAX;
	if (!recorder->is_full)
		step = &race->steps[race->n_steps++];
	*step = (struct rr_step){
		.kind = kind, .line = (int)race->n_steps, .client = client, .server = -1, .peer = -1
	};
	return step;
}

/* The step is complete; `action`: that it is of, or NULL. */
static void finish_step(struct rr_recorder *recorder, struct rr_step *step,
			const struct rr_action *action)
{
	if (step->kind != RR_STEP_NOTE) {
		step->injected = recorder->fault;
		recorder->fault = NULL;
	}
	if (recorder->setup.added && !recorder->is_full)
		recorder->setup.added(recorder->setup.context, step, action);
}

void rr_recorder_note(struct rr_recorder *recorder, const char *format, ...)
{
	struct rr_step *step = add_step(recorder, RR_STEP_NOTE, -1);
	char text[NOTE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	step->text = rr_race_keep(recorder->race, text, strlen(text));
	finish_step(recorder, step, NULL);
}

/* The race's client that a client's first connection is: of an app, the first that is no
 * request's. */
static int own_client(const struct rr_recorder *recorder, size_t client)
{
	return recorder->clients[client][rr_program_requests_of(recorder->setup.program, client)];
}

/* A text of the race, such as a name. */
__attribute__((format(printf, 2, 3))) static const char *keepf(struct rr_recorder *recorder,
							       const char *format, ...)
{
	char text[HEADING_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return rr_race_keep(recorder->race, text, strlen(text));
}

/* ---- Words and replies ------------------------------------------------------- */

/* The words of a command by its number; `reply`: to it, NULL = none is known. A script that is
 * called by its hash is written in full, since no other server knows it; unless this one did not
 * know it either. */
static void keep_words(struct rr_recorder *recorder, struct rr_step *step, uint32_t number,
		       const struct rdl_reply *reply)
{
	const struct rdl_command *command = &recorder->setup.program->terms->command[number].words;
	const struct rdl_word *source = NULL;
	struct rdl_word words[RDL_WORDS_MAX];

	if (command->n_words > 1 && strcasecmp(command->words[0].text, "EVALSHA") == 0 &&
	    !(reply && rdl_script_is_forgotten(reply)))
		source = rr_scripts_find(recorder->setup.scripts, command->words[1].text);
	step->n_words = command->n_words;
	for (size_t i = 0; i < command->n_words; i++) {
		words[i] = !source || i > 1 ? command->words[i] :
			   i == 0           ? (struct rdl_word){ "EVAL", 4 } :
					      *source;
		words[i].text = rr_race_keep(recorder->race, words[i].text, words[i].length);
	}
	step->words = (const struct rdl_word *)rr_race_keep(recorder->race, (const char *)words,
							    step->n_words * sizeof(words[0]));
}

/* ---- Marks, connections, replies --------------------------------------------- */

/* A step that needs no more than its kind and its client. */
static void add_mark(struct rr_recorder *recorder, enum rr_step_kind kind, int client)
{
	finish_step(recorder, add_step(recorder, kind, client), NULL);
}

/* A client's connection has been used: it is not left out at the end. */
static void mark_used(struct rr_recorder *recorder, uint16_t slot)
{
	recorder->is_used[slot / RR_RUN_ORDINALS][slot % RR_RUN_ORDINALS] = true;
}

/* The race's client that a connection is; without a name of its own, its client's first. */
static int client_of(const struct rr_recorder *recorder, uint16_t slot)
{
	const size_t owner = slot / RR_RUN_ORDINALS;
	const int client = recorder->clients[owner][slot % RR_RUN_ORDINALS];

	return client >= 0 ? client : own_client(recorder, owner);
}

/* Of the lane that an action is about. */
static uint16_t slot_of(const struct rr_recorder *recorder, const struct rr_action *action,
			uint8_t lane)
{
	return (uint16_t)(action->client * RR_RUN_ORDINALS +
			  (size_t)rr_lane_ordinal(recorder->setup.program, lane));
}

/* A reply by its number, as a pattern that the race keeps. */
static const char *keep_reply(struct rr_recorder *recorder, uint32_t reply)
{
	char text[RR_REPLY_TEXT_SIZE];

	rr_reply_text(&recorder->setup.program->terms->reply[reply].reply, text, sizeof(text));
	rr_reply_to_pattern(text);
	return rr_race_keep(recorder->race, text, strlen(text));
}

/* ---- Commands and their answers ---------------------------------------------- */

static struct rr_step *add_command(struct rr_recorder *recorder, int client,
				   const struct rr_action *action, const struct rdl_reply *reply)
{
	struct rr_step *step = add_step(recorder, RR_STEP_RUN, client);

	keep_words(recorder, step, action->command, reply);
	step->server = action->server;
	return step;
}

/* "A> PING => REPLY": what opens a connection, or finds that it is gone. */
static void add_ping(struct rr_recorder *recorder, size_t server, int client, const char *expected)
{
	static const struct rdl_word ping[] = { { "PING", 4 } };
	struct rr_step *step = add_step(recorder, RR_STEP_RUN, client);

	step->server = (int)server;
	step->n_words = 1;
	step->words = ping;
	step->expected = expected;
	step->is_lost = !expected;
	finish_step(recorder, step, NULL);
}

void rr_recorder_open(struct rr_recorder *recorder, size_t server, uint16_t slot)
{
	recorder->connections[server][slot].is_open = true;
	mark_used(recorder, slot);
	add_ping(recorder, server, client_of(recorder, slot), "PONG");
}

static void add_executed(struct rr_recorder *recorder, const struct rr_action *action)
{
	const struct rr_program *program = recorder->setup.program;
	const uint16_t slot = action->question.slot;
	const size_t client = slot / RR_RUN_ORDINALS, lane = slot % RR_RUN_ORDINALS;
	const struct rdl_command *words = &program->terms->command[action->command].words;
	const struct rdl_reply *reply = action->blocks ?
						NULL :
						&program->terms->reply[action->reply].reply;
	struct rr_recorded_connection *connection = &recorder->connections[action->server][slot];
	const char *name = rr_program_client_name(program, action->client);
	struct rr_step *step;

	if (action->is_late) {
		rr_recorder_note(recorder, "A command of %s's arrives late.", name);
		step = add_command(recorder, recorder->clients[action->client][RR_LATE_CLIENT],
				   action, reply);
	} else {
		if (recorder->setup.is_detailed && action->input.thread)
			rr_recorder_note(recorder, "%s's renewer:", name);
		mark_used(recorder, slot);
		step = add_command(recorder, client_of(recorder, slot), action,
				   action->answer == RR_ANSWER_REPLY ? reply : NULL);
	}
	if (rr_program_has_marks(program, client, lane) && words->n_words > 1)
		recorder->is_answered[client][lane] |= strncmp(words->words[1].text, RR_MARK_ANSWER,
							       strlen(RR_MARK_ANSWER)) == 0;
	connection->is_open = action->answer == RR_ANSWER_REPLY;
	if (strcasecmp(step->words[0].text, "SUBSCRIBE") == 0)
		connection->listens = true;
	step->is_waiting = action->blocks;
	connection->blocking = action->blocks ? step : NULL;
	if (!action->is_late && action->answer != RR_ANSWER_REPLY) {
		/* A reply is lost, and with it those behind it, until the client reads on. A race's
		 * (lost) closes the connection: what was sent meanwhile, or served while the
		 * command blocked, has to come before it. */
		step->is_lost = !action->blocks;
		if (action->answer == RR_ANSWER_UNHEARD) {
			step->kind = RR_STEP_WRITE;
			step->is_lost = step->is_waiting = false;
			if (connection->lost) {
				connection->lost->kind = RR_STEP_WRITE;
				connection->lost->is_lost = connection->lost->is_waiting = false;
				connection->lost->expected = NULL;
			}
		}
		connection->lost = step;
	} else if (!action->blocks) {
		step->expected = keep_reply(recorder, action->reply);
	}
	finish_step(recorder, step, action);
}

/* The reply to a command that has blocked. One that timed out with nothing in between is one step:
 * "A> BLPOP q 1 => (nil)". */
static void add_served(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t slot = slot_of(recorder, action, action->lane);
	struct rr_recorded_connection *connection = &recorder->connections[action->server][slot];
	struct rr_step *step = connection->blocking;

	connection->blocking = NULL;
	if (action->answer != RR_ANSWER_REPLY)
		return;
	if (step && step == &recorder->race->steps[recorder->race->n_steps - 1]) {
		step->is_waiting = false;
	} else {
		step = add_step(recorder, RR_STEP_READ, client_of(recorder, slot));
		step->server = action->server;
	}
	step->is_lost = connection->is_closed;
	if (!step->is_lost)
		step->expected = keep_reply(recorder, action->reply);
	connection->is_closed = false;
	if (step->kind == RR_STEP_READ)
		finish_step(recorder, step, action);
}

/* The note has the command, for who tells of the steps. */
static void note_dropped(struct rr_recorder *recorder, const struct rr_action *action, int client)
{
	const size_t n = recorder->race->n_steps;
	struct rr_step *step = &recorder->race->steps[n];
	struct rr_step dropped = { .kind = RR_STEP_RUN };
	char *line;
	FILE *file = rr_open_text(&line);

	keep_words(recorder, &dropped, action->command, NULL);
	rr_write_command(file, dropped.words, dropped.n_words);
	fclose(file);
	rr_recorder_note(recorder, "%s's command never arrives:%s",
			 rr_program_client_name(recorder->setup.program, action->client), line);
	free(line);
	if (recorder->is_full)
		return;
	step->peer = client;
	step->server = action->server;
	step->n_words = dropped.n_words;
	step->words = dropped.words;
	step->injected = recorder->fault;
	recorder->fault = NULL;
}

static void add_answer(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t slot = slot_of(recorder, action, action->lane);
	struct rr_recorded_connection *connection = &recorder->connections[action->server][slot];
	const bool was_open = connection->is_open;
	const int client = client_of(recorder, slot);
	struct rr_step *step;

	connection->is_open = false;
	if (action->answer == RR_ANSWER_LOST) { /* while its command blocks */
		connection->lost = connection->blocking;
		return;
	}
	if (action->is_fault) { /* its connection is gone as well */
		note_dropped(recorder, action, client);
		if (was_open)
			add_ping(recorder, action->server, client, NULL);
		return;
	}
	mark_used(recorder, slot);
	step = add_command(recorder, client, action, NULL);
	step->expected = action->answer == RR_ANSWER_REFUSED ? "(refused)" : "(closed)";
	finish_step(recorder, step, action);
}

/* ---- Clients' doings --------------------------------------------------------- */

static void leave(struct rr_recorder *recorder, const struct rr_action *action)
{
	if (action->n_inside > 0)
		recorder->leaves_after[action->client] = action->n_inside;
	else
		add_mark(recorder, RR_STEP_LEAVE, own_client(recorder, action->client));
}

void rr_recorder_enter(struct rr_recorder *recorder, size_t client)
{
	add_mark(recorder, RR_STEP_ENTER, own_client(recorder, client));
}

static void add_counts(struct rr_recorder *recorder, const struct rr_action *action)
{
	/* It is not known what programs of others count. */
	for (unsigned i = 0; recorder->setup.strategy && i < action->n_counted; i++)
		add_mark(recorder, RR_STEP_COUNT, own_client(recorder, action->client));
}

static void add_feed(struct rr_recorder *recorder, const struct rr_action *action)
{
	const struct rr_stop *stop = &action->stop;
	const char *name = rr_program_client_name(recorder->setup.program, action->client);
	const char *of = action->input.thread ? "'s renewer" : "";
	const bool is_timeout = action->input.kind == RR_INPUT_TIMEOUT;

	if (action->input.kind == RR_INPUT_CLOCK) {
		rr_recorder_note(recorder, "%s reads the clock: %" PRId64 " s", name,
				 action->input.value / 1000000000);
	} else if (stop->kind == RR_STOP_LOCK || stop->kind == RR_STOP_UNLOCK) {
		struct rr_step *step = add_step(
			recorder, stop->kind == RR_STOP_LOCK ? RR_STEP_LOCK : RR_STEP_UNLOCK,
			own_client(recorder, action->client));

		step->text = keepf(recorder, "mutex%d", stop->mutex + 1);
		finish_step(recorder, step, action);
	} else if (action->input.kind == RR_INPUT_LOST && stop->kind == RR_STOP_RECEIVE) {
		/* The client knows now that a reply was lost, and its connection is gone. */
		const uint16_t slot = slot_of(recorder, action, stop->lane);
		const int server = rr_lane_server(recorder->setup.program, stop->lane);
		struct rr_recorded_connection *connection = &recorder->connections[server][slot];
		struct rr_step *step;

		if (connection->lost && !connection->lost->is_lost) {
			step = add_step(recorder, RR_STEP_READ, client_of(recorder, slot));
			step->server = server;
			step->is_lost = true;
			finish_step(recorder, step, action);
		}
		connection->lost = NULL;
	} else if (recorder->setup.is_detailed) {
		/* What a thread waited for, when somebody looks on. */
		if (stop->kind == RR_STOP_SLEEP)
			rr_recorder_note(recorder, "%s%s has slept", name, of);
		else if (stop->kind == RR_STOP_ATTEMPT && stop->duration_ns)
			rr_recorder_note(recorder, "%s has slept", name);
		else if (stop->kind == RR_STOP_WAIT || stop->kind == RR_STOP_LISTEN)
			rr_recorder_note(recorder, "%s%s has waited%s", name, of,
					 is_timeout ? "" : ", and is woken");
		else if (stop->kind == RR_STOP_JOIN)
			rr_recorder_note(recorder, "%s's renewer has ended", name);
	} else if (is_timeout && stop->kind == RR_STOP_LISTEN) {
		rr_recorder_note(recorder, "%s waited in vain", name);
	}

	/* An increment that was acknowledged inside counts before its client leaves. */
	const bool leaves = action->was_inside && (action->has_entered || !action->is_inside);

	if (leaves) {
		add_counts(recorder, action);
		leave(recorder, action);
	}
	if (action->has_entered)
		rr_recorder_enter(recorder, action->client);
	if (action->has_entered && !action->is_inside)
		leave(recorder, action);
	if (!leaves)
		add_counts(recorder, action);
}

/* The server notices the end of a connection that listens when it comes to it. A request that has
 * its answer is over. */
static void add_crash(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t first = (uint16_t)(action->client * RR_RUN_ORDINALS);
	const size_t own = rr_program_requests_of(recorder->setup.program, action->client);

	recorder->is_dead[action->client] = true;
	for (uint16_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const int client = recorder->clients[action->client][i];
		bool stays = recorder->is_answered[action->client][i];

		for (size_t s = 0; s < RR_RACE_SERVERS_MAX; s++)
			stays |= recorder->connections[s][first + i].listens;
		if (client >= 0 && (i == own || (recorder->is_used[action->client][i] && !stays)))
			add_mark(recorder, RR_STEP_CRASH, client);
	}
}

/* ---- Time and servers -------------------------------------------------------- */

static void add_time(struct rr_recorder *recorder, enum rr_step_kind kind, int server, int peer,
		     int64_t ns, const struct rr_action *action)
{
	struct rr_step *step = add_step(recorder, kind, -1);

	step->server = server;
	step->peer = peer;
	step->amount = ns;
	finish_step(recorder, step, action);
}

void rr_recorder_skew(struct rr_recorder *recorder, size_t client, int64_t ns)
{
	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const int who = recorder->clients[client][i];

		if (who >= 0)
			add_time(recorder, RR_STEP_CLOCK, -1, who, ns, NULL);
	}
}

static void add_fault(struct rr_recorder *recorder, const struct rr_action *action,
		      enum rr_fault fault)
{
	struct rr_step *step = add_step(recorder, RR_STEP_FAULT, -1);

	memset(recorder->connections[action->server], 0, sizeof(recorder->connections[0]));
	step->server = action->server;
	step->fault = fault;
	finish_step(recorder, step, action);
}

/* The key of a slow client lasts for longer. */
static void add_held(struct rr_recorder *recorder, const struct rr_action *action)
{
	struct rr_step *step;

	rr_recorder_note(recorder, "%s is slow meanwhile: its key lasts for longer.",
			 rr_program_client_name(recorder->setup.program, action->client));
	if (recorder->holder < 0)
		return;
	if (action->question.slot != recorder->held_database) {
		struct rdl_word select[2] = { { "SELECT", 6 } };
		char number[12];

		select[1].length = (size_t)snprintf(number, sizeof(number), "%d",
						    action->question.slot);
		select[1].text = rr_race_keep(recorder->race, number, select[1].length);
		step = add_step(recorder, RR_STEP_RUN, recorder->holder);
		step->server = action->server;
		step->n_words = 2;
		step->words = (const struct rdl_word *)rr_race_keep(
			recorder->race, (const char *)select, sizeof(select));
		finish_step(recorder, step, NULL);
		recorder->held_database = action->question.slot;
	}
	step = add_command(recorder, recorder->holder, action, NULL);
	finish_step(recorder, step, action);
}

static void add_question(struct rr_recorder *recorder, const struct rr_action *action)
{
	struct rr_recorded_connection *connection;
	struct rr_step *step;

	switch (action->question.kind) {
	case RR_ASK_COMMAND:
		add_executed(recorder, action);

		/* The client leaves when what it sent from within its critical section is done. */
		unsigned *left = &recorder->leaves_after[action->client];

		if (action->is_inside && !action->is_late && *left > 0 && --*left == 0)
			add_mark(recorder, RR_STEP_LEAVE, own_client(recorder, action->client));
		break;
	case RR_ASK_READ:
		step = add_step(recorder, RR_STEP_READ, client_of(recorder, action->question.slot));
		step->server = action->server;
		step->expected = keep_reply(recorder, action->reply);
		finish_step(recorder, step, action);
		break;
	case RR_ASK_TICK:
		recorder->ahead_ns[action->server] += action->question.argument;
		add_time(recorder, RR_STEP_CLOCK, action->server, -1,
			 recorder->ahead_ns[action->server], action);
		break;
	case RR_ASK_WIPE:
		add_fault(recorder, action, RR_FAULT_WIPE);
		break;
	case RR_ASK_HOLD:
		add_held(recorder, action);
		break;
	case RR_ASK_UNBLOCK: {
		/* What it is answered follows. A command without a time-out is ended only where its
		 * client has closed the connection. */
		struct rdl_command command = { .n_words = 0 };

		connection = &recorder->connections[action->server][action->question.slot];
		step = connection->blocking;
		if (!step)
			break;
		command.n_words = step->n_words;
		memcpy(command.words, step->words, step->n_words * sizeof(command.words[0]));
		connection->is_closed = rr_command_time_out_ns(&command) == INT64_MAX;
		break;
	}
	default: {
		const uint16_t slot = action->question.slot;
		bool listened;

		connection = &recorder->connections[action->server][slot];
		listened = connection->listens;
		connection->is_open = connection->listens = false;
		if (recorder->is_dead[action->client] && listened && slot % RR_RUN_ORDINALS != 0)
			add_mark(recorder, RR_STEP_CRASH, client_of(recorder, slot));
		break;
	}
	}
}

bool rr_recorder_add(struct rr_recorder *recorder, const struct rr_action *action)
{
	recorder->fault = action->fault ? action->fault : recorder->fault;
	switch ((enum rr_action_kind)action->kind) {
	case RR_ACTION_ASK:
		add_question(recorder, action);
		break;
	case RR_ACTION_SERVE:
		add_served(recorder, action);
		break;
	case RR_ACTION_ANSWER:
		add_answer(recorder, action);
		break;
	case RR_ACTION_FEED:
		add_feed(recorder, action);
		break;
	case RR_ACTION_CRASH:
		add_crash(recorder, action);
		break;
	case RR_ACTION_TIME:
		add_time(recorder, RR_STEP_TICK, -1, -1, action->ns, action);
		break;
	case RR_ACTION_DOWN:
		add_fault(recorder, action, RR_FAULT_KILL);
		break;
	case RR_ACTION_UP:
		add_fault(recorder, action, RR_FAULT_WIPE);
		break;
	case RR_ACTION_CLOCK:
		break;
	}
	return !recorder->is_full;
}

/* ---- The race: its headings at the beginning, and its clients at the end ----------- */

void rr_recorder_server_name(char name[RR_SERVER_NAME], const char *data_server, size_t server)
{
	if (server == 0)
		snprintf(name, RR_SERVER_NAME, "%s", data_server);
	else
		snprintf(name, RR_SERVER_NAME, "n%zu", server);
}

/* A request is one client, whether it comes to an app or to the one that is started again. */
static bool add_race_client(struct rr_recorder *recorder, int *client, const char *name,
			    const char *of, size_t number)
{
	struct rr_race *race = recorder->race;

	for (*client = 0; (size_t)*client < race->n_clients; (*client)++) {
		if (strcmp(race->clients[*client].name, name) == 0)
			return true;
	}
	if (race->n_clients == RR_RACE_CLIENTS_MAX)
		return false;
	*client = (int)race->n_clients++;
	race->clients[*client] = (struct rr_race_client){ name, *client, of, number };
	return true;
}

static bool add_race_clients(struct rr_recorder *recorder, size_t client)
{
	const unsigned connections = recorder->setup.connections[client];
	const size_t first = rr_program_requests_of(recorder->setup.program, client);
	const char *of = keepf(recorder, "%s",
			       rr_program_client_name(recorder->setup.program, client));
	char name[RR_CONNECTION_NAME];
	int *clients = recorder->clients[client];

	for (size_t i = 0; i <= RR_RUN_ORDINALS; i++)
		clients[i] = -1;
	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		rr_program_connection_name(recorder->setup.program, client, i, name);
		if ((i == first || connections >> i & 1) &&
		    !add_race_client(recorder, &clients[i], keepf(recorder, "%s", name),
				     i < first ? NULL : of, i < first ? 0 : i - first + 1))
			return false;
	}
	return true;
}

/* A quorum's lock is held in no single key. Who looks on keeps no eye on one that is
 * handed on either: it changes its holder by its holder's command. */
static void add_keys(struct rr_recorder *recorder)
{
	const struct rr_recorder_setup *setup = &recorder->setup;
	const struct rr_lock *lock;
	struct rr_race *race = recorder->race;
	char counter[RR_KEY_SIZE], key[RR_KEY_SIZE];

	for (size_t i = 0; i < setup->scripts->first.n; i++) {
		const uint32_t command = rr_terms_command(setup->program->terms,
							  &setup->scripts->first.all[i]);

		rr_array_grow(&race->given, race->n_given, sizeof(*race->given));
		race->given[race->n_given] = (struct rr_step){ .kind = RR_STEP_RUN };
		keep_words(recorder, &race->given[race->n_given++], command, NULL);
	}
	for (size_t i = 0; i < setup->n_keys && i < RR_KEYS_SHOWN_MAX; i++)
		race->keys[race->n_keys++] = keepf(recorder, "%s", setup->keys[i]);
	if (!setup->strategy)
		return;
	lock = &setup->strategy->lock;
	rr_keys_counter(counter, "", 0);
	rr_keys_lock(key, "", 0);
	race->counter = keepf(recorder, "%s", counter);
	race->keys[race->n_keys++] = race->counter;
	for (size_t i = 1; setup->is_detailed && i < race->n_servers; i++)
		race->keys[race->n_keys++] = keepf(recorder, "%s@n%zu", key, i);
	if (!setup->strategy->acquire || lock->kind == RR_LOCK_NONE ||
	    lock->kind == RR_LOCK_MUTEX || lock->kind == RR_LOCK_QUORUM)
		return;
	race->keys[race->n_keys++] = keepf(recorder, "%s", key);
	if (setup->is_detailed && lock->kind == RR_LOCK_QUEUE)
		return;
	race->lock = race->keys[race->n_keys - 1];
	race->lock_is_timestamp = lock->kind == RR_LOCK_TIMESTAMP;
	race->lock_is_count = lock->kind == RR_LOCK_COUNTER;
}

bool rr_recorder_begin(struct rr_recorder *recorder, const struct rr_recorder_setup *setup)
{
	*recorder = (struct rr_recorder){
		.setup = *setup,
		.race = rr_calloc(1, sizeof(*recorder->race)),
	};
	recorder->race->steps = rr_calloc(RR_STEPS_MAX, sizeof(*recorder->race->steps));
	recorder->race->claims = "";
	recorder->race->path = recorder->race->title = keepf(recorder, "%s", setup->title);
	if (setup->shows)
		recorder->race->shows = keepf(recorder, "%s", setup->shows);

	const struct rr_program *program = recorder->setup.program;
	struct rr_race *race = recorder->race;
	bool good = program->n_clients <= RR_RUN_CLIENTS &&
		    program->n_servers <= RR_RACE_SERVERS_MAX;

	for (size_t i = 0; good && i < program->n_servers; i++) {
		char name[RR_SERVER_NAME];

		rr_recorder_server_name(name, recorder->setup.data_server, i);
		race->servers[race->n_servers++].name = keepf(recorder, "%s", name);
	}
	for (size_t i = 0; good && i < program->n_clients; i++)
		good = add_race_clients(recorder, i);
	/* Late commands come down connections of their own. */
	for (size_t i = 0; good && i < program->n_clients; i++) {
		const char *of = rr_program_client_name(program, i);

		good = !setup->is_late[i] ||
		       add_race_client(recorder, &recorder->clients[i][RR_LATE_CLIENT],
				       keepf(recorder, "%sl", of), keepf(recorder, "%s", of), 0);
	}
	recorder->holder = -1;
	if (good && recorder->setup.has_held)
		good = add_race_client(recorder, &recorder->holder, "time", NULL, 0);
	if (good)
		add_keys(recorder);
	if (!good)
		return false;
	recorder->headings = recorder->race->texts;
	return true;
}

void rr_recorder_forget(struct rr_recorder *recorder)
{
	struct rr_race *race = recorder->race;

	rr_race_drop_texts(race, recorder->headings);
	race->n_steps = 0;
	recorder->is_full = false;
	memset(recorder->connections, 0, sizeof(recorder->connections));
	memset(recorder->ahead_ns, 0, sizeof(recorder->ahead_ns));
	memset(recorder->leaves_after, 0, sizeof(recorder->leaves_after));
	memset(recorder->is_dead, 0, sizeof(recorder->is_dead));
	memset(recorder->is_answered, 0, sizeof(recorder->is_answered));
	recorder->held_database = 0;
	recorder->fault = NULL;
}

/* ---- The end ----------------------------------------------------------------- */

/* From the last to the first, so that the numbers of those before stay. */
void rr_recorder_trim(struct rr_recorder *recorder)
{
	struct rr_race *race = recorder->race;

	for (size_t i = recorder->setup.program->n_clients; i-- > 0;) {
		for (size_t j = RR_RUN_ORDINALS; j-- > 1;) {
			const int client = recorder->clients[i][j];

			if (client < 0 || recorder->is_used[i][j])
				continue;
			recorder->clients[i][j] = -1;
			race->n_clients--;
			memmove(&race->clients[client], &race->clients[client + 1],
				(race->n_clients - (size_t)client) * sizeof(race->clients[0]));
			for (size_t k = 0; k < race->n_clients; k++)
				race->clients[k].connection = (int)k;
			for (size_t k = 0; k < race->n_steps; k++) {
				race->steps[k].client -= race->steps[k].client > client;
				race->steps[k].peer -= race->steps[k].peer > client;
			}
		}
	}
}
