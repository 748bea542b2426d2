/* SPDX-License-Identifier: MIT */
/* What came of a check, in words. */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/processes.h"
#include "base/text.h"
#include "product/product.h"
#include "compare/compare.h"

/* Of what a program printed before it failed. */
enum {
	FAILURE_LINES = 20,
	FAILURE_BYTES = 4096,
	PATTERN_SHOWN = 200,
	LINES_SHOWN = 10,
	KEYS_SHOWN = 3
};

/* ---- A finding ---------------------------------------------------------------------- */

/* "3 clients, 1 crash, 15 runs, 4.6 s". */
static void print_figures(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const unsigned long n_starts = check->n_starts + figures.starts;
	const size_t n = check->n_operations;

	fprintf(out, "%zu %s%s, ", n, rr_checked_noun(check), n == 1 ? "" : "s");
	for (int i = 0; i < RR_BUDGETS; i++) {
		const int most = check->options->search.budget.of[i];

		if (most)
			fprintf(out, "%d %s, ", most,
				most == 1 ? rr_budget_rows[i].one : rr_budget_rows[i].many);
	}
	fprintf(out, "%lu run%s, %.1f s)\n", n_starts, n_starts == 1 ? "" : "s",
		check->result->seconds);
}

/* Limits of the verdict, and how it was made. */
static void print_remarks(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	static const char held[] = "The time of day stood still while the program waited";

	if (check->n_pairs && check->is_of_pair)
		rr_print_sentence(out, 2, 4,
				  "Two requests suffice: each pair is searched before all %zu.",
				  check->n_operations);
	else if (check->n_pairs && check->options->verbose)
		rr_print_sentence(out, 2, 4,
				  "Each pair of requests was searched first, before all %zu.",
				  check->n_operations);
	for (size_t i = 0; i < check->places.n_led && check->options->verbose; i++)
		rr_print_sentence(out, 2, 4, "Connections to %s led to redrace's server.",
				  check->places.led[i]);
	rr_checked_print_outside(out, check);
	if (check->strangers.n)
		rr_print_sentence(out, 2, 4,
				  "Another process connected to a program's port and was refused, "
				  "%lu times: first %s.",
				  check->strangers.n, check->strangers.first);
	if (check->unwatched)
		rr_print_sentence(out, 2, 4,
				  "What the program connects to other than REDIS_URL was not "
				  "watched (%s): another Redis would have taken its commands.",
				  strerror(check->unwatched));
	if (figures.has_own_clock)
		rr_print_sentence(
			out, 2, 4,
			"The program keeps its own clock, and its randomness is not controlled: it "
			"is static or written in Go, or the clock's library is missing.");
	else if (figures.is_uncontrolled)
		rr_print_sentence(
			out, 2, 4,
			"Randomness is not controlled: a client draws values in each of its "
			"rounds, or from something that differs at each start.");
	if (check->n_searches > 1)
		rr_print_sentence(
			out, 2, 4,
			"The programs make random choices: %zu of %u seeds were searched, "
			"last --seed %llu. A choice that is made less often may be missed.",
			check->n_searches, check->n_seeds, (unsigned long long)check->seed);
	if (check->result->day == RR_DAY_HELD_TO_END)
		rr_print_sentence(out, 2, 4,
				  "%s: it sends the time, and the search does not end otherwise. "
				  "With a running clock, nothing was found in the first rounds.",
				  held);
	else if (check->result->day == RR_DAY_HELD_TO_REPEAT)
		rr_print_sentence(out, 2, 4,
				  "%s: it sends the time, and does not wait equally long in each "
				  "run.",
				  held);
	else if (check->options->holds_day)
		rr_print_sentence(out, 2, 4, "%s: --hold-clock.", held);
	if (figures.has_uv && !getenv(RR_UV_THREADS) && check->options->verbose)
		fputs("  Node's thread pool (libuv) had one thread: " RR_UV_THREADS "=1.\n", out);
}

