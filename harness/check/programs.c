/* SPDX-License-Identifier: MIT */
/* Processes as clients of a search: started, compared, verified. */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "product/product.h"
#include "random_values.h"
#include "tokens.h"

enum { TEXT_SIZE = 160 };

/* What is known of a command line. */
struct command_line {
	const char *const *argv;
	uint32_t clients; /* whose it is, as bits */
	struct rr_client_table table;
	struct rr_random_values values;
};

struct rr_programs {
	struct rr_programs_config config;
	struct rr_instance_config instances;
	struct rr_program program; /* of the tables: each client as the one that they are
				    * about */
	size_t n_lines;
	struct command_line lines[RR_PROGRAMS_MAX];
	struct command_line *line_of[RR_PROGRAMS_MAX];
	struct rr_client_table *tables[RR_PROGRAMS_MAX]; /* of each client */
	struct rr_kept_runs kept;
	struct rr_renaming own[RR_PROGRAMS_MAX]; /* the table's values and the client's,
						  * exchanged */
	bool is_verified[RR_PROGRAMS_MAX];       /* under that name a program did in a
					    * whole history what another did */
	bool has_own_tables;                     /* clients do different things */
	bool wants_own_tables, has_new_values;
	struct rr_intern endings;
	struct rr_tokens tokens;
	struct rr_programs_figures figures;
	struct rr_error problem;
};

/* A process. One that runs beside other clients, and not for the tables, must do what its
 * table says, and is seen to do it with the client's own random values. */
struct run {
	struct rr_programs *programs;
	struct command_line *line;
	struct rr_instance *instance; /* NULL: it could not be started */
	uint32_t number;              /* of those that were started before it */
	uint32_t counted;             /* see rr_random_values_count() */
	int64_t unread_ns;            /* that have passed since it read its clock */
	struct rr_run_view view;
	struct rr_client_view client; /* without a table: it runs for that */
	uint32_t state;               /* in the table */
	struct rr_run_view own;
};

static struct rr_terms *terms_of(const struct rr_programs *programs)
{
	return programs->instances.program->terms;
}

/* ---- Differences ------------------------------------------------------------------- */

/* What a program does, in words. */
static void describe_view(const struct rr_programs *programs, const struct rr_run_view *view,
			  char text[TEXT_SIZE])
{
	if (view->stops[0].kind == RR_STOP_ENDED)
		snprintf(text, TEXT_SIZE, "ended with status %d",
			 WEXITSTATUS(rr_programs_ending(programs, view->tally.ending).status));
	else
		rr_run_view_text(terms_of(programs), view, 3, text, TEXT_SIZE);
}

/* Equal clients that do different things get tables of their own. */
static bool wants_own_table(const struct run *run, int other)
{
	struct rr_programs *programs = run->programs;

	programs->wants_own_tables = rr_instance_client(run->instance) != (size_t)other &&
				     !programs->has_own_tables;
	if (programs->wants_own_tables)
		rr_error_set(&programs->problem, RR_ERROR_INTERNAL, "clients do different things");
	return programs->wants_own_tables;
}

static bool fail_differing_run(const struct run *run, const struct rr_run_view *known, int client)
{
	struct rr_programs *programs = run->programs;
	const size_t self = rr_instance_client(run->instance);
	char before[TEXT_SIZE], now[TEXT_SIZE];

	if (wants_own_table(run, client))
		return false;
	describe_view(programs, known, before);
	describe_view(programs, &run->view, now);
	return rr_error_set(
		&programs->problem, RR_ERROR_DATA,
		"the program is not deterministic: with the same replies, client %s did '%s' once and '%s' another time",
		programs->config.names[self], before, now);
}

