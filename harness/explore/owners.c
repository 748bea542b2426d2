/* SPDX-License-Identifier: MIT */
/*
 * Whose the commands of a schedule are: of a client, or, where clients are apps, of the request
 * that has caused it. A command is caused by what its app was told last: that a request begins, or
 * the reply to a command of one. Where another request waits meanwhile for something in the app, it
 * may be the one that went on: then the command is nobody's, and so is what follows from it. A
 * request that has its answer is taken to be through; of one without answers nobody knows.
 */
#include "dependencies.h"

#include <stdio.h>
#include <string.h>

enum { PENDING_MAX = 64 };

/* Commands on a lane that were not answered yet, in their order. */
struct lane {
	size_t n, n_executed;
	uint8_t owners[PENDING_MAX], kinds[PENDING_MAX];
};

struct app {
	uint32_t state, begun, answered; /* requests, as bits */
	struct lane lanes[RR_RUN_ORDINALS];
};

static uint32_t bit_of(uint8_t owner)
{
	return owner < RR_PRODUCT_CLIENTS ? UINT32_C(1) << owner : 0;
}

/* Does a request that is under way have no command on its way? */
static bool somebody_waits(const struct app *app)
{
	uint32_t asking = 0;

	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct lane *lane = &app->lanes[i];

		for (size_t j = 0; j < lane->n; j++)
			asking |= lane->kinds[j] == RR_SENT_COMMAND ? bit_of(lane->owners[j]) : 0;
	}
	return (app->begun & ~app->answered & ~asking) != 0;
}

/* The lane has as many commands as it shows now: those that are new have that owner. */
static void note_sent(struct app *app, const struct rr_client_state *state, uint8_t owner)
{
	size_t n[RR_RUN_ORDINALS] = { 0 };

	for (uint32_t i = 0; i < state->n_sent; i++) {
		const struct rr_sent *sent = &state->sent[i];
		struct lane *lane = &app->lanes[sent->lane];

		if (++n[sent->lane] <= lane->n || lane->n == PENDING_MAX)
			continue;
		lane->kinds[lane->n] = sent->kind;
		lane->owners[lane->n++] = owner;
	}
}

/* Whose reply that is, which is taken from its lane. */
static uint8_t take_reply(struct app *app, const struct rr_program *program,
			  const struct rr_action *feed)
{
	struct lane *lane = &app->lanes[feed->stop.lane];
	uint8_t owner = RR_NOBODY, kind = RR_SENT_COMMAND;

	if (feed->stop.kind != RR_STOP_RECEIVE || lane->n == 0)
		return RR_NOBODY;
	owner = lane->owners[0];
	kind = lane->kinds[0];
	lane->n = feed->input.kind == RR_INPUT_REPLY ? lane->n - 1 : 0;
	lane->n_executed = lane->n < lane->n_executed ? lane->n : lane->n_executed;
	if (feed->input.kind == RR_INPUT_REPLY && lane->n_executed > 0)
		lane->n_executed--;
	memmove(lane->owners, lane->owners + 1, lane->n);
	memmove(lane->kinds, lane->kinds + 1, lane->n);
	if (kind == RR_SENT_REQUEST && feed->input.kind == RR_INPUT_REPLY) {
		owner = (uint8_t)rr_program_request_at(program, feed->client, feed->stop.lane);
		app->begun |= bit_of(owner);
	}
	return owner;
}

static void note_answers(struct app *app, const struct rr_program *program, uint8_t client)
{
	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct lane *lane = &app->lanes[i];
		const size_t request = rr_program_request_at(program, client, i);

		for (size_t j = 0; j < lane->n && request < program->n_requests; j++) {
			if (lane->kinds[j] == RR_SENT_ANSWER)
				app->answered |= bit_of((uint8_t)request) & ~program->unanswered;
		}
	}
}

static bool feed(struct rr_product *product, struct app *app, const struct rr_action *action)
{
	struct rr_client_view *view = &product->clients[action->client];
	const struct rr_program *program = product->config.program;
	const bool is_unclear = somebody_waits(app);
	const struct rr_client_row *row = rr_client_view_ask(view, app->state, &action->input,
							     action->ns);
	const uint8_t owner = take_reply(app, program, action);

	if (!row)
		return false;
	app->state = row->state;
	note_sent(app, &view->states[app->state], is_unclear ? RR_NOBODY : owner);
	note_answers(app, program, action->client);
	return true;
}

/* A worker without requests is an owner by itself, behind these. */
static uint8_t owner_of_lane(const struct rr_program *program, const struct rr_action *action,
			     struct lane *lane)
{
	if (rr_program_requests_of(program, action->client) == 0)
		return (uint8_t)(RR_PRODUCT_CLIENTS + action->client);
	return lane->n_executed < lane->n ? lane->owners[lane->n_executed] : RR_NOBODY;
}

static bool is_own(const struct rr_program *program, const struct rr_action *action)
{
	return action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND &&
	       !rr_program_has_marks(program, action->client, action->lane);
}

bool rr_owners_find(struct rr_product *product, const struct rr_actions *actions, uint8_t *owners)
{
	const struct rr_program *program = product->config.program;
	struct app apps[RR_PRODUCT_CLIENTS] = { { 0 } };
	bool has_begun = false;

	for (size_t i = 0; i < product->n_clients && program->n_requests; i++)
		note_sent(&apps[i], &product->clients[i].states[0], RR_NOBODY);
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		struct app *app = &apps[action->client % RR_PRODUCT_CLIENTS];
		struct lane *lane = &app->lanes[action->lane % RR_RUN_ORDINALS];

		owners[i] = action->client;
		if (!program->n_requests)
			continue;
		owners[i] = owner_of_lane(program, action, lane);
		if (is_own(program, action) && has_begun && owners[i] == RR_NOBODY)
			return false;
		if (action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND)
			lane->n_executed++;
		if (action->kind == RR_ACTION_FEED && !feed(product, app, action))
			return false;
		has_begun |= app->begun != 0;
	}
	return true;
}

const char *rr_owner_name(const struct rr_program *program, uint8_t owner, char name[RR_OWNER_NAME])
{
	if (owner == RR_NOBODY)
		return "the app";
	if (!program->n_requests || owner >= RR_PRODUCT_CLIENTS)
		return rr_program_client_name(program, owner % RR_PRODUCT_CLIENTS);
	snprintf(name, RR_OWNER_NAME, "request %d", owner + 1);
	return name;
}
