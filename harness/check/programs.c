/* SPDX-License-Identifier: MIT */
/* Processes as clients of a search: their tables, and what is known of them. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "program_run.h"
#include "requests.h"

enum {
	WRONG_NAMES = 4,               /* values that were taken for random and are not */
	KEPT_MIN = 24,                 /* runs that are kept, however little memory there is */
	KEPT_SIZE = 256 * 1024 * 1024, /* of memory for each beyond that */
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
	for (size_t i = 0; i < programs->n_lines; i++) {
		rr_client_table_init(&programs->lines[i].table, &programs->program,
				     programs->lines[i].clients, &programs->kept);
		programs->lines[i].table.learning.n_played = programs->config.n_audits /
							     programs->n_lines;
	}
}

static void forget_ended(struct rr_programs *programs)
{
	rr_intern_release(&programs->ended);
	free(programs->unwaited);
	programs->unwaited = NULL;
	rr_endings_forget_serial(&programs->endings);
	rr_waiting_release(&programs->waiting);
}

static void release_tables(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->n_lines; i++) {
		rr_client_table_release(&programs->lines[i].table);
		rr_random_values_release(&programs->lines[i].values);
	}
	programs->n_lines = 0;
}

static size_t most_kept(size_t n)
{
	return n < KEPT_MIN ? KEPT_MIN : n > RR_KEPT_MAX ? RR_KEPT_MAX : n;
}

struct rr_programs *rr_programs_new(const struct rr_programs_config *config)
{
	struct rr_programs *programs = rr_calloc(1, sizeof(*programs));
	const size_t n_room = rr_memory_available() / KEPT_SIZE;

	programs->config = *config;
	programs->time_has_passed = true; /* as far as is known */
	rr_endings_allow(&programs->endings, config->allowed, config->n_allowed);
	programs->kept.most = most_kept(n_room);
	rr_kept_init(&programs->kept_file);
	rr_ahead_init(&programs->ahead, &programs->config, &programs->instances, n_room);
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
	rr_ahead_release(&programs->ahead);
	release_tables(programs);
	release_own(programs);
	rr_endings_release(&programs->endings);
	forget_ended(programs);
	rr_tokens_release(&programs->tokens);
	rr_kept_release(&programs->kept_file);
	free(programs);
}

void rr_programs_make_tables_anew(struct rr_programs *programs)
{
	release_tables(programs);
	memset(programs->is_verified, 0, sizeof(programs->is_verified));
	make_tables(programs);
	programs->problem.kind = RR_ERROR_NONE;
}

static uint32_t heard_as_self(void *context, int client, uint32_t reply)
{
	struct rr_programs *programs = context;

	return rr_rename_reply(&programs->own[client], rr_programs_terms(programs), reply);
}

static uint32_t sent_as_own(void *context, int client, uint32_t command)
{
	struct rr_programs *programs = context;

	return rr_rename_command(&programs->own[client], rr_programs_terms(programs), command);
}

static struct rr_request_end request_end(void *context, long ending, size_t request)
{
	struct rr_programs *programs = context;
	const size_t number = programs->config.places[request].lane;
	struct rr_request_end end = rr_answers_judge(
		&programs->endings, rr_answers_get(&programs->endings, ending, number),
		programs->config.instances.refused);

	if (!end.is_good && end.ending >= 0 && rr_answers_miss_app(&programs->endings, ending))
		end.is_good = end.has_failed = true;
	return end;
}

/* What is answered at once is kept, too. */
static uint32_t ask_noted(void *context, int server, const struct rl_command *command)
{
	struct rr_programs *programs = context;
	const uint32_t id = rr_terms_command(rr_programs_terms(programs), command);

	rr_intern_put(&programs->kept_file.asked, &id, sizeof(id), NULL);
	return programs->ask(programs->ask_context, server, command);
}