/* Both have ended, and do the same: have they printed the same, too? */
static bool compare_outputs(const struct run *run, const struct rr_run_view *known, int client)
{
	struct rr_programs *programs = run->programs;
	const size_t self = rr_instance_client(run->instance);

	if (run->view.stops[0].kind != RR_STOP_ENDED ||
	    known->tally.ending == run->view.tally.ending)
		return true;
	programs->figures.outputs_vary = true;
	if (!programs->config.compares_outputs)
		return true;
	if (wants_own_table(run, client))
		return false;
	return rr_error_set(
		&programs->problem, RR_ERROR_DATA,
		"--outputs: with the same replies, client %s printed '%.200s' once and '%.200s' another time",
		programs->config.names[self],
		rr_programs_ending(programs, known->tally.ending).output,
		rr_programs_ending(programs, run->view.tally.ending).output);
}

static bool compare_run(void *context, const struct rr_run_view *known, int client)
{
	struct run *run = context;
	struct rr_programs *programs = run->programs;
	struct rr_random_values *values = &run->line->values;
	const struct rr_terms *terms = terms_of(programs);
	const size_t n_values = values->n;

	if (programs->problem.kind)
		return false;
	while (known && !rr_run_view_is_same(&run->view, known)) {
		if (!rr_random_values_rename(values, terms, run->instance, known, &run->view))
			return fail_differing_run(run, known, client);
		run->view = rr_instance_view(run->instance);
		programs->has_new_values |= values->n > n_values;
	}
	if (known)
		rr_random_values_count(values, terms, run->instance, known, &run->counted);
	rr_tokens_note(&programs->tokens, terms, &run->view, run->number);
	return !known || compare_outputs(run, known, client);
}

/* ---- Runs ------------------------------------------------------------------------------- */

static void start_instance(struct run *run, size_t client)
{
	struct rr_programs *programs = run->programs;

	if (programs->problem.kind)
		return;
	programs->instances.n_starts = programs->figures.starts++;
	run->instance = rr_instance_start(&programs->instances, run->line->argv, client,
					  programs->config.names[client], &programs->problem);
	if (!run->instance)
		return;
	programs->figures.has_own_clock |= !rr_instance_has_shim(run->instance);
	run->view = rr_instance_view(run->instance);
}

static bool reach_state(struct run *run, uint32_t state)
{
	const struct rr_client_state *known = &run->client.table->states[state];
	const struct rr_run_view view = rr_client_state_view(known);

	run->state = state;
	run->own = rr_client_state_view(&run->client.states[state]);
	return compare_run(run, &view, known->client);
}

static void *begin_run(const struct rr_program *program, int client)
{
	struct rr_programs *programs = program->context;
	struct run *run = rr_malloc(sizeof(*run));
	const bool is_for_table = program == &programs->program;

	*run = (struct run){ .programs = programs,
			     .line = programs->line_of[client],
			     .view = { .n_threads = 1, .stops = { { .kind = RR_STOP_ENDED } } } };
	run->own = run->view;
	if (!is_for_table && !rr_client_view_init(&run->client, programs->tables[client], client))
		return run;
	run->number = (uint32_t)programs->figures.starts;
	start_instance(run, (size_t)client);
	if (!is_for_table)
		reach_state(run, 0);
	return run;
}

static void end_run(void *context)
{
	struct run *run = context;

	rr_instance_free(run->instance);
	rr_client_view_release(&run->client);
	free(run);
}

/* Its clock has been told of some of the time already. */
static void feed_instance(struct run *run, const struct rr_input *input, int64_t passed_ns)
{
	const int64_t more_ns = passed_ns > run->unread_ns ? passed_ns - run->unread_ns : 0;
	const uint8_t lane = run->view.stops[input->thread].lane;

	if (!run->instance || run->programs->problem.kind ||
	    !rr_instance_feed(run->instance, input, lane, more_ns, &run->programs->problem))
		return;
	run->view = rr_instance_view(run->instance);
	run->unread_ns = run->view.has_read ? 0 : run->unread_ns + more_ns;
}

static void feed_run(void *context, const struct rr_input *input, int64_t passed_ns)
{
	struct run *run = context;
	struct rr_input heard;
	const struct rr_client_row *row;

	if (!run->client.table) {
		feed_instance(run, input, passed_ns);
		return;
	}
	if (run->programs->problem.kind)
		return;
	heard = rr_client_view_as_self(&run->client, input);
	row = rr_client_view_ask(&run->client, run->state, input, passed_ns);
	if (!row)
		return;
	feed_instance(run, &heard, passed_ns);
	reach_state(run, row->to);
}

