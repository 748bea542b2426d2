/* SPDX-License-Identifier: MIT */
/* Runs of programs: started, fed, and compared with what was seen of others. */
#include "program_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/processes.h"
#include "base/reply.h"

/* Of what a program does, shown beside what another run did. */
enum {
	SHOWN = 150,
	CONTEXT = 30,
	RENAMED_MAX = 256 /* values in what is waited for at once: beyond that they contain each
			   * other, and each round makes a text longer */
};

/* A process. One that runs beside other clients, and not for the tables, must do what its
 * table says, and is seen to do it with the client's own random values. */
struct run {
	struct rr_programs *programs;
	struct command_line *line;
	struct rr_instance *instance; /* NULL: it could not be started */
	uint32_t number;              /* of those that were started before it */
	uint64_t counted;             /* see rr_random_values_count() */
	uint64_t seed;                /* of its random values; 0 = one that nobody knows */
	bool is_other;                /* another one than that of all */
	bool has_left;                /* and with that it does something else */
	uint8_t gone;                 /* of its random values, see rr_input */
	uint32_t *sent;               /* commands, so far */
	size_t n_sent;
	int64_t unread_ns; /* that have passed since it read its clock */
	struct rr_run_view view;
	struct rr_client_view client; /* without a table: it runs for that */
	uint32_t state;               /* in the table */
	struct rr_rounds_run loop;    /* that it goes round in */
	struct rr_inputs received;    /* since it began */
	uint32_t history;             /* that is all of it; RR_NO_ID: the table has none */
	bool is_fact;                 /* it has no instance, because the client was seen there */
	struct rr_run_view own;
};

/* ---- Differences ------------------------------------------------------------------- */

/* How it has ended, as of wait(2); -1 = it has not. */
static int status_of(const struct rr_programs *programs, const struct rr_run_view *view)
{
	return view->stops[0].kind == RR_STOP_ENDED ?
		       rr_programs_ending(programs, view->tally.ending).status :
		       -1;
}

/* What a program does, in words; malloc'd. */
static char *describe_view(const struct rr_programs *programs, const struct rr_run_view *view)
{
	const int status = status_of(programs, view);

	return status < 0 ? rr_run_view_text(rr_programs_terms(programs), view, 3) :
			    rr_asprintf("ended with status %d", WEXITSTATUS(status));
}

/* Leaves out what two texts have in common, but for a little before they differ. */
static const char *from_difference(const char *text, const char *other)
{
	size_t n = 0;

	while (text[n] && text[n] == other[n])
		n++;
	return n > 2 * CONTEXT ? text + n - CONTEXT : text;
}

static void fail_differing_run(const struct run *run, const struct rr_run_view *known, int client)
{
	struct rr_programs *programs = run->programs;
	const size_t self = rr_instance_client(run->instance);
	const int ends[2] = { status_of(programs, known), status_of(programs, &run->view) };
	char *texts[2];
	const char *before, *now;

	if (self != (size_t)client && !programs->has_own_tables) {
		rr_programs_withdraw(programs, RR_BELIEF_SHARED);
		return;
	}
	for (int i = 0; i < 2; i++) {
		char end[RR_PROCESS_END_SIZE];

		if (ends[i] < 0 || !WIFSIGNALED(ends[i]) || ends[i] == ends[1 - i])
			continue;
		rr_error_set(
			&programs->problem, RR_ERROR_DATA,
			"client %s %s in one run, and not in another one with the same replies: find out what kills it (the kernel, if memory is short?), and check again",
			programs->config.names[self], rr_process_end(ends[i], end));
		return;
	}
	if (run->line->values.n == RR_NAMES_MAX) {
		rr_error_set(
			&programs->problem, RR_ERROR_DATA,
			"client %s draws more random values than %d, which are too many to distinguish: let it draw fewer",
			programs->config.names[self], RR_NAMES_MAX);
		return;
	}
	texts[0] = describe_view(programs, known);
	texts[1] = describe_view(programs, &run->view);
	before = from_difference(texts[0], texts[1]);
	now = from_difference(texts[1], texts[0]);
	rr_error_set(
		&programs->problem, RR_ERROR_DATA,
		"the program is not deterministic: with the same replies, client %s did '%s%.*s' once and '%s%.*s' another time: seed what it draws, and leave out what it takes from outside Redis",
		programs->config.names[self], before > texts[0] ? "..." : "", SHOWN, before,
		now > texts[1] ? "..." : "", SHOWN, now);
	free(texts[0]);
	free(texts[1]);
}

