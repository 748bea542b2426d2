/* SPDX-License-Identifier: MIT */
/* What came of a check, in words. */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/reply.h"
#include "base/text.h"
#include "product/product.h"

/* Of what a program printed: characters, those of them before a difference, and lines before
 * it failed. */
enum { OUTPUT_SHOWN = 200, OUTPUT_BEFORE = 60, FAILURE_LINES = 20 };

/* ---- A finding ---------------------------------------------------------------------- */

static void print_lines(FILE *out, const char *heading, const char *lines)
{
	if (!lines)
		return;
	fprintf(out, "%s\n", heading);
	while (*lines) {
		const int length = (int)strcspn(lines, "\n");

		fprintf(out, "  %.*s\n", length, lines);
		lines += length + (lines[length] == '\n');
	}
}

static const char *noun(const struct rr_check *check)
{
	return check->options->app ? "request" : "client";
}

/* "3 clients, 1 crash, 15 runs of the program, 4.6 s". */
static void print_figures(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const size_t n = check->n_operations;

	fprintf(out, "%zu %s%s, ", n, noun(check), n == 1 ? "" : "s");
	for (int i = 0; i < RR_BUDGETS; i++) {
		const int most = check->options->search.budget.of[i];

		if (most)
			fprintf(out, "%d %s, ", most,
				most == 1 ? rr_budget_rows[i].one : rr_budget_rows[i].many);
	}
	fprintf(out, "%lu runs of the %s%s%s, %.1f s)\n", figures.starts,
		check->options->app ? "app" : "program", check->options->n_named ? "s" : "",
		figures.kept.is_used ? " beside those of another check" : "",
		check->result->seconds);
	if (check->strangers.n)
		fprintf(out,
			"  Somebody else connected to a program's port and was refused, %lu times: first %s.\n",
			check->strangers.n, check->strangers.first);
	if (figures.has_own_clock)
		fprintf(out,
			"  The program keeps its own clock: it is static or written in Go, or the clock's library is missing.\n");
	if (figures.kept.remark[0])
		fprintf(out, "  %s\n", figures.kept.remark);
	if (figures.has_uv && !getenv(RR_UV_THREADS))
		fputs("  Node's thread pool (libuv) had one thread: " RR_UV_THREADS "=1.\n", out);
}

void rr_checked_print_status(FILE *out, int status)
{
	if (WIFSIGNALED(status))
		fprintf(out, "was ended by signal %d", WTERMSIG(status));
	else
		fprintf(out, "exited with %d", WEXITSTATUS(status));
}

/* What is shown of an output begins where it differs from another one, if that would be cut
 * off. */
static const char *shown_from(const struct rr_check *check, int ending, int other)
{
	const char *output = rr_programs_ending(check->programs, ending).output, *at, *at_other;
	size_t n = 0;

	if (strlen(output) <= OUTPUT_SHOWN || other < 0 ||
	    !rr_endings_differ(rr_programs_endings(check->programs), (uint32_t)ending,
			       (uint32_t)other, &at, &at_other))
		return output;
	while (at[n] && at[n] == at_other[n])
		n++;
	if (at + n < output + OUTPUT_SHOWN - OUTPUT_BEFORE)
		return output;
	return n > OUTPUT_BEFORE ? at + n - OUTPUT_BEFORE : at;
}

static void print_output(FILE *out, const struct rr_check *check, int ending, int other)
{
	const char *output = rr_programs_ending(check->programs, ending).output;
	const char *from = shown_from(check, ending, other);
	const size_t length = strlen(from);

	if (!*output)
		return;
	fprintf(out, ", printed %s", from > output ? "..." : "");
	rr_write_quoted(out, from, length < OUTPUT_SHOWN ? length : OUTPUT_SHOWN);
	fputs(length > OUTPUT_SHOWN ? "..." : "", out);
}

/* How each client ended: those that did not succeed; or, where they are compared with
 * `others`, all, with what they printed, on one line. */
static void print_endings(FILE *out, const struct rr_check *check, const int *endings,
			  const int *others)
{
	for (size_t i = 0; i < check->n_operations; i++) {
		const struct rr_ending ending = rr_programs_ending(check->programs, endings[i]);

		if (endings[i] >= 0 && !ending.status && !others)
			continue;
		fprintf(out, "  %s ", check->names[i]);
		if (endings[i] < 0)
			fputs(others ? "crashed, or did not run" : "crashed", out);
		else
			rr_checked_print_status(out, ending.status);
		if (others && endings[i] >= 0)
			print_output(out, check, endings[i], others[i]);
		fputc('\n', out);
	}
}