static const struct rr_run_view *view_of_run(const void *context)
{
	const struct run *run = context;

	return run->client.table ? &run->own : &run->view;
}

static const char *problem_of_run(const void *context)
{
	const struct run *run = context;

	return run->programs->problem.kind ? run->programs->problem.text : NULL;
}

static const struct rr_run_ops run_ops = {
	.begin = begin_run,
	.end = end_run,
	.feed = feed_run,
	.view = view_of_run,
	.problem = problem_of_run,
	.compare = compare_run,
};

/* ---- Making and freeing --------------------------------------------------------------------- */

static struct command_line *line_for(struct rr_programs *programs, size_t client)
{
	const char *const *argv = programs->config.argv[client];
	struct command_line *line = &programs->lines[programs->n_lines];

	for (size_t i = 0; i < programs->n_lines && !programs->has_own_tables; i++) {
		if (programs->lines[i].argv == argv)
			return &programs->lines[i];
	}
	programs->n_lines++;
	*line = (struct command_line){ .argv = argv };
	return line;
}

static void make_tables(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		struct command_line *line = line_for(programs, i);

		line->clients |= 1U << i;
		programs->line_of[i] = line;
		programs->tables[i] = &line->table;
	}
	for (size_t i = 0; i < programs->n_lines; i++)
		rr_client_table_init(&programs->lines[i].table, &programs->program,
				     programs->lines[i].clients, 0, &programs->kept);
}

static void release_tables(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->n_lines; i++) {
		rr_client_table_release(&programs->lines[i].table);
		rr_random_values_release(&programs->lines[i].values);
	}
	programs->n_lines = 0;
}

struct rr_programs *rr_programs_new(const struct rr_programs_config *config)
{
	struct rr_programs *programs = rr_calloc(1, sizeof(*programs));

	programs->config = *config;
	programs->kept.most = RR_KEPT_MAX;
	make_tables(programs);
	return programs;
}

static void release_own(struct rr_programs *programs)
{
	for (size_t i = 0; i < RR_PROGRAMS_MAX; i++)
		rr_renaming_release(&programs->own[i]);
}

void rr_programs_free(struct rr_programs *programs)
{
	if (!programs)
		return;
	release_tables(programs);
	release_own(programs);
	rr_intern_release(&programs->endings);
	rr_tokens_release(&programs->tokens);
	free(programs);
}

static uint32_t heard_as_self(void *context, int client, uint32_t reply)
{
	struct rr_programs *programs = context;

	return rr_rename_reply(&programs->own[client], terms_of(programs), reply);
}

static uint32_t sent_as_own(void *context, int client, uint32_t command)
{
	struct rr_programs *programs = context;

	return rr_rename_command(&programs->own[client], terms_of(programs), command);
}

void rr_programs_init(struct rr_programs *programs, struct rr_program *program)
{
	program->context = programs;
	program->run_ops = &run_ops;
	program->tables = programs->tables;
	program->heard_as_self = heard_as_self;
	program->sent_as_own = sent_as_own;
	programs->program = *program;
	programs->program.n_clients = programs->config.n_clients;
	programs->instances = programs->config.instances;
	programs->instances.program = program;
	programs->instances.times = &programs->figures.times;
	programs->instances.endings = &programs->endings;
}

/* ---- Between searches ---------------------------------------------------------------------- */

/* The table's values and the client's own, exchanged: to the first client its own are
 * the table's. */
static void make_own_values(struct rr_programs *programs, size_t client)
{
	const struct rr_random_values *values = &programs->line_of[client]->values;
	struct rr_renaming *own = &programs->own[client];

	for (size_t i = 0; i < values->n && client > 0; i++) {
		char *value = rr_token_of_client(values->names[i], client);

		rr_renaming_add_texts(own, values->names[i], value);
		rr_renaming_add_texts(own, value, values->names[i]);
		free(value);
	}
}

