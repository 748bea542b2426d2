/* SPDX-License-Identifier: MIT */
/*
 * Whose the commands of a schedule are: of a client, or, where clients are apps, of the request
 * that has caused it (product/owners.c). Where it may be one of several, it is not known.
 */
#include "dependencies.h"

#include <stdio.h>
#include <string.h>

struct app {
	uint32_t state;
	uint8_t begun, answered; /* requests, as bits */
	uint16_t owners[RR_RUN_SENT];
	size_t n_executed[RR_RUN_ORDINALS]; /* of each lane, and not answered */
};

static bool feed(struct rr_product *product, struct app *app, const struct rr_action *action)
{
	struct rr_client_view *view = &product->clients[action->client];
	const struct rr_program *program = product->config.program;
	const uint32_t from = app->state;
	const struct rr_client_row *row = rr_client_view_ask(view, from, &action->input,
							     action->ns);
	struct rr_owners_step step = { .program = program,
				       .client = action->client,
				       .input = &action->input,
				       .begun = app->begun,
				       .answered = app->answered };

	if (!row)
		return false;
	app->state = row->state;
	step.from = &view->states[from];
	step.to = &view->states[app->state];
	app->begun |= rr_owners_follow(&step, app->owners);
	app->answered |= rr_owners_answered(program, action->client, step.to);
	if (action->stop.kind == RR_STOP_RECEIVE) {
		size_t *n = &app->n_executed[action->stop.lane];

		*n = action->input.kind == RR_INPUT_REPLY && *n > 0 ? *n - 1 : 0;
	}
	return true;
}

/* The owner of the command that is executed next on a lane. A worker without requests is one by
 * itself, behind these. */
static uint8_t owner_of_lane(const struct rr_product *product, const struct rr_action *action,
			     const struct app *app)
{
	const struct rr_client_state *state = &product->clients[action->client].states[app->state];
	size_t executed = app->n_executed[action->lane % RR_RUN_ORDINALS];
	uint16_t owners = 0;
	uint8_t owner = 0;

	if (rr_program_requests_of(product->config.program, action->client) == 0)
		return (uint8_t)(RR_RUN_CLIENTS + action->client);
	for (uint32_t i = 0; i < state->n_sent && !owners; i++) {
		if (state->sent[i].lane == action->lane && executed-- == 0)
			owners = app->owners[i];
	}
	while (owner < RR_RUN_CLIENTS && owners != 1U << owner)
		owner++;
	return owner < RR_RUN_CLIENTS ? owner : RR_NOBODY;
}

bool rr_owners_find(struct rr_product *product, const struct rr_actions *actions, uint8_t *owners)
{
	const struct rr_program *program = product->config.program;
	struct app apps[RR_RUN_CLIENTS] = { { 0 } };
	bool has_begun = false;

	for (size_t i = 0; i < product->n_clients && program->requests.n; i++) {
		for (uint32_t j = 0; j < product->clients[i].states[0].n_sent; j++)
			apps[i].owners[j] = rr_owner_of_app(i);
	}
	for (size_t i = 0; i < actions->n; i++) {
		const struct rr_action *action = &actions->all[i];
		struct app *app = &apps[action->client % RR_RUN_CLIENTS];

		owners[i] = action->client;
		if (!program->requests.n)
			continue;
		owners[i] = owner_of_lane(product, action, app);
		if (rr_action_is_command(action) &&
		    !rr_program_has_marks(program, action->client, action->lane) && has_begun &&
		    owners[i] == RR_NOBODY)
			return false;
		if (rr_action_is_command(action))
			app->n_executed[action->lane % RR_RUN_ORDINALS]++;
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
	if (!program->requests.n || owner >= RR_RUN_CLIENTS)
		return rr_program_client_name(program, owner % RR_RUN_CLIENTS);
	snprintf(name, RR_OWNER_NAME, "request %d", owner + 1);
	return name;
}
