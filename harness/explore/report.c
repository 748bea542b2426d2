/* SPDX-License-Identifier: MIT */
/* Explores one strategy and prints what came of it. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "draw/draw.h"

struct report {
	struct rr_cluster *cluster;
	const struct rr_explore_options *options;
	struct rr_explore_config config;
	struct rr_explore_result result;
	char *transcript; /* with its verdict */
};

static bool report_is_interrupted(const struct report *report)
{
	return report->cluster->session->signals.interrupted;
}

/* Were they counted, and are not too many? */
static bool has_interleavings(const struct rr_explore_result *result)
{
	return result->explored == RR_EXPLORED_ALL && result->interleavings &&
	       result->interleavings <= INT64_MAX;
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

/* ---- What the strategy's table expects ------------------------------------ */

/* The columns of the matrix that these bounds touch, as bits. */
static unsigned hazards_of(const struct rr_explore_config *config)
{
	const struct rr_budget *budget = &config->budget;
	unsigned hazards = 1U << (config->separate ? RR_PROCESSES : RR_THREADS);

	if (budget->crashes)
		hazards |= 1U << RR_CRASH;
	if (budget->expiries || budget->pauses)
		hazards |= 1U << RR_PAUSE;
	if (config->repeats)
		hazards |= 1U << RR_LOST_REPLY;
	if (config->work_ms)
		hazards |= 1U << RR_SLOW_WORK;
	if (budget->restarts)
		hazards |= 1U << RR_RESTART;
	if (config->skew_ns || budget->jumps)
		hazards |= 1U << RR_SKEW;
	return hazards;
}

static unsigned expected_breaks(const struct rr_strategy *strategy,
				unsigned hazards)
{
	unsigned breaks = 0;

	for (int i = 0; i < RR_HAZARDS; i++) {
		if (hazards >> i & 1)
			breaks |= strategy->breaks[i];
	}
	return breaks;
}

/* `is_safe`: all states were seen, none fails, and a mutant does. Faults together
 * may break more than each of them, and narrow bounds less. */
static enum rr_exit compare_with_table(const struct report *report,
				       bool is_safe)
{
	const struct rr_strategy *strategy = report->config.strategy;
	const unsigned hazards = hazards_of(&report->config);
	const unsigned breaks = expected_breaks(strategy, hazards);
	const unsigned free_of_faults = expected_breaks(
		strategy, hazards & (1U << RR_THREADS | 1U << RR_PROCESSES));
	const bool loops = report->result.explored == RR_EXPLORED_ROUNDS &&
			   breaks & RR_LOOPS;

	if (report->result.failing)
		return breaks & ~(unsigned)RR_LOOPS ? RR_EXIT_OK :
						      RR_EXIT_VIOLATED;
	if (!is_safe)
		return loops ? RR_EXIT_OK : RR_EXIT_INCONCLUSIVE;
	return free_of_faults ? RR_EXIT_VIOLATED : RR_EXIT_OK;
}

/* ---- Failures ------------------------------------------------------------- */

static void save_transcript(const struct report *report, struct rr_error *error)
{
	const char *save = report->options->save;
	const size_t length = strlen(save);
	const bool is_folder = length && save[length - 1] == '/';
	char path[RR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s%s%s", save,
		 is_folder ? report->config.strategy->name : "",
		 is_folder ? ".race" : "");
	if (rr_files_replace(path, report->transcript,
			     strlen(report->transcript), error))
		printf("  saved: %s\n", path);
}

/* The steps, without the headings. */
static void print_transcript_steps(const char *text)
{
	const char *line = strstr(text, "\n\n");

	for (line = line ? line + 2 : text; *line;) {
		const size_t length = strcspn(line, "\n");

		if (length)
			printf("  %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

/* As `play` draws it, and what comes of it. */
static void draw_shortest(const struct report *report)
{
	const char *text = report->transcript;
	const struct rr_style style = rr_draw_style(stdout, false);
	const char *verdict = strstr(text, "\nverdict ");
	struct rr_error error = { 0 };

	if (!rr_conclude_draw(stdout, text, report->cluster,
			      RR_FORMAT_TEXT, &style, &error))
		print_transcript_steps(text);
	else if (verdict)
		puts(verdict);
}

static void print_broken_invariants(unsigned breaks)
{
	const char *before = "";

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (breaks >> i & 1) {
			printf("%s%s", before, rr_invariant_name(i));
			before = ", ";
		}
	}
}

/* Of random schedules, of all, of the interleavings, or of states. */
static void print_failing(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const bool is_counted = has_interleavings(result);
	char some[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	printf("%s: ", report->config.strategy->name);
	if (result->schedules)
		printf("%s of %s %sschedules fail: ",
		       rr_grouped(some, (long long)result->failing),
		       rr_grouped(all, (long long)result->schedules),
		       report->config.random.runs ? "random " : "");
	else if (is_counted)
		printf("%s of %s interleavings fail: ",
		       rr_grouped(some,
				  (long long)result->failing_interleavings),
		       rr_grouped(all, (long long)result->interleavings));
	else
		printf("fails: ");
	print_broken_invariants(result->breaks);
	if (!result->schedules && !is_counted)
		printf(" (%s states, %s transitions%s)",
		       rr_grouped(some, (long long)result->states),
		       rr_grouped(all, (long long)result->transitions),
		       cut_by(result->explored));
	putchar('\n');
}

static void show_failure(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;

	print_failing(report);
	printf("  shortest, %zu steps, %d changes of client", result->steps,
	       result->switches);
	if (report->config.random.runs)
		printf(", --random 1 --seed %" PRIu64, result->seed);
	puts(":");
	draw_shortest(report);
	if (report->options->save)
		save_transcript(report, error);
}

/* Only what shows itself when it is played is told. */
static void report_failure(struct report *report, struct rr_error *error)
{
	const struct rr_explore_result *result = &report->result;
	struct rr_error why = { 0 };

	report->transcript = rr_conclude(result->transcript,
					 result->shortest_breaks,
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
	printf("%s: no failure found ", config->strategy->name);
	if (config->random.runs)
		printf("in %s random schedules%s (--seed %" PRIu64 ")\n",
		       rr_grouped(states, (long long)result->schedules),
		       result->explored == RR_EXPLORED_STOPPED ?
			       ", interrupted," :
			       "",
		       config->random.seed);
	else if (result->explored == RR_EXPLORED_ROUNDS)
		printf("(%d round%s), %s states\n", config->rounds,
		       config->rounds == 1 ? "" : "s", states);
	else if (result->explored == RR_EXPLORED_RANDOM_REPLIES)
		printf("(random replies: %s), %s states\n",
		       result->random_command, states);
	else
		printf("(%s states%s)\n", states, cut_by(result->explored));
}

/* False: no mutant showed. */
static bool print_complete(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const struct rr_explore_config *config = &report->config;
	char states[RR_GROUPED_SIZE], number[RR_GROUPED_SIZE];

	rr_grouped(states, (long long)result->states);
	if (!result->noticed) {
		printf("%s: no failure found in %s states (no mutant is %s)\n",
		       config->strategy->name, states,
		       config->all ? "tried with --stateless" : "noticed");
		return false;
	}
	printf("%s: safe: all %s states, %s transitions",
	       config->strategy->name, states,
	       rr_grouped(number, (long long)result->transitions));
	if (has_interleavings(result))
		printf(" (%s interleavings)",
		       rr_grouped(number, (long long)result->interleavings));
	else if (result->interleavings)
		printf(" (more than 9 * 10^18 interleavings)");
	putchar('\n');
	if (!config->all_mutants)
		rr_print_noticed_mutant(result);
	return true;
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
		rr_print_all_mutants(result);
	if (report->config.random.runs && result->schedules)
		rr_print_random_bound(&result->bound);
	if (report_is_interrupted(report)) {
		rr_error_set(error, RR_ERROR_INTERRUPTED, "interrupted");
		return RR_EXIT_OK;
	}
	return compare_with_table(report, is_safe);
}

/* A search that failed: of which strategy? */
static void name_error(const struct report *report, struct rr_error *error)
{
	const struct rr_error *why = &report->result.error;
	const char *name = report->config.strategy->name;

	if (why->kind == RR_ERROR_FILE)
		*error = *why;
	else if (why->kind == RR_ERROR_SKIPPED)
		rr_error_set(error, why->kind, "%s skipped: this server has %s",
			     name, why->text);
	else
		rr_error_set(error, why->kind, "%s: %s", name, why->text);
}

enum rr_exit rr_explore_report(struct rr_cluster *cluster,
			       const struct rr_strategy *strategy,
			       const struct rr_explore_options *options,
			       struct rr_error *error)
{
	struct report report = { .cluster = cluster,
				 .options = options,
				 .config = options->config };
	struct rr_explore_progress progress = {
		.signals = &cluster->session->signals,
		.name = strategy->name,
		.unit = options->config.random.runs ? "schedules" : "states",
	};
	enum rr_exit code = RR_EXIT_OK;

	report.config.strategy = strategy;
	report.config.progress = rr_explore_progress;
	report.config.context = &progress;
	if (rr_explore(cluster, &report.config, &report.result)) {
		rr_explore_progress_clear();
		code = print_result(&report, error);
		if (options->stats)
			rr_print_search_stats(&report.result);
	} else {
		rr_explore_progress_clear();
		name_error(&report, error);
	}
	fflush(stdout);
	free(report.transcript);
	rr_explore_release(&report.result);
	return code;
}