json_t *rr_checked_refused(const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	json_t *all = rr_record_refused(&check->record);

	if (all)
		return all;
	all = json_array();
	for (size_t i = 0; i < check->n_operations; i++) {
		struct rr_ending ending;
		char *line, status[RR_PROCESS_END_SIZE];
		json_t *how, *refused;
		size_t end, from;

		if (result->refused[i] == 0)
			continue;
		ending = rr_programs_ending(check->programs, result->refused_ending[i]);
		/* The last line that is not empty. */
		end = ending.length;
		while (end > 0 &&
		       (ending.output[end - 1] == '\n' || ending.output[end - 1] == '\r'))
			end--;
		from = end;
		while (from > 0 && ending.output[from - 1] != '\n' && end - from < PATTERN_SHOWN)
			from--;
		line = rr_text_of_bytes(ending.output + from, end - from);
		refused = json_pack("{s:s, s:b, s:I, s:I, s:s, s:o}", "client", check->names[i],
				    "is_finding", (int)(result->failures >> i & 1), "ends",
				    (json_int_t)result->refused[i], "of",
				    (json_int_t)result->finals, "how",
				    rr_process_end(ending.status, status), "last_line",
				    rr_case_text(line));
		how = rr_case_ending(&(struct rr_case_ending){
			.status = ending.status, .http = ending.http, .output = "" });
		json_object_set(refused, "exit_status", json_object_get(how, "exit_status"));
		json_object_set(refused, "signal", json_object_get(how, "signal"));
		json_object_set(refused, "http_status", json_object_get(how, "http_status"));
		json_decref(how);
		json_array_append_new(all, refused);
		free(line);
	}
	return all;
}

/* "B is refused in 3 of 9 ends: exited with 1, "busy"". */
static void print_refused(FILE *out, const struct rr_check *check)
{
	json_t *all = rr_checked_refused(check);
	const json_t *refused;
	size_t i;

	json_array_foreach(all, i, refused) {
		const char *client, *how, *line;
		json_int_t ends, of, http = 0;
		int is_finding;
		char status[30] = "";

		if (json_unpack((json_t *)refused, "{s:s, s:b, s:I, s:I, s:s, s:s}", "client",
				&client, "is_finding", &is_finding, "ends", &ends, "of", &of, "how",
				&how, "last_line", &line) != 0)
			continue;
		http = json_integer_value(json_object_get(refused, "http_status"));
		if (http)
			snprintf(status, sizeof(status), "HTTP %d", (int)http);
		rr_print_sentence(out, 2, 4, "%s %s in %lld of %lld ends: %s%s%s%s", client,
				  is_finding ? "fails only when interleaved," : "is refused",
				  (long long)ends, (long long)of, *status ? status : how,
				  *line ? ", \"" : "", line, *line ? "\"" : "");
	}
	json_decref(all);
}

/* "lost update on counter", "no progress: not all clients can end". */
static void print_kind(FILE *out, const struct rr_check *check, const struct rr_outcome *finding)
{
	json_t *keys = rr_checked_keys_or_named(finding);
	/* Who is in the critical section, or cannot end, is not about what is in a key. */
	const size_t n = finding->found & (RR_OUTCOME_EXCLUSION | RR_OUTCOME_STUCK) ?
				 0 :
				 json_array_size(keys);

	fputs(rr_checked_kind_of(finding).name, out);
	for (size_t i = 0; i < n && i < KEYS_SHOWN; i++)
		fprintf(out, "%s%s", i ? ", " : " on ", json_string_value(json_array_get(keys, i)));
	fputs(n > KEYS_SHOWN ? ", …" : "", out);
	if (finding->found & RR_OUTCOME_STUCK)
		fprintf(out, ": not all %ss can %s", rr_checked_noun(check),
			check->options->app ? "be answered" : "end");
	json_decref(keys);
}

