/* SPDX-License-Identifier: MIT */
#include "product.h"

#include <string.h>

uint8_t rr_owners_answered(const struct rr_program *program, size_t client,
			   const struct rr_client_state *state)
{
	uint32_t answered = 0;

	for (uint32_t i = 0; i < state->n_sent; i++) {
		if (state->sent[i].kind == RR_SENT_ANSWER)
			answered |= 1U
				    << rr_program_request_at(program, client, state->sent[i].lane);
	}
	return (uint8_t)(answered & ~program->requests.unanswered);
}

/* Requests that have begun, have no answer, and have no command on its way. */
static uint16_t waiting(const struct rr_owners_step *step, const uint16_t *owners)
{
	const uint32_t answered = (step->answered & ~step->program->requests.unanswered) |
				  rr_owners_answered(step->program, step->client, step->from);
	uint32_t asking = 0;

	for (uint32_t i = 0; i < step->from->n_sent; i++)
		asking |= step->from->sent[i].kind == RR_SENT_COMMAND ? owners[i] : 0;
	return (uint16_t)(step->begun & ~answered & ~asking);
}

/* Is all that was sent in the step, behind what is kept of each lane, on one lane? */
static bool sends_on_one_lane(const struct rr_client_state *to, const size_t *kept)
{
	size_t n[RR_RUN_ORDINALS] = { 0 };
	int lane = -1;

	for (uint32_t i = 0; i < to->n_sent; i++) {
		const uint8_t at = to->sent[i].lane;

		if (++n[at] <= kept[at] || to->sent[i].kind != RR_SENT_COMMAND)
			continue;
		if (lane >= 0 && lane != at)
			return false;
		lane = at;
	}
	return true;
}

uint8_t rr_owners_follow(const struct rr_owners_step *step, uint16_t owners[RR_RUN_SENT])
{
	const struct rr_client_state *from = step->from, *to = step->to;
	const struct rr_stop *stop = &from->stops[step->input->thread];
	const bool is_reply = step->input->kind == RR_INPUT_REPLY;
	const uint16_t waiters = waiting(step, owners);
	uint16_t of_lane[RR_RUN_ORDINALS][RR_RUN_SENT], cause = rr_owner_of_app(step->client);
	size_t kept[RR_RUN_ORDINALS] = { 0 }, n[RR_RUN_ORDINALS] = { 0 };
	bool is_taken = stop->kind != RR_STOP_RECEIVE;
	uint32_t answered;
	uint8_t begun = 0;

	for (uint32_t i = 0; i < from->n_sent; i++) {
		const uint8_t lane = from->sent[i].lane;

		if (stop->kind == RR_STOP_RECEIVE && lane == stop->lane) {
			if (!is_taken && from->sent[i].kind != RR_SENT_END)
				cause = owners[i];
			if (!is_taken && from->sent[i].kind == RR_SENT_REQUEST && is_reply)
				cause = begun = (uint8_t)(1U << rr_program_request_at(step->program,
										      step->client,
										      lane));
			/* Of a connection that is lost nothing is left. */
			if (!is_taken || !is_reply) {
				is_taken = true;
				continue;
			}
		}
		of_lane[lane][kept[lane]++] = owners[i];
	}
	answered = step->answered | rr_owners_answered(step->program, step->client, to);
	if (!step->is_likely || !(cause & ~answered & UINT8_MAX) || !sends_on_one_lane(to, kept))
		cause |= waiters;
	for (uint32_t i = 0; i < to->n_sent; i++) {
		const uint8_t lane = to->sent[i].lane;

		owners[i] = n[lane] < kept[lane] ? of_lane[lane][n[lane]] : cause;
		n[lane]++;
	}
	return begun;
}
