/* SPDX-License-Identifier: MIT */
/* How a client would have ended if it had not waited: histories without their loops. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "learning.h"

/* A step of a client in a serial execution. */
struct serial_step {
	const struct rr_client_table *table;
	uint32_t from, to;
};

/* A reply to a command of that kind. */
struct kind_reply {
	uint32_t kind, reply;
};

void rr_waiting_note_step(struct rr_waiting *waiting, const struct rr_client_table *table,
			  uint32_t from, uint32_t to)
{
	const struct serial_step step = { table, from, to };

	rr_intern_put(&waiting->steps, &step, sizeof(step), NULL);
}

void rr_waiting_note_change(struct rr_waiting *waiting, uint32_t kind, uint32_t reply)
{
	const struct kind_reply changed = { kind, reply };

	rr_intern_put(&waiting->changing, &kind, sizeof(kind), NULL);
	rr_intern_put(&waiting->changed, &changed, sizeof(changed), NULL);
}

void rr_waiting_release(struct rr_waiting *waiting)
{
	rr_intern_release(&waiting->steps);
	rr_intern_release(&waiting->changing);
	rr_intern_release(&waiting->changed);
	waiting->answers = NULL;
}

/* ---- Histories ------------------------------------------------------------------------ */

/* Loops that are tried to be left out of one history. */
enum { LOOPS_TRIED = 2 * RR_LOOP_ROUNDS };

/* Where a client was on its way, and what it received there. */
struct way {
	struct rr_inputs inputs;
	uint32_t *states; /* one more than inputs: where it has ended is the last */
};

static struct way way_to(const struct rr_client_table *table, const struct rr_client_row *row)
{
	const struct rr_received last = { row->input, row->passed_ns };
	struct way way = { .inputs = rr_learning_history_and(table, row->from, &last, 1) };
	uint32_t state = row->from;

	way.states = rr_calloc(way.inputs.n + 1, sizeof(*way.states));
	way.states[way.inputs.n] = row->to;
	for (size_t i = way.inputs.n; i-- > 0; state = table->states[state].parent)
		way.states[i] = state;
	return way;
}

static bool do_the_same(const struct rr_client_table *table, uint32_t a, uint32_t b)
{
	const struct rr_run_view one = rr_client_state_view(&table->states[a]);
	const struct rr_run_view other = rr_client_state_view(&table->states[b]);

	return rr_run_view_is_same(&one, &other);
}

/* ---- Rounds in which a client waits ------------------------------------------------------ */

/* The state that a history is taken for. */
static uint32_t taken_for(const struct rr_client_table *table, uint32_t state)
{
	const uint32_t same = table->states[state].same;

	return same == RR_NO_ID ? state : same;
}

/* Is a round of `length` inputs, from there on, the one that begins at `from` once more? */
static bool is_repeated(const struct rr_client_table *table, const struct way *way, uint32_t from,
			uint32_t again, uint32_t length)
{
	if (again + length > way->inputs.n)
		return false;
	for (uint32_t i = 0; i < length; i++) {
		const struct rr_input *one = &way->inputs.all[from + i].input;
		const struct rr_input *other = &way->inputs.all[again + i].input;

		if (one->kind != other->kind || one->thread != other->thread ||
		    one->value != other->value ||
		    !do_the_same(table, way->states[from + i], way->states[again + i]))
			return false;
	}
	return do_the_same(table, way->states[from + length], way->states[again + length]);
}

/* The command that an input answers; RR_NO_ID: it answers none. */
static uint32_t command_answered(const struct rr_client_table *table, uint32_t state,
				 const struct rr_input *input)
{
	const struct rr_client_state *at = &table->states[state];
	const uint8_t lane = at->stops[input->thread].lane;

	for (uint32_t i = 0; i < at->n_sent; i++) {
		if (at->sent[i].lane == lane && at->sent[i].kind == RR_SENT_COMMAND)
			return at->sent[i].command;
	}
	return RR_NO_ID;
}

static uint32_t kind_answered(const struct rr_client_table *table, uint32_t state,
			      const struct rr_input *input)
{
	const uint32_t command = command_answered(table, state, input);

	return command == RR_NO_ID ? RR_NO_ID : table->program->terms->command[command].kind;
}

/* Is that what the server answers between two clients of a serial execution? */
static bool is_answered_between(const struct rr_client_table *table, uint32_t state,
				const struct rr_input *input, const struct rr_waiting *waiting)
{
	const uint32_t command = command_answered(table, state, input);

	return command != RR_NO_ID && waiting->answers && input->kind == RR_INPUT_REPLY &&
	       waiting->answers(waiting->context, command, (uint32_t)input->value);
}

bool rr_client_table_has_changed(const struct rr_client_table *table, uint32_t state,
				 const struct rr_waiting *waiting)
{
	for (; table->states[state].parent != RR_NO_ID; state = table->states[state].parent) {
		const struct rr_client_state *at = &table->states[state];
		const struct kind_reply said = { rr_input_has_reply(&at->input) ?
							 kind_answered(table, at->parent,
								       &at->input) :
							 RR_NO_ID,
						 (uint32_t)at->input.value };

		if (said.kind != RR_NO_ID &&
		    rr_intern_find(&waiting->changed, &said, sizeof(said)) != RR_NO_ID)
			return true;
	}
	return false;
}