static void print_finding(FILE *out, const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;

	fputs("RACE FOUND: ", out);
	print_kind(out, check, &result->findings[0]);
	fputs(" (", out);
	print_figures(out, check);
	print_remarks(out, check);
	rr_checked_print_end(out, check, &result->findings[0]);
}

void rr_checked_print_advice(FILE *out, const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;

	if (!result->found)
		return;
	/* Of several, each stands below its picture. */
	if (result->n_findings == 1)
		rr_checked_print_why(out, &result->findings[0]);
	if (result->found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED | RR_OUTCOME_OUTPUTS))
		rr_print_sentence(out, 0, 2, "%lu of %lu final states%s %s wrong.", result->wrong,
				  result->finals,
				  result->explored == RR_EXPLORED_FOUND ? " so far" : "",
				  result->wrong == 1 ? "is" : "are");
	print_refused(out, check);
	rr_print_sentences(out, 0, result->serial ? result->serial : "");
	rr_print_sentences(out, 0, result->mend ? result->mend : "");
}

/* ---- Without a finding ------------------------------------------------------------- */

/* How it ended at last, if it never succeeded: an answer that says that the app is broken is no refusal.
 * False: nothing is known. */
static bool failing_ending(const struct rr_check *check, size_t client, struct rr_ending *ending)
{
	if (check->result->refused[client] == 0)
		return rr_programs_last_ending(check->programs, client, ending);
	*ending = rr_programs_ending(check->programs, check->result->refused_ending[client]);
	return true;
}

json_t *rr_checked_failing(const struct rr_check *check)
{
	json_t *all = json_array();
	struct rr_ending ending;

	for (size_t i = 0; i < check->n_operations; i++) {
		if (rr_checked_failing_clients(check) & 1U << i &&
		    failing_ending(check, i, &ending))
			json_array_append_new(all, rr_case_ending(&(struct rr_case_ending){
							   .client = check->names[i],
							   .status = ending.status,
							   .http = ending.http,
							   .output = ending.output,
							   .length = ending.length }));
	}
	return all;
}

/* For what is there to be seen? */
static void print_failure(FILE *out, const struct rr_check *check, size_t client)
{
	struct rr_ending ending;
	const char *from;
	char *lines;
	int n = 0;

	if (!failing_ending(check, client, &ending))
		return;
	fprintf(out, "  %s ", check->names[client]);
	rr_checked_print_status(out, ending.status);
	if (ending.http)
		fprintf(out, ", HTTP %d", ending.http);
	fputc('\n', out);
	from = ending.output + ending.length;
	while (from > ending.output && n <= FAILURE_LINES &&
	       ending.output + ending.length - from < FAILURE_BYTES)
		n += *--from == '\n';
	if (n > FAILURE_LINES)
		from++;
	lines = rr_text_of_bytes(from, (size_t)(ending.output + ending.length - from));
	if (*lines)
		rr_checked_print_lines(out, "  It printed", lines);
	free(lines);
}

/* "1 to 32, 40 and 100"; malloc'd. */
static char *describe_numbers(uint64_t left)
{
	char *text;
	FILE *out = rr_open_text(&text);

	for (size_t i = 0, last; i < RR_LOOP_NUMBERS; i = last + 1) {
		const int first = rr_learning_rounds(i);

		last = i;
		if (!(left >> i & 1))
			continue;
		while (left >> (last + 1) & 1 &&
		       rr_learning_rounds(last + 1) == rr_learning_rounds(last) + 1)
			last++;
		fprintf(out, "%s%d",
			ftell(out) == 0    ? "" :
			left >> (last + 1) ? ", " :
					     " and ",
			first);
		if (last > i)
			fprintf(out, " to %d", rr_learning_rounds(last));
	}
	fclose(out);
	return text;
}

