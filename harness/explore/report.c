/* SPDX-License-Identifier: MIT */
/* Explores one strategy and prints what came of it. */
#include "explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "report_figures.h"

enum { RR_DIFFERENCE_SIZE = 2 * RR_SMALLEST_SIZE + RR_BOUNDS_SIZE + 300 };

struct report {
	struct rr_cluster *cluster;
	const struct rr_explore_options *options;
	struct rr_explore_config config;
	struct rr_explore_result result;
	char *transcript; /* with its verdict */
	FILE *out;
	struct rr_explore_progress progress;
};

static bool report_is_interrupted(const struct report *report)
{
	return report->cluster->session->signals.interrupted;
}

/* Why there may be more states. */
static const char *cut_by(enum rr_explored explored)
{
	switch (explored) {
	case RR_EXPLORED_MOST:
		return ", not all of them";
	case RR_EXPLORED_MEMORY:
		return ", out of memory";
	case RR_EXPLORED_STOPPED:
		return ", interrupted";
	default:
		return "";
	}
}

/* ---- Failures ------------------------------------------------------------- */

static void save_transcript(const struct report *report, struct rr_error *error)
{
	const char *save = report->options->save;
	const size_t length = strlen(save);
	const bool is_folder = length && save[length - 1] == '/';
	char path[RR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s%s%s", save, is_folder ? report->config.strategy->name : "",
		 is_folder ? ".race" : "");
	if (rr_files_replace(path, report->transcript, strlen(report->transcript), error))
		fprintf(report->out, "  saved: %s\n", path);
}

/* As `play` draws it, and what comes of it. */
static void draw_shortest(const struct report *report)
{
	const char *text = report->transcript;
	const struct rr_style style = rr_draw_style(stdout, false);
	const char *verdict = strstr(text, "\nverdict ");
	struct rr_error error = { 0 };

	if (!rr_conclude_draw(report->out, text, report->cluster, RR_FORMAT_TEXT, &style, &error))
		fputs(text, report->out);
	else if (verdict)
		fprintf(report->out, "%s\n", verdict);
}

/* Of random schedules, of all, of the interleavings, or of states. */
static void print_failing(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const bool is_counted = rr_explore_has_counted(result);
	char some[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE], breaks[120];

	fprintf(report->out, "%s: ", report->config.strategy->name);
	if (result->schedules)
		fprintf(report->out,
			"%s of %s %sschedules fail: ", rr_grouped(some, (long long)result->failing),
			rr_grouped(all, (long long)result->schedules),
			report->config.random.runs ? "random " : "");
	else if (is_counted)
		fprintf(report->out, "%s of %s interleavings fail: ",
			rr_grouped(some, (long long)result->failing_interleavings),
			rr_grouped(all, (long long)result->interleavings));
	else
		fprintf(report->out, "fails: ");
	fputs(rr_breaks_text(result->breaks, breaks, sizeof(breaks)), report->out);
	if (!result->schedules && !is_counted)
		fprintf(report->out, " (%s states, %s transitions%s)",
			rr_grouped(some, (long long)result->states),
			rr_grouped(all, (long long)result->transitions), cut_by(result->explored));
	fputc('\n', report->out);
}

/* The numbers are those of the steps below. */
static void print_why(const struct report *report)
{
	const struct rr_outcome *finding = &report->result.findings[0];

	if (!finding->why)
		return;
	fprintf(report->out, "  why%s%s%s:\n", finding->anomaly ? " (" : "",
		finding->anomaly ? finding->anomaly : "", finding->anomaly ? ")" : "");
	rr_print_sentences(report->out, 4, finding->why);
}

static void show_failure(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;
	const unsigned shows = report->config.shows;
	char wanted[120];

	print_failing(report);
	rr_breaks_text(shows, wanted, sizeof(wanted));
	if (shows && !(shows & result->breaks))
		fprintf(report->out, "  nothing breaks %s\n", wanted);
	print_why(report);
	fprintf(report->out, "  shortest%s%s, %zu steps, %d change%s of client",
		shows & result->breaks ? " that breaks " : "", shows & result->breaks ? wanted : "",
		result->steps, result->switches, result->switches == 1 ? "" : "s");
	if (report->config.random.runs)
		fprintf(report->out, ", --random 1 --seed %" PRIu64, result->seed);
	fputs(":\n", report->out);
	draw_shortest(report);
	if (report->options->save)
		save_transcript(report, error);
}

