/* SPDX-License-Identifier: MIT */
#include "levels.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"

enum { AUDIT_WAYS = 10, LEASE_MS = 10000, NUMBER_MAX = 8 };

/* What a word is about, and where that goes. */
struct level_word {
	const char *name;
	enum {
		LEVEL_TEXT,   /* const char * */
		LEVEL_TEXTS,  /* another one of several */
		LEVEL_FLAG,   /* bool */
		LEVEL_NUMBER, /* long, or another type of its size */
		LEVEL_STRATEGY,
		LEVEL_SCRIPT,
	} kind;
	size_t at;
};

#define LEVEL_AT(field) offsetof(struct rr_level, field)

static const struct level_word level_words[] = {
	{ "title", LEVEL_TEXT, LEVEL_AT(title) },
	{ "task", LEVEL_TEXT, LEVEL_AT(task) },
	{ "intro", LEVEL_TEXTS, LEVEL_AT(intro) },
	{ "hint", LEVEL_TEXTS, LEVEL_AT(hints) },
	{ "explain", LEVEL_TEXTS, LEVEL_AT(explain) },
	{ "goal", LEVEL_TEXT, LEVEL_AT(goal) },
	{ "sees", LEVEL_TEXT, LEVEL_AT(sees) },
	{ "solution", LEVEL_TEXT, LEVEL_AT(solution) },
	{ "program", LEVEL_TEXT, LEVEL_AT(program) },
	{ "checked", LEVEL_TEXT, LEVEL_AT(programs.name) },
	{ "command", LEVEL_TEXT, LEVEL_AT(programs.command) },
	{ "wrong", LEVEL_TEXT, LEVEL_AT(programs.wrong) },
	{ "unbreakable", LEVEL_FLAG, LEVEL_AT(unbreakable) },
	{ "strategy", LEVEL_STRATEGY, 0 },
	{ "script", LEVEL_SCRIPT, 0 },
	{ "clients", LEVEL_NUMBER, LEVEL_AT(search.n_clients) },
	{ "increments", LEVEL_NUMBER, LEVEL_AT(search.increments) },
	{ "processes", LEVEL_FLAG, LEVEL_AT(search.separate) },
	{ "lock-servers", LEVEL_NUMBER, LEVEL_AT(search.lock_servers) },
	{ "without", LEVEL_TEXT, LEVEL_AT(without) },
	{ "begin", LEVEL_TEXT, LEVEL_AT(begin) },
	{ "broken-is-end", LEVEL_FLAG, LEVEL_AT(ends_broken) },
};

/* ---- One line --------------------------------------------------------------- */

struct level_reader {
	struct rr_levels *levels;
	struct rr_error *error;
};

static bool fail_level(const struct level_reader *reader, const char *what, const char *found)
{
	const struct rr_levels *levels = reader->levels;

	return rr_error_set(reader->error, RR_ERROR_DATA, "level %s: %s: '%.60s'",
			    levels->n ? levels->all[levels->n - 1].name : "?", what, found);
}

static bool set_level_number(const struct level_reader *reader, long *field, const char *text)
{
	return rr_parse_number(text, 1, NUMBER_MAX, field) ||
	       fail_level(reader, "expected a number from 1 to 8", text);
}

static bool set_level_word(const struct level_reader *reader, struct rr_level *level,
			   const struct level_word *word, char *text)
{
	char *field = (char *)level + word->at;

	switch (word->kind) {
	case LEVEL_TEXT:
		memcpy(field, &text, sizeof(text));
		return true;
	case LEVEL_TEXTS: {
		const char **texts = (const char **)(void *)field;
		size_t n = 0;

		while (n < RR_LEVEL_TEXTS && texts[n])
			n++;
		if (n == RR_LEVEL_TEXTS)
			return fail_level(reader, "too many of these", text);
		texts[n] = text;
		return true;
	}
	case LEVEL_FLAG:
		*(bool *)(void *)field = true;
		return true;
	case LEVEL_STRATEGY:
		level->strategy = rr_strategy_find(text);
		return level->strategy || fail_level(reader, "no such strategy", text);
	case LEVEL_SCRIPT: {
		/* The name, and what it contains. */
		char *blank = strchr(text, ' ');
		size_t n = 0;

		while (n < RR_LEVEL_SCRIPTS && level->scripts[n].part)
			n++;
		if (!blank || n == RR_LEVEL_SCRIPTS)
			return fail_level(
				reader,
				"expected a name and a part of a script, four times at most", text);
		*blank = '\0';
		level->scripts[n] = (struct rr_script_name){ .part = blank + 1, .name = text };
		return true;
	}
	default:
		return set_level_number(reader, (long *)(void *)field, text);
	}
}

