/* SPDX-License-Identifier: MIT */
/* From lines to a race. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser.h"

/* ---- Messages and memory --------------------------------------------------- */

bool rr_parser_fail(struct rr_parser *parser, const char *format, ...)
{
	va_list arguments;
	const char *path = parser->race->path;
	const int line = parser->line.number;
	int used = line ? snprintf(parser->error, parser->error_size,
				   "%.200s:%d: ", path, line) :
			  snprintf(parser->error, parser->error_size,
				   "%.200s: ", path);

	va_start(arguments, format);
	if (used >= 0 && (size_t)used < parser->error_size)
		vsnprintf(parser->error + used,
			  parser->error_size - (size_t)used, format,
			  arguments);
	va_end(arguments);
	return false;
}

/* Room for one more in an array that doubles. */
bool rr_parser_grow(void **array, size_t *room, size_t used, size_t size)
{
	void *more;

	if (used < *room)
		return true;
	more = realloc(*array, (*room ? *room * 2 : 16) * size);
	if (!more)
		return false;
	*room = *room ? *room * 2 : 16;
	*array = more;
	return true;
}

struct rr_step *rr_parser_add_step(struct rr_parser *parser, enum rr_step_kind kind)
{
	struct rr_race *race = parser->race;
	struct rr_step *step;

	if (race->n_steps == RR_STEPS_MAX) {
		rr_parser_fail(parser, "expected at most %d steps", RR_STEPS_MAX);
		return NULL;
	}
	if (!rr_parser_grow((void **)&race->steps, &parser->steps_room, race->n_steps,
		  sizeof(*step))) {
		rr_parser_fail(parser, "out of memory");
		return NULL;
	}
	step = &race->steps[race->n_steps++];
	*step = (struct rr_step){ .kind = kind,
				  .line = parser->line.number,
				  .actor = -1,
				  .server = -1,
				  .peer = -1,
				  .remark = parser->line.remark };
	return step;
}

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

/* Exactly `n` words in this line? `what` says what should stand there. */
bool rr_parser_has_words(struct rr_parser *parser, size_t n, const char *what)
{
	if (parser->line.n_words == n)
		return true;
	return rr_parser_fail(parser, "expected '%s', found %zu %s", what,
		    parser->line.n_words,
		    parser->line.n_words == 1 ? "word" : "words");
}

/* ---- Names -------------------------------------------------------------------- */

int rr_parser_find_actor(const struct rr_race *race, const char *name,
		      size_t length)
{
	for (size_t i = 0; i < race->n_actors; i++) {
		if (strlen(race->actors[i].name) == length &&
		    memcmp(race->actors[i].name, name, length) == 0)
			return (int)i;
	}
	return -1;
}

int rr_parser_find_server(const struct rr_race *race, const char *name)
{
	for (size_t i = 0; i < race->n_servers; i++) {
		if (is(race->servers[i].name, name))
			return (int)i;
	}
	return -1;
}

/* ---- Numbers --------------------------------------------------------------------- */

bool rr_parser_take_number(struct rr_parser *parser, const char *text, int64_t least,
			int64_t most, int64_t *number)
{
	char *end;
	const long long value = strtoll(text, &end, 10);

	if (end != text && *end == '\0' && value >= least && value <= most) {
		*number = value;
		return true;
	}
	return rr_parser_fail(parser, "expected a number from %lld to %lld, found '%.60s'",
		    (long long)least, (long long)most, text);
}

/* 10s, 300ms, 5us, with a sign if `is_signed`; nanoseconds. */
bool rr_parser_take_duration(struct rr_parser *parser, const char *text,
			  bool is_signed, int64_t *duration_ns)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };
	char *end;
	const long long value = strtoll(text, &end, 10);
	const bool good = end != text && value <= 1000000000 &&
			  value >= -1000000000 && (is_signed || value > 0);

	for (size_t i = 0; good && i < sizeof(units) / sizeof(units[0]); i++) {
		if (is(end, units[i].unit)) {
			*duration_ns = value * units[i].ns;
			return true;
		}
	}
	return rr_parser_fail(parser, "expected a duration like %s, found '%.60s'",
		    is_signed ? "+60s or -60s" : "10s or 300ms", text);
}

bool rr_parser_take_command(struct rr_parser *parser, struct rr_step *step,
			    size_t first)
{
	const struct rr_line *line = &parser->line;

	step->n_words = line->n_words - first;
	if (step->n_words == 0)
		return rr_parser_fail(parser, "expected a command");
	step->words = (const char *const *)rr_race_keep(
		parser->race, (const char *)&line->words[first],
		step->n_words * sizeof(char *));
	return step->words || rr_parser_fail(parser, "out of memory");
}

/* ---- The whole ----------------------------------------------------------------- */

static bool parse_line(struct rr_parser *parser)
{
	const int heading = rr_parser_heading(parser);

	if (heading)
		return heading > 0;
	return rr_parser_complete_headings(parser) && rr_parser_step(parser);
}

static bool parse_all(struct rr_parser *parser, const char *text, size_t length)
{
	const char *end = text + length;
	int number = 0;

	if (length == 0)
		return rr_parser_fail(parser, "empty: expected a title, steps and a verdict");
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t n = (size_t)((newline ? newline : end) - text);

		parser->line.number = ++number;
		if (memchr(text, '\0', n))
			return rr_parser_fail(parser, "expected text, found a byte 0");
		if (!rr_line_cut(parser->race, number, text, n, &parser->line,
				 parser->error, parser->error_size))
			return false;
		if (parser->line.n_words && parser->line.words[0][0] &&
		    !parse_line(parser))
			return false;
		text += n + 1;
	}
	if (parser->repeat)
		return rr_parser_fail(parser, "expected 'end' of the repeat in line %d",
			    parser->repeat_line);
	if (parser->race->n_steps == 0)
		return rr_parser_fail(parser, "expected at least one step");
	if (!parser->race->title)
		return rr_parser_fail(parser, "expected a 'title' somewhere above");
	if (!parser->race->n_verdicts)
		return rr_parser_fail(parser, "expected a 'verdict' at the end");
	return true;
}

struct rr_race *rr_race_parse(const char *path, const char *text,
			      size_t length, char *error, size_t error_size)
{
	struct rr_race *race = calloc(1, sizeof(*race));
	struct rr_parser parser = { .race = race,
				 .error = error,
				 .error_size = error_size };

	if (!race) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	race->claims = "";
	race->path = rr_race_keep(race, path, strlen(path));
	if (race->path && parse_all(&parser, text, length))
		return race;
	rr_race_free(race);
	return NULL;
}