/* What a run beside other clients does is not what its table says: was only the hypothesis
 * wrong which histories are the same? Then the search has to begin again. */
static bool refutes_table(const struct run *run)
{
	if (!run->client.table ||
	    !rr_learning_refute(run->client.table, &run->received, &run->view))
		return false;
	rr_programs_withdraw(run->programs, RR_BELIEF_TABLES);
	return true;
}

bool rr_program_run_ends_alike(void *context, long a, long b)
{
	struct rr_programs *programs = context;
	const size_t n_requests = programs->config.requests.n;

	if (n_requests)
		return rr_answers_are_same(&programs->endings, n_requests, a, b);
	return !programs->config.compares_outputs ||
	       rr_endings_are_same(&programs->endings, (uint32_t)a, (uint32_t)b);
}

/* Two runs of a client with one seed differ, or the program has named a file by a process id that is
 * the same in several runs. False, and the search has to begin again: programs see other process ids
 * from now on. */
static bool may_keep_pids(const struct run *run, bool differ)
{
	enum rr_pids *pids = run->programs->config.pids;
	enum rr_pids other = pids ? *pids : RR_PIDS_OF_KERNEL;

	if (!pids || !run->instance || run->is_other)
		return true;
	if (differ && other == RR_PIDS_OF_KERNEL && rr_programs_control(run->programs, run->line) &&
	    rr_instance_asks_pids(run->instance))
		other = RR_PIDS_FIXED;
	if (rr_instance_names_pid_file(run->instance))
		other = RR_PIDS_NAME_FILES;
	if (other == *pids)
		return true;
	*pids = other;
	rr_programs_withdraw(run->programs, RR_BELIEF_PIDS);
	return false;
}

/* Both have ended, and do the same: have they printed the same, too? */
static void compare_outputs(struct run *run, const struct rr_run_view *known, int client)
{
	struct rr_programs *programs = run->programs;
	const uint32_t endings[] = { (uint32_t)known->tally.ending,
				     (uint32_t)run->view.tally.ending };

	if (run->view.stops[0].kind != RR_STOP_ENDED || !programs->config.compares_outputs ||
	    rr_program_run_ends_alike(programs, endings[0], endings[1]) || refutes_table(run))
		return;
	if (rr_instance_client(run->instance) != (size_t)client && !programs->has_own_tables) {
		memcpy(programs->unlike, endings, sizeof(endings));
		if (run->client.table)
			rr_programs_withdraw(programs, RR_BELIEF_SHARED);
		return;
	}
	if (!may_keep_pids(run, true))
		return;
	if (programs->config.requests.n)
		rr_answers_vary(&programs->endings, programs->config.requests.n, endings[0],
				endings[1]);
	else
		rr_endings_vary(&programs->endings, endings[0], endings[1]);
}

/* With its seed it has come to do something else: that is another search's, unless it is only one
 * more value than there are names for. */
static void leave(struct run *run)
{
	struct rr_programs *programs = run->programs;
	size_t i = 0;

	run->has_left = true;
	if (run->line->values.n == RR_NAMES_MAX)
		return;
	while (i < programs->n_left_with && programs->left_with[i] != run->seed)
		i++;
	if (i == programs->n_left_with && i < RR_SEEDS - 1)
		programs->left_with[programs->n_left_with++] = run->seed;
}

