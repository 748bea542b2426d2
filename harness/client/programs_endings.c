/* SPDX-License-Identifier: MIT */
/* How programs have ended, and requests to an app were answered, and whether two have alike. */
#include "program_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/processes.h"
#include "base/text.h"

/* Of a state in which a client has ended, found out once. */
static struct unwaited unwaited_of(struct rr_programs *programs, size_t client, uint32_t state)
{
	struct rr_client_table *table = programs->tables[client];
	const uint32_t n_rows = table->rows.n;
	struct {
		const struct rr_client_table *table;
		uint64_t state;
	} key = { table, state };
	struct unwaited unwaited = { .n = 0 };
	bool is_new;
	uint32_t number = rr_intern_put(&programs->ended, &key, sizeof(key), &is_new);

	if (!is_new)
		return programs->unwaited[number];
	rr_array_grow(&programs->unwaited, number, sizeof(*programs->unwaited));
	for (uint32_t i = 0; i < n_rows; i++) {
		/* Ends by a row, again: what varies is found out. And how does it end without
		 * waiting? */
		const struct rr_client_row row = table->row[i];
		uint32_t end, ending;

		if (row.to != state ||
		    !rr_client_table_run_again(table, row.client, row.from, &row))
			continue;
		end = rr_client_table_without_waiting(table, &row, &programs->waiting);
		ending = (uint32_t)table->states[end].tally.ending;
		if (end != row.to && unwaited.n < UNWAITED_MAX &&
		    rr_endings_differ_by_waiting(&programs->endings,
						 (uint32_t)table->states[row.to].tally.ending,
						 ending))
			unwaited.endings[unwaited.n++] = ending;
	}
	programs->unwaited[number] = unwaited;
	return unwaited;
}

static struct rdl_reply output_as_reply(struct rr_ending ending)
{
	return (struct rdl_reply){ .type = RDL_REPLY_STRING,
				   .text = ending.output,
				   .length = ending.length };
}

static uint32_t put_printed(struct rr_programs *programs, struct rr_ending ending, uint32_t reply)
{
	const struct rdl_reply *printed = &rr_programs_terms(programs)->reply[reply].reply;

	ending.output = printed->text;
	ending.length = printed->length;
	return rr_endings_put(&programs->endings, ending);
}

static bool times_may_differ(const struct rr_programs *programs)
{
	return programs->time_has_passed || programs->figures.reads_day ||
	       programs->figures.has_own_clock;
}

bool rr_programs_compare_times(struct rr_programs *programs, bool has_passed)
{
	programs->time_has_passed = has_passed;
	return !times_may_differ(programs);
}

/* Are they the same, where random values may have other names in one of them? */
static bool print_alike(struct rr_programs *programs, size_t client, uint32_t a, uint32_t b,
			enum rr_likeness likeness)
{
	struct rr_random_values *values = &programs->line_of[client]->values;
	const struct rr_ending one = rr_endings_get(&programs->endings, a);
	const struct rr_ending other = rr_endings_get(&programs->endings, b);
	const struct rdl_reply outputs[] = { output_as_reply(one), output_as_reply(other) };
	struct rr_terms *terms = rr_programs_terms(programs);
	const int64_t day_ns = times_may_differ(programs) ?
				       programs->config.instances.process.start_ns :
				       0;
	struct rr_renaming renaming = { 0 };
	uint32_t renamed;

	if (rr_endings_are_same(&programs->endings, a, b))
		return true;
	rr_random_values_see_histories(values, terms, &programs->line_of[client]->table);
	rr_random_values_pair(values, values->names, &outputs[0], &outputs[1], &renaming);
	renamed = rr_rename_reply(&renaming, terms, rr_terms_reply(terms, &outputs[1]));
	rr_renaming_release(&renaming);
	if (rr_endings_are_same(&programs->endings, a, put_printed(programs, other, renamed)))
		return true;
	if (likeness != RR_LIKE_BUT_TIMES)
		return false;
	a = put_printed(programs, one,
			rr_reply_without_times(terms, rr_terms_reply(terms, &outputs[0]), day_ns));
	b = put_printed(programs, other, rr_reply_without_times(terms, renamed, day_ns));
	return rr_endings_are_same(&programs->endings, a, b);
}

/* How an operation ended, by the tally of its client: a number; -1 = a request has no answer. */
static long ending_of(struct rr_programs *programs, size_t operation, long ending)
{
	return programs->config.requests.n ?
		       rr_answers_get(&programs->endings, ending,
				      programs->config.requests.places[operation].lane) :
		       ending;
}

