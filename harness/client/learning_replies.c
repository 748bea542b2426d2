/* SPDX-License-Identifier: MIT */
/* Replies that a client has heard: which may come next, and which matter. */
#include "learning.h"

#include <strings.h>

enum {
	ENOUGH = 2, /* replies that are tested before others are assumed to do the same */
};

/* ---- Guessing ------------------------------------------------------------------------- */

/* The command whose reply a thread waits for; RR_NO_ID = none. */
static uint32_t awaited(const struct rr_client_state *state, uint8_t thread)
{
	if (thread >= state->n_threads || state->stops[thread].kind != RR_STOP_RECEIVE)
		return RR_NO_ID;
	for (uint32_t i = 0; i < state->n_sent; i++) {
		if (state->sent[i].lane == state->stops[thread].lane)
			return state->sent[i].command;
	}
	return RR_NO_ID;
}

bool rr_learning_guess(const struct rr_client_table *table, uint32_t state,
		       struct rr_received *received)
{
	const struct rr_client_state *it = &table->states[state];
	uint32_t first = RR_NO_ID;

	/* The row by which a history went on first: what it heard then is mostly its longest way,
	 * for who goes on alone comes first. */
	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next)
		first = table->row[r].to != RR_NO_ID ? r : first;

	if (first != RR_NO_ID) {
		*received = (struct rr_received){ table->row[first].input,
						  table->row[first].passed_ns };
		return true;
	}
	for (uint8_t i = 0; i < it->n_threads; i++) {
		const uint32_t command = awaited(it, i);

		for (uint32_t r = table->rows.n; r-- > 0 && command != RR_NO_ID;) {
			const struct rr_client_row *row = &table->row[r];

			if (!(row->to != RR_NO_ID && row->input.kind == RR_INPUT_REPLY) ||
			    awaited(&table->states[row->from], row->input.thread) != command)
				continue;
			*received = (struct rr_received){ row->input, 0 };
			received->input.thread = i;
			return true;
		}
	}
	return false;
}

/* ---- Whatever is possible ---------------------------------------------------------------- */

static bool have_one_name(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_term_command *commands = table->program->terms->command;
	const struct rdl_command *one = &commands[a].words, *other = &commands[b].words;

	return one->n_words > 0 && other->n_words > 0 &&
	       strcasecmp(one->words[0].text, other->words[0].text) == 0;
}

bool rr_learning_may_hear(const struct rr_client_table *table, uint32_t state,
			  const struct rr_input *input)
{
	const uint32_t command = awaited(&table->states[state], input->thread);

	if (input->kind != RR_INPUT_REPLY || command == RR_NO_ID)
		return true;
	for (uint32_t r = table->rows.n; r-- > 0;) {
		const struct rr_client_row *row = &table->row[r];
		const uint32_t answered = awaited(&table->states[row->from], row->input.thread);

		if (row->input.kind == RR_INPUT_REPLY && row->input.value == input->value &&
		    answered != RR_NO_ID && have_one_name(table, answered, command))
			return true;
	}
	return false;
}

/* ---- Assuming --------------------------------------------------------------------------- */

static enum rdl_reply_type type_of(const struct rr_client_table *table,
				   const struct rr_input *input)
{
	return table->program->terms->reply[input->value].reply.type;
}

/* The row that it would be, if two other replies there, at least, were tested and have led to one
 * state, and none to another. */
static bool find_alike(const struct rr_client_table *table, uint32_t state,
		       const struct rr_input *input, int64_t passed_ns, struct rr_client_row *alike)
{
	int n_tested = 0;

	*alike = (struct rr_client_row){ .from = state,
					 .input = *input,
					 .to = RR_NO_ID,
					 .state = RR_NO_ID,
					 .next = RR_NO_ID,
					 .is_assumed = true };
	if (!table->learning.merges_all || input->kind != RR_INPUT_REPLY)
		return false;
	for (uint32_t r = table->states[state].first_row; r != RR_NO_ID; r = table->row[r].next) {
		const struct rr_client_row *row = &table->row[r];

		if (row->state == RR_NO_ID ||
		    !(row->input.kind == input->kind && row->input.thread == input->thread &&
		      type_of(table, &row->input) == type_of(table, input)))
			continue;
		if ((alike->state != RR_NO_ID && row->state != alike->state) ||
		    (row->is_timed && row->passed_ns != passed_ns))
			return false;
		alike->state = row->state;
		alike->client = row->client;
		alike->is_timed = row->is_timed;
		alike->has_entered |= row->has_entered;
		n_tested += !row->is_assumed;
	}
	alike->passed_ns = alike->is_timed ? passed_ns : 0;
	return n_tested >= ENOUGH;
}

const struct rr_client_row *rr_learning_assume(struct rr_client_table *table, uint32_t state,
					       const struct rr_input *input, int64_t passed_ns)
{
	struct rr_client_row assumed;

	return find_alike(table, state, input, passed_ns, &assumed) ?
		       rr_client_table_assume(table, &assumed) :
		       NULL;
}

uint32_t rr_learning_find_assumed(const struct rr_client_table *table, uint32_t history)
{
	const struct rr_client_state *it = &table->states[history];
	struct rr_client_row assumed;

	return find_alike(table, it->parent, &it->input, it->passed_ns, &assumed) &&
			       !rr_learning_are_known_apart(table, history, assumed.state) ?
		       assumed.state :
		       RR_NO_ID;
}