/* How much it has drawn, as far as that is known: Node's draws are not counted. */
static uint64_t place_of(const struct run *run)
{
	if (!rr_programs_control(run->programs, run->line))
		return 0;
	return rr_instance_has_uv(run->instance) ? run->n_sent + 1 :
						   rr_instance_drawn(run->instance) + 1;
}

/* A table in which clients draw has what the first of them draws. */
static void note_drawing(struct run *run)
{
	struct rr_programs *programs = run->programs;
	struct command_line *line = run->line;

	line->draws |= rr_instance_drawn(run->instance) > 0;
	line->table.is_of_first = line->draws && rr_programs_share(programs, line);
	if (line->table.is_of_first)
		programs->drawing |= line->clients;
}

/* Another run of the client has drawn these. */
static void exchange_drawn(struct run *run, size_t client)
{
	const struct command_line *line = run->line;

	for (size_t i = 0; i < line->values.n && !run->is_other; i++) {
		const struct rdl_word name = line->values.names[i], own = line->drawn[client][i];

		if (own.text && !rr_words_are_same(name, own) && !(line->values.varying >> i & 1))
			rr_instance_exchange(run->instance, name, own);
	}
}

/* It has not done what is known: by random values that are renamed? A client that draws the same at
 * each start has none, but for process ids and the like. Equal clients draw other values than the
 * one that the table is about. */
static bool rename_values(struct run *run, const struct rr_run_view *known, int client)
{
	struct rr_programs *programs = run->programs;
	const bool is_controlled = rr_programs_control(programs, run->line);
	const bool is_own = programs->has_own_tables ||
			    rr_instance_client(run->instance) == (size_t)client;
	const uint64_t varying = run->line->values.varying;
	bool is_wrong = false, is_renamed;

	if (is_own && !may_keep_pids(run, true))
		return false;
	if (is_own && !run->is_other && is_controlled && refutes_table(run))
		return false;
	is_renamed =
		rr_random_values_rename(&run->line->values, rr_programs_terms(programs),
					run->instance, known, &run->view, run->gone, place_of(run),
					run->is_other || !is_controlled ? RR_DRAWER_OTHER_SEED :
					is_own                          ? RR_DRAWER_SELF :
									  RR_DRAWER_OTHER_CLIENT,
					&is_wrong);
	if (is_wrong)
		rr_programs_withdraw(programs, RR_BELIEF_RANDOM);
	if (!is_renamed || (run->line->values.varying != varying && !may_keep_pids(run, true)))
		return false;
	if (!is_own && is_controlled && !run->is_other) {
		/* What has it drawn instead of the values of the table's client? */
		struct command_line *line = run->line;
		struct rdl_word *drawn = line->drawn[rr_instance_client(run->instance)];

		for (size_t i = 0; i < line->values.n; i++) {
			const struct rdl_word name = line->values.names[i];
			const struct rdl_word own = rr_instance_own(run->instance, name);

			if (drawn[i].text || own.text == name.text || line->values.varying >> i & 1)
				continue;
			drawn[i] = (struct rdl_word){ rr_memdup(own.text, own.length), own.length };
			rr_programs_withdraw(run->programs, RR_BELIEF_VALUES);
		}
	}
	return true;
}

/* Nobody was here before. */
static void reuse_names(struct run *run)
{
	struct rr_programs *programs = run->programs;

	if (rr_programs_control(programs, run->line))
		return;
	while (run->gone && run->instance &&
	       rr_random_values_reuse(&run->line->values, rr_programs_terms(programs),
				      &programs->tokens, run->instance, &run->view, run->sent,
				      run->n_sent, run->gone))
		run->view = rr_instance_view(run->instance);
	while (!programs->keeps_names && run->instance &&
	       rr_random_values_share(&run->line->values, rr_programs_terms(programs),
				      &programs->tokens, run->instance, &run->view, run->sent,
				      run->n_sent)) {
		run->view = rr_instance_view(run->instance);
		run->view.is_guessed = true;
	}
}