/* The assumptions of a yes: models of the clients, and how they were tested. */
static void print_assumptions(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const struct rr_learning_figures *learning = &figures.learning;
	char *numbers, loops[200] = "", pairs[60] = "";

	if (check->result->explored == RR_EXPLORED_ALL && check->result->rounds)
		rr_print_sentence(out, 2, 4,
				  "Clients that send or receive something new in each round were "
				  "followed for %d rounds.",
				  check->result->rounds);
	if (learning->merges == 0)
		return;
	if (!check->options->verbose) {
		rr_print_sentence(out, 2, 4,
				  "Assumes: models of the clients, learned and tested%s.",
				  learning->loops > 0 ? "; loops followed for a bounded number of "
							"rounds" :
							"");
		return;
	}
	numbers = describe_numbers(learning->left);
	if (learning->loops > 0)
		snprintf(loops, sizeof(loops), "loops followed for %d rounds%s%s, ", RR_LOOP_ROUNDS,
			 learning->left ? " and left after " : "", numbers);
	free(numbers);
	if (learning->has_pairs || learning->lacks_pairs)
		snprintf(pairs, sizeof(pairs),
			 learning->lacks_pairs ?
				 ", the last ones still with new pairs of replies" :
				 ", the last %d of them with no new pair of replies",
			 RR_LEARNING_IDLE);
	rr_print_sentence(
		out, 2, 4,
		"Assumes: models of the clients with %lu states, learned from their runs; "
		"%lu conformance tests, %s%lu random walks%s.",
		learning->states, learning->tests, loops, learning->walks, pairs);
}

/* By the search alone. */
static enum rr_exit exit_of_search(const struct rr_check *check)
{
	const struct rr_limit limit = rr_checked_limit(check);

	if (check->result->found)
		return RR_EXIT_VIOLATED;
	if (check->options->search.schedule && check->result->n_findings)
		return RR_EXIT_OK;
	if (check->session.signals.interrupted)
		return RR_EXIT_INTERRUPTED;
	if (check->record.is_used)
		return RR_EXIT_OK;
	if (check->options->accepts_bounded && check->result->explored == RR_EXPLORED_ROUNDS &&
	    !limit.is_vacuous && !rr_checked_count_not_compared(check))
		return RR_EXIT_OK;
	return limit.id ? RR_EXIT_INCONCLUSIVE : RR_EXIT_OK;
}

json_t *rr_checked_search(const struct rr_check *check)
{
	const enum rr_exit code = exit_of_search(check);
	const struct rr_limit limit = rr_checked_limit(check);
	const char *kind = rr_checked_kind(check->result->found).id;

	return json_pack("{s:i, s:s, s:s?, s:s?}", "exit", (int)code, "verdict",
			 kind ? kind :
			 code == RR_EXIT_OK && (!limit.id || check->record.is_used) ?
				"serializable" :
				"no_failure_found",
			 "limit", kind ? NULL : limit.id, "option",
			 kind || !limit.option[0] ? NULL : limit.option);
}

enum rr_exit rr_checked_exit(const struct rr_check *check)
{
	return rr_check_exit_with_skeptic(check, exit_of_search(check));
}

/* Values that differ from those of serial executions, and move with the clock. */
static void print_not_compared(FILE *out, const struct rr_check *check)
{
	json_t *all = rr_checked_moving_values(check);
	const size_t n = json_array_size(all);
	char *names;
	FILE *list = rr_open_text(&names);

	for (size_t i = 0; i < n && i < LINES_SHOWN; i++)
		fprintf(list, "%s%s", i ? ", " : "", json_string_value(json_array_get(all, i)));
	fputs(n > LINES_SHOWN ? ", ..." : "", list);
	fclose(list);
	if (n > 0)
		rr_print_sentence(out, 2, 4,
				  "Not compared: %zu value%s that move%s with the clock: %s. Leave "
				  "them out with --ignore KEY, --ignore KEY.FIELD of a hash, or "
				  "--allow-output REGEX.",
				  n, n == 1 ? "" : "s", n == 1 ? "s" : "", names);
	free(names);
	json_decref(all);
}

