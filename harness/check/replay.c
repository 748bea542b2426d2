/* SPDX-License-Identifier: MIT */
/* Schedules that were found: written, and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/option.h"
#include "check.h"

enum { OPTIONS_MAX = 32 }; /* that are saved with a schedule */

static const char options_heading[] = "# redrace check";
static const char words_heading[] = "# schedule ";

void rr_replay_write(FILE *out, const struct rr_check_options *options, bool holds_day,
		     bool fixes_pids, uint64_t seed, const char *words)
{
	const struct {
		const char *name;
		long value, otherwise;
	} bounds[] = {
		{ "clients",
		  options->n_named        ? (long)options->n_named :
		  options->n_requests > 1 ? (long)options->n_requests :
					    options->n_clients,
		  0 },
		{ "apps", options->n_apps, 1 },
		{ "rounds", options->search.rounds, 0 },
		{ "ttl-ms", options->search.ttl_ms, 10000 },
		{ "seed", (long)seed, 1 },
	};
	const struct {
		const char *name;
		bool is_set;
	} flags[] = {
		{ "restart", options->search.compare.restarts },
		{ "allow-repeats", options->search.compare.allows_repeats },
		{ "allow-partial", options->search.compare.is_partial },
		{ "hold-clock", options->holds_day || holds_day },
		{ "fixed-pids", options->fixes_pids || fixes_pids },
	};

	fprintf(out, "\n%s", options_heading);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (bounds[i].value != bounds[i].otherwise)
			fprintf(out, " --%s %ld", bounds[i].name, bounds[i].value);
	}
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (options->search.budget.of[i])
			fprintf(out, " --%s %d", rr_budget_rows[i].option,
				options->search.budget.of[i]);
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].is_set)
			fprintf(out, " --%s", flags[i].name);
	}
	for (size_t i = 0; i < options->n_redis_at; i++) {
		if (!strpbrk(options->redis_at[i], " \t\n"))
			fprintf(out, " --redis-at %s", options->redis_at[i]);
	}
	if (options->fresh && !strpbrk(options->fresh, " \t\n"))
		fprintf(out, " --fresh %s", options->fresh);
	/* The words of that line are separated by blanks. */
	if (options->init && !strpbrk(options->init, " \t\n"))
		fprintf(out, " --init %s", options->init);
	fprintf(out, "\n%s%s\n", words_heading, words);
}

/* The bounds with which a schedule was found count, unless others are given. */
bool rr_replay_take(struct rr_replay *replay, const struct rr_command_line *line, void *into, int n,
		    char **argv, struct rr_error *error)
{
	const size_t n_options = strlen(options_heading), n_schedule = strlen(words_heading);
	char *words[2 * OPTIONS_MAX] = { "redrace check" };
	const char *path = NULL;
	char *text, *rest, *at;
	int n_words = 1;
	size_t length;

	for (int i = 1; i < n && !path; i++) {
		if (strcmp(argv[i], "--replay") == 0 && i + 1 < n)
			path = argv[i + 1];
		else if (strncmp(argv[i], "--replay=", 9) == 0)
			path = argv[i] + 9;
	}
	if (!path)
		return true;
	rr_replay_release(replay);
	text = rest = rr_files_read(path, RR_ERROR_USAGE, 1024, &length, error);
	if (!text)
		return false;
	while ((at = strsep(&rest, "\n"))) {
		at[strcspn(at, "\r")] = '\0';
		if (!replay->options && strncmp(at, options_heading, n_options) == 0)
			replay->options = rr_strdup(at + n_options);
		if (!replay->words && strncmp(at, words_heading, n_schedule) == 0)
			replay->words = rr_strdup(at + n_schedule);
	}
	free(text);
	if (!replay->options || !replay->words) {
		rr_replay_release(replay);
		return rr_error_set(
			error, RR_ERROR_DATA,
			"--replay: '%s' has no '# schedule': it was not saved by 'redrace check --save': save the schedule with that",
			path);
	}
	for (char *word = strtok(replay->options, " "); word && n_words < 2 * OPTIONS_MAX;
	     word = strtok(NULL, " "))
		words[n_words++] = word;
	return rr_command_line_take(line, into, n_words, words, error);
}

void rr_replay_release(struct rr_replay *replay)
{
	free(replay->options);
	free(replay->words);
	*replay = (struct rr_replay){ .options = NULL };
}
