/* SPDX-License-Identifier: MIT */
/* What processes did after each history, in a file: their views, in the order in which they
 * were first seen. All else that a table holds follows from that. */
#include "client_table.h"

enum {
	STATES_MAX = 4 * 1000 * 1000,
	/* Bits of a view. */
	IS_INSIDE = 1,
	IS_HOLDING = 2,
	HAS_ENTERED = 4,
	HAS_READ = 8,
	IS_UNHEARD = 16,
	ALL_BITS = 31,
};

/* ---- What is used -------------------------------------------------------------------- */

/* Numbered later, in their own order. */
static void use(struct rr_table_numbers *numbers, uint32_t id)
{
	if (id < numbers->n)
		numbers->number[id] = 0;
}

void rr_client_table_use(const struct rr_client_table *table, struct rr_table_file *file)
{
	for (uint32_t i = 0; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];

		for (uint32_t j = 0; j < state->n_sent; j++)
			use(&file->commands, state->sent[j].command);
		if (i > 0 && rr_input_has_reply(&state->input))
			use(&file->replies, (uint32_t)state->input.value);
		if (state->has_ended)
			use(&file->endings, (uint32_t)state->tally.ending);
	}
}

/* ---- Writing ------------------------------------------------------------------------- */

static void write_stop(const struct rr_stop *stop, FILE *out)
{
	rr_bytes_put_number(out, stop->kind);
	rr_bytes_put_number(out, stop->lane);
	rr_bytes_put_number(out, stop->duration_ns);
}

static void write_sent(const struct rr_sent *sent, const struct rr_table_file *file, FILE *out)
{
	rr_bytes_put_number(out, sent->lane);
	rr_bytes_put_number(out, sent->thread);
	rr_bytes_put_number(out, sent->is_inside | sent->is_waiting << 1);
	rr_bytes_put_number(out, sent->kind);
	rr_bytes_put_number(out, file->commands.number[sent->command]);
}

static void write_view(const struct rr_client_state *state, const struct rr_table_file *file,
		       FILE *out)
{
	rr_bytes_put_number(out, state->client);
	rr_bytes_put_number(out, (state->is_inside ? IS_INSIDE : 0) |
					 (state->is_holding ? IS_HOLDING : 0) |
					 (state->has_entered ? HAS_ENTERED : 0) |
					 (state->has_read ? HAS_READ : 0) |
					 (state->is_unheard ? IS_UNHEARD : 0));
	rr_bytes_put_number(out, state->slept_ns);
	rr_bytes_put_number(out, state->n_threads);
	for (uint32_t i = 0; i < state->n_threads; i++)
		write_stop(&state->stops[i], out);
	rr_bytes_put_number(out, state->n_sent);
	for (uint32_t i = 0; i < state->n_sent; i++)
		write_sent(&state->sent[i], file, out);
	if (!state->has_ended)
		return;
	rr_bytes_put_number(out, state->tally.ok);
	rr_bytes_put_number(out, file->endings.number[state->tally.ending]);
}

static void write_row(const struct rr_client_table *table, uint32_t to,
		      const struct rr_table_file *file, FILE *out)
{
	const struct rr_client_state *state = &table->states[to];
	const struct rr_input *input = &state->input;

	rr_bytes_put_number(out, state->parent);
	rr_bytes_put_number(out, input->kind);
	rr_bytes_put_number(out, input->thread);
	rr_bytes_put_number(out, rr_input_has_reply(input) ? file->replies.number[input->value] :
							     input->value);
	rr_bytes_put_number(out, table->row[state->row].is_timed);
	rr_bytes_put_number(out, state->passed_ns);
}

void rr_client_table_write(const struct rr_client_table *table, const struct rr_table_file *file,
			   FILE *out)
{
	rr_bytes_put_number(out, table->n_states);
	for (uint32_t i = 0; i < table->n_states; i++) {
		if (i > 0)
			write_row(table, i, file, out);
		write_view(&table->states[i], file, out);
	}
}

/* ---- Reading ------------------------------------------------------------------------- */

static uint32_t take_id(struct rr_bytes *bytes, const struct rr_table_numbers *numbers)
{
	const int64_t id = rr_bytes_take_number(bytes, 0, (int64_t)numbers->n - 1);

	return bytes->is_wrong ? 0 : numbers->number[id];
}

static struct rr_stop take_stop(struct rr_bytes *bytes)
{
	struct rr_stop stop = {
		.kind = (uint8_t)rr_bytes_take_number(bytes, RR_STOP_RECEIVE, RR_STOP_ENDED),
		.lane = (uint8_t)rr_bytes_take_number(bytes, 0, RR_RUN_ORDINALS - 1),
		.duration_ns = rr_bytes_take_number(bytes, 0, INT64_MAX),
	};

	/* Nothing else is what processes do. */
	bytes->is_wrong |= stop.kind != RR_STOP_RECEIVE && stop.kind != RR_STOP_LISTEN &&
			   stop.kind != RR_STOP_ENDED;
	return stop;
}

