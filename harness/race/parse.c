/* SPDX-License-Identifier: MIT */
/* From text to lines, from lines to a race. */
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"
#include "base/resp.h"
#include "base/text.h"
#include "parser.h"

/* What a clock moves at most, in one step or in all: 31 years. */
enum { LONGEST_S = 1000000000 };
#define LONGEST_NS (LONGEST_S * INT64_C(1000000000))

/* ---- Messages ----------------------------------------------------------- */

bool parser_fail(struct parser *parser, const char *format, ...)
{
	char where[32] = "", what[RR_ERROR_SIZE / 2];
	va_list arguments;

	if (parser->line.number)
		snprintf(where, sizeof(where), ":%d", parser->line.number);
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return rr_error_set(parser->error, RR_ERROR_DATA, "%.200s%s: %s", parser->race->path, where,
			    what);
}

bool parser_has_words(struct parser *parser, size_t n, const char *what)
{
	const size_t found = parser->line.n_words;

	return found == n || parser_fail(parser, "expected '%s', found %zu %s", what, found,
					 found == 1 ? "word" : "words");
}

/* ---- Pieces of a line --------------------------------------------------- */

/* Where in a line we are. */
struct cursor {
	const char *at, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct cursor *cursor)
{
	while (cursor->at < cursor->end && is_blank(*cursor->at))
		cursor->at++;
}

/* Is `token` next, as a word of its own? */
static bool is_next(const struct cursor *cursor, const char *token)
{
	const size_t length = strlen(token);
	const size_t left = (size_t)(cursor->end - cursor->at);

	return left >= length && memcmp(cursor->at, token, length) == 0 &&
	       (left == length || is_blank(cursor->at[length]));
}

static const char *cut_rest(struct rr_race *race, struct cursor *cursor)
{
	const char *end = cursor->end;

	skip_blanks(cursor);
	while (end > cursor->at && is_blank(end[-1]))
		end--;
	return rr_race_keep(race, cursor->at, (size_t)(end - cursor->at));
}

/* Lines whose first word is followed by plain text, apostrophes and all. */
static bool begins_text(const struct parser_line *line)
{
	return line->n_words == 1 &&
	       (parser_same(line->words[0], "--") || parser_same(line->words[0], "title") ||
		parser_same(line->words[0], "shows"));
}

static bool cut_word(struct parser *parser, struct cursor *cursor)
{
	struct parser_line *line = &parser->line;
	const size_t length = (size_t)(cursor->end - cursor->at);
	char *copy = rr_race_keep(parser->race, cursor->at, length), *at = copy;
	struct rdl_word word;

	if (line->n_words == RR_WORDS_MAX)
		return parser_fail(parser, "expected at most %d words", RR_WORDS_MAX);
	if (!rr_take_word(&at, copy + length, true, &word))
		return parser_fail(parser, "expected a quote to end before the line does");
	cursor->at += at - copy;
	copy[word.length] = '\0';
	line->has_zero |= strlen(copy) < word.length;
	line->lengths[line->n_words] = word.length;
	line->words[line->n_words++] = copy;
	return true;
}

/* One word, or the reply after => or <. */
static bool cut_piece(struct parser *parser, struct cursor *cursor)
{
	struct parser_line *line = &parser->line;

	if (line->n_words == 1 && is_next(cursor, "<")) {
		cursor->at++;
		line->words[line->n_words++] = "<";
	} else if (is_next(cursor, "=>")) {
		cursor->at += 2;
	} else if (line->reply) {
		return parser_fail(parser, "expected the line to end after the reply");
	} else {
		return cut_word(parser, cursor);
	}

	/* What is left up to a remark or a comment, without blanks at its ends. */
	struct rr_race *race = parser->race;
	const char *begin, *last;
	char quote = '\0';

	skip_blanks(cursor);
	begin = last = cursor->at;
	for (; cursor->at < cursor->end; cursor->at++) {
		const char c = *cursor->at;
		const bool first = cursor->at == begin || is_blank(cursor->at[-1]);

		if (quote == '\0' && first && (is_next(cursor, "!") || is_next(cursor, "#")))
			break;
		if (quote && c == '\\' && cursor->at + 1 < cursor->end)
			cursor->at++;
		else if (c == '"')
			quote = quote ? '\0' : c;
		if (!is_blank(c))
			last = cursor->at + 1;
	}
	line->reply = rr_race_keep(race, begin, (size_t)(last - begin));
	return true;
}

/* Cuts `text`, a line without its newline, into parser->line. */
static bool cut_line(struct parser *parser, const char *text, size_t length)
{
	struct parser_line *line = &parser->line;
	struct cursor cursor = { text, text + length - (length > 0 && text[length - 1] == '\r') };

	*line = (struct parser_line){ .number = line->number + 1 };
	if (memchr(text, '\0', length))
		return parser_fail(parser, "expected text, found a byte 0");
	if (!rr_is_shown(text, (size_t)(cursor.end - text)))
		return parser_fail(
			parser,
			"expected characters that show themselves, found others; in a word they are \"\\x1b\"");
	for (skip_blanks(&cursor); cursor.at < cursor.end; skip_blanks(&cursor)) {
		struct cursor rest = cursor;

		if (line->n_words == 1 && !line->rest)
			line->rest = cut_rest(parser->race, &rest);
		if (is_next(&cursor, "#") || begins_text(line) ||
		    (line->n_words == 0 && *cursor.at == '#'))
			return true;
		if (is_next(&cursor, "!")) {
			cursor.at++;
			line->remark = cut_rest(parser->race, &cursor);
			return true;
		}
		if (!cut_piece(parser, &cursor))
			return false;
	}
	return true;
}

/* ---- What lines are made of --------------------------------------------- */

