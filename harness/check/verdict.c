/* SPDX-License-Identifier: MIT */
/* What came of a check, in words. */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/processes.h"
#include "base/text.h"
#include "product/product.h"
#include "compare/compare.h"

/* Of what a program printed before it failed. */
enum { FAILURE_LINES = 20, FAILURE_BYTES = 4096, PATTERN_SHOWN = 200, LINES_SHOWN = 10 };

/* ---- A finding ---------------------------------------------------------------------- */

/* "3 clients, 1 crash, 15 runs of the program, 4.6 s". */
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
	fprintf(out, "%lu run%s of the %s%s, %.1f s)\n", n_starts, n_starts == 1 ? "" : "s",
		check->options->app ? "app" : "program", check->options->n_named ? "s" : "",
		check->result->seconds);
	if (check->n_pairs)
		rr_print_sentence(
			out, 2, 4,
			check->is_of_pair ?
				"Two requests suffice: each two are searched before all %zu." :
				"Each two requests were searched alone before all %zu.",
			n);
	if (check->strangers.n)
		rr_print_sentence(out, 2, 4,
				  "Somebody else connected to a program's port and was refused, "
				  "%lu times: first %s.",
				  check->strangers.n, check->strangers.first);
	if (check->unwatched)
		rr_print_sentence(out, 2, 4,
				  "What the program connects to beside REDIS_URL was not watched "
				  "(%s): another Redis would have taken its commands.",
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
			"rounds, or of what is another thing at each start.");
	if (check->n_searches > 1)
		rr_print_sentence(
			out, 2, 4,
			"The programs take choices at random: %zu of %u seeds were searched, "
			"last --seed %llu. A choice that is taken less often may be missed.",
			check->n_searches, check->n_seeds, (unsigned long long)check->seed);
	static const char held[] = "The time of day stood still while the program waited";

	if (check->result->day == RR_DAY_HELD_TO_END)
		rr_print_sentence(
			out, 2, 4,
			"%s: it sends the time, and there is no end to it otherwise. "
			"With a clock that goes on, nothing was found in the first rounds.",
			held);
	else if (check->result->day == RR_DAY_HELD_TO_REPEAT)
		rr_print_sentence(out, 2, 4,
				  "%s: it sends the time, and does not wait as long in each run.",
				  held);
	else if (check->options->holds_day)
		rr_print_sentence(out, 2, 4, "%s: --hold-clock.", held);
	if (figures.has_uv && !getenv(RR_UV_THREADS))
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

static void print_finding(FILE *out, const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const unsigned found = result->found;

	fprintf(out, "%s%s%s%s (", rr_checked_kind(found).name,
		found == RR_OUTCOME_STUCK ? ": not all " : "",
		found == RR_OUTCOME_STUCK ? rr_checked_noun(check) : "",
		found != RR_OUTCOME_STUCK ? "" :
		check->options->app       ? "s can be answered" :
					    "s can end");
	if (found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED | RR_OUTCOME_OUTPUTS))
		fprintf(out, "%lu of %lu final states%s; ", result->wrong, result->finals,
			result->explored == RR_EXPLORED_FOUND ? " so far" : "");
	print_figures(out, check);
	rr_checked_print_end(out, check, &result->findings[0]);
	print_refused(out, check);
	rr_print_sentences(out, 0, result->serial ? result->serial : "");
	rr_print_sentences(out, 0, result->mend ? result->mend : "");
}

/* ---- Without a finding ------------------------------------------------------------- */

/* As bits, clients that always failed, which have shown nothing. */
static uint32_t failing_clients(const struct rr_check *check)
{
	const uint32_t all = (1U << check->n_operations) - 1;

	return check->result->finals ? all & ~check->result->ever_well : 0;
}

/* Why there was nothing to be found, if so. */
static struct rr_limit why_vacuous(const struct rr_check *check)
{
	const bool is_app = check->options->app;

	if (check->result->explored == RR_EXPLORED_ALL && !rr_programs_send(check->programs))
		return (struct rr_limit){
			"no_command",
			is_app ? "the app sent no command; does it connect to REDIS_URL?" :
				 "no client sent a command; does the program connect to REDIS_URL?"
		};
	if (check->result->need_each_other && !check->options->n_finals &&
	    !check->options->checker[0])
		return (struct rr_limit){
			"need_each_other",
			is_app ?
				"no serial execution of all requests ends: they need each other, or wait for what none of them sends; say what is right with --final COMMAND VALUE or --check COMMAND" :
				"no serial execution of all clients ends: they need each other, or wait for what none of them sends; say what is right with --final COMMAND VALUE or --check COMMAND, or run both sides in one client"
		};
	if (failing_clients(check))
		return (struct rr_limit){ "never_succeeds",
					  is_app ? "there is a request that never succeeded" :
						   "there is a client that never succeeded" };
	return (struct rr_limit){ .id = NULL };
}

