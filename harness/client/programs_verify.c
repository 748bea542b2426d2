/* SPDX-License-Identifier: MIT */
/* What is believed of programs, and is verified by running them again. */
#include <string.h>

#include "base/memory.h"
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
	if (!rr_endings_are_same(&programs->endings, unlike[0], unlike[1]))
		rr_programs_withdraw(programs, RR_BELIEF_SHARED);
	memset(programs->unlike, 0, sizeof(programs->unlike));
	return !rr_programs_have_withdrawn(programs, RR_BELIEF_SHARED);
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

/* Does a client do under its own name what another one has done? */
static bool verify_own(struct rr_programs *programs, const struct rr_client_place *place)
{
	struct command_line *line = programs->line_of[place->client];
	struct rr_client_table *table = &line->table;
	const struct rr_client_end end = { .to = place->state,
					   .client = table->states[place->state].client };
	uint32_t r = table->states[place->state].first_row;

	if (has_been_at(programs, line, &end, place->client))
		return true;
	while (r != RR_NO_ID &&
	       (table->row[r].to == RR_NO_ID || !table->states[table->row[r].to].has_ended))
		r = table->row[r].next;
	return rr_client_table_run_again(table, (int)place->client, place->state,
					 r == RR_NO_ID ? NULL : &table->row[r]) &&
	       verify_outputs(programs, line, end.client);
}

bool rr_programs_run_otherwise(struct rr_programs *programs, struct command_line *line,
			       uint32_t state, const struct rr_client_row *row)
{
	struct rr_client_table *table = &line->table;
	const bool is_controlled = rr_programs_control(programs, line);
	bool good;

	if (is_controlled)
		programs->other_seed = programs->config.instances.process.seed +
				       ++programs->n_other_seeds;
	good = rr_client_table_run_again(table, rr_client_table_next_client(table), state, row);
	programs->other_seed = 0;
	line->n_seeds += is_controlled && table->states[row ? row->to : state].has_ended;
	/* Where it stands now others go on, with the seed of all. */
	if (is_controlled && !row)
		rr_client_table_drop_run(table, state);
	return good;
}

/* Another one of equal clients than the first; they take turns. */
static int next_equal(struct command_line *line)
{
	const uint32_t others = line->clients & (line->clients - 1);

	do
		line->next_equal = (line->next_equal + 1) % RR_RUN_CLIENTS;
	while (!(others >> line->next_equal & 1));
	return line->next_equal;
}

/* Whatever only one instance has sent may be random, and what has the name of a random value may
 * be none: another one tells. */
static bool verify_state(struct rr_programs *programs, struct command_line *line, uint32_t state)
{
	const struct rr_client_state *it = &line->table.states[state];
	const struct rr_run_view view = rr_client_state_view(it);

	if (((!it->input.gone && !it->is_guessed) || it->is_seen_again) &&
	    !rr_tokens_are_open(&programs->tokens, rr_programs_terms(programs), &view,
				line->values.names, line->values.n))
		return true;
	return rr_programs_share(programs, line) ?
		       rr_client_table_run_again(&line->table, next_equal(line), state, NULL) :
		       rr_programs_run_otherwise(programs, line, state, NULL);
}

/* The last history in which that value is sent, but for those that only tests have seen. */
static uint32_t find_sending(const struct rr_programs *programs, const struct command_line *line,
			     struct rdl_word value)
{
	const struct rr_terms *terms = rr_programs_terms(programs);

	for (uint32_t i = line->table.n_states; i-- > 0;) {
		const struct rr_client_state *state = &line->table.states[i];

		if (state->same != RR_NO_ID &&
		    rr_sent_has_text(terms, state->sent, state->n_sent, value))
			return i;
	}
	return RR_NO_ID;
}