/* Names the keys and fields that --ignore left out, by its patterns. */
static void print_ignored(FILE *out, const struct rr_check *check)
{
	const json_t *one, *of;
	size_t i, j;

	json_array_foreach(check->result->ignored, i, one) {
		const json_t *keys = json_object_get(one, "keys");
		const json_t *fields = json_object_get(one, "fields");
		const size_t n = json_array_size(keys) + json_array_size(fields);
		const char *pattern = json_string_value(json_object_get(one, "pattern"));
		char *names;
		FILE *list = rr_open_text(&names);

		json_array_foreach(keys, j, of) {
			if (j < LINES_SHOWN)
				fprintf(list, ", %s", json_string_value(of));
		}
		json_array_foreach(fields, j, of) {
			if (j + json_array_size(keys) < LINES_SHOWN)
				fprintf(list, ", field %s of %s",
					json_string_value(json_object_get(of, "field")),
					json_string_value(json_object_get(of, "key")));
		}
		fputs(n > LINES_SHOWN ? ", ..." : "", list);
		fclose(list);
		if (n > 0)
			rr_print_sentence(out, 2, 4, "Not compared, by --ignore '%s': %s.", pattern,
					  names + strlen(", "));
		else
			rr_print_sentence(out, 2, 4,
					  "--ignore '%s' left out nothing: no final state has such "
					  "a key, or such a field of a hash.",
					  pattern);
		free(names);
	}
}

/* "in every schedule of the bounds", as far as it holds. */
static void print_yes(FILE *out, const struct rr_check *check)
{
	const char *noun = rr_checked_noun(check);

	if (check->result->need_each_other)
		fprintf(out, "AS EXPECTED: in every schedule, though the %ss need each other (",
			noun);
	else
		fprintf(out, "SERIALIZABLE: every schedule gives the %s of a serial execution (",
			check->options->data_only ? "data" :
			check->options->app       ? "data and answers" :
						    "data and outputs");
}

/* "Requests: 2 times POST /buy." */
static void print_requests(FILE *out, const struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	char *list;
	FILE *words = rr_open_text(&list);

	for (size_t i = 0; i < options->n_requests; i++) {
		char *request = rr_request_words(options->requests[i]);

		if (options->n_requests == 1 && check->n_operations > 1)
			fprintf(words, "%zu times ", check->n_operations);
		fprintf(words, "%s%s", i ? "; " : "", request);
		free(request);
	}
	fclose(words);
	if (*list)
		rr_print_sentence(out, 2, 4, "Requests: %s.", list);
	free(list);
}