/* Why not all has been seen, if so. */
static struct rr_limit why_cut(const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);

	switch (check->result->explored) {
	case RR_EXPLORED_ALL:
		break;
	case RR_EXPLORED_ROUNDS:
		return (struct rr_limit){
			"rounds",
			"clients that send something new in each round were followed only so far: --rounds"
		};
	case RR_EXPLORED_RANDOM_REPLIES:
		return (struct rr_limit){ "random_replies", "a command's reply is random" };
	case RR_EXPLORED_MEMORY:
		return (struct rr_limit){ "memory", "out of memory: half of what is free" };
	case RR_EXPLORED_STOPPED:
		if (check->session.signals.interrupted)
			return (struct rr_limit){ "interrupted", "interrupted" };
		return (struct rr_limit){ check->starts.was_refused ? "starts" : "seconds",
					  check->out_of_budget };
	default:
		return (struct rr_limit){ "states", "there are more: --max-states" };
	}
	/* The search has come to its end. */
	if (figures.learning.untested)
		return (struct rr_limit){
			"untested_replies",
			"not all replies that are assumed not to matter were tested"
		};
	if (check->unwatched)
		return (struct rr_limit){
			"unwatched",
			"the program's connections to other servers could not be watched"
		};
	if (figures.hands_over)
		return (struct rr_limit){
			"threads_wait",
			"threads of the app wait for each other, for a lock or a shared connection, and which of them goes first was not varied"
		};
	return (struct rr_limit){ check->result->left_out ? "left_out" : NULL,
				  check->result->left_out };
}

json_t *rr_checked_not_compared(const struct rr_check *check)
{
	json_t *all = json_array();
	const json_t *key;
	size_t i;

	json_array_foreach(check->result->moved_keys, i, key)
		json_array_append(all, (json_t *)key);
	for (i = 0; i < check->n_operations; i++) {
		char *text = rr_asprintf("the output of %s", check->names[i]);

		if (check->result->moved_outputs >> i & 1)
			json_array_append_new(all, json_string(text));
		free(text);
	}
	return all;
}

static size_t count_not_compared(const struct rr_check *check)
{
	json_t *all = rr_checked_not_compared(check);
	const size_t n = json_array_size(all);

	json_decref(all);
	return n;
}

struct rr_limit rr_checked_limit(const struct rr_check *check)
{
	const struct rr_limit vacuous = why_vacuous(check), cut = why_cut(check);

	if (vacuous.id || cut.id)
		return vacuous.id ? vacuous : cut;
	return count_not_compared(check) ?
		       (struct rr_limit){ "not_compared",
					  "values that move with the clock were not compared" } :
		       (struct rr_limit){ .id = NULL };
}

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
		if (failing_clients(check) & 1U << i && failing_ending(check, i, &ending))
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

/* What the verdict rests on beside states: histories of clients that were taken for one
 * state, and how that was tested. */
static void print_hypothesis(FILE *out, const struct rr_check *check)
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
	rr_print_sentence(out, 2, 4,
			  "It rests on %lu states of a client, %lu tests of them, %s%lu walks%s.",
			  learning->states, learning->tests, loops, learning->walks, pairs);
}

/* By the search alone. */
static enum rr_exit exit_of_search(const struct rr_check *check)
{
	if (check->result->found)
		return RR_EXIT_VIOLATED;
	if (check->options->search.schedule)
		return RR_EXIT_OK;
	if (check->session.signals.interrupted)
		return RR_EXIT_INTERRUPTED;
	if (check->record.is_used)
		return RR_EXIT_OK;
	if (check->options->accepts_bounded && check->result->explored == RR_EXPLORED_ROUNDS &&
	    !why_vacuous(check).id && !count_not_compared(check))
		return RR_EXIT_OK;
	return rr_checked_limit(check).id ? RR_EXIT_INCONCLUSIVE : RR_EXIT_OK;
}

json_t *rr_checked_search(const struct rr_check *check)
{
	const enum rr_exit code = exit_of_search(check);
	const struct rr_limit limit = rr_checked_limit(check);
	const char *kind = rr_checked_kind(check->result->found).id;

	return json_pack("{s:i, s:s, s:s?}", "exit", (int)code, "verdict",
			 kind ? kind :
			 code == RR_EXIT_OK && (!limit.id || check->record.is_used) ?
				"serializable" :
				"no_failure_found",
			 "limit", kind ? NULL : limit.id);
}

