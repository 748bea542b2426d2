/* SPDX-License-Identifier: MIT */
#include "explore_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canary.h"
#include "conclude.h"
#include "explore_progress.h"
#include "explore_verdict.h"
#include "files.h"
#include "invariants.h"
#include "pct_report.h"
#include "text.h"

struct report {
	struct rr_world *world;
	const struct rr_explore_config *config;
	const char *save;
	struct rr_explore_result result;
	double begun;
};

static bool is_interrupted(const struct report *report)
{
	return report->world->session->signals.interrupted;
}

/* ---- Failures ------------------------------------------------------------- */

static enum rr_exit save(const struct report *report, const char *text)
{
	const size_t length = strlen(report->save);
	const bool is_folder = length && report->save[length - 1] == '/';
	char path[RR_PATH_SIZE];
	enum rr_exit code;

	snprintf(path, sizeof(path), "%s%s%s", report->save,
		 is_folder ? report->config->strategy->name : "",
		 is_folder ? ".race" : "");
	code = rr_files_replace(path, text, strlen(text));
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
static void draw(const struct report *report, const char *text)
{
	const struct rr_style style = rr_draw_style(stdout, false);
	const char *verdict = strstr(text, "\nverdict ");

	if (!rr_conclude_draw(stdout, text, report->world, &style))
		print_steps(text);
	else if (verdict)
		puts(verdict);
}

static enum rr_exit show_failure(struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	char error[RR_WORLD_ERROR] = "";
	char *text = rr_conclude(result->transcript, report->world,
					    error, sizeof(error));
	enum rr_exit code = RR_EXIT_OK;

	printf("  shortest, %zu steps, %d changes of client", result->moves,
	       result->switches);
	if (report->config->random.runs)
		printf(", --random 1 --seed %" PRIu64, result->seed);
	puts(":");
	if (text)
		draw(report, text);
	else
		print_steps(result->transcript);
	if (!text && !is_interrupted(report))
		rr_complain(RR_EXIT_INCONCLUSIVE,
			    "%s: the transcript does not replay: %s",
			    report->config->strategy->name, error);
	if (text && report->save)
		code = save(report, text);
	free(text);
	return code;
}

static void print_failing_interleavings(const struct rr_explore_result *result)
{
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	if (result->explored == RR_EXPLORED_ALL &&
	    result->interleavings > result->schedules &&
	    result->interleavings <= INT64_MAX)
		printf(" (%s of %s interleavings)",
		       rr_grouped(failing,
				  (long long)result->failing_interleavings),
		       rr_grouped(all, (long long)result->interleavings));
}

static void print_failing(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	printf("%s: %s of %s %sschedules fail", report->config->strategy->name,
	       rr_grouped(failing, (long long)result->failing),
	       rr_grouped(all, (long long)result->schedules),
	       report->config->random.runs ? "random " : "");
	print_failing_interleavings(result);
	putchar(':');
	for (int i = 0; i < RR_INVARIANTS; i++) {
		if (result->broken[i])
			printf(" %s %s",
			       rr_invariant_name(i),
			       rr_grouped(failing,
					  (long long)result->broken[i]));
	}
	putchar('\n');
}

/* ---- No failure ----------------------------------------------------------- */

static void print_no_failure(const struct report *report, const char *why)
{
	char number[RR_GROUPED_SIZE];

	printf("%s: no failure found in %s schedules (%s)\n",
	       report->config->strategy->name,
	       rr_grouped(number, (long long)report->result.schedules), why);
}

static void print_cut(const struct report *report)
{
	char why[64];

	if (report->config->random.runs) {
		rr_pct_report_none(report->config, &report->result);
		return;
	}
	if (report->result.explored == RR_EXPLORED_ROUNDS)
		snprintf(why, sizeof(why), "%d round%s",
			 report->config->rounds,
			 report->config->rounds == 1 ? "" : "s");
	else
		snprintf(why, sizeof(why), "%s",
			 report->result.explored == RR_EXPLORED_MOST ?
				 "not all of them" :
				 "interrupted");
	print_no_failure(report, why);
}

/* If there is more to tell than the schedules. */
static void print_interleavings(const struct rr_explore_result *result)
{
	char number[RR_GROUPED_SIZE];

	if (result->interleavings > INT64_MAX)
		printf(" (of more than 9 * 10^18 interleavings)");
	else if (result->interleavings > result->schedules)
		printf(" (of %s interleavings)",
		       rr_grouped(number, (long long)result->interleavings));
}

/* False: nothing that was weakened showed. */
static bool conclude_safe(struct report *report, enum rr_exit *code)
{
	char number[RR_GROUPED_SIZE], error[RR_WORLD_ERROR];
	const char *canary = rr_canary_seek(report->world, report->config, code,
					    error);

	if (*code != RR_EXIT_OK) {
		rr_complain(*code, "%s", error);
		return false;
	}
	if (!canary) {
		print_no_failure(report, is_interrupted(report) ? "interrupted" :
								  "no canary");
		return false;
	}
	printf("%s: safe: all %s schedules", report->config->strategy->name,
	       rr_grouped(number, (long long)report->result.schedules));
	print_interleavings(&report->result);
	printf("\n  canary: %s fails\n", canary);
	return true;
}

/* ---- The whole ------------------------------------------------------------ */

static enum rr_exit print_result(struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	enum rr_exit code = RR_EXIT_OK;
	bool is_safe = false;

	if (result->failing) {
		print_failing(report);
		code = show_failure(report);
	} else if (result->explored == RR_EXPLORED_ALL) {
		is_safe = conclude_safe(report, &code);
	} else {
		print_cut(report);
	}
	if (report->config->random.runs && result->schedules)
		rr_pct_report_bound(report->config, result);
	if (is_interrupted(report))
		return RR_EXIT_INTERRUPTED;
	return rr_exit_worse(code, rr_explore_verdict(report->config, result,
						      is_safe));
}

static void print_figures(const struct rr_explore_result *result)
{
	const unsigned long runs = result->schedules + result->blocked;

	if (runs == 0)
		return;
	fprintf(stderr, "  %lu runs, %lu of them blocked, %.2f s, %.0f a second\n",
		runs, result->blocked, result->seconds,
		result->seconds > 0 ? (double)runs / result->seconds : 0);
}

enum rr_exit rr_explore_report(struct rr_world *world,
			       const struct rr_explore_config *config,
			       const char *save)
{
	struct rr_explore_config watched = *config;
	struct rr_explore_progress progress = {
		.signals = &world->session->signals,
		.name = config->strategy->name,
	};
	struct report report = { .world = world, .config = &watched,
				 .save = save };
	enum rr_exit code;

	watched.progress = rr_explore_progress;
	watched.context = &progress;
	code = rr_explore(world, &watched, &report.result);
	rr_explore_progress_clear();
	if (code == RR_EXIT_SKIPPED)
		rr_complain(code, "%s skipped: this server has %s",
			    config->strategy->name, report.result.error);
	else if (code != RR_EXIT_OK)
		rr_complain(code, "%s: %s", config->strategy->name,
			    report.result.error);
	else
		code = print_result(&report);
	rr_explore_progress_clear();
	fflush(stdout);
	print_figures(&report.result);
	rr_explore_release(&report.result);
	return code;
}