static bool says_nothing_was_done(const struct rdl_reply *reply)
{
	return reply->type == RDL_REPLY_NIL || reply->type == RDL_REPLY_FAILED ||
	       (reply->type == RDL_REPLY_INTEGER && reply->integer == 0) ||
	       (reply->type == RDL_REPLY_ARRAY && reply->length == 0);
}

/* An aborted transaction (WATCH) is tried again if the client goes back to where it began: what it sees
 * there then may be that nothing is left to do. Any other attempt is sent again by the next round. */
static bool is_refused(const struct rr_client_table *table, const struct way *way, uint32_t at,
		       uint32_t next, const struct rr_waiting *waiting)
{
	const struct rr_terms *terms = table->program->terms;
	const struct rr_input *input = &way->inputs.all[at].input;
	const uint32_t command = command_answered(table, way->states[at], input);
	const struct kind_reply said = { kind_answered(table, way->states[at], input),
					 (uint32_t)input->value };
	const struct rdl_reply *reply;

	if (said.kind == RR_NO_ID)
		return false;
	reply = &terms->reply[said.reply].reply;
	if (!says_nothing_was_done(reply) ||
	    rr_intern_find(&waiting->changing, &said.kind, sizeof(said.kind)) == RR_NO_ID ||
	    rr_intern_find(&waiting->changed, &said, sizeof(said)) != RR_NO_ID)
		return false;
	if (reply->type == RDL_REPLY_NIL &&
	    rr_word_is(&terms->command[command].words.words[0], "EXEC"))
		return true;
	return next < way->inputs.n &&
	       said.kind == kind_answered(table, way->states[next], &way->inputs.all[next].input);
}

/* Does the client only wait between two of its states? */
static bool is_waiting(const struct rr_client_table *table, const struct way *way, uint32_t from,
		       uint32_t to, const struct rr_waiting *waiting)
{
	const uint32_t length = to - from;

	if (is_repeated(table, way, from, to, length) ||
	    (from >= length && is_repeated(table, way, from, from - length, length)))
		return true;
	for (uint32_t i = from; i < to; i++) {
		const struct rr_input *input = &way->inputs.all[i].input;
		const struct serial_step step = { table, taken_for(table, way->states[i]),
						  taken_for(table, way->states[i + 1]) };

		if (rr_input_has_reply(input) && step.from != step.to &&
		    rr_intern_find(&waiting->steps, &step, sizeof(step)) == RR_NO_ID &&
		    !is_refused(table, way, i, i + length, waiting) &&
		    !is_answered_between(table, way->states[i], input, waiting))
			return false;
	}
	return true;
}

/* Leaves out what the client received between two of its states. Does it do the same
 * afterwards, until it ends? If so, that is the way. */
static bool leave_out(struct rr_client_table *table, struct way *way, uint32_t from, uint32_t to)
{
	const size_t n = way->inputs.n, length = to - from;
	struct rr_received *all = way->inputs.all;
	uint32_t *states = rr_calloc(n + 1, sizeof(*states));
	bool good = true;

	memcpy(states, way->states, (from + 1) * sizeof(*states));
	for (size_t i = to; i < n && good; i++) {
		const struct rr_client_row *row = rr_client_table_follow(
			table, states[i - length], &all[i].input, all[i].passed_ns);

		good = row && (do_the_same(table, row->to, way->states[i + 1]) ||
			       (i + 1 == n && table->states[row->to].has_ended));
		if (good)
			states[i + 1 - length] = row->to;
	}
	if (good) {
		way->inputs.n -= length;
		memcpy(way->states, states, (way->inputs.n + 1) * sizeof(*states));
		memmove(&all[from], &all[to], (n - to) * sizeof(*all));
	}
	free(states);
	return good;
}

/* The shortest loop that can be left out. */
static bool leave_loop_out(struct rr_client_table *table, struct way *way,
			   const struct rr_waiting *waiting, int *n_tried)
{
	for (uint32_t length = 1; length < way->inputs.n; length++) {
		for (uint32_t from = 0; from + length < way->inputs.n; from++) {
			if (!do_the_same(table, way->states[from], way->states[from + length]) ||
			    !is_waiting(table, way, from, from + length, waiting))
				continue;
			if (++*n_tried > LOOPS_TRIED)
				return false;
			if (leave_out(table, way, from, from + length))
				return true;
		}
	}
	return false;
}

uint32_t rr_client_table_without_waiting(struct rr_client_table *table,
					 const struct rr_client_row *row,
					 const struct rr_waiting *waiting)
{
	struct way way = way_to(table, row);
	int n_tried = 0;
	uint32_t end;

	while (leave_loop_out(table, &way, waiting, &n_tried))
		;
	end = way.states[way.inputs.n];
	free(way.states);
	free(way.inputs.all);
	return end;
}