static void print_no_finding(FILE *out, const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const struct rr_mutant_result *condition = NULL; /* without which it would not be so */
	const struct rr_limit limit = rr_checked_limit(check);
	const char *cut = limit.text;
	const enum rr_exit code = rr_checked_exit(check);
	const bool is_yes = code != RR_EXIT_VIOLATED && !cut && code != RR_EXIT_INCONCLUSIVE;
	const bool has_faults = rr_budget_has_faults(&check->options->search.budget);
	char number[RR_GROUPED_SIZE];

	for (size_t i = 0; i < result->n_mutants && !condition; i++) {
		if (result->mutants[i].fails)
			condition = &result->mutants[i];
	}
	rr_grouped(number, (long long)result->states);
	if (is_yes)
		print_yes(out, check);
	else if (code == RR_EXIT_VIOLATED)
		fprintf(out, "RACE FOUND: not serializable, by the skeptic, %s (",
			rr_checked_has_outside(check) ? "with state outside Redis" :
			cut                           ? "before the search ended" :
							"missed by the search");
	else
		fprintf(out, "INCONCLUSIVE: %s%s (",
			limit.is_vacuous || (cut && strcmp(limit.id, "outside") == 0) ? limit.text :
			limit.because[0] ? "not all schedules were searched, because " :
			cut              ? "not all values were compared" :
					   "the skeptic could not confirm it",
			limit.because);
	print_figures(out, check);
	if (!is_yes && code != RR_EXIT_VIOLATED)
		rr_checked_print_limit(out, check);
	if (is_yes)
		rr_print_sentence(
			out, 2, 4, "Bounds: %s state%s, every interleaving%s%s.", number,
			result->states == 1 ? "" : "s",
			has_faults ? "" : ", no crashes or other faults (--crashes 1 adds one)",
			has_faults || !result->has_leases ?
				"" :
				"; no lease ends while its holder works (--expiries 1 lets one end)");
	else if (!limit.is_vacuous)
		rr_print_sentence(out, 2, 4, "No failure in %s state%s.", number,
				  result->states == 1 ? "" : "s");
	if (is_yes)
		print_requests(out, check);
	if (is_yes && condition)
		rr_print_sentence(out, 2, 4, "Relies on: %s.", condition->rests_on);
	if (is_yes)
		print_assumptions(out, check);
	print_remarks(out, check);
	if (!cut && !check->options->app && rr_programs_use_connections(check->programs))
		rr_print_sentence(
			out, 2, 4,
			"A client has several connections: the effects of its own calls on each "
			"other occur in every order, and were not compared. For requests to a "
			"server use --app.");
	print_not_compared(out, check);
	print_ignored(out, check);
	print_refused(out, check);
	if (!cut && !check->programs->change_data)
		rr_print_sentence(out, 2, 4, "No client changes any data.");
	if (check->options->search.budget.of[RR_EXPIRIES] && !check->result->has_leases)
		rr_print_sentence(
			out, 2, 4,
			"No key had a time to live, so none expired. --pauses ends leases "
			"that clients check with their own clocks.");
	if (check->result->has_own_keys)
		rr_print_sentence(
			out, 2, 4,
			"Commands on keys that no other client names were not interleaved with "
			"those of other clients, which cannot observe them: there are many "
			"states.");
	for (size_t i = 0; i < check->n_operations; i++) {
		if (rr_checked_failing_clients(check) & 1U << i)
			print_failure(out, check, i);
	}
	if (!is_yes && check->options->verbose)
		print_assumptions(out, check);
	if (check->options->verbose)
		rr_checked_print_coverage(out, check, 2);
}

enum { STATS_COLUMN = 19 };

/* Where the time went. */
static void print_stats(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const struct rr_instance_times *times = &figures.times;
	const double of_programs = times->starting + times->running + times->ending;
	const double starting_ms = times->starting * 1000 /
				   (double)(figures.starts ? figures.starts : 1);
	char unused[60] = "";

	if (figures.unused)
		snprintf(unused, sizeof(unused), "; %lu more started ahead, not used",
			 figures.unused);
	rr_print_sentence(out, 2, STATS_COLUMN,
			  "%-16s %lu, each waited for %.1f ms until its first command%s", "runs",
			  figures.starts, starting_ms, unused);
	rr_print_sentence(out, 2, STATS_COLUMN, check->record.why[0] ? "%-16s %s: %s" : "%-16s %s",
			  "kept",
			  check->record.is_used ? "the verdict of an earlier check" :
			  check->record.why[0]  ? "not this verdict" :
						  "this verdict",
			  check->record.why);
	rr_print_sentence(out, 2, STATS_COLUMN,
			  "%-16s %lu states, %lu histories merged with one of them, %lu tests, %lu "
			  "refinements",
			  "clients", figures.learning.states, figures.learning.merges,
			  figures.learning.tests, figures.learning.refinements);
	fprintf(out, "  %-16s %lu states, %lu transitions, %zu bytes each\n", "searched",
		check->result->states, check->result->transitions,
		check->result->stats.bytes_per_state);
	fprintf(out, "  %-16s %lu to the server\n", "questions", check->result->stats.questions);
	rr_print_sentence(
		out, 2, STATS_COLUMN,
		"%-16s %.2f waiting for programs to start, %.2f running them, %.2f ending "
		"them, %.2f all else",
		"seconds", times->starting, times->running, times->ending,
		check->result->seconds - of_programs);
}

