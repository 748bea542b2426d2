/* SPDX-License-Identifier: MIT */
/* What a game of a check is made of, for --game: the graph of all states, and what there is to
 * be told of the programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "verdict.h"

enum { TEXT_MAX = 16384 };

/* ---- The program ---------------------------------------------------------------- */

/* Of a file that can be read as a text, malloc'd; NULL = it cannot. */
static char *read_text(const char *path)
{
	struct rr_error unread = { 0 };
	struct stat info;
	char *text;
	size_t n;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > TEXT_MAX)
		return NULL;
	text = rr_files_read(path, RR_ERROR_DATA, 1, &n, &unread);
	if (text && strlen(text) == n && n > 0)
		return text;
	free(text);
	return NULL;
}

/* The file that all programs are, malloc'd: the first word of each command that is a file of text, as far
 * as blanks part words. NULL = they are no text, or several. */
static char *find_program(const struct rr_check_options *options)
{
	char *path = NULL;

	for (size_t i = 0; i == 0 || i < options->n_named; i++) {
		char *line = options->n_named ? rr_strdup(options->named[i].shell[2]) :
						rr_checked_programs_words(options);
		char *word = strtok(line, " "), *text;
		bool is_same;

		for (; word && !(text = read_text(word)); word = strtok(NULL, " "))
			continue;
		if (word)
			free(text);
		is_same = i == 0 || (path && word && strcmp(path, word) == 0);
		if (i == 0 && word)
			path = rr_strdup(word);
		free(line);
		if (!is_same) {
			free(path);
			return NULL;
		}
	}
	return path;
}

/* ---- Command lines ---------------------------------------------------------------- */

/* How many words a replay leaves out here, where an option says where something is written or what
 * else is asked for. */
static int count_left_out(const char *word)
{
	static const char *const options[] = { "--game", "--save",   "--output",
					       "-o",     "--format", "--skeptic" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const size_t length = strlen(options[i]);

		if (strncmp(word, options[i], length) == 0 && strchr("=", word[length]))
			return word[length] ? 1 : 2;
	}
	return strcmp(word, "--no-cache") == 0;
}

char *rr_checked_command(const struct rr_check_options *options, char *first, char *second)
{
	char **words = rr_calloc((size_t)options->argc + 6, sizeof(*words));
	static char suite[] = "--suite";
	int n = 0;
	bool is_command = false;
	char *text;

	/* A suite says all else of its check. */
	for (int i = 0; i < (options->name ? 1 : options->argc); i++) {
		char *word = options->argv[i];

		is_command |= strcmp(word, "--") == 0;
		const int left_out = is_command ? 0 : count_left_out(word);

		if (left_out)
			i += left_out - 1;
		else
			words[n++] = word;
		if (i == 0 && first) {
			words[n++] = first;
			words[n++] = second;
		}
	}
	if (options->name && options->suite) {
		words[n++] = suite;
		words[n++] = (char *)options->suite;
	}
	if (options->name)
		words[n++] = (char *)options->name;
	text = rr_shell_words(n, words);
	free(words);
	return text;
}

/* ---- The whole ---------------------------------------------------------------------- */

bool rr_check_write_game(const struct rr_check *check, struct rr_error *error)
{
	static char replay[] = "--replay", file[] = "schedule.race";
	const struct rr_check_options *options = check->options;
	const struct rr_explore_result *result = check->result;
	const char *limit;
	char *verdict, *schedule;
	struct rr_draft draft;
	FILE *out;
	bool good;

	if (!options->game)
		return true;
	if (result->states > RR_CHECKED_GAME_STATES)
		return rr_error_set(
			error, RR_ERROR_DATA,
			"--game: there are %lu states, and a page shows %d at most: with fewer clients or faults there are fewer",
			result->states, RR_CHECKED_GAME_STATES);
	limit = result->found ? NULL : rr_checked_limit(check).text;
	if (!result->graph || limit)
		return rr_error_set(
			error, RR_ERROR_DATA,
			"--game: there is none where not all has been seen%s%s: search less, with fewer clients or faults",
			limit ? ": " : "", limit ? limit : "");
	out = rr_open_text(&verdict);
	if (result->found)
		rr_checked_print_end(out, check, &result->findings[0]);
	rr_checked_print_advice(out, check);
	fclose(out);
	/* "# redrace check --clients 2\\n# schedule ", which --replay reads. */
	out = rr_open_text(&schedule);
	rr_replay_write(out, options, false, check->pids == RR_PIDS_FIXED, check->seed, "");
	fclose(out);
	schedule[strcspn(schedule + 1, "\n") + 1 + strlen("\n# schedule ")] = '\0';
	char *command = rr_checked_command(options, NULL, NULL);
	char *replayed = rr_checked_command(options, replay, file);
	char *programs = rr_checked_programs_words(options);
	char *path = find_program(options), *text = path ? read_text(path) : NULL;
	const struct rr_checked_game game = {
		.result = result,
		.programs = programs,
		.command = command,
		.replay = replayed,
		.schedule = schedule + 1,
		.verdict = verdict,
		.path = path,
		.text = text,
		.n_clients = check->n_operations,
		.is_app = options->app != NULL,
	};

	rr_draft_open(&draft);
	options->write_game(draft.out, &game, error);
	good = rr_draft_replace(&draft, options->game, error);
	if (good)
		fprintf(rr_check_report_file(options), "game: %s\n", options->game);
	free(programs);
	free(path);
	free(text);
	free(verdict);
	free(schedule);
	free(replayed);
	free(command);
	return good;
}