void rr_programs_init(struct rr_programs *programs, struct rr_program *program)
{
	program->n_requests = programs->config.n_requests;
	program->places = programs->config.places;
	program->again = programs->config.again;
	program->unanswered = programs->config.unanswered;
	program->request_end = request_end;
	program->context = programs;
	program->run_ops = &rr_program_run_ops;
	program->tables = programs->tables;
	program->heard_as_self = heard_as_self;
	program->sent_as_own = sent_as_own;
	programs->ask = program->ask;
	programs->ask_context = program->ask_context;
	program->ask = ask_noted;
	program->ask_context = programs;
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
	const int64_t start_ns = programs->config.instances.process.start_ns;

	for (size_t i = 0; i < values->n && client > 0; i++) {
		const struct rl_word name = values->names[i];
		const struct rl_word value = rr_token_of_client(name, client, start_ns);

		rr_renaming_add(own, name, value);
		rr_renaming_add(own, value, name);
		free((char *)value.text);
	}
}

void rr_programs_pair_values(struct rr_programs *programs, size_t client, const struct rl_reply *a,
			     const struct rl_reply *b, struct rr_renaming *renaming)
{
	struct command_line *line = programs->line_of[client];
	const struct rr_renaming *own = &programs->own[client];
	struct rl_word names[RR_NAMES_MAX];
	size_t n = line->values.n;

	memcpy(names, line->values.names, sizeof(names));
	for (size_t i = 0; own->n > 0 && i < n; i++) {
		if (2 * i == own->n)
			n = i;
		else
			names[i] = (struct rl_word){ own->pairs[2 * i].to, own->pairs[2 * i].n_to };
	}
	rr_random_values_see_histories(&line->values, rr_programs_terms(programs), &line->table);
	rr_random_values_pair(&line->values, names, n, a, b, renaming);
}

void rr_programs_set_unfinished(struct rr_programs *programs, bool are_unfinished)
{
	for (size_t i = 0; i < programs->n_lines; i++)
		programs->lines[i].values.are_unfinished = are_unfinished;
}

bool rr_programs_depend_on_scripts(const struct rr_programs *programs)
{
	const struct rr_terms *terms = rr_programs_terms(programs);
	uint32_t i = 0;

	while (i < terms->n_commands && !rr_request_is_about_scripts(&terms->command[i].words))
		i++;
	return i < terms->n_commands;
}

bool rr_programs_begin_search(struct rr_programs *programs)
{
	const bool loads_scripts = programs->instances.program->loads_scripts;
	const bool hears_otherwise = programs->program.loads_scripts != loads_scripts &&
				     rr_programs_depend_on_scripts(programs);
	bool has_names;

	release_own(programs);
	forget_ended(programs);
	programs->program.loads_scripts = loads_scripts;
	if (programs->wants_own_tables || programs->has_wrong_names ||
	    programs->kept_file.wants_anew || hears_otherwise) {
		programs->has_own_tables |= programs->wants_own_tables;
		programs->keeps_names |= programs->has_wrong_names &&
					 ++programs->n_wrong_names == WRONG_NAMES;
		rr_kept_give_up(programs);
		rr_programs_make_tables_anew(programs);
	}
	rr_kept_load(programs);
	programs->wants_own_tables = programs->has_wrong_names = false;
	for (size_t i = 0; i < programs->n_lines; i++) {
		if (programs->lines[i].table.learning.has_changed)
			programs->problem.kind = RR_ERROR_NONE;
		rr_learning_begin(&programs->lines[i].table);
	}
	has_names = rr_programs_name_values(programs);
	programs->has_new_values = false;
	for (size_t i = 0; i < programs->config.n_clients && !programs->has_own_tables; i++)
		make_own_values(programs, i);
	return has_names;
}