/* No serial order has done all of their work, whatever its data. */
static void print_who_ended_well(FILE *out, const struct rr_check *check,
				 const struct rr_outcome *finding)
{
	const char *between = "";

	fputs("and ", out);
	for (size_t i = 0; i < check->n_operations; i++) {
		if (!(finding->ended_well & 1U << i))
			continue;
		fprintf(out, "%s%s", between, check->names[i]);
		between = ", ";
	}
	fprintf(out, " have all succeeded: in no serial order of the %ss do they all succeed.\n",
		noun(check));
}

/* What each request was answered: the body and, if it is not 0, the status. */
static void print_answers(FILE *out, const struct rr_check *check, const int *endings,
			  const int *others)
{
	for (size_t i = 0; i < check->n_operations; i++) {
		const struct rr_ending ending = rr_programs_ending(check->programs, endings[i]);
		char *request = rr_programs_describe_request(check->programs, i, -1);

		fprintf(out, "  %s (%s)", check->names[i], request);
		free(request);
		if (endings[i] < 0)
			fputs(" has no answer", out);
		else
			print_output(out, check, endings[i], others[i]);
		if (endings[i] >= 0 && ending.status) {
			fputs(", ", out);
			rr_checked_print_status(out, ending.status);
		}
		fputc('\n', out);
	}
}

/* How operations ended, beside data: all of an app's; of clients those that did not succeed. */
static void print_endings_beside_data(FILE *out, const struct rr_check *check,
				      const struct rr_outcome *finding)
{
	if (check->options->app)
		print_answers(out, check, finding->endings, finding->nearest_endings);
	else
		print_endings(out, check, finding->endings, NULL);
}

static void print_data(FILE *out, const struct rr_check *check, const struct rr_outcome *finding)
{
	print_lines(out, "In the end there is", finding->data);
	print_endings_beside_data(out, check, finding);
	if (!(finding->found & RR_OUTCOME_NOT_SERIAL))
		return;
	fprintf(out, "and no serial order of the %ss%s leaves that.", noun(check),
		check->options->search.is_atomic ? " in which nobody crashes (--atomic)" : "");
	print_lines(out, finding->nearest ? " One leaves" : "",
		    finding->nearest ? finding->nearest : "");
	if (!finding->nearest)
		print_who_ended_well(out, check, finding);
	else if (check->options->app)
		print_answers(out, check, finding->nearest_endings, finding->endings);
}

static void print_outputs(FILE *out, const struct rr_check *check, const struct rr_outcome *finding)
{
	void (*print)(FILE *, const struct rr_check *, const int *,
		      const int *) = check->options->app ? print_answers : print_endings;

	fputs("In the end\n", out);
	print(out, check, finding->endings, finding->nearest_endings);
	fprintf(out, "and no serial order of the %ss with these data ends like that. In one\n",
		noun(check));
	print(out, check, finding->nearest_endings, finding->endings);
	fputs("If it does not matter who prints what, as with workers that share a queue, --data-only compares the data alone.\n",
	      out);
}

void rr_checked_print_end(FILE *out, const struct rr_check *check, const struct rr_outcome *finding)
{
	const unsigned found = finding->found;
	char heading[80] = "Why:";

	if (!found || found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED))
		print_data(out, check, finding);
	print_lines(out, "Not as expected:", finding->unexpected);
	if (found & RR_OUTCOME_OUTPUTS)
		print_outputs(out, check, finding);
	if (finding->is_untimely)
		fputs("It is serializable, but not in the order of time: it is as if a request came before one that had its answer when it began.\n",
		      out);
	if (finding->anomaly)
		snprintf(heading, sizeof(heading), "Why (%s):", finding->anomaly);
	print_lines(out, heading, finding->why);
}

