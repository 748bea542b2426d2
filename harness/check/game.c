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

/* The command of each program as a line, malloc'd; NULL: there are no more. */
static char *line_of(const struct rr_check_options *options, size_t program)
{
	if (program < options->n_named)
		return rr_strdup(options->named[program].shell[2]);
	return options->n_named || program > 0 ? NULL : rr_checked_programs_words(options);
}

/* The first word of a line that is a file of text, as far as blanks part words. */
static char *find_path(char *line)
{
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		char *text = read_text(word);

		free(text);
		if (text)
			return rr_strdup(word);
	}
	return NULL;
}

/* The file that all programs are, malloc'd; NULL = they are no text, or several. */
static char *find_program(const struct rr_check_options *options)
{
	char *path = NULL, *line;

	for (size_t i = 0; (line = line_of(options, i)); i++) {
		char *other = find_path(line);
		const bool is_same = i == 0 || (path && other && strcmp(path, other) == 0);

		free(line);
		free(is_same ? path : other);
		path = is_same ? other : path;
		if (!is_same) {
			free(path);
			return NULL;
		}
	}
	return path;
}

/* ---- Command lines ---------------------------------------------------------------- */

/* What was typed, without --game, and with another word behind the first. */
static char *command_with(const struct rr_check_options *options, char *first, char *second)
{
	char **words = rr_calloc((size_t)options->argc + 2, sizeof(*words));
	int n = 0;
	bool is_command = false;
	char *text;

	for (int i = 0; i < options->argc; i++) {
		char *word = options->argv[i];

		is_command |= strcmp(word, "--") == 0;
		if (!is_command && strcmp(word, "--game") == 0)
			i++;
		else if (is_command || strncmp(word, "--game=", strlen("--game=")) != 0)
			words[n++] = word;
		if (i == 0 && first) {
			words[n++] = first;
			words[n++] = second;
		}
	}
	text = rr_shell_words(n, words);
	free(words);
	return text;
}

/* "# redrace check --clients 2\\n# schedule ", which --replay reads. */
static char *schedule_heading(const struct rr_check *check)
{
	char *text;
	FILE *out = rr_open_text(&text);

	rr_replay_write(out, check->options, false, check->pids == RR_PIDS_FIXED, check->seed, "");
	fclose(out);
	text[strcspn(text + 1, "\n") + 1 + strlen("\n# schedule ")] = '\0';
	memmove(text, text + 1, strlen(text));
	return text;
}

/* ---- The whole ---------------------------------------------------------------------- */

/* The error, unless all states are known, and few enough. */
static bool can_be_played(const struct rr_check *check, struct rr_error *error)
{
	const struct rr_explore_result *result = check->result;
	const char *limit = result->found ? NULL : rr_checked_limit(check).text;

	if (result->states > RR_CHECKED_GAME_STATES)
		return rr_error_set(
			error, RR_ERROR_DATA,
			"--game: there are %lu states, and a page shows %d at most: with fewer clients or faults there are fewer",
			result->states, RR_CHECKED_GAME_STATES);
	return (result->graph && !limit) ||
	       rr_error_set(error, RR_ERROR_DATA,
			    "--game: there is none where not all has been seen%s%s",
			    limit ? ": " : "", limit ? limit : "");
}

static char *verdict_of(const struct rr_check *check)
{
	char *text;
	FILE *out = rr_open_text(&text);

	if (check->result->found)
		rr_checked_print_end(out, check, &check->result->findings[0]);
	if (check->result->serial)
		fputs(check->result->serial, out);
	if (check->result->mend)
		fprintf(out, "%s\n", check->result->mend);
	fclose(out);
	return text;
}

static bool make_page(const struct rr_check *check, struct rr_error *error)
{
	static char replay[] = "--replay", file[] = "schedule.race";
	const struct rr_check_options *options = check->options;
	char *command = command_with(options, NULL, NULL);
	char *replayed = command_with(options, replay, file);
	char *schedule = schedule_heading(check), *verdict = verdict_of(check);
	char *programs = rr_checked_programs_words(options);
	char *path = find_program(options), *text = path ? read_text(path) : NULL;
	const struct rr_checked_game game = {
		.result = check->result,
		.programs = programs,
		.command = command,
		.replay = replayed,
		.schedule = schedule,
		.verdict = verdict,
		.path = path,
		.text = text,
		.n_clients = check->n_operations,
		.is_app = options->app != NULL,
	};
	struct rr_draft draft;
	bool good;

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

bool rr_check_write_game(const struct rr_check *check, struct rr_error *error)
{
	return !check->options->game || (can_be_played(check, error) && make_page(check, error));
}