bool rr_programs_hold_day(struct rr_programs *programs)
{
	bool *holds = &programs->config.instances.process.holds_day;

	if (*holds || !programs->figures.reads_day || programs->figures.has_own_clock)
		return false;
	programs->learned = rr_programs_figures(programs).learning;
	*holds = programs->instances.process.holds_day = true;
	rr_ahead_release(&programs->ahead);
	rr_kept_give_up(programs);
	rr_programs_make_tables_anew(programs);
	return true;
}

void rr_programs_take_back(struct rr_programs *programs)
{
	programs->is_taken_back = true;
}

bool rr_programs_is_settled(struct rr_programs *programs)
{
	return rr_kept_is_settled(programs);
}

void rr_programs_finish(struct rr_programs *programs, bool is_settled)
{
	rr_kept_save(programs, is_settled);
}

void rr_programs_set_live(struct rr_programs *programs, enum rr_play play)
{
	const bool is_live = play != RR_PLAY_NOTHING;

	programs->plays_order = play == RR_PLAY_ORDER;
	if (play == RR_PLAY_FINDING || play == RR_PLAY_ORDER)
		rr_ahead_expect(&programs->ahead,
				play == RR_PLAY_ORDER ? 0 : rr_programs_all(programs));
	else if (!is_live)
		rr_ahead_expect_any(&programs->ahead);
	programs->instances.process.until_ns = is_live ?
						       0 :
						       programs->config.instances.process.until_ns;
	if (programs->problem.kind == RR_ERROR_INTERRUPTED)
		programs->problem.kind = RR_ERROR_NONE;
}

/* ---- Figures ------------------------------------------------------------------------------ */

struct rr_programs_figures rr_programs_figures(const struct rr_programs *programs)
{
	struct rr_programs_figures figures = programs->figures;

	const struct rr_kept *kept = &programs->kept_file;

	figures.unused = programs->ahead.n_unused;
	figures.holds_day = programs->instances.process.holds_day;
	figures.kept = (struct rr_kept_figures){ kept->is_loaded, kept->n_states, kept->n_again,
						 kept->why, kept->remark };
	for (size_t i = 0; i < programs->n_lines; i++) {
		const struct rr_client_table *table = &programs->lines[i].table;

		figures.learning.states += rr_client_table_count_states(table);
		figures.learning.merges += table->learning.merges;
		figures.learning.tests += table->learning.tests;
		figures.learning.refinements += table->learning.refinements;
		figures.learning.loops += table->learning.loops;
		figures.learning.walks += table->learning.walks;
		figures.learning.untested += table->learning.untested;
		if (rr_learning_left(table))
			figures.learning.left = figures.learning.left ?
							figures.learning.left &
								rr_learning_left(table) :
							rr_learning_left(table);
		figures.learning.has_pairs |= table->learning.has_pairs;
		figures.learning.lacks_pairs |= table->learning.lacks_pairs;
	}
	if (programs->is_taken_back)
		figures.learning = programs->learned;
	return figures;
}

static bool sends(const struct rr_client_state *state)
{
	bool does = false;

	for (uint32_t i = 0; i < state->n_sent; i++)
		does |= state->sent[i].kind == RR_SENT_COMMAND;
	return does;
}

static bool uses_connections(const struct rr_client_state *state)
{
	bool does = false;

	for (uint32_t i = 1; i < state->n_sent; i++)
		does |= state->sent[i].lane != state->sent[0].lane;
	return does;
}

static bool has_state(const struct rr_programs *programs,
		      bool (*is_it)(const struct rr_client_state *state))
{
	bool has = false;

	for (size_t i = 0; i < programs->n_lines; i++) {
		const struct rr_client_table *table = &programs->lines[i].table;

		for (uint32_t j = 0; j < table->n_states; j++)
			has |= is_it(&table->states[j]);
	}
	return has;
}

bool rr_programs_send(const struct rr_programs *programs)
{
	return has_state(programs, sends);
}

bool rr_programs_use_connections(const struct rr_programs *programs)
{
	return has_state(programs, uses_connections);
}