/* Only a failure that also shows when it is played is reported. */
static void report_failure(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;
	struct rr_error why = { 0 };

	report->transcript = rr_conclude(result->transcript, result->shortest_breaks, NULL,
					 report->cluster, &why);
	if (report->transcript)
		show_failure(report, error);
	else if (!report_is_interrupted(report))
		rr_error_set(error, RR_ERROR_INTERNAL,
			     "%s: what was found does not show when it is "
			     "played: %s",
			     report->config.strategy->name, why.text);
}

/* ---- No failure ----------------------------------------------------------- */

static void print_incomplete(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const struct rr_explore_config *config = &report->config;
	char states[RR_GROUPED_SIZE];

	rr_grouped(states, (long long)result->states);
	fprintf(report->out, "%s: no failure found ", config->strategy->name);
	if (config->random.runs)
		fprintf(report->out, "in %s random schedules%s (--seed %" PRIu64 ")\n",
			rr_grouped(states, (long long)result->schedules),
			result->explored == RR_EXPLORED_STOPPED ? ", interrupted," : "",
			config->random.seed);
	else if (result->explored == RR_EXPLORED_ROUNDS)
		fprintf(report->out, "(%d round%s), %s states\n", config->rounds,
			config->rounds == 1 ? "" : "s", states);
	else if (result->explored == RR_EXPLORED_RANDOM_REPLIES)
		fprintf(report->out, "(random replies: %s), %s states\n", result->random_command,
			states);
	else if (result->explored == RR_EXPLORED_DRAWS)
		fprintf(report->out,
			"(random choices: clients look at their random values; %u draws were compared), %s states\n",
			result->stats.draws, states);
	else
		fprintf(report->out, "(%s states%s)\n", states, cut_by(result->explored));
}

/* False: no mutant showed. */
static bool print_complete(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const struct rr_explore_config *config = &report->config;
	char states[RR_GROUPED_SIZE], number[RR_GROUPED_SIZE], bounds[RR_BOUNDS_SIZE];

	rr_grouped(states, (long long)result->states);
	if (!result->noticed[0]) {
		fprintf(report->out, "%s: no failure found in %s states (no mutant is %s)\n",
			config->strategy->name, states,
			config->all ? "tried with --stateless" : "noticed");
		return false;
	}
	fprintf(report->out, "%s: safe: all %s states, %s transitions", config->strategy->name,
		states, rr_grouped(number, (long long)result->transitions));
	if (rr_explore_has_counted(result))
		fprintf(report->out, " (%s interleavings)",
			rr_grouped(number, (long long)result->interleavings));
	else if (result->interleavings)
		fprintf(report->out, " (more than 9 * 10^18 interleavings)");
	fprintf(report->out, " of %s", rr_bounds_text(config, bounds));
	if (result->followed)
		fprintf(report->out, "; %d refusals in a row were followed", result->followed);
	if (result->unfollowed)
		fprintf(report->out, ", but not from %lu beginnings of attempts",
			result->unfollowed);
	if (!config->all_mutants)
		rr_print_noticed_mutant(report->out, result);
	fputc('\n', report->out);
	return true;
}

/* ---- Compared with what is expected ------------------------------------------ */