/* A line without what goes on in the next ones; it is changed. */
static bool read_level_line(struct level_reader *reader, char *line)
{
	struct rr_levels *levels = reader->levels;
	char *rest = line + strcspn(line, " ");
	struct rr_level *level;

	if (!*line || *line == '#')
		return true;
	if (*rest)
		*rest++ = '\0';
	if (strcmp(line, "level") == 0) {
		if (levels->n == RR_GAME_LEVELS_MAX)
			return fail_level(reader, "too many levels", rest);
		rr_array_grow(&levels->all, levels->n, sizeof(*levels->all));
		levels->all[levels->n++] = (struct rr_level){
			.name = rest,
			.search = { .n_clients = 2,
				    .increments = 1,
				    .rounds = 2,
				    .ttl_ms = LEASE_MS,
				    .audit = AUDIT_WAYS },
		};
		return true;
	}
	if (levels->n == 0)
		return fail_level(reader, "expected a level first", line);
	level = &levels->all[levels->n - 1];
	for (size_t i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++) {
		if (strcmp(level_words[i].name, line) == 0)
			return set_level_word(reader, level, &level_words[i], rest);
	}
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (strcmp(rr_budget_rows[i].option, line) == 0) {
			int *budget = &level->search.budget.of[i];
			long number = 0;
			const bool good = set_level_number(reader, &number, rest);

			*budget = (int)number;
			return good;
		}
	}
	return fail_level(reader, "unknown word", line);
}

/* ---- The whole ---------------------------------------------------------------- */

/* Lines that go on become one, with a blank between their parts. */
static void join_level_lines(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\n' && (from[1] == '\t' || from[1] == ' ')) {
			*to++ = ' ';
			while (from[1] == '\t' || from[1] == ' ')
				from++;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static bool check_level(struct rr_level *level, struct rr_error *error)
{
	static const char *const goals[] = { "count",     "exclusion", "lease",
					     "ownership", "deadlock",  "well" };
	bool has_goal = false;
	struct rr_explore_config *search = &level->search;

	for (size_t i = 0; level->goal && i < sizeof(goals) / sizeof(goals[0]); i++)
		has_goal |= strcmp(goals[i], level->goal) == 0;
	search->strategy = level->strategy;
	search->separate |= rr_budget_has_faults(&search->budget);
	search->script_names = level->scripts;
	if (level->programs.name && !rr_level_take_kept(level, level->programs.name))
		return rr_error_set(error, RR_ERROR_DATA, "level %s: no check '%s' is kept",
				    level->name, level->programs.name);
	return (has_goal && (level->strategy || level->programs.name) && level->title &&
		level->task && level->solution && level->intro[0] && level->hints[0] &&
		level->explain[0]) ||
	       rr_error_set(
		       error, RR_ERROR_DATA,
		       "level %s: a title, a strategy or a check, a task, a goal, a solution, an intro, a hint or an explanation is missing",
		       level->name);
}

bool rr_levels_parse(struct rr_levels *levels, const char *text, struct rr_error *error)
{
	struct level_reader reader = { .levels = levels, .error = error };
	char *next, *line;
	bool good = true;

	*levels = (struct rr_levels){ .text = rr_strdup(text) };
	join_level_lines(levels->text);
	for (line = levels->text; good && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		good = read_level_line(&reader, line);
	}
	for (size_t i = 0; i < levels->n && good; i++)
		good = check_level(&levels->all[i], error);
	return good;
}

void rr_levels_release(struct rr_levels *levels)
{
	free(levels->all);
	free(levels->text);
	*levels = (struct rr_levels){ 0 };
}
