/* SPDX-License-Identifier: MIT */
/* What is believed of programs, and is verified by running them again. */
#include <string.h>

#include "program_run.h"

/* Whatever a client was seen to do last, after the longest history. */
static bool run_longest(struct command_line *line, int client)
{
	const struct rr_client_end end = rr_client_table_longest(&line->table);

	return end.to == RR_NO_ID ||
	       rr_client_table_run_again(&line->table, client, end.from, end.row);
}

/* Two clients have printed something else with the same replies. Does each of them do so by
 * itself? If not, each gets a table of its own. */
static bool verify_outputs(struct rr_programs *programs, struct command_line *line, int client)
{
	const uint32_t *unlike = programs->unlike;

	if (rr_endings_are_same(&programs->endings, unlike[0], unlike[1]))
		return true;
	if (!run_longest(line, client))
		return false;
	programs->wants_own_tables = !rr_endings_are_same(&programs->endings, unlike[0], unlike[1]);
	memset(programs->unlike, 0, sizeof(programs->unlike));
	return !programs->wants_own_tables;
}

/* Where two have printed something else, it is asked whether each does so by itself. */
static bool has_been_at(const struct rr_programs *programs, const struct command_line *line,
			const struct rr_client_end *end, size_t client)
{
	return !programs->has_own_tables && line->table.states[end->to].clients >> client & 1 &&
	       rr_endings_are_same(&programs->endings, programs->unlike[0], programs->unlike[1]);
}

static bool verify_names_of_clients(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		struct command_line *line = programs->line_of[i];
		const struct rr_client_end end = rr_client_table_longest(&line->table);

		if (programs->is_verified[i] || end.to == RR_NO_ID ||
		    (!programs->has_own_tables && end.client == (int)i))
			continue;
		if (!has_been_at(programs, line, &end, i) &&
		    (!run_longest(line, (int)i) || !verify_outputs(programs, line, end.client)))
			return false;
		programs->is_verified[i] = true;
	}
	return true;
}

/* With what a client ends there; NULL: it does not. */
static const struct rr_client_row *last_row(const struct rr_client_table *table, uint32_t from)
{
	for (uint32_t r = table->states[from].first_row; r != RR_NO_ID; r = table->row[r].next) {
		if (table->row[r].to != RR_NO_ID && table->states[table->row[r].to].has_ended)
			return &table->row[r];
	}
	return NULL;
}

/* Does a client do under its own name what another one has done? */
static bool verify_own(struct rr_programs *programs, const struct rr_client_place *place)
{
	struct command_line *line = programs->line_of[place->client];
	const struct rr_client_end end = { .to = place->state,
					   .client = line->table.states[place->state].client };

	return has_been_at(programs, line, &end, place->client) ||
	       (rr_client_table_run_again(&line->table, (int)place->client, place->state,
					  last_row(&line->table, place->state)) &&
		verify_outputs(programs, line, end.client));
}

/* Whatever only one instance has sent may be random, and what has the name of a random value may
 * be none: another one tells. */
static bool is_open(const struct rr_programs *programs, const struct command_line *line,
		    const struct rr_client_state *state)
{
	const struct rr_run_view view = rr_client_state_view(state);

	return ((state->input.gone || state->is_guessed) && !state->is_seen_again) ||
	       rr_tokens_are_open(&programs->tokens, rr_programs_terms(programs), &view,
				  line->values.names, line->values.n);
}

static bool verify_state(struct rr_programs *programs, struct command_line *line, uint32_t state)
{
	struct rr_client_table *table = &line->table;

	return !is_open(programs, line, &table->states[state]) ||
	       rr_client_table_run_again(table, rr_client_table_next_client(table), state, NULL);
}

/* What only tests have seen does not matter. */
static bool verify_tokens(struct rr_programs *programs, struct command_line *line)
{
	for (uint32_t i = line->table.n_states; i-- > 0;) {
		if (line->table.states[i].same != RR_NO_ID && !verify_state(programs, line, i))
			return false;
	}
	return true;
}

/* Are they random, or choices out of few? */
static bool verify_draws(const struct rr_programs *programs, struct command_line *line)
{
	struct rr_client_table *table = &line->table;

	for (int i = 0; i < RR_DRAWS_MIN; i++) {
		const uint32_t history = rr_random_values_try_history(
			&line->values, rr_programs_terms(programs), table);

		if (history == RR_NO_ID)
			return true;
		if (!rr_client_table_run_again(table, rr_client_table_next_client(table), history,
					       NULL))
			return false;
	}
	return true;
}

static bool has_merged(const struct rr_programs *programs)
{
	size_t i = 0;

	while (i < programs->n_lines && programs->lines[i].table.learning.merges == 0)
		i++;
	return i < programs->n_lines;
}

/* Has the search to begin anew? False: the error. */
static bool conclude(struct rr_programs *programs, bool good, bool *again, struct rr_error *error)
{
	good = good && !programs->problem.kind;
	/* One that hangs would do so again. */
	for (size_t i = 0; i < programs->n_lines && programs->problem.kind != RR_ERROR_HANGS; i++)
		*again |= programs->lines[i].table.learning.has_changed;
	*again |= programs->wants_own_tables || programs->has_wrong_names ||
		  (good && programs->has_new_values);
	if (!good && programs->kept_file.is_contradicted)
		*again |= rr_kept_doubt(programs);
	if (good || *again)
		return true;
	*error = programs->problem;
	for (size_t i = 0; i < programs->n_lines && !error->kind; i++)
		*error = programs->lines[i].table.error;
	return false;
}

bool rr_programs_verify(struct rr_programs *programs, unsigned left_out, bool *again,
			struct rr_error *error)
{
	const bool is_played = left_out & RR_LEAVE_HISTORIES;
	const bool leaves_names = left_out & RR_LEAVE_NAMES && !has_merged(programs);
	bool good = !programs->problem.kind && (leaves_names || verify_names_of_clients(programs));

	for (size_t i = 0; i < programs->n_lines && good; i++)
		good = verify_tokens(programs, &programs->lines[i]);
	*again = false;
	for (size_t i = 0; i < programs->n_lines && good && !is_played && !programs->has_new_values;
	     i++)
		good = rr_learning_verify(&programs->lines[i].table);
	/* Each of these runs has drawn, too. */
	for (size_t i = 0; i < programs->n_lines && good && !programs->has_new_values; i++)
		good = verify_draws(programs, &programs->lines[i]);
	return conclude(programs, good, again, error);
}

int rr_programs_next_rounds(const struct rr_programs *programs)
{
	int most = 0;

	for (size_t i = 0; i < programs->n_lines; i++) {
		const int rounds = rr_learning_untried(&programs->lines[i].table);

		most = rounds > most ? rounds : most;
	}
	return most;
}

bool rr_programs_verify_rounds(struct rr_programs *programs, bool *again, struct rr_error *error)
{
	bool good = true;

	*again = false;
	for (size_t i = 0; i < programs->n_lines && good; i++) {
		if (rr_kept_is_settled(programs))
			rr_learning_note_all_left(&programs->lines[i].table);
		else
			good = rr_learning_leave_rest(&programs->lines[i].table);
	}
	return conclude(programs, good, again, error);
}

bool rr_programs_verify_places(struct rr_programs *programs, const struct rr_client_place *places,
			       size_t n, bool *again, struct rr_error *error)
{
	bool good = true;

	*again = false;
	for (size_t i = n; i-- > 0 && good;)
		good = places[i].is_own ?
			       verify_own(programs, &places[i]) :
			       verify_state(programs, programs->line_of[places[i].client],
					    places[i].state);
	return conclude(programs, good, again, error);
}