static void compare_run(void *context, const struct rr_run_view *known, int client)
{
	struct run *run = context;
	struct rr_programs *programs = run->programs;
	const struct rr_client_table *table = &run->line->table;
	struct rr_random_values *values = &run->line->values;
	struct rr_terms *terms = rr_programs_terms(programs);
	const size_t n_values = values->n;
	uint32_t sender = run->number;
	bool is_wrong = false, has_new = false;
	int n_renamed = 0;

	if (rr_programs_stand(programs) || run->has_left || !may_keep_pids(run, false))
		return;
	/* Nobody was here before: it must be the first of clients that draw. */
	if (!known && run->instance && table->is_of_first &&
	    (int)rr_instance_client(run->instance) != rr_client_table_first_client(table)) {
		rr_programs_withdraw(programs, RR_BELIEF_NONE_DRAWS);
		return;
	}
	if (!known)
		reuse_names(run);
	while (known && !rr_run_view_is_same(&run->view, known)) {
		const bool is_renamed = n_renamed++ < RENAMED_MAX &&
					rename_values(run, known, client);

		if (rr_programs_have_withdrawn(programs, RR_BELIEF_RANDOM))
			break;
		if (rr_programs_stand(programs))
			return;
		if (!is_renamed && run->is_other) {
			leave(run);
			return;
		}
		if (!is_renamed) {
			if (!refutes_table(run))
				fail_differing_run(run, known, client);
			return;
		}
		run->view = rr_instance_view(run->instance);
		has_new |= values->n > n_values;
	}
	if (run->instance)
		has_new |= rr_random_values_see_forgotten(values, terms, run->instance, &run->view,
							  &is_wrong);
	if (has_new)
		rr_programs_withdraw(programs, RR_BELIEF_VALUES);
	if (is_wrong)
		rr_programs_withdraw(programs, RR_BELIEF_RANDOM);
	/* Runs with one seed say nothing of what is random. */
	if (known && (run->is_other || !rr_programs_control(programs, run->line)))
		rr_random_values_count(values, terms, run->instance, known, &run->counted);
	/* All runs that draw from one stream are one sender, else each run is. */
	if (run->seed && run->instance && run->line->draws &&
	    rr_programs_control(programs, run->line))
		sender = UINT32_MAX -
			 (uint32_t)(run->seed * RR_RUN_CLIENTS + rr_instance_client(run->instance));
	rr_tokens_note(&programs->tokens, terms, &run->view, sender);
	for (uint32_t i = 0; i < run->view.n_sent; i++) {
		rr_array_grow(&run->sent, run->n_sent, sizeof(*run->sent));
		run->sent[run->n_sent++] = run->view.sent[i].command;
	}
	if (rr_programs_stand(programs))
		return;
	if (known && run->instance && !rr_slept_alike(known->slept_ns, run->view.slept_ns))
		programs->tables[rr_instance_client(run->instance)]->learning.sleeps_vary = true;
	if (known && !run->is_other)
		compare_outputs(run, known, client);
}

/* ---- Runs ------------------------------------------------------------------------------- */

/* `late_ns`: so much later it begins, as another run than that of before. */
static void start_instance(struct run *run, size_t client, int64_t late_ns)
{
	struct rr_programs *programs = run->programs;
	struct rr_starts *starts = programs->config.starts;

	if (rr_programs_stand(programs))
		return;
	if (starts && starts->most && starts->n >= starts->most && !programs->shows_finding) {
		starts->was_refused = true;
		rr_error_set(&programs->problem, RR_ERROR_INTERRUPTED, "out of starts");
		return;
	}
	if (starts)
		starts->n++;
	run->number = (uint32_t)programs->figures.starts++;
	programs->instances.process.runs_together = run->client.table != NULL;
	programs->instances.n_starts = run->number;
	run->is_other = programs->other_seed != 0;
	run->seed = run->is_other ? programs->other_seed : rr_ahead_seed(&programs->ahead, client);
	run->instance = run->is_other || late_ns ?
				rr_ahead_start_other(&programs->ahead, client, run->seed, late_ns,
						     &programs->problem) :
				rr_ahead_start(&programs->ahead, client, &programs->problem);
	if (!run->instance)
		return;
	run->line->lacks_shim |= !rr_instance_has_shim(run->instance);
	note_drawing(run);
	programs->figures.has_own_clock |= !rr_instance_has_shim(run->instance);
	programs->figures.has_uv |= rr_instance_has_uv(run->instance);
	exchange_drawn(run, client);
	run->view = rr_instance_view(run->instance);
}

