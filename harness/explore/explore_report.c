/* SPDX-License-Identifier: MIT */
#include "explore_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "canary.h"
#include "conclude.h"
#include "files.h"
#include "invariants.h"
#include "text.h"

struct report {
	struct rr_world *world;
	const struct rr_explore_config *config;
	const char *save;
	struct rr_explore_result result;
	double begun;
};

/* ---- Progress ------------------------------------------------------------- */

static bool show_progress(void *context, unsigned long schedules)
{
	const struct report *report = context;
	struct rr_signals *signals = &report->world->session->signals;
	char number[RR_GROUPED_SIZE];

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s: %s schedules ",
			report->config->strategy->name,
			rr_grouped(number, (long long)schedules));
	rr_signals_wait(signals, 0);
	return !signals->interrupted;
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* ---- Expectation ---------------------------------------------------------- */

/* The columns of the matrix that these bounds touch, as bits. */
static unsigned hazards_of(const struct rr_explore_config *config)
{
	unsigned hazards = 1U << (config->separate ? RR_PROCESSES : RR_THREADS);

	if (config->budget.crashes)
		hazards |= 1U << RR_CRASH;
	if (config->budget.expiries || config->budget.pauses)
		hazards |= 1U << RR_PAUSE;
	if (config->repeats)
		hazards |= 1U << RR_LOST_REPLY;
	if (config->work_ms)
		hazards |= 1U << RR_SLOW_WORK;
	if (config->budget.restarts)
		hazards |= 1U << RR_RESTART;
	if (config->skew_ns || config->budget.jumps)
		hazards |= 1U << RR_SKEW;
	return hazards;
}

/* What the table expects of them all. */
static unsigned expected(const struct rr_strategy *strategy, unsigned hazards)
{
	unsigned breaks = 0;

	for (int i = 0; i < RR_HAZARDS; i++) {
		if (hazards >> i & 1)
			breaks |= strategy->breaks[i];
	}
	return breaks;
}

/* Faults together may break more than each of them, and narrow bounds less. */
static enum rr_exit compare(const struct report *report, bool is_safe)
{
	const struct rr_explore_result *result = &report->result;
	const struct rr_explore_config *config = report->config;
	const unsigned hazards = hazards_of(config);
	const unsigned breaks = expected(config->strategy, hazards);
	const unsigned free_of_faults =
		expected(config->strategy,
			 hazards & (1U << RR_THREADS | 1U << RR_PROCESSES));
	const bool loops = result->explored == RR_EXPLORED_ROUNDS &&
			   breaks & RR_LOOPS;

	if (result->failing)
		return breaks & ~(unsigned)RR_LOOPS ? RR_EXIT_OK :
						      RR_EXIT_VIOLATED;
	if (!is_safe)
		return loops ? RR_EXIT_OK : RR_EXIT_INCONCLUSIVE;
	return free_of_faults ? RR_EXIT_VIOLATED : RR_EXIT_OK;
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
static void draw(const char *text)
{
	const char *line = strstr(text, "\n\n");

	for (line = line ? line + 2 : text; *line;) {
		const size_t length = strcspn(line, "\n");

		if (length)
			printf("  %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

static enum rr_exit show_failure(struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	char error[RR_WORLD_ERROR] = "";
	char *text = rr_conclude(result->transcript, report->world,
					    error, sizeof(error));
	enum rr_exit code = RR_EXIT_OK;

	printf("  shortest, %zu steps, %d changes of client:\n", result->moves,
	       result->switches);
	draw(text ? text : result->transcript);
	if (!text)
		rr_complain(RR_EXIT_INCONCLUSIVE,
			    "%s: the transcript does not replay: %s",
			    report->config->strategy->name, error);
	if (text && report->save)
		code = save(report, text);
	free(text);
	return code;
}

static void print_failing(const struct report *report)
{
	const struct rr_explore_result *result = &report->result;
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	printf("%s: %s of %s schedules fail:", report->config->strategy->name,
	       rr_grouped(failing, (long long)result->failing),
	       rr_grouped(all, (long long)result->schedules));
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

	if (report->result.explored == RR_EXPLORED_ROUNDS)
		snprintf(why, sizeof(why), "%d rounds", report->config->rounds);
	else
		snprintf(why, sizeof(why), "%s",
			 report->result.explored == RR_EXPLORED_MOST ?
				 "not all of them" :
				 "interrupted");
	print_no_failure(report, why);
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
		print_no_failure(report, "no canary");
		return false;
	}
	printf("%s: safe: all %s schedules\n  canary: %s fails\n",
	       report->config->strategy->name,
	       rr_grouped(number, (long long)report->result.schedules), canary);
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
	if (result->explored == RR_EXPLORED_STOPPED)
		return RR_EXIT_INTERRUPTED;
	return rr_exit_worse(code, compare(report, is_safe));
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
	struct report report = { .world = world, .config = &watched,
				 .save = save };
	enum rr_exit code;

	watched.progress = show_progress;
	watched.context = &report;
	code = rr_explore(world, &watched, &report.result);
	clear_progress();
	if (code == RR_EXIT_SKIPPED)
		rr_complain(code, "%s skipped: this server has %s",
			    config->strategy->name, report.result.error);
	else if (code != RR_EXIT_OK)
		rr_complain(code, "%s: %s", config->strategy->name,
			    report.result.error);
	else
		code = print_result(&report);
	fflush(stdout);
	print_figures(&report.result);
	rr_explore_release(&report.result);
	return code;
}