/* What does each of equal clients draw where the first one draws a random value? */
static bool verify_drawn(struct rr_programs *programs, struct command_line *line)
{
	const uint32_t others = rr_programs_share(programs, line) ?
					line->clients & (line->clients - 1) :
					0;

	for (int client = 0; client < RR_RUN_CLIENTS; client++) {
		for (size_t i = line->values.n; i-- > 0 && others >> client & 1;) {
			const struct rdl_word value = line->values.names[i];
			struct rdl_word *drawn = &line->drawn[client][i];
			const bool is_known = drawn->text || line->values.varying >> i & 1;
			const uint32_t state = is_known ? RR_NO_ID :
							  find_sending(programs, line, value);

			if (state != RR_NO_ID &&
			    !rr_client_table_run_again(&line->table, client, state, NULL))
				return false;
			/* It sends the same. */
			if (state != RR_NO_ID && !drawn->text && !(line->values.varying >> i & 1))
				*drawn = (struct rdl_word){ rr_memdup(value.text, value.length),
							    value.length };
		}
	}
	return true;
}

/* Is it the last step of a history of which no longer one is known, but for those that only tests
 * have seen? */
static bool is_last_step(const struct rr_client_table *table, const struct rr_client_row *row)
{
	return row->to != RR_NO_ID && table->states[row->from].same == row->from &&
	       table->states[row->to].same != RR_NO_ID &&
	       (table->states[row->to].has_ended || table->states[row->to].same != row->to);
}

/* Does each of equal clients do what the first one does, which may depend on its random values and
 * on those that it receives, as their order does? */
static bool verify_equality(struct rr_programs *programs, struct command_line *line)
{
	const uint32_t others = line->clients & (line->clients - 1);
	struct rr_client_table *table = &line->table;
	bool good = true;

	if (!rr_programs_share(programs, line) || line->values.n == 0)
		return true;
	for (uint32_t i = 0; i < table->rows.n; i++) {
		for (int client = 0; client < RR_RUN_CLIENTS; client++) {
			const struct rr_client_row *row = &table->row[i];

			if (!(others >> client & 1) || !is_last_step(table, row) ||
			    table->states[row->to].clients >> client & 1)
				continue;
			good = rr_client_table_run_again(table, client, row->from, row);
			if (!good || rr_programs_have_withdrawn(programs, RR_BELIEF_VALUES))
				return good;
		}
	}
	return true;
}

/* Is it the first of those that run one command? What one of them does by chance, all may. */
static bool is_first_of_argv(const struct rr_programs *programs, const struct command_line *line)
{
	const struct command_line *first = programs->lines;

	while (first->argv != line->argv)
		first++;
	return first == line;
}

/* Are they random, or choices out of few? */
static bool verify_draws(struct rr_programs *programs, struct command_line *line)
{
	struct rr_client_table *table = &line->table;

	for (int i = 0; i < RR_DRAWS_MIN && is_first_of_argv(programs, line); i++) {
		const uint32_t history = rr_random_values_try_history(
			&line->values, rr_programs_terms(programs), table);

		if (history == RR_NO_ID)
			return true;
		if (!rr_programs_run_otherwise(programs, line, history, NULL))
			return false;
	}
	return true;
}

/* A program that draws, but sends nothing of it, may take its choices by that. */
static bool verify_seeds(struct rr_programs *programs, struct command_line *line)
{
	const struct rr_client_end end = rr_client_table_longest(&line->table);
	bool good = true;

	if (!programs->config.tries_seeds || !line->draws || end.to == RR_NO_ID ||
	    !is_first_of_argv(programs, line))
		return true;
	while (good && rr_programs_control(programs, line) && line->n_seeds < RR_SEEDS - 1)
		good = rr_programs_run_otherwise(programs, line, end.row ? end.from : end.to,
						 end.row);
	return good;
}

static enum rr_going conclude(struct rr_programs *programs, bool good, struct rr_error *error)
{
	const struct rr_beliefs *beliefs = programs->program.beliefs;
	unsigned withdrawn;