enum rr_exit rr_checked_exit(const struct rr_check *check)
{
	return rr_check_exit_with_skeptic(check, exit_of_search(check));
}

static void print_no_finding(FILE *out, const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const struct rr_mutant_result *guard = NULL; /* without which it would not be so */
	const struct rr_limit vacuous = why_vacuous(check);
	const char *cut = rr_checked_limit(check).text;
	const enum rr_exit code = rr_checked_exit(check);
	char number[RR_GROUPED_SIZE];

	for (size_t i = 0; i < result->n_mutants && !guard; i++) {
		if (result->mutants[i].fails)
			guard = &result->mutants[i];
	}
	rr_grouped(number, (long long)result->states);
	if (code == RR_EXIT_VIOLATED)
		fprintf(out, "not serializable: found by the skeptic, %s (",
			cut ? "before the search came to an end" : "missed by the search");
	else if (cut || code == RR_EXIT_INCONCLUSIVE)
		fprintf(out, "no failure found: %s state%s (", number,
			check->result->states == 1 ? "" : "s");
	else if (check->result->need_each_other)
		fprintf(out, "as expected: all %s states, of clients that need each other (",
			number);
	else
		fprintf(out, "serializable: all %s states, %s as in some order of the %ss%s%s (",
			number,
			check->options->data_only ? "data" :
			check->options->app       ? "data and answers" :
						    "data and outputs",
			rr_checked_noun(check), guard ? ", resting on " : "",
			guard ? guard->rests_on : "");
	print_figures(out, check);
	if (vacuous.id || why_cut(check).id)
		rr_print_sentence(out, 2, 4, "%s: %s%s",
				  vacuous.id ? "This shows nothing" : "Not searched to the end",
				  cut, cut[strlen(cut) - 1] == '?' ? "" : ".");
	if (!cut && !check->options->app && rr_programs_use_connections(check->programs))
		rr_print_sentence(
			out, 2, 4,
			"A client has several connections: what its own calls do to each "
			"other is in every order, and was not compared. For requests to a "
			"server there is --app.");
	json_t *all = rr_checked_not_compared(check);
	const size_t n = json_array_size(all);
	char *names;
	FILE *list = rr_open_text(&names);

	for (size_t i = 0; i < n && i < LINES_SHOWN; i++)
		fprintf(list, "%s%s", i ? ", " : "", json_string_value(json_array_get(all, i)));
	fputs(n > LINES_SHOWN ? ", ..." : "", list);
	fclose(list);
	if (n > 0)
		rr_print_sentence(out, 2, 4,
				  "not compared: %zu value%s that move%s with the clock: %s. Leave "
				  "them out with --ignore KEY or --allow-output REGEX.",
				  n, n == 1 ? "" : "s", n == 1 ? "s" : "", names);
	free(names);
	json_decref(all);
	print_refused(out, check);
	if (!cut && !rr_programs_change_data(check->programs))
		rr_print_sentence(out, 2, 4, "No client changes any data.");
	if (check->options->search.budget.of[RR_EXPIRIES] && !check->result->has_leases)
		rr_print_sentence(out, 2, 4,
				  "No key had a time to live, so none expired. Leases that clients "
				  "know by their clocks end in --pauses.");
	if (check->result->has_own_keys)
		rr_print_sentence(
			out, 2, 4,
			"There are many states: commands whose keys no other client names "
			"were not interleaved with those of others, which cannot notice "
			"them.");
	for (size_t i = 0; i < check->n_operations; i++) {
		if (failing_clients(check) & 1U << i)
			print_failure(out, check, i);
	}
	print_hypothesis(out, check);
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
			  "%-16s %lu states, %lu histories taken for one of them, %lu tests, %lu "
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
	} else if (check->options->search.schedule) {
		fputs("nothing wrong in this order (", out);
		print_figures(out, check);
		rr_checked_print_end(out, check, &check->result->findings[0]);
	} else {
		print_no_finding(out, check);
	}
	/* What is not compared, or not in its order, in what clients print. */
	const struct rr_endings *endings = rr_programs_endings(check->programs);

	if (endings->n_varying > 0)
		rr_print_sentence(out, 2, 4,
				  "What '*' stands for in these lines of output differs between "
				  "runs with the same replies, and is not compared:");
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
	const char *text = rr_record_text(record);

	if (text)
		fputs(text, out);
	else
		rr_checked_print_verdict(out, check);
	if (record->remark[0])
		rr_print_sentence(out, 2, 4, "%s", record->remark);
	if (record->is_refused)
		rr_print_sentence(out, 2, 4, "This verdict is not kept for the next check: %s.",
				  record->why);
	rr_check_print_skeptic(out, check);
	if (check->options->stats)
		print_stats(out, check);
}