static struct rr_sent take_sent(struct rr_bytes *bytes, const struct rr_table_file *file)
{
	struct rr_sent sent = {
		.lane = (uint8_t)rr_bytes_take_number(bytes, 0, RR_RUN_ORDINALS - 1),
		.thread = (uint8_t)rr_bytes_take_number(bytes, 0, RR_RUN_THREADS - 1),
	};
	const int64_t bits = rr_bytes_take_number(bytes, 0, 3);

	sent.is_inside = bits & 1;
	sent.is_waiting = bits & 2;
	sent.kind = (uint8_t)rr_bytes_take_number(bytes, RR_SENT_COMMAND, RR_SENT_END);
	sent.command = take_id(bytes, &file->commands);
	return sent;
}

static void take_ending(struct rr_bytes *bytes, const struct rr_table_file *file,
			struct rr_run_view *view)
{
	bytes->is_wrong |= view->n_threads != 1 || view->n_sent > 0;
	view->tally.ok = rr_bytes_take_number(bytes, 0, 1);
	view->tally.failed = !view->tally.ok;
	view->tally.ending = take_id(bytes, &file->endings);
}

/* Does each thread that waits for a reply wait on a lane that is owed one? */
static bool is_owed(const struct rr_run_view *view)
{
	bool owed = true;

	for (uint32_t i = 0; i < view->n_threads && owed; i++) {
		uint32_t j = 0;

		if (view->stops[i].kind != RR_STOP_RECEIVE)
			continue;
		while (j < view->n_sent && view->sent[j].lane != view->stops[i].lane)
			j++;
		owed = j < view->n_sent;
	}
	return owed;
}

static void take_view(struct rr_bytes *bytes, const struct rr_table_file *file,
		      const struct rr_client_table *table, int *client, struct rr_run_view *view)
{
	int64_t bits;

	*view = (struct rr_run_view){ .n_threads = 0 };
	*client = (int)rr_bytes_take_number(bytes, 0, (int64_t)table->program->n_clients - 1);
	bits = rr_bytes_take_number(bytes, 0, ALL_BITS);
	view->is_inside = bits & IS_INSIDE;
	view->is_holding = bits & IS_HOLDING;
	view->has_entered = bits & HAS_ENTERED;
	view->has_read = bits & HAS_READ;
	view->is_unheard = bits & IS_UNHEARD;
	view->slept_ns = rr_bytes_take_number(bytes, 0, INT64_MAX);
	view->n_threads = (uint32_t)rr_bytes_take_number(bytes, 1, RR_RUN_THREADS);
	for (uint32_t i = 0; i < view->n_threads; i++)
		view->stops[i] = take_stop(bytes);
	view->n_sent = (uint32_t)rr_bytes_take_number(bytes, 0, RR_RUN_SENT);
	for (uint32_t i = 0; i < view->n_sent; i++)
		view->sent[i] = take_sent(bytes, file);
	if (view->stops[0].kind == RR_STOP_ENDED)
		take_ending(bytes, file, view);
	bytes->is_wrong |= !(table->clients >> *client & 1) || !is_owed(view);
}

/* A state must be there that has not ended, and a thread of it that waits for that. */
static void take_row(struct rr_bytes *bytes, const struct rr_table_file *file,
		     const struct rr_client_table *table, struct rr_client_row *row)
{
	const struct rr_client_state *from;

	*row = (struct rr_client_row){ .from = 0 };
	row->from = (uint32_t)rr_bytes_take_number(bytes, 0, (int64_t)table->n_states - 1);
	from = &table->states[row->from];
	row->input.kind = (uint8_t)rr_bytes_take_number(bytes, RR_INPUT_GO, RR_INPUT_ATTEMPT - 1);
	row->input.thread = (uint8_t)rr_bytes_take_number(bytes, 0, (int64_t)from->n_threads - 1);
	row->input.value = rr_input_has_reply(&row->input) ?
				   take_id(bytes, &file->replies) :
				   rr_bytes_take_number(bytes, INT64_MIN, INT64_MAX);
	row->is_timed = rr_bytes_take_number(bytes, 0, 1);
	row->passed_ns = rr_bytes_take_number(bytes, 0, INT64_MAX);
	bytes->is_wrong |= from->has_ended || (!row->is_timed && row->passed_ns != 0);
}

bool rr_client_table_read(struct rr_client_table *table, const struct rr_table_file *file,
			  struct rr_bytes *bytes)
{
	const uint32_t n = (uint32_t)rr_bytes_take_number(bytes, 1, STATES_MAX);
	struct rr_client_row row;
	struct rr_run_view view;

	for (uint32_t i = 0; i < n && !bytes->is_wrong; i++) {
		if (i > 0)
			take_row(bytes, file, table, &row);
		if (!bytes->is_wrong)
			take_view(bytes, file, table, &row.client, &view);
		if (bytes->is_wrong)
			return false;
		if (i == 0)
			rr_client_table_restore_beginning(table, &view, row.client);
		else
			bytes->is_wrong = !rr_client_table_restore(table, &row, &view);
	}
	return !bytes->is_wrong;
}
