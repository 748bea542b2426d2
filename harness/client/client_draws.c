/* SPDX-License-Identifier: MIT */
/* Does a client do the same with other random values? */
#include "client_table.h"

/* A run with the values of another draw. */
struct drawn {
	struct rr_client_table *table;
	struct rr_program program;
	struct rr_renaming renaming;
	struct rr_client_run *run;
};

static void feed_drawn(struct drawn *drawn, struct rr_input input, int64_t passed_ns)
{
	if (rr_input_has_reply(&input))
		input.value = rr_rename_reply(&drawn->renaming, drawn->program.terms,
					      (uint32_t)input.value);
	rr_client_run_feed(drawn->run, &input, passed_ns);
}

/* Does it, but for these values, what has that signature? */
static bool has_signature(const struct drawn *drawn, uint64_t signature)
{
	struct rr_run_view view = *rr_client_run_view(drawn->run);

	for (uint32_t i = 0; i < view.n_sent; i++)
		view.sent[i].command = rr_rename_command(&drawn->renaming, drawn->program.terms,
							 view.sent[i].command);
	return rr_run_view_signature(&view) == signature;
}

static bool follows_drawn(struct drawn *drawn, uint32_t to)
{
	const struct rr_client_state state = drawn->table->states[to];

	if (state.parent != RR_NO_ID) {
		if (!follows_drawn(drawn, state.parent))
			return false;
		feed_drawn(drawn, state.input, state.passed_ns);
	}
	return has_signature(drawn, state.signature);
}

static bool is_same_row(struct drawn *drawn, const struct rr_client_row *row)
{
	bool is_same;

	drawn->run = rr_client_run_new(&drawn->program, row->client);
	drawn->table->n_runs++;
	is_same = follows_drawn(drawn, row->from);
	if (is_same) {
		feed_drawn(drawn, row->input, row->passed_ns);
		is_same = has_signature(drawn, row->signature);
	}
	rr_client_run_free(drawn->run);
	return is_same;
}

bool rr_client_table_is_same_draw(struct rr_client_table *table, unsigned draw, unsigned long most)
{
	struct rr_terms *terms = table->program->terms;
	const size_t n_names = terms->n_names;
	struct drawn drawn = { .table = table, .program = *table->program };
	bool is_same = true;

	drawn.program.draw = draw;
	rr_renaming_add_draws(&drawn.renaming, terms, table->program->draw, draw);
	for (uint32_t i = 0; i < table->rows.n && is_same && most > 0; i++) {
		const struct rr_client_row *row = &table->row[i];

		/* Is it the last of its attempt? Then those before are compared with it. What only
		 * tests have seen does not matter. */
		if (!(row->to != RR_NO_ID && row->state != RR_NO_ID &&
		      (table->states[row->to].is_attempt || table->states[row->to].has_ended)))
			continue;
		most--;
		is_same = is_same_row(&drawn, &table->row[i]);
	}
	rr_renaming_release(&drawn.renaming);
	/* Nobody else comes across these values. */
	terms->n_names = n_names;
	return is_same;
}
