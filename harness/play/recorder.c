/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 240 };

/* ---- Steps ------------------------------------------------------------------ */

struct rr_step *recorder_add_step(struct rr_recorder *recorder, enum rr_step_kind kind, int client)
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

void recorder_tell(struct rr_recorder *recorder, struct rr_step *step,
		   const struct rr_action *action)
{
	if (recorder->setup.added && !recorder->is_full)
		recorder->setup.added(recorder->setup.context, step, action);
}

void recorder_add_mark(struct rr_recorder *recorder, enum rr_step_kind kind, int client)
{
	recorder_tell(recorder, recorder_add_step(recorder, kind, client), NULL);
}

void rr_recorder_note(struct rr_recorder *recorder, const char *format, ...)
{
	struct rr_step *step = recorder_add_step(recorder, RR_STEP_NOTE, -1);
	char text[NOTE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	step->text = rr_race_keep(recorder->race, text, strlen(text));
	recorder_tell(recorder, step, NULL);
}

/* ---- Connections ------------------------------------------------------------- */

struct rr_recorded_connection *recorder_connection(struct rr_recorder *recorder, size_t server,
						   uint16_t slot)
{
	return &recorder->connections[server][slot];
}

/* A connection without a name of its own counts as its client's first. */
int recorder_client(const struct rr_recorder *recorder, uint16_t slot)
{
	const int *clients = recorder->clients[slot / RR_RUN_ORDINALS];
	const int client = clients[slot % RR_RUN_ORDINALS];

	return client >= 0 ? client : clients[0];
}

/* Of the lane that an action is about. */
uint16_t recorder_slot(const struct rr_recorder *recorder, const struct rr_action *action,
		       uint8_t lane)
{
	return (uint16_t)(action->client * RR_RUN_ORDINALS +
			  (size_t)rr_lane_ordinal(recorder->setup.program, lane));
}

static void forget_connections(struct rr_recorder *recorder, size_t server)
{
	memset(recorder->connections[server], 0, sizeof(recorder->connections[server]));
}

/* ---- Clients' doings --------------------------------------------------------- */

static void leave(struct rr_recorder *recorder, const struct rr_action *action)
{
	if (action->n_inside > 0)
		recorder->leaves_after[action->client] = action->n_inside;
	else
		recorder_add_mark(recorder, RR_STEP_LEAVE, recorder->clients[action->client][0]);
}

void rr_recorder_enter(struct rr_recorder *recorder, size_t client)
{
	recorder_add_mark(recorder, RR_STEP_ENTER, recorder->clients[client][0]);
}

static void add_counts(struct rr_recorder *recorder, const struct rr_action *action)
{
	/* Nobody knows what programs of others count. */
	for (unsigned i = 0; recorder->setup.strategy && i < action->n_counted; i++)
		recorder_add_mark(recorder, RR_STEP_COUNT, recorder->clients[action->client][0]);
}

/* An increment that was acknowledged inside counts before its client leaves. */
static void add_marks(struct rr_recorder *recorder, const struct rr_action *action)
{
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

static void add_mutex(struct rr_recorder *recorder, const struct rr_action *action)
{
	char name[24];
	struct rr_step *step = recorder_add_step(
		recorder, action->stop.kind == RR_STOP_LOCK ? RR_STEP_LOCK : RR_STEP_UNLOCK,
		recorder->clients[action->client][0]);

	step->text = rr_race_keep(recorder->race, name,
				  (size_t)snprintf(name, sizeof(name), "mutex%d",
						   action->stop.mutex + 1));
	recorder_tell(recorder, step, action);
}

/* What a thread waited for, when somebody looks on. */
static void tell_waiting(struct rr_recorder *recorder, const struct rr_action *action)
{
	const char name = (char)('A' + action->client);
	const char *of = action->input.thread ? "'s renewer" : "";

	switch (action->stop.kind) {
	case RR_STOP_SLEEP:
		rr_recorder_note(recorder, "%c%s has slept", name, of);
		break;
	case RR_STOP_ATTEMPT:
		if (action->stop.duration_ns)
			rr_recorder_note(recorder, "%c has slept", name);
		break;
	case RR_STOP_WAIT:
	case RR_STOP_LISTEN:
		rr_recorder_note(recorder, "%c%s has waited%s", name, of,
				 action->input.kind == RR_INPUT_TIMEOUT ? "" : ", and is woken");
		break;
	case RR_STOP_JOIN:
		rr_recorder_note(recorder, "%c's renewer has ended", name);
		break;
	default:
		break;
	}
}

/* The client knows now that a reply was lost, and its connection is gone. */
static void notice_loss(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint8_t lane = action->stop.lane;
	const uint16_t slot = recorder_slot(recorder, action, lane);
	const size_t server = (size_t)rr_lane_server(recorder->setup.program, lane);
	struct rr_recorded_connection *connection = recorder_connection(recorder, server, slot);
	const bool is_written = connection->lost && connection->lost->kind == RR_STEP_WRITE;
	struct rr_step *step;

	connection->lost = NULL;
	if (!is_written)
		return;
	step = recorder_add_step(recorder, RR_STEP_READ, recorder_client(recorder, slot));
	step->server = (int)server;
	step->is_lost = true;
	recorder_tell(recorder, step, action);
}

static void add_feed(struct rr_recorder *recorder, const struct rr_action *action)
{
	const struct rr_stop *stop = &action->stop;
	const char name = (char)('A' + action->client);

	if (action->input.kind == RR_INPUT_CLOCK)
		rr_recorder_note(recorder, "%c reads the clock: %" PRId64 " s", name,
				 action->input.value / 1000000000);
	else if (stop->kind == RR_STOP_LOCK || stop->kind == RR_STOP_UNLOCK)
		add_mutex(recorder, action);
	else if (action->input.kind == RR_INPUT_LOST && stop->kind == RR_STOP_RECEIVE)
		notice_loss(recorder, action);
	else if (recorder->setup.tells)
		tell_waiting(recorder, action);
	else if (action->input.kind == RR_INPUT_TIMEOUT && stop->kind == RR_STOP_LISTEN)
		rr_recorder_note(recorder, "%c waited in vain", name);
	add_marks(recorder, action);
}

static bool listens_on(const struct rr_recorder *recorder, int slot)
{
	for (size_t i = 0; i < RR_RACE_SERVERS_MAX; i++) {
		if (recorder->connections[i][slot].listens)
			return true;
	}
	return false;
}

/* The server notices the end of a connection that listens when it comes to it. */
static void add_crash(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t first = (uint16_t)(action->client * RR_RUN_ORDINALS);

	recorder->is_dead[action->client] = true;
	for (uint16_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const int client = recorder->clients[action->client][i];

		if (client >= 0 && (i == 0 || (recorder->is_used[action->client][i] &&
					       !listens_on(recorder, first + i))))
			recorder_add_mark(recorder, RR_STEP_CRASH, client);
	}
}

static void add_closing(struct rr_recorder *recorder, const struct rr_action *action)
{
	const uint16_t slot = action->question.slot;
	struct rr_recorded_connection *connection = recorder_connection(recorder, action->server,
									slot);
	const bool listened = connection->listens;

	connection->is_open = connection->listens = false;
	if (recorder->is_dead[action->client] && listened && slot % RR_RUN_ORDINALS != 0)
		recorder_add_mark(recorder, RR_STEP_CRASH, recorder_client(recorder, slot));
}

/* ---- Time and servers -------------------------------------------------------- */

static void add_time(struct rr_recorder *recorder, enum rr_step_kind kind, int server, int peer,
		     int64_t ns, const struct rr_action *action)
{
	struct rr_step *step = recorder_add_step(recorder, kind, -1);

	step->server = server;
	step->peer = peer;
	step->amount = ns;
	recorder_tell(recorder, step, action);
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
	struct rr_step *step = recorder_add_step(recorder, RR_STEP_FAULT, -1);

	forget_connections(recorder, action->server);
	step->server = action->server;
	step->fault = fault;
	recorder_tell(recorder, step, action);
}

static void add_question(struct rr_recorder *recorder, const struct rr_action *action)
{
	struct rr_step *step;

	switch (action->question.kind) {
	case RR_ASK_COMMAND:
		recorder_add_executed(recorder, action);
		recorder_leave_later(recorder, action);
		break;
	case RR_ASK_READ:
		step = recorder_add_step(recorder, RR_STEP_READ,
					 recorder_client(recorder, action->question.slot));
		step->server = action->server;
		step->expected = recorder_keep_reply(recorder, action->reply);
		recorder_tell(recorder, step, action);
		break;
	case RR_ASK_TICK:
		recorder->ahead_ns[action->server] += action->question.argument;
		add_time(recorder, RR_STEP_CLOCK, action->server, -1,
			 recorder->ahead_ns[action->server], action);
		break;
	case RR_ASK_WIPE:
		add_fault(recorder, action, RR_FAULT_WIPE);
		break;
	default:
		add_closing(recorder, action);
		break;
	}
}

bool rr_recorder_add(struct rr_recorder *recorder, const struct rr_action *action)
{
	switch ((enum rr_action_kind)action->kind) {
	case RR_ACTION_ASK:
		add_question(recorder, action);
		break;
	case RR_ACTION_ANSWER:
		recorder_add_answer(recorder, action);
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
	}
	return !recorder->is_full;
}