/* Why the exit code is 1, in a sentence without an end. */
static const char *describe_difference(const struct report *report, char text[RR_DIFFERENCE_SIZE])
{
	const struct rr_explore_config *config = &report->config;
	const struct rr_explore_result *result = &report->result;
	const unsigned expected = rr_expected_breaks(config) & ~(unsigned)RR_LOOPS;
	const unsigned more = result->breaks & ~expected;
	char bounds[RR_BOUNDS_SIZE], names[120], allowed[120], found[RR_SMALLEST_SIZE],
		recorded[RR_SMALLEST_SIZE];

	rr_bounds_text(config, bounds);
	rr_breaks_text(expected, allowed, sizeof(allowed));
	if (more)
		snprintf(text, RR_DIFFERENCE_SIZE,
			 "not as expected: %s must not break with %s (expected at most: %s)",
			 rr_breaks_text(more, names, sizeof(names)), bounds,
			 allowed[0] ? allowed : RR_NOTHING_FOUND);
	else if (!rr_is_smallest_expected(config, result))
		snprintf(text, RR_DIFFERENCE_SIZE,
			 "not as expected: the smallest findings with %s are %s (expected: %s)",
			 bounds,
			 rr_smallest_text(result->smallest, found)[0] ? found : RR_NOTHING_FOUND,
			 rr_smallest_expected(config, recorded) && recorded[0] ? recorded :
										 RR_NOTHING_FOUND);
	else
		snprintf(text, RR_DIFFERENCE_SIZE, "not as expected: %s must break with %s",
			 allowed, bounds);
	return text;
}

static enum rr_exit judge_result(const struct report *report, bool is_safe)
{
	const enum rr_exit code = rr_judge_search(&report->config, &report->result, is_safe);
	char text[RR_DIFFERENCE_SIZE];

	if (code == RR_EXIT_VIOLATED)
		rr_print_sentence(report->out, 2, 4, "%s", describe_difference(report, text));
	return code;
}

/* ---- The whole ------------------------------------------------------------ */

static enum rr_exit print_result(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;
	bool is_safe = false;

	if (result->breaks)
		report_failure(report, error);
	else if (result->explored == RR_EXPLORED_ALL)
		is_safe = print_complete(report);
	else
		print_incomplete(report);
	if (error->kind == RR_ERROR_INTERNAL)
		return RR_EXIT_OK;
	if (report->config.all_mutants)
		rr_print_all_mutants(report->out, result);
	if (report->config.random.runs && result->schedules)
		rr_print_random_bound(report->out, &result->bound);
	if (report_is_interrupted(report)) {
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
		return RR_EXIT_OK;
	}
	return judge_result(report, is_safe);
}

/* A search that failed: of which strategy? */
static void name_error(const struct report *report, struct rr_error *error)
{
	const struct rr_error *why = &report->result.error;
	const char *name = report->config.strategy->name;

	if (why->kind == RR_ERROR_FILE)
		*error = *why;
	else if (why->kind == RR_ERROR_SKIPPED)
		rr_error_set(error, why->kind, "%s skipped: this server has %s", name, why->text);
	else
		rr_error_set(error, why->kind, "%s: %s", name, why->text);
}

/* ---- A case for other programs --------------------------------------------- */

static json_t *shortest_of_search(const struct rr_explore_result *result)
{
	if (!result->transcript)
		return json_null();
	return json_pack("{s:o, s:i, s:I, s:o, s:o}", "breaks",
			 rr_invariants_json(result->shortest_breaks), "switches", result->switches,
			 "steps", (json_int_t)result->steps, "why",
			 rr_case_text(result->findings[0].why), "anomaly",
			 rr_case_text(result->findings[0].anomaly));
}

/* How far the search goes. */
static json_t *bounds_as_json(const struct rr_explore_config *config)
{
	json_t *bounds = json_pack("{s:I, s:I, s:b, s:i, s:I, s:I}", "clients",
				   (json_int_t)config->n_clients, "increments",
				   (json_int_t)config->increments, "separate",
				   (int)config->separate, "rounds", config->rounds, "ttl_ms",
				   (json_int_t)config->ttl_ms, "most", (json_int_t)config->most);
	char name[RR_BUDGET_NAME];

	for (int i = 0; i < RR_BUDGETS; i++)
		json_object_set_new(bounds, rr_budget_name(i, name),
				    json_integer(config->budget.of[i]));
	return bounds;
}