	good = good && !programs->problem.kind;
	/* Others that run with them have come upon that. */
	if (rr_programs_see_other_pids(programs))
		rr_programs_withdraw(programs, RR_BELIEF_PIDS);
	withdrawn = rr_beliefs_withdrawn_of(beliefs, &programs->program);
	if (!good)
		withdrawn &= ~(1U << RR_BELIEF_VALUES);
	/* One that hangs would do so again. */
	for (size_t i = 0; i < programs->n_lines && programs->problem.kind != RR_ERROR_HANGS; i++)
		withdrawn |= rr_beliefs_withdrawn_of(beliefs, &programs->lines[i].table);
	if (withdrawn)
		return RR_AGAIN;
	if (good)
		return RR_GO_ON;
	*error = programs->problem;
	for (size_t i = 0; i < programs->n_lines && !error->kind; i++)
		*error = programs->lines[i].table.error;
	return rr_error_going(error);
}

enum rr_going rr_programs_verify(void *context, unsigned left_out, struct rr_error *error)
{
	struct rr_programs *programs = context;
	const bool is_played = left_out & RR_LEAVE_HISTORIES;
	bool leaves_names = left_out & RR_LEAVE_NAMES;
	bool are_drawn = true, good;

	for (size_t i = 0; i < programs->n_lines; i++)
		leaves_names &= programs->lines[i].table.learning.merges == 0;
	good = !rr_programs_stand(programs) && (leaves_names || verify_names_of_clients(programs));
	for (size_t i = 0; i < programs->n_lines && good; i++) {
		struct command_line *line = &programs->lines[i];

		/* What only tests have seen does not matter. */
		for (uint32_t j = line->table.n_states; j-- > 0 && good;)
			good = line->table.states[j].same == RR_NO_ID ||
			       verify_state(programs, line, j);
		good = good && verify_drawn(programs, line);
	}
	for (size_t i = 0; i < programs->n_lines && good && !is_played &&
			   !rr_programs_have_withdrawn(programs, RR_BELIEF_VALUES);
	     i++)
		good = rr_learning_verify(&programs->lines[i].table);
	/* Each of these runs has drawn, too. */
	for (size_t i = 0; i < programs->n_lines && good &&
			   !rr_programs_have_withdrawn(programs, RR_BELIEF_VALUES);
	     i++)
		good = verify_draws(programs, &programs->lines[i]) &&
		       (is_played || verify_equality(programs, &programs->lines[i]));
	/* What differs between equal clients, but not between seeds, is not drawn. */
	for (size_t i = 0; i < programs->n_lines && good; i++) {
		const struct rr_random_values *values = &programs->lines[i].values;

		for (size_t j = 0;
		     j < values->n && rr_programs_share(programs, &programs->lines[i]); j++)
			are_drawn &= values->draws[j].n < RR_DRAWS_MIN ||
				     values->draws[j].repeats * 2 < values->draws[j].n;
	}
	for (size_t i = 0;
	     i < programs->n_lines && good && !is_played && !(left_out & RR_LEAVE_NAMES) &&
	     !rr_programs_have_withdrawn(programs, RR_BELIEF_VALUES);
	     i++)
		good = verify_seeds(programs, &programs->lines[i]);
	if (!are_drawn)
		rr_programs_withdraw(programs, RR_BELIEF_SHARED);
	return conclude(programs, good, error);
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

enum rr_going rr_programs_verify_rounds(struct rr_programs *programs, struct rr_error *error)
{
	bool good = true;

	for (size_t i = 0; i < programs->n_lines && good; i++)
		good = rr_learning_leave_rest(&programs->lines[i].table);
	return conclude(programs, good, error);
}

enum rr_going rr_programs_verify_places(struct rr_programs *programs,
					const struct rr_client_place *places, size_t n,
					struct rr_error *error)
{
	bool good = true;

	for (size_t i = n; i-- > 0 && good;)
		good = places[i].is_own ?
			       verify_own(programs, &places[i]) :
			       verify_state(programs, programs->line_of[places[i].client],
					    places[i].state);
	for (size_t i = 0; i < programs->n_lines && good; i++)
		good = verify_drawn(programs, &programs->lines[i]);
	return conclude(programs, good, error);
}
