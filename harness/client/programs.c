/* SPDX-License-Identifier: MIT */
/* Processes as clients of a search: their tables, and what is known of them. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/reply.h"
#include "program_run.h"

enum {
	WRONG_NAMES = 4,               /* values that were taken for random and are not */
	NAMINGS = 4,                   /* searches that begin again because more values are known */
	KEPT_MIN = 24,                 /* runs that are kept, however little memory there is */
	KEPT_SIZE = 256 * 1024 * 1024, /* of memory for each beyond that */
};

/* ---- Making and freeing --------------------------------------------------------------------- */

static void make_tables(struct rr_programs *programs)
{
	programs->pids = programs->config.pids ? *programs->config.pids : RR_PIDS_OF_KERNEL;
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		const char *const *argv = programs->config.argv[i];
		size_t at = 0;

		while (at < programs->n_lines &&
		       (programs->has_own_tables || programs->lines[at].argv != argv))
			at++;
		if (at == programs->n_lines)
			programs->lines[programs->n_lines++] =
				(struct command_line){ .argv = argv };
		programs->lines[at].clients |= 1U << i;
		programs->line_of[i] = &programs->lines[at];
		programs->tables[i] = &programs->lines[at].table;
	}
	for (size_t i = 0; i < programs->n_lines; i++) {
		struct command_line *line = &programs->lines[i];

		rr_client_table_init(&line->table, &programs->program, line->clients,
				     &programs->kept);
		line->table.is_of_first = rr_programs_share(programs, line) &&
					  programs->drawing & line->clients;
		line->table.learning.n_played = programs->config.n_audits / programs->n_lines;
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
		for (size_t j = 0; j < RR_RUN_CLIENTS; j++) {
			for (size_t k = 0; k < RR_NAMES_MAX; k++)
				free((char *)programs->lines[i].drawn[j][k].text);
		}
		rr_random_values_release(&programs->lines[i].values);
	}
	programs->n_lines = 0;
}

struct rr_programs *rr_programs_new(const struct rr_programs_config *config)
{
	struct rr_programs *programs = rr_calloc(1, sizeof(*programs));
	const size_t n_room = rr_memory_available() / KEPT_SIZE;

	programs->config = *config;
	programs->time_has_passed = true; /* as far as is known */
	rr_endings_allow(&programs->endings, config->allowed, config->n_allowed);
	programs->kept.most = n_room < KEPT_MIN    ? KEPT_MIN :
			      n_room > RR_KEPT_MAX ? RR_KEPT_MAX :
						     n_room;
	rr_ahead_init(&programs->ahead, &programs->config, &programs->instances, n_room);
	make_tables(programs);
	return programs;
}

static void release_own(struct rr_programs *programs)
{
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++)
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
	free(programs);
}

/* Nothing is known of programs any more. */
static void make_tables_anew(struct rr_programs *programs)
{
	release_tables(programs);
	rr_tokens_release(&programs->tokens);
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
	const size_t number = programs->config.requests.places[request].lane;
	struct rr_request_end end = rr_answers_judge(
		&programs->endings, rr_answers_get(&programs->endings, ending, number),
		programs->config.instances.refused);

	if (!end.is_good && end.ending >= 0 && rr_answers_miss_app(&programs->endings, ending))
		end.is_good = end.has_failed = true;
	return end;
}