/* ---- All ------------------------------------------------------------------------------ */

void rr_checked_print_verdict(FILE *out, const struct rr_check *check)
{
	if (check->result->found) {
		print_finding(out, check);
	} else if (check->options->search.schedule && check->result->n_findings) {
		fputs("NO FAILURE in this schedule (", out);
		print_figures(out, check);
		print_remarks(out, check);
		rr_checked_print_end(out, check, &check->result->findings[0]);
	} else {
		print_no_finding(out, check);
	}
	/* What is not compared, or not in its order, in what clients print. */
	const struct rr_endings *endings = &check->programs->endings;

	if (endings->n_varying > 0)
		rr_print_sentence(out, 2, 4,
				  "The parts of these lines of output shown as '*' differ between "
				  "runs with the same replies, and are not compared:");
	for (size_t i = 0; i < endings->n_varying; i++) {
		char *pattern = rr_varying_text(endings->varying[i].pattern, PATTERN_SHOWN);

		fprintf(out, "    %s", pattern);
		fprintf(out, endings->varying[i].line ? " (line %zu)\n" : "\n",
			endings->varying[i].line);
		free(pattern);
	}
	if (endings->unordered.n > 0)
		rr_print_sentence(out, 2, 4,
				  "The order of these lines of output differs between runs with "
				  "the same replies; they are compared sorted:");
	for (uint32_t i = 0; i < endings->unordered.n && i < LINES_SHOWN; i++) {
		const struct rdl_word line = { rr_intern_get(&endings->unordered, i),
					       endings->unordered.values[i].length };
		char *text = rr_varying_text(line, PATTERN_SHOWN);

		fprintf(out, "    %s\n", text);
		free(text);
	}
	if (endings->unordered.n > LINES_SHOWN)
		fprintf(out, "    and %u more\n", endings->unordered.n - LINES_SHOWN);
}

void rr_checked_print(FILE *out, const struct rr_check *check)
{
	const struct rr_record *record = &check->record;
	const char *text = rr_record_text(record, check->options->verbose);

	if (text)
		fputs(text, out);
	else
		rr_checked_print_verdict(out, check);
	if (record->remark[0])
		rr_print_sentence(out, 2, 4, "%s", record->remark);
	if (record->again[0] && check->options->verbose)
		rr_print_sentence(out, 2, 4, "Checked again: %s.", record->again);
	if (record->is_refused)
		rr_print_sentence(out, 2, 4, "This verdict is not kept for the next check: %s.",
				  record->why);
	rr_check_print_skeptic(out, check);
}

char *rr_checked_replay(const struct rr_check_options *options)
{
	static char replay[] = "--replay", some[] = "FILE";
	char *file = rr_strdup(options->save ? options->save : some);
	char *command = rr_checked_command(options, replay, file);

	free(file);
	return command;
}

/* How the schedule is run again, once it is saved. */
static void print_replay(FILE *out, const struct rr_check_options *options)
{
	static char save[] = "--save", some[] = "FILE";
	char *command = rr_checked_replay(options);

	if (options->save) {
		fprintf(out, "Replay: %s\n", command);
	} else if (options->name) {
		char *saving = rr_checked_command(options, save, some);

		fprintf(out, "Replay: save this schedule with\n  %s\nthen\n  %s\n", saving,
			command);
		free(saving);
	} else {
		fprintf(out, "Replay: save this schedule with --save FILE, then\n  %s\n", command);
	}
	free(command);
}

void rr_checked_print_rest(FILE *out, const struct rr_check *check)
{
	rr_checked_print_advice(out, check);
	if (check->result->found && !check->options->search.schedule)
		print_replay(out, check->options);
	if (check->result->found && check->options->verbose)
		rr_checked_print_coverage(out, check, 0);
	if (check->options->stats)
		print_stats(out, check);
}
