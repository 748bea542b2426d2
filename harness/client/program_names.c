/* SPDX-License-Identifier: MIT */
/* Programs that draw a random value for each attempt: values that are nowhere any more. */
#include <stdlib.h>

#include "program_run.h"

enum { NAMINGS = 4 }; /* searches that begin again because more values are known */

/* A client's values, by generations of its names, of which there are few. */
static void name_values(struct rr_programs *programs, size_t client)
{
	const struct rr_random_values *values = &programs->line_of[client]->values;
	const int64_t start_ns = programs->config.instances.process.start_ns;

	/* With control a value is the same text wherever it is. */
	for (size_t i = 0;
	     i < values->n && !rr_programs_control(programs, programs->line_of[client]); i++) {
		const struct rdl_word own = programs->has_own_tables || client == 0 ?
						    values->names[i] :
						    rr_token_of_client(values->names[i], client,
								       start_ns);

		rr_terms_add_name(rr_programs_terms(programs), own, (int)client,
				  (int)(i % RR_GENERATIONS));
		if (own.text != values->names[i].text)
			free((char *)own.text);
	}
}

/* Another run of the history without an end shows which of its values are random. */
static void see_values(struct rr_programs *programs, struct command_line *line)
{
	rr_programs_run_otherwise(programs, line, line->table.learning.endless, NULL);
}

static bool sends(const struct rr_terms *terms, const struct rr_client_state *state,
		  struct rdl_word text)
{
	uint32_t i = 0;

	while (i < state->n_sent &&
	       !rr_command_has_text(&terms->command[state->sent[i].command].words, text))
		i++;
	return i < state->n_sent;
}

/* Is that first sent behind the first of the rounds to which there is no end? */
static bool is_of_later_round(const struct rr_terms *terms, const struct rr_client_table *table,
			      struct rdl_word text)
{
	const struct rr_client_state *states = table->states;
	uint32_t at = table->learning.endless;
	bool is_sent = false;

	for (; at != table->learning.first_round && !is_sent; at = states[at].parent)
		is_sent = sends(terms, &states[at], text);
	for (at = table->learning.first_round; at != RR_NO_ID && is_sent; at = states[at].parent)
		is_sent = !sends(terms, &states[at], text);
	return is_sent;
}

/* Does it draw a value in each round? A time of day is none. */
static bool draws_in_rounds(const struct rr_programs *programs, const struct command_line *line)
{
	const struct rr_random_values *values = &line->values;
	const int64_t start_ns = programs->config.instances.process.start_ns;
	size_t i = 0;

	while (i < values->n &&
	       (rr_is_time(values->names[i], start_ns) ||
		!is_of_later_round(rr_programs_terms(programs), &line->table, values->names[i])))
		i++;
	return i < values->n;
}

/* Who draws new random values without an end gives them the names of those that are nowhere any
 * more: of all that were known when the search began. */
static bool reuses_names(struct rr_programs *programs, struct command_line *line)
{
	struct rr_learning *learning = &line->table.learning;
	size_t n_drawn;
	bool draws;

	if (!learning->reuses_names && !learning->is_bounded)
		return false;
	if (line->n_namings < NAMINGS && !programs->keeps_names)
		see_values(programs, line);
	/* A time of day is no name for the next one. */
	const int64_t start_ns = programs->config.instances.process.start_ns;
	size_t n = 0;

	for (size_t i = 0; i < line->values.n; i++)
		n += !rr_is_time(line->values.names[i], start_ns);
	n_drawn = n;
	draws = draws_in_rounds(programs, line);
	if (draws && n_drawn > line->n_named && line->n_namings < NAMINGS &&
	    !programs->keeps_names) {
		line->n_named = n_drawn;
		line->n_namings++;
		learning->is_bounded = false;
	} else if (!draws || line->n_named == 0 || programs->keeps_names) {
		learning->is_bounded = true;
	}
	learning->reuses_names = !learning->is_bounded;
	return learning->reuses_names;
}

bool rr_programs_draws_without_end(struct rr_programs *programs, struct command_line *line)
{
	const struct rr_learning *learning = &line->table.learning;

	if (!learning->reuses_names && !learning->is_bounded)
		return false;
	see_values(programs, line);
	return draws_in_rounds(programs, line);
}

bool rr_programs_name_values(struct rr_programs *programs)
{
	struct rr_terms *terms = rr_programs_terms(programs);
	bool reuses = false;

	for (size_t i = 0; i < programs->n_lines; i++)
		reuses |= reuses_names(programs, &programs->lines[i]);
	for (size_t i = 0; i < programs->config.n_clients && reuses; i++)
		name_values(programs, i);
	if (!reuses)
		return false;
	rr_terms_see_names(terms);
	for (size_t i = 0; i < programs->n_lines; i++)
		rr_client_table_see_names(&programs->lines[i].table);
	return true;
}
