/* SPDX-License-Identifier: MIT */
#include "explore_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conclude.h"
#include "explore_figures.h"
#include "explore_progress.h"
#include "explore_verdict.h"
#include "base/files.h"
#include "invariants.h"
#include "random_report.h"
#include "base/text.h"

struct report {
	struct rr_cluster *cluster;
	const struct rr_explore_config *config;
	const char *save;
	bool stats;
	struct rr_explore_result result;
	char *transcript; /* with its verdict */
};

static bool is_interrupted(const struct report *report)
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

/* ---- Failures ------------------------------------------------------------- */

static enum rr_exit save(const struct report *report)
{
	const size_t length = strlen(report->save);
	const bool is_folder = length && report->save[length - 1] == '/';
	char path[RR_PATH_SIZE];
	enum rr_exit code;

	snprintf(path, sizeof(path), "%s%s%s", report->save,
		 is_folder ? report->config->strategy->name : "",
		 is_folder ? ".race" : "");
	code = rr_files_replace(path, report->transcript,
				strlen(report->transcript));
	if (code == RR_EXIT_OK)
		printf("  saved: %s\n", path);
	return code;
}

/* The steps, without the headings. */
static void print_steps(const char *text)
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
static void draw(const struct report *report)
{
	const char *text = report->transcript;
	const struct rr_style style = rr_draw_style(stdout, false);
	const char *verdict = strstr(text, "\nverdict ");

	if (!rr_conclude_draw(stdout, text, report->cluster, &style))
		print_steps(text);
	else if (verdict)
		puts(verdict);
}

/* Of random schedules, of all, or of the interleavings. */
static void print_failing_of(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	if (result->schedules)
		printf("%s of %s %sschedules fail: ",
		       rr_grouped(failing, (long long)result->failing),
		       rr_grouped(all, (long long)result->schedules),
		       report->config->random.runs ? "random " : "");
	else
		printf("%s of %s interleavings fail: ",
		       rr_grouped(failing,
				  (long long)result->failing_interleavings),
		       rr_grouped(all, (long long)result->interleavings));
}

static void print_broken(unsigned breaks)
{
	const char *before = "";

	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (breaks >> i & 1) {
			printf("%s%s", before, rr_invariant_name(i));
			before = ", ";
		}
	}
}

static void print_failing(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const bool is_counted = result->schedules || has_interleavings(result);
	char states[RR_GROUPED_SIZE], transitions[RR_GROUPED_SIZE];

	printf("%s: ", report->config->strategy->name);
	if (is_counted)
		print_failing_of(report);
	else
		printf("fails: ");
	print_broken(result->breaks);
	if (!is_counted)
		printf(" (%s states, %s transitions%s)",
		       rr_grouped(states, (long long)result->states),
		       rr_grouped(transitions, (long long)result->transitions),
		       cut_by(result->explored));
	putchar('\n');
}

static enum rr_exit show_failure(struct report *report)
{
	const struct rr_explore_result *result = &report->result;

	print_failing(report);
	printf("  shortest, %zu steps, %d changes of client", result->moves,
	       result->switches);
	if (report->config->random.runs)
		printf(", --random 1 --seed %" PRIu64, result->seed);
	puts(":");
	draw(report);
	return report->save ? save(report) : RR_EXIT_OK;
}

/* Only what shows itself when it is played is told. */
static enum rr_exit conclude_failing(struct report *report)
{
	char error[RR_CLUSTER_ERROR] = "out of memory";

	if (report->result.transcript)
		report->transcript = rr_conclude(report->result.transcript,
						 report->result.shortest_breaks,
						 report->cluster, error,
						 sizeof(error));
	if (report->transcript)
		return show_failure(report);
	if (is_interrupted(report))
		return RR_EXIT_INTERRUPTED;
	return rr_complain(RR_EXIT_INTERNAL,
			   "%s: what was found does not show when it is played: %s",
			   report->config->strategy->name, error);
}