/* How it came there, over its critical section or not, is its own: many histories are one
 * state. */
static void reach_state(struct run *run, uint32_t state)
{
	const struct rr_client_state *known = &run->client.table->states[state];
	const struct rr_run_view view = rr_client_state_view(known);
	struct rr_client_state *history = run->history == RR_NO_ID ?
						  NULL :
						  &run->client.table->states[run->history];

	run->state = state;
	run->own = rr_client_state_view(&run->client.states[state]);
	if (run->is_fact) {
		run->own.has_entered = history->has_entered;
		return;
	}
	compare_run(run, &view, known->client);
	if (!rr_programs_stand(run->programs) && !run->has_left) {
		rr_learning_note_state(run->client.table, &run->loop, state);
		if (history)
			history->clients |= 1U << rr_instance_client(run->instance);
	}
	run->own.has_entered = run->view.has_entered;
}

/* Was the client itself seen to hear all of that? */
static bool is_fact(const struct run *run, uint32_t history)
{
	return history != RR_NO_ID &&
	       run->client.table->states[history].clients >> run->client.client & 1;
}

/* Where the whole history leads that has one more input. */
static uint32_t next_history(const struct run *run, const struct rr_received *next)
{
	const struct rr_client_row *row = run->history == RR_NO_ID ?
						  NULL :
						  rr_client_table_find(run->client.table,
								       run->history, &next->input,
								       next->passed_ns);

	return row ? row->to : RR_NO_ID;
}

/* Has each run a copy of a directory (party/fresh.h)? Then what it does before its first command is done
 * when that comes in an execution of several clients, and not before. */
static bool has_fresh(const struct rr_programs *programs)
{
	return programs->config.instances.process.fresh != NULL;
}

static void begin_together(const struct rr_program *program)
{
	struct rr_programs *programs = program->context;

	if (has_fresh(programs) && !rr_programs_stand(programs))
		rr_fresh_begin_together(programs->config.instances.process.fresh,
					&programs->problem);
}

static void *begin_run(const struct rr_program *program, int client)
{
	struct rr_programs *programs = program->context;
	struct run *run = rr_malloc(sizeof(*run));
	const bool is_for_table = program == &programs->program;

	*run = (struct run){ .programs = programs,
			     .line = programs->line_of[client],
			     .loop = { .head = RR_NO_ID },
			     .view = { .n_threads = 1, .stops = { { .kind = RR_STOP_ENDED } } } };
	run->own = run->view;
	if (!is_for_table && !rr_client_view_init(&run->client, programs->tables[client], client))
		return run;
	run->is_fact = !is_for_table &&
		       (has_fresh(programs) || (programs->plays_order && is_fact(run, 0)));
	if (!run->is_fact)
		start_instance(run, (size_t)client, 0);
	if (!is_for_table)
		reach_state(run, 0);
	return run;
}

static void end_run(void *context)
{
	struct run *run = context;

	if (run->instance)
		run->programs->figures.hands_over |= rr_instance_hands_over(run->instance);
	rr_instance_free(run->instance);
	rr_client_view_release(&run->client);
	free(run->received.all);
	free(run->sent);
	free(run);
}