void rr_programs_begin_search(struct rr_programs *programs)
{
	release_own(programs);
	if (programs->wants_own_tables) {
		release_tables(programs);
		programs->has_own_tables = true;
		programs->figures.outputs_vary = false;
		memset(programs->is_verified, 0, sizeof(programs->is_verified));
		make_tables(programs);
		programs->problem.kind = RR_ERROR_NONE;
	}
	programs->wants_own_tables = programs->has_new_values = false;
	for (size_t i = 0; i < programs->config.n_clients && !programs->has_own_tables; i++)
		make_own_values(programs, i);
}

void rr_programs_set_live(struct rr_programs *programs, bool is_live)
{
	programs->instances.process.until_ns = is_live ?
						       0 :
						       programs->config.instances.process.until_ns;
	if (programs->problem.kind == RR_ERROR_INTERRUPTED)
		programs->problem.kind = RR_ERROR_NONE;
}

/* ---- Verifying -------------------------------------------------------------------------- */

/* Whatever a client was seen to do last, after the longest history. */
static bool run_longest(struct command_line *line, int client)
{
	const struct rr_client_end end = rr_client_table_longest(&line->table);

	return end.to == RR_NO_ID ||
	       rr_client_table_run_again(&line->table, client, end.from, end.row);
}

static bool verify_names_of_clients(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		struct command_line *line = programs->line_of[i];
		const struct rr_client_end end = rr_client_table_longest(&line->table);

		if (programs->is_verified[i] || end.to == RR_NO_ID ||
		    (!programs->has_own_tables && !programs->config.compares_outputs &&
		     end.client == (int)i))
			continue;
		if (!run_longest(line, (int)i))
			return false;
		programs->is_verified[i] = true;
	}
	return true;
}

/* Whatever only one instance has sent may be random: another one tells. */
static bool verify_tokens(struct rr_programs *programs, struct command_line *line)
{
	struct rr_client_table *table = &line->table;

	for (uint32_t i = table->n_states; i-- > 0;) {
		const struct rr_run_view view = rr_client_state_view(&table->states[i]);

		if (rr_tokens_are_open(&programs->tokens, terms_of(programs), &view,
				       line->values.names, line->values.n) &&
		    !rr_client_table_run_again(table, rr_client_table_next_client(table), i, NULL))
			return false;
	}
	return true;
}

/* Are they random, or choices out of few? */
static bool verify_draws(struct command_line *line)
{
	for (int i = 0; i < RR_DRAWS_MIN && rr_random_values_are_few(&line->values); i++) {
		if (!run_longest(line, rr_client_table_next_client(&line->table)))
			return false;
	}
	return true;
}

bool rr_programs_verify(struct rr_programs *programs, bool *again, struct rr_error *error)
{
	bool good = !programs->problem.kind && verify_names_of_clients(programs);

	for (size_t i = 0; i < programs->n_lines && good; i++)
		good = verify_tokens(programs, &programs->lines[i]) &&
		       verify_draws(&programs->lines[i]);
	*again = programs->wants_own_tables || (good && programs->has_new_values);
	if (good || *again)
		return true;
	*error = programs->problem;
	for (size_t i = 0; i < programs->n_lines && !error->kind; i++)
		*error = programs->lines[i].table.error;
	return false;
}

/* ---- Figures ------------------------------------------------------------------------------ */

struct rr_programs_figures rr_programs_figures(const struct rr_programs *programs)
{
	return programs->figures;
}

struct rr_ending rr_programs_ending(const struct rr_programs *programs, long ending)
{
	return rr_ending_of(&programs->endings, (uint32_t)ending);
}

bool rr_programs_last_ending(const struct rr_programs *programs, size_t client,
			     struct rr_ending *ending)
{
	const struct rr_client_table *table = programs->tables[client];
	const struct rr_client_end end = rr_client_table_longest(table);

	if (end.to != RR_NO_ID)
		*ending = rr_programs_ending(programs, table->states[end.to].tally.ending);
	return end.to != RR_NO_ID;
}