bool rr_programs_end_alike(void *context, size_t operation, uint32_t state, long ending,
			   enum rr_likeness likeness)
{
	struct rr_programs *programs = context;
	const size_t client = rr_program_client_of(&programs->program, operation);
	const long tally = programs->tables[client]->states[state].tally.ending;
	const long known = ending_of(programs, operation, tally);
	struct unwaited unwaited;
	bool alike;

	if (!programs->config.compares_outputs || ending == known)
		return true;
	if (ending < 0 || known < 0)
		return false;
	if (rr_endings_are_same(&programs->endings, (uint32_t)known, (uint32_t)ending))
		return true;
	if (likeness == RR_LIKE_PLAIN)
		return false;
	unwaited = unwaited_of(programs, client, state);
	alike = print_alike(programs, client, (uint32_t)known, (uint32_t)ending, likeness);
	for (uint32_t i = 0; i < unwaited.n && !alike; i++) {
		const long other = ending_of(programs, operation, unwaited.endings[i]);

		alike = other >= 0 &&
			print_alike(programs, client, (uint32_t)other, (uint32_t)ending, likeness);
	}
	return alike;
}

bool rr_programs_fails(struct rr_programs *programs, size_t operation, uint32_t state, long ending,
		       bool is_strict)
{
	const struct rr_ending ended = rr_endings_get(&programs->endings, (uint32_t)ending);

	if (!programs->config.compares_outputs ||
	    rr_ending_is_declared(programs->config.instances.refused, ended))
		return false;
	return is_strict || (programs->config.requests.n == 0 &&
			     (WIFSIGNALED(ended.status) ||
			      rr_client_table_has_changed(programs->tables[operation], state,
							  &programs->waiting)));
}

bool rr_programs_have_same_status(struct rr_programs *programs, long a, long b)
{
	const struct rr_ending one = rr_endings_get(&programs->endings, (uint32_t)a);
	const struct rr_ending other = rr_endings_get(&programs->endings, (uint32_t)b);

	return one.status == other.status && one.http == other.http;
}

long rr_programs_own_ending(void *context, size_t operation, long ending)
{
	struct rr_programs *programs = context;
	const struct rr_ending known = rr_programs_ending(programs, ending);
	const struct rdl_reply printed = output_as_reply(known);
	struct rr_terms *terms = rr_programs_terms(programs);
	const uint32_t own =
		rr_rename_reply(&programs->own[rr_program_client_of(&programs->program, operation)],
				terms, rr_terms_reply(terms, &printed));

	return own == RR_NO_ID ? ending : (long)put_printed(programs, known, own);
}

long rr_programs_named_ending(struct rr_programs *programs, size_t operation, long ending)
{
	const long own = rr_programs_own_ending(programs, operation, ending);
	const struct rr_ending known = rr_programs_ending(programs, own);
	const struct rdl_reply printed = output_as_reply(known);
	struct rr_terms *terms = rr_programs_terms(programs);
	struct rr_renaming renaming = { 0 };
	uint32_t named;

	rr_programs_name_uncontrolled(programs, rr_program_client_of(&programs->program, operation),
				      &renaming);
	if (renaming.n == 0)
		return own;
	named = rr_rename_reply(&renaming, terms, rr_terms_reply(terms, &printed));
	rr_renaming_release(&renaming);
	return (long)put_printed(programs, known, named);
}

struct rr_ending rr_programs_ending(const struct rr_programs *programs, long ending)
{
	return rr_endings_get(&programs->endings, (uint32_t)ending);
}

bool rr_programs_last_ending(struct rr_programs *programs, size_t operation,
			     struct rr_ending *ending)
{
	const struct rr_client_table *table =
		programs->tables[rr_program_client_of(&programs->program, operation)];
	const struct rr_client_end end = rr_client_table_longest(table);
	const long number = end.to == RR_NO_ID ? -1 :
						 ending_of(programs, operation,
							   table->states[end.to].tally.ending);

	if (number >= 0)
		*ending = rr_programs_ending(programs, number);
	return number >= 0;
}

char *rr_programs_describe_request(struct rr_programs *programs, size_t request, long ending)
{
	return ending < 0 ? rr_request_words(programs->config.requests.commands[request]) :
			    rr_answer_words(rr_programs_ending(programs, ending));
}

void rr_programs_print_ending(const struct rr_programs *programs, long ending, FILE *out)
{
	const struct rr_ending how = rr_programs_ending(programs, ending);
	char *reason = rr_reason_line(how.output, how.length);
	char end[RR_PROCESS_END_SIZE];

	fprintf(out, reason[0] ? "%s: %s\n" : "%s\n", rr_process_end(how.status, end), reason);
	free(reason);
}