static json_t *properties_of_search(const struct report *report)
{
	static const char *const explored[] = {
		[RR_EXPLORED_ALL] = "all",
		[RR_EXPLORED_ROUNDS] = "rounds",
		[RR_EXPLORED_RANDOM_REPLIES] = "random replies",
		[RR_EXPLORED_DRAWS] = "random choices",
		[RR_EXPLORED_MOST] = "limit of states",
		[RR_EXPLORED_MEMORY] = "limit of memory",
		[RR_EXPLORED_STOPPED] = "interrupted",
		[RR_EXPLORED_RANDOM] = "random schedules",
		[RR_EXPLORED_FOUND] = "up to a finding",
	};
	const struct rr_explore_result *result = &report->result;
	const unsigned expected = rr_expected_breaks(&report->config);
	char smallest[RR_SMALLEST_SIZE], recorded[RR_SMALLEST_SIZE], bounds[RR_BOUNDS_SIZE];

	return json_pack(
		"{s:o, s:o, s:s, s:o, s:s, s:o, s:s, s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
		"breaks", rr_invariants_json(result->breaks), "expected",
		rr_invariants_json(expected), "smallest",
		rr_smallest_text(result->smallest, smallest), "smallest_expected",
		rr_smallest_expected(&report->config, recorded) ? json_string(recorded) :
								  json_null(),
		"within", rr_bounds_text(&report->config, bounds), "bounds",
		bounds_as_json(&report->config), "explored", explored[result->explored], "followed",
		result->followed, "shortest", shortest_of_search(result), "states",
		(json_int_t)result->states, "transitions", (json_int_t)result->transitions,
		"schedules", (json_int_t)result->schedules, "failing", (json_int_t)result->failing,
		"questions", (json_int_t)result->stats.questions, "rests_on",
		rr_case_text(result->noticed), "transcript", rr_case_text(report->transcript));
}

/* `text`: what is printed of it, whose first line begins with the name. */
static void add_search(const struct report *report, enum rr_exit code, const struct rr_error *error,
		       const char *text, struct rr_cases *cases)
{
	const char *name = report->config.strategy->name;
	const size_t lead = strlen(name) + 2, first = strcspn(text, "\n");
	char message[RR_ERROR_SIZE + RR_DIFFERENCE_SIZE], file[120];
	char difference[RR_DIFFERENCE_SIZE] = "";

	if (!error->kind && code == RR_EXIT_VIOLATED)
		describe_difference(report, difference);

	snprintf(file, sizeof(file), "scenarios/%s.c", name);
	if (error->kind)
		snprintf(message, sizeof(message), "%s", error->text);
	else
		snprintf(message, sizeof(message), "%.*s%s%s",
			 first > lead ? (int)(first - lead) : 0, text + lead,
			 difference[0]      ? "; " :
			 code == RR_EXIT_OK ? ", as expected" :
					      "",
			 difference);
	rr_cases_add(
		cases,
		&(struct rr_case){
			.suite = "explore",
			.name = name,
			.verdict = rr_case_verdict_of(error->kind ? rr_exit_of(error->kind) : code),
			.seconds = report->result.seconds,
			.message = message,
			.details = text[first] && text[first + 1] ? text + first + 1 : NULL,
			.file = file,
			.properties = properties_of_search(report) });
}

/* ---- All of it --------------------------------------------------------------- */

enum rr_exit rr_explore_report(struct rr_cluster *cluster, const struct rr_strategy *strategy,
			       const struct rr_explore_options *options,
			       struct rr_explore_said *said, struct rr_cases *cases,
			       struct rr_error *error)
{
	struct report report = {
		.cluster = cluster,
		.options = options,
		.config = rr_explore_config_of(options, strategy),
		.progress = { .signals = &cluster->session->signals,
			      .name = strategy->name,
			      .unit = options->config.random.runs ? "schedules" : "states" },
	};
	enum rr_exit code = RR_EXIT_OK;
	bool was_explored;

	report.config.progress = rr_explore_progress;
	report.config.context = &report.progress;
	report.out = rr_open_text(&said->text);
	was_explored = rr_explore(cluster, &report.config, &report.result);
	rr_progress_end(&report.progress.line);
	if (was_explored)
		code = print_result(&report, error);
	else
		name_error(&report, error);
	if (was_explored && options->stats)
		rr_print_search_stats(report.out, &report.result);
	fclose(report.out);
	add_search(&report, code, error, said->text, cases);
	said->transcript = report.transcript;
	said->is_judged = !error->kind;
	rr_explore_release(&report.result);
	return code;
}