/* ---- No failure ----------------------------------------------------------- */

static void print_cut(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	const int rounds = report->config->rounds;
	char states[RR_GROUPED_SIZE];

	if (report->config->random.runs) {
		rr_random_report_none(report->config, result);
		return;
	}
	rr_grouped(states, (long long)result->states);
	printf("%s: no failure found ", report->config->strategy->name);
	if (result->explored == RR_EXPLORED_ROUNDS)
		printf("(%d round%s), %s states\n", rounds,
		       rounds == 1 ? "" : "s", states);
	else if (result->explored == RR_EXPLORED_RANDOM_REPLIES)
		printf("(random replies: %s), %s states\n",
		       result->random_command, states);
	else
		printf("(%s states%s)\n", states, cut_by(result->explored));
}

/* False: no mutant showed. */
static bool print_whole(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	char states[RR_GROUPED_SIZE], number[RR_GROUPED_SIZE];

	rr_grouped(states, (long long)result->states);
	if (!result->noticed) {
		printf("%s: no failure found in %s states (no mutant is %s)\n",
		       report->config->strategy->name, states,
		       report->config->all ? "tried with --all" : "noticed");
		return false;
	}
	printf("%s: safe: all %s states, %s transitions",
	       report->config->strategy->name, states,
	       rr_grouped(number, (long long)result->transitions));
	if (has_interleavings(result))
		printf(" (%s interleavings)",
		       rr_grouped(number, (long long)result->interleavings));
	else if (result->interleavings)
		printf(" (more than 9 * 10^18 interleavings)");
	putchar('\n');
	if (!report->config->all_mutants)
		rr_explore_print_noticed(result);
	return true;
}

/* ---- The whole ------------------------------------------------------------ */

static enum rr_exit print_result(struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	enum rr_exit code = RR_EXIT_OK;
	bool is_safe = false;

	if (result->breaks)
		code = conclude_failing(report);
	else if (result->explored == RR_EXPLORED_ALL)
		is_safe = print_whole(report);
	else
		print_cut(report);
	if (code == RR_EXIT_INTERNAL)
		return code;
	if (report->config->all_mutants)
		rr_explore_print_mutants(result);
	if (report->config->random.runs && result->schedules)
		rr_random_report_bound(result);
	if (is_interrupted(report))
		return RR_EXIT_INTERRUPTED;
	return rr_exit_worse(code, rr_explore_verdict(report->config, result,
						      is_safe));
}

static enum rr_exit report_on(struct report *report, enum rr_exit code)
{
	const char *name = report->config->strategy->name;

	if (code == RR_EXIT_SKIPPED)
		return rr_complain(code, "%s skipped: this server has %s", name,
				   report->result.error);
	if (code != RR_EXIT_OK && !report->result.error[0])
		return code; /* said already */
	if (code != RR_EXIT_OK)
		return rr_complain(code, "%s: %s", name, report->result.error);
	code = print_result(report);
	if (report->stats)
		rr_explore_print_stats(&report->result);
	return code;
}

enum rr_exit rr_explore_report(struct rr_cluster *cluster,
			       const struct rr_explore_config *config,
			       const char *save, bool stats)
{
	struct rr_explore_config watched = *config;
	struct rr_explore_progress progress = {
		.signals = &cluster->session->signals,
		.name = config->strategy->name,
		.unit = config->random.runs ? "schedules" : "states",
	};
	struct report report = { .cluster = cluster,
				 .config = &watched,
				 .save = save,
				 .stats = stats };
	enum rr_exit code;

	watched.progress = rr_explore_progress;
	watched.context = &progress;
	code = rr_explore(cluster, &watched, &report.result);
	rr_explore_progress_clear();
	code = report_on(&report, code);
	fflush(stdout);
	free(report.transcript);
	rr_explore_release(&report.result);
	return code;
}