const char *rr_checked_kind(unsigned found)
{
	static const struct {
		unsigned bit;
		const char *name;
	} kinds[] = {
		{ RR_OUTCOME_NOT_SERIAL, "not serializable" },
		{ RR_OUTCOME_UNEXPECTED, "not as expected" },
		{ RR_OUTCOME_OUTPUTS, "outputs are not serializable" },
		{ RR_OUTCOME_EXCLUSION, "two clients are in their critical sections" },
		{ RR_OUTCOME_STUCK, "no progress" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (found & kinds[i].bit)
			return kinds[i].name;
	}
	return NULL;
}

static void print_finding(FILE *out, const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;
	const unsigned found = result->found;

	fprintf(out, "%s%s%s%s (", rr_checked_kind(found),
		found == RR_OUTCOME_STUCK ? ": not all " : "",
		found == RR_OUTCOME_STUCK ? noun(check) : "",
		found != RR_OUTCOME_STUCK ? "" :
		check->options->app       ? "s can be answered" :
					    "s can end");
	if (found & (RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED | RR_OUTCOME_OUTPUTS))
		fprintf(out, "%lu of %lu final states; ", result->wrong, result->finals);
	print_figures(out, check);
	rr_checked_print_end(out, check, &result->findings[0]);
	if (result->serial)
		fputs(result->serial, out);
	if (result->mend)
		fprintf(out, "%s\n", result->mend);
}

/* ---- Without a finding ------------------------------------------------------------- */

/* A client that always failed has shown nothing; how many there are if there is none. */
static size_t find_failing_client(const struct rr_check *check)
{
	const size_t n = check->n_operations;
	size_t i = 0;

	while (i < n && (check->result->finals == 0 || check->result->ever_well & 1U << i))
		i++;
	return i;
}

/* Why there was nothing to be found; NULL = there was something. */
static const char *why_vacuous(const struct rr_check *check)
{
	if (check->result->explored == RR_EXPLORED_ALL && !rr_programs_send(check->programs))
		return check->options->app ?
			       "the app sent no command; does it connect to REDIS_URL?" :
			       "no client sent a command; does the program connect to REDIS_URL?";
	if (find_failing_client(check) < check->n_operations)
		return check->options->app ? "there is a request that never succeeded" :
					     "there is a client that never succeeded";
	return NULL;
}

static const char *why_cut(const struct rr_check *check)
{
	switch (check->result->explored) {
	case RR_EXPLORED_ALL:
		return rr_programs_figures(check->programs).learning.untested ?
			       "not all replies that are assumed not to matter were tested" :
			       NULL;
	case RR_EXPLORED_ROUNDS:
		return "clients that send something new in each round were followed only so far: --rounds";
	case RR_EXPLORED_RANDOM_REPLIES:
		return "a command's reply is random";
	case RR_EXPLORED_MEMORY:
		return "out of memory: half of what is free";
	case RR_EXPLORED_STOPPED:
		return check->session.signals.interrupted ? "interrupted" :
							    "out of time: --seconds";
	default:
		return "there are more: --max-states";
	}
}

const char *rr_checked_limit(const struct rr_check *check)
{
	const char *vacuous = why_vacuous(check);

	return vacuous ? vacuous : why_cut(check);
}

/* For what is there to be seen? */
static void print_failure(FILE *out, const struct rr_check *check, size_t client)
{
	struct rr_ending ending;
	const char *from;
	int n = 0;

	if (!rr_programs_last_ending(check->programs, client, &ending))
		return;
	fprintf(out, "  %s ", check->names[client]);
	rr_checked_print_status(out, ending.status);
	fputc('\n', out);
	from = ending.output + strlen(ending.output);
	while (from > ending.output && n <= FAILURE_LINES)
		n += *--from == '\n';
	if (*from)
		print_lines(out, "  It printed", from + (*from == '\n'));
}

/* Without which it would not be so; NULL = nobody knows. */
static const struct rr_mutant_result *find_guard(const struct rr_explore_result *result)
{
	for (size_t i = 0; i < result->n_mutants; i++) {
		if (result->mutants[i].fails)
			return &result->mutants[i];
	}
	return NULL;
}

/* What the verdict rests on beside states: histories of clients that were taken for one
 * state, and how that was tested. */
static void print_hypothesis(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const struct rr_learning_figures *learning = &figures.learning;

	if (learning->merges == 0)
		return;
	fprintf(out, "  It rests on %lu states of a client, %lu tests of them, ", learning->states,
		learning->tests);
	if (learning->loops > 0)
		fprintf(out, "loops followed for %d rounds and left behind up to %d, ",
			RR_LOOP_ROUNDS, RR_LOOP_LEFT);
	fprintf(out, "%lu walks.\n", learning->walks);
}

static void print_no_finding(FILE *out, const struct rr_check *check)
{
	const struct rr_mutant_result *guard = find_guard(check->result);
	const size_t failing = find_failing_client(check);
	const char *cut = rr_checked_limit(check);
	char number[RR_GROUPED_SIZE];

	rr_grouped(number, (long long)check->result->states);
	if (cut)
		fprintf(out, "no failure found: %s states (", number);
	else
		fprintf(out, "serializable: all %s states, %s as in some order of the %ss%s%s (",
			number,
			check->options->data_only ? "data" :
			check->options->app       ? "data and answers" :
						    "data and outputs",
			noun(check), guard ? ", resting on " : "", guard ? guard->rests_on : "");
	print_figures(out, check);
	if (cut)
		fprintf(out, "  %s: %s%s\n",
			why_vacuous(check) ? "This shows nothing" : "Not searched to the end", cut,
			cut[strlen(cut) - 1] == '?' ? "" : ".");
	if (!cut && !check->options->app && rr_programs_use_connections(check->programs))
		fputs("  A client has several connections: what its own calls do to each other is in every order, and was not compared. For requests to a server there is --app.\n",
		      out);
	if (failing < check->n_operations)
		print_failure(out, check, failing);
	print_hypothesis(out, check);
}

static void print_varying(FILE *out, const struct rr_check *check)
{
	const struct rr_endings *endings = rr_programs_endings(check->programs);

	if (endings->n_varying > 0)
		fputs("  What '*' stands for in these lines of output differs between runs with the same replies, and is not compared:\n",
		      out);
	for (size_t i = 0; i < endings->n_varying; i++) {
		const struct rr_varying *varying = &endings->varying[i];

		fprintf(out, varying->line ? "    %s (line %zu)\n" : "    %s\n", varying->pattern,
			varying->line);
	}
}

/* What came from another check, and whether the next one will have it. */
static void print_kept(FILE *out, const struct rr_kept_figures *kept)
{
	if (kept->is_used)
		fprintf(out, "  %-16s %lu histories from another check, %lu of them run again",
			"kept", kept->states, kept->again);
	else
		fprintf(out, "  %-16s nothing from another check", "kept");
	fprintf(out, kept->why[0] ? " (%s)\n" : "\n", kept->why);
}

/* Where the time went. */
static void print_stats(FILE *out, const struct rr_check *check)
{
	const struct rr_programs_figures figures = rr_programs_figures(check->programs);
	const struct rr_instance_times *times = &figures.times;
	const double of_programs = times->starting + times->running + times->ending;

	fprintf(out, "  %-16s %lu, each waited for %.1f ms until its first command", "runs",
		figures.starts,
		times->starting * 1000 / (double)(figures.starts ? figures.starts : 1));
	if (figures.unused)
		fprintf(out, "; %lu more started ahead, not used", figures.unused);
	fputc('\n', out);
	print_kept(out, &figures.kept);
	fprintf(out,
		"  %-16s %lu states, %lu histories taken for one of them, %lu tests, %lu refinements\n",
		"clients", figures.learning.states, figures.learning.merges, figures.learning.tests,
		figures.learning.refinements);
	fprintf(out, "  %-16s %lu states, %lu transitions, %zu bytes each\n", "searched",
		check->result->states, check->result->transitions,
		check->result->stats.bytes_per_state);
	fprintf(out, "  %-16s %lu to the server\n", "questions", check->result->stats.questions);
	fprintf(out,
		"  %-16s %.2f waiting for programs to start, %.2f running them, %.2f ending them, %.2f all else\n",
		"seconds", times->starting, times->running, times->ending,
		check->result->seconds - of_programs);
}

/* ---- All ------------------------------------------------------------------------------ */

void rr_checked_print(FILE *out, const struct rr_check *check)
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
	print_varying(out, check);
	if (check->options->stats)
		print_stats(out, check);
}

enum rr_exit rr_checked_exit(const struct rr_check *check)
{
	if (check->result->found)
		return RR_EXIT_VIOLATED;
	if (check->options->search.schedule)
		return RR_EXIT_OK;
	if (check->session.signals.interrupted)
		return RR_EXIT_INTERRUPTED;
	if (check->options->accepts_bounded && check->result->explored == RR_EXPLORED_ROUNDS &&
	    !why_vacuous(check))
		return RR_EXIT_OK;
	return rr_checked_limit(check) ? RR_EXIT_INCONCLUSIVE : RR_EXIT_OK;
}