static void init_program(void *context, struct rr_program *program)
{
	struct rr_programs *programs = context;
	program->requests = programs->config.requests;
	program->request_end = request_end;
	program->context = programs;
	program->run_ops = &rr_program_run_ops;
	program->ends_alike = rr_program_run_ends_alike;
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

/* ---- Values that are nowhere any more ---------------------------------------------------- */

/*
 * A client that draws a new value for each attempt never does the same twice. But a value that is on
 * no server, with no other client and not on its way is the client's alone: to call it something
 * else, and the next one by its name, changes nothing that anybody can see. So values get names in
 * terms where histories have no end; where they are is an input of a client from then on (rr_input),
 * and instances rename them.
 */

/* Is that first sent behind the first of the rounds to which there is no end? */
static bool is_of_later_round(const struct rr_terms *terms, const struct rr_client_table *table,
			      struct rdl_word text)
{
	const struct rr_client_state *states = table->states;
	uint32_t at = table->learning.endless;
	bool is_sent = false;

	for (; at != table->learning.first_round && !is_sent; at = states[at].parent)
		is_sent = rr_sent_has_text(terms, states[at].sent, states[at].n_sent, text);
	for (at = table->learning.first_round; at != RR_NO_ID && is_sent; at = states[at].parent)
		is_sent = !rr_sent_has_text(terms, states[at].sent, states[at].n_sent, text);
	return is_sent;
}

/* How many random values does it draw, which no time of day is? *in_rounds: some in each round. */
static size_t count_drawn(const struct rr_programs *programs, const struct command_line *line,
			  bool *in_rounds)
{
	const struct rr_random_values *values = &line->values;
	size_t n = 0;

	*in_rounds = false;
	for (size_t i = 0; i < values->n; i++) {
		if (rr_is_time(values->names[i], programs->config.instances.process.start_ns))
			continue;
		n++;
		*in_rounds = *in_rounds || is_of_later_round(rr_programs_terms(programs),
							     &line->table, values->names[i]);
	}
	return n;
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
	/* Another run of the history without an end shows which of its values are random. */
	if (line->n_namings < NAMINGS && !programs->keeps_names)
		rr_programs_run_otherwise(programs, line, learning->endless, NULL);
	n_drawn = count_drawn(programs, line, &draws);
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

/* Before a search. True: there are more such names than before. */
static bool name_values(struct rr_programs *programs)
{
	const int64_t start_ns = programs->config.instances.process.start_ns;
	struct rr_terms *terms = rr_programs_terms(programs);
	bool reuses = false;

	for (size_t i = 0; i < programs->n_lines; i++)
		reuses |= reuses_names(programs, &programs->lines[i]);
	if (!reuses)
		return false;
	/* A client's values, by generations of its names, of which there are few. With control a value
	 * is the same text wherever it is. */
	for (size_t client = 0; client < programs->config.n_clients; client++) {
		const struct command_line *line = programs->line_of[client];
		const struct rr_random_values *values = &line->values;

		for (size_t i = 0; i < values->n && !rr_programs_control(programs, line); i++) {
			const struct rdl_word name = values->names[i];
			const struct rdl_word own = programs->has_own_tables || client == 0 ?
							    name :
							    rr_token_of_client(name, client,
									       start_ns);

			rr_terms_add_name(terms, own, (int)client, (int)(i % RR_GENERATIONS));
			if (own.text != name.text)
				free((char *)own.text);
		}
	}
	rr_terms_see_names(terms);
	for (size_t i = 0; i < programs->n_lines; i++)
		rr_client_table_see_names(&programs->lines[i].table);
	return true;
}

/* Does a client draw values in each of the rounds to which there is no end? Then it draws other values
 * at each start, by which those are found that may have one name. */
static bool frees_draws(struct rr_programs *programs)
{
	bool frees = false;

	for (size_t i = 0; i < programs->n_lines && !programs->problem.kind; i++) {
		struct command_line *line = &programs->lines[i];
		const struct rr_learning *learning = &line->table.learning;
		bool draws;

		if (!rr_programs_control(programs, line) ||
		    (!learning->reuses_names && !learning->is_bounded))
			continue;
		rr_programs_run_otherwise(programs, line, learning->endless, NULL);
		count_drawn(programs, line, &draws);
		for (size_t j = 0; j < programs->config.n_clients && draws; j++) {
			if (programs->config.argv[j] == line->argv)
				rr_ahead_set_free(&programs->ahead, j);
		}
		frees |= draws;
	}
	return frees;
}

/* ---- Between searches ---------------------------------------------------------------------- */

/* The table's values and the client's own, exchanged: to the first client its own are
 * the table's. What nobody controls is some other text. */
static void make_own_values(struct rr_programs *programs, size_t client)
{
	const struct command_line *line = programs->line_of[client];
	const struct rr_random_values *values = &line->values;
	struct rr_renaming *own = &programs->own[client];
	const int64_t start_ns = programs->config.instances.process.start_ns;

	for (size_t i = 0; i < values->n && client > 0; i++) {
		const struct rdl_word name = values->names[i];
		const bool is_shared = rr_programs_share(programs, line) &&
				       !(values->varying >> i & 1);
		const struct rdl_word value = is_shared ?
						      line->drawn[client][i] :
						      rr_token_of_client(name, client, start_ns);

		if (value.text && !rr_words_are_same(name, value)) {
			rr_renaming_add(own, name, value);
			rr_renaming_add(own, value, name);
		}
		if (!is_shared)
			free((char *)value.text);
	}
}

void rr_programs_pair_values(struct rr_programs *programs, size_t client, const struct rdl_reply *a,
			     const struct rdl_reply *b, struct rr_renaming *renaming)
{
	struct command_line *line = programs->line_of[client];
	struct rdl_word names[RR_NAMES_MAX];

	for (size_t i = 0; i < line->values.n; i++)
		names[i] = rr_renaming_of(&programs->own[client], line->values.names[i]);
	rr_random_values_see_histories(&line->values, rr_programs_terms(programs), &line->table);
	rr_random_values_pair(&line->values, names, a, b, renaming);
}

void rr_programs_name_uncontrolled(const struct rr_programs *programs, size_t client,
				   struct rr_renaming *renaming)
{
	const struct command_line *line = programs->line_of[client];
	const bool is_controlled = rr_programs_control(programs, line);

	for (size_t i = 0; i < line->values.n; i++) {
		const struct rdl_word value = rr_renaming_of(&programs->own[client],
							     line->values.names[i]);
		char name[RR_CLIENT_NAME + 24];

		if (is_controlled && !(line->values.varying >> i & 1))
			continue;
		snprintf(name, sizeof(name), "<%s%zu>", programs->config.names[client], i + 1);
		rr_renaming_add(renaming, value, (struct rdl_word){ name, strlen(name) });
	}
}

void rr_programs_set_unfinished(struct rr_programs *programs, bool are_unfinished)
{
	for (size_t i = 0; i < programs->n_lines; i++)
		programs->lines[i].values.are_unfinished = are_unfinished;
}

/* Has a program received what it would not, were the scripts that servers know their state, or the
 * other way round? */
static bool depend_on_scripts(const struct rr_programs *programs)
{
	const struct rr_terms *terms = rr_programs_terms(programs);
	uint32_t i = 0;

	while (i < terms->n_commands && !rr_request_is_about_scripts(&terms->command[i].words))
		i++;
	return i < terms->n_commands;
}

/* True: more random values are names of terms (term/term.h), and what is known of servers does not
 * say where they are. */
static bool begin_search(void *context, unsigned withdrawn)
{
	struct rr_programs *programs = context;
	const unsigned begin_anew = 1U << RR_BELIEF_SHARED | 1U << RR_BELIEF_NONE_DRAWS |
				    1U << RR_BELIEF_RANDOM;
	const bool loads_scripts = programs->instances.program->loads_scripts;
	const bool hears_otherwise = programs->program.loads_scripts != loads_scripts &&
				     depend_on_scripts(programs);
	bool has_names;

	release_own(programs);
	forget_ended(programs);
	programs->program.loads_scripts = loads_scripts;
	/* Clients that did different things may have done so for their process ids only. */
	if (rr_programs_see_other_pids(programs)) {
		rr_ahead_release(&programs->ahead);
		programs->has_own_tables = false;
		withdrawn &= ~(1U << RR_BELIEF_SHARED);
	}
	if (withdrawn & begin_anew || rr_programs_see_other_pids(programs) || hears_otherwise ||
	    frees_draws(programs)) {
		programs->has_own_tables |= withdrawn >> RR_BELIEF_SHARED & 1;
		programs->keeps_names |= withdrawn >> RR_BELIEF_RANDOM & 1 &&
					 ++programs->n_wrong_names == WRONG_NAMES;
		make_tables_anew(programs);
	}
	if (withdrawn & RR_BELIEFS_OF_TABLE)
		programs->problem.kind = RR_ERROR_NONE;
	for (size_t i = 0; i < programs->n_lines; i++)
		rr_learning_begin(&programs->lines[i].table);
	has_names = name_values(programs);
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
	make_tables_anew(programs);
	return true;
}

void rr_programs_set_live(struct rr_programs *programs, enum rr_play play)
{
	const bool is_live = play != RR_PLAY_NOTHING;

	programs->plays_order = play == RR_PLAY_ORDER;
	programs->shows_finding = play == RR_PLAY_FINDING || play == RR_PLAY_ORDER;
	if (programs->shows_finding)
		rr_ahead_expect(&programs->ahead,
				play == RR_PLAY_ORDER ? 0 : (1U << programs->config.n_clients) - 1);
	else if (!is_live)
		rr_ahead_expect_any(&programs->ahead);
	programs->instances.process.until_ns = is_live ?
						       0 :
						       programs->config.instances.process.until_ns;
	if (programs->problem.kind == RR_ERROR_INTERRUPTED)
		programs->problem.kind = RR_ERROR_NONE;
}

struct rr_explored_programs rr_programs_explored(struct rr_programs *programs)
{
	static const struct rr_explored_ops ops = {
		.init = init_program,
		.begin_search = begin_search,
		.verify = rr_programs_verify,
		.end_alike = rr_programs_end_alike,
		.own_ending = rr_programs_own_ending,
	};

	return (struct rr_explored_programs){ programs ? &ops : NULL, programs, programs };
}

/* ---- Figures ------------------------------------------------------------------------------ */

struct rr_programs_figures rr_programs_figures(const struct rr_programs *programs)
{
	const int64_t start_ns = programs->config.instances.process.start_ns;
	struct rr_programs_figures figures = programs->figures;

	figures.unused = programs->ahead.n_unused;
	figures.n_seeds = 1;
	figures.holds_day = programs->instances.process.holds_day;
	for (size_t i = 0; i < programs->n_lines; i++) {
		const struct rr_client_table *table = &programs->lines[i].table;
		const struct rr_random_values *values = &programs->lines[i].values;
		const unsigned n_seeds = 1 + (unsigned)programs->lines[i].n_seeds;

		figures.is_uncontrolled |= !rr_programs_control(programs, &programs->lines[i]);
		/* Runs with one seed differ in a value, which is no time of day. */
		for (size_t j = 0; j < values->n; j++)
			figures.is_uncontrolled |= values->varying >> j & 1 &&
						   !rr_is_time(values->names[j], start_ns);
		figures.n_seeds = n_seeds > figures.n_seeds ? n_seeds : figures.n_seeds;
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

size_t rr_programs_other_seeds(const struct rr_programs *programs, uint64_t seeds[RR_SEEDS - 1])
{
	memcpy(seeds, programs->left_with, sizeof(programs->left_with));
	return programs->n_left_with;
}

/* Has any of them sent a command that is a step; or on several connections at once? */
static bool have_sent(const struct rr_programs *programs, bool on_several)
{
	bool have = false;

	for (size_t i = 0; i < programs->n_lines; i++) {
		const struct rr_client_table *table = &programs->lines[i].table;

		for (uint32_t j = 0; j < table->n_states; j++) {
			const struct rr_client_state *state = &table->states[j];

			for (uint32_t k = 0; k < state->n_sent; k++)
				have |= on_several ? state->sent[k].lane != state->sent[0].lane :
						     state->sent[k].kind == RR_SENT_COMMAND;
		}
	}
	return have;
}

bool rr_programs_send(const struct rr_programs *programs)
{
	return have_sent(programs, false);
}

bool rr_programs_use_connections(const struct rr_programs *programs)
{
	return have_sent(programs, true);
}