int parser_find_client(const struct rr_race *race, const char *name, size_t length)
{
	for (size_t i = 0; i < race->n_clients; i++) {
		if (strlen(race->clients[i].name) == length &&
		    memcmp(race->clients[i].name, name, length) == 0)
			return (int)i;
	}
	return -1;
}

int parser_find_server(const struct rr_race *race, const char *name)
{
	for (size_t i = 0; i < race->n_servers; i++) {
		if (parser_same(race->servers[i].name, name))
			return (int)i;
	}
	return -1;
}

bool parser_take_number(struct parser *parser, const char *text, int64_t least, int64_t most,
			int64_t *number)
{
	long value;

	if (rr_parse_number(text, least, most, &value)) {
		*number = value;
		return true;
	}
	return parser_fail(parser, "expected a number from %lld to %lld, found '%.60s'",
			   (long long)least, (long long)most, text);
}

bool parser_take_duration(struct parser *parser, const char *text, bool is_signed,
			  int64_t *duration_ns)
{
	return rr_parse_duration(text, is_signed, LONGEST_NS, duration_ns) ||
	       parser_fail(parser, "expected a duration like %s, found '%.60s'",
			   is_signed ? "+60s or -60s" : "10s or 300ms", text);
}

bool parser_take_command(struct parser *parser, struct rr_step *step, size_t first)
{
	struct parser_line *line = &parser->line;
	struct rdl_word words[RR_WORDS_MAX];

	step->n_words = line->n_words - first;
	if (step->n_words == 0)
		return parser_fail(parser, "expected a command");
	if (step->n_words > RDL_WORDS_MAX)
		return parser_fail(parser, "expected a command of at most %d words", RDL_WORDS_MAX);
	for (size_t i = 0; i < step->n_words; i++)
		words[i] = (struct rdl_word){ line->words[first + i], line->lengths[first + i] };
	step->words = (const struct rdl_word *)rr_race_keep(parser->race, (const char *)words,
							    step->n_words * sizeof(words[0]));
	line->has_zero = false;
	return parser_allows_command(parser, step);
}

struct rr_step *parser_add_step(struct parser *parser, enum rr_step_kind kind)
{
	struct rr_race *race = parser->race;

	if (race->n_steps == RR_STEPS_MAX) {
		parser_fail(parser, "expected at most %d steps", RR_STEPS_MAX);
		return NULL;
	}
	rr_array_grow(&race->steps, race->n_steps, sizeof(*race->steps));
	race->steps[race->n_steps] = (struct rr_step){ .kind = kind,
						       .line = parser->line.number,
						       .client = -1,
						       .server = -1,
						       .peer = -1,
						       .remark = parser->line.remark };
	return &race->steps[race->n_steps++];
}

struct rr_saying *parser_add_saying(struct parser *parser)
{
	struct rr_race *race = parser->race;

	rr_array_grow(&race->sayings, race->n_sayings, sizeof(*race->sayings));
	race->sayings[race->n_sayings] = (struct rr_saying){ .line = parser->line.number,
							     .step = -1 };
	return &race->sayings[race->n_sayings++];
}

/* ---- The whole ---------------------------------------------------------- */

static bool take_line(struct parser *parser)
{
	switch (parser_is_doing(parser) ? PARSER_OTHER : parser_heading(parser)) {
	case PARSER_TAKEN:
		return true;
	case PARSER_WRONG:
		return false;
	default:
		return parser_complete_headings(parser) && parser_step(parser);
	}
}

/* A byte 0 may stand in commands and in bytes alone, which take it away. */
static bool parse_line(struct parser *parser)
{
	const struct parser_line *line = &parser->line;

	if (line->n_words == 0 || !line->words[0][0])
		return true;
	return take_line(parser) &&
	       (!line->has_zero ||
		parser_fail(parser, "expected a byte 0 nowhere but in a command"));
}

/* What all ticks come to is a time that a clock can show. */
static bool ends_in_time(struct parser *parser)
{
	int64_t left_ns = LONGEST_NS;

	for (size_t i = 0; i < parser->race->n_steps; i++) {
		const struct rr_step *step = &parser->race->steps[i];

		if (step->kind != RR_STEP_TICK)
			continue;
		if (step->amount > left_ns) {
			parser->line.number = step->line;
			return parser_fail(parser, "expected ticks of %d s together, found more",
					   LONGEST_S);
		}
		left_ns -= step->amount;
	}
	return true;
}

static bool parse_all(struct parser *parser, const char *text, size_t length)
{
	const char *end = text + length;

	if (length == 0)
		return parser_fail(parser, "empty: expected a title, steps and a verdict");
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t n = (size_t)((newline ? newline : end) - text);

		if (!cut_line(parser, text, n) || !parse_line(parser))
			return false;
		text += n + 1;
	}
	if (parser->repeat)
		return parser_fail(parser, "expected 'end' of the repeat in line %d",
				   parser->repeat_line);
	if (parser->race->n_steps == 0)
		return parser_fail(parser, "expected at least one step");
	if (!parser->race->title)
		return parser_fail(parser, "expected a 'title' somewhere above");
	if (!parser->race->n_verdicts)
		return parser_fail(parser, "expected a 'verdict' at the end");
	return ends_in_time(parser) && parser_allows_bytes(parser) &&
	       parser_allows_reserved(parser);
}

struct rr_race *rr_race_parse(const char *path, const char *text, size_t length,
			      struct rr_error *error)
{
	struct rr_race *race = rr_calloc(1, sizeof(*race));
	struct parser parser = { .race = race, .error = error };

	race->path = rr_race_keep(race, path, strlen(path));
	race->claims = "";
	if (parse_all(&parser, text, length))
		return race;
	rr_race_free(race);
	return NULL;
}