/* Its clock has been told of some of the time already. */
static void feed_instance(struct run *run, const struct rr_input *input, int64_t passed_ns)
{
	const int64_t more_ns = passed_ns > run->unread_ns ? passed_ns - run->unread_ns : 0;
	const uint8_t lane = run->view.stops[input->thread].lane;
	const bool has_reply = rr_input_has_reply(input);

	if (run->has_left)
		return;
	if (run->instance && !rr_programs_stand(run->programs) && input->kind == RR_INPUT_CLOCK) {
		const size_t client = rr_instance_client(run->instance);

		rr_instance_free(run->instance);
		run->instance = NULL;
		start_instance(run, client, input->value);
		return;
	}
	if (!run->instance || rr_programs_stand(run->programs) ||
	    !rr_instance_feed(run->instance, input, lane, more_ns, &run->programs->problem))
		return;
	run->programs->figures.reads_day |= rr_instance_reads_day(run->instance);
	run->gone = input->gone;
	if (has_reply)
		rr_random_values_hear(&run->line->values,
				      &rr_programs_terms(run->programs)->reply[input->value].reply,
				      &run->counted);
	run->view = rr_instance_view(run->instance);
	note_drawing(run);
	run->unread_ns = run->view.has_read ? 0 : run->unread_ns + more_ns;
}

/* `state`: where the table says that it leads. */
static void hear(struct run *run, const struct rr_received *received, uint32_t state)
{
	run->history = next_history(run, received);
	feed_instance(run, &received->input, received->passed_ns);
	reach_state(run, state);
}

/* What comes next nobody has seen it hear: it is started, and hears all of that first. */
static void start_after_all(struct run *run)
{
	uint32_t state = 0;

	run->is_fact = false;
	run->history = 0;
	run->loop.head = RR_NO_ID;
	start_instance(run, (size_t)run->client.client, 0);
	reach_state(run, 0);
	for (size_t i = 0; i < run->received.n && !rr_programs_stand(run->programs); i++) {
		const struct rr_received *received = &run->received.all[i];

		state = rr_client_table_find(run->client.table, state, &received->input,
					     received->passed_ns)
				->state;
		hear(run, received, state);
	}
}

static void feed_run(void *context, const struct rr_input *input, int64_t passed_ns)
{
	struct run *run = context;
	struct rr_received received = { *input, passed_ns };
	const struct rr_client_row *row;
	uint32_t state;

	if (!run->client.table) {
		feed_instance(run, input, passed_ns);
		return;
	}
	if (rr_programs_stand(run->programs))
		return;
	received.input = rr_client_view_as_self(&run->client, input);
	row = rr_client_view_ask(&run->client, run->state, input, passed_ns);
	if (!row)
		return;
	state = row->state;
	if (run->is_fact &&
	    (has_fresh(run->programs) || !is_fact(run, next_history(run, &received))))
		start_after_all(run);
	rr_array_grow(&run->received.all, run->received.n, sizeof(*run->received.all));
	run->received.all[run->received.n++] = received;
	hear(run, &received, state);
}

static void wake_run(void *context)
{
	struct run *run = context;

	if (run->client.table && run->is_fact && has_fresh(run->programs) &&
	    !rr_programs_stand(run->programs))
		start_after_all(run);
}

static const struct rr_run_view *view_of_run(const void *context)
{
	const struct run *run = context;

	return run->client.table ? &run->own : &run->view;
}

static enum rr_going going_of_run(const void *context, const struct rr_error **problem)
{
	const struct run *run = context;

	*problem = &run->programs->problem;
	return rr_programs_stand(run->programs) ? rr_error_going(*problem) : RR_GO_ON;
}

const struct rr_run_ops rr_program_run_ops = {
	.together = begin_together,
	.begin = begin_run,
	.wake = wake_run,
	.end = end_run,
	.feed = feed_run,
	.view = view_of_run,
	.going = going_of_run,
	.compare = compare_run,
};
