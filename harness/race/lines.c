/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character that an escape stands for, as redis-cli reads it. */
static char unescape(struct cursor *cursor)
{
	static const char from[] = "nrtba", to[] = "\n\r\t\b\a";
	const char c = *cursor->at++;
	const char *found = c ? strchr(from, c) : NULL;

	if (c == 'x' && cursor->end - cursor->at >= 2 &&
	    hex_digit(cursor->at[0]) >= 0 && hex_digit(cursor->at[1]) >= 0) {
		const int value = hex_digit(cursor->at[0]) * 16 +
				  hex_digit(cursor->at[1]);

		cursor->at += 2;
		return (char)value;
	}
	return found ? to[found - from] : c;
}

/* A quoted part; the quote has been read. False: it does not end. */
static bool copy_quoted(struct cursor *cursor, char quote, char *word,
			size_t *length)
{
	while (cursor->at < cursor->end && *cursor->at != quote) {
		if (*cursor->at == '\\' && quote == '"' &&
		    cursor->end - cursor->at > 1) {
			cursor->at++;
			word[(*length)++] = unescape(cursor);
		} else {
			word[(*length)++] = *cursor->at++;
		}
	}
	if (cursor->at == cursor->end)
		return false;
	cursor->at++;
	return true;
}

/* One word, quotes resolved; `word` has room for the whole line. */
static bool copy_word(struct cursor *cursor, char *word, size_t *length)
{
	*length = 0;
	while (cursor->at < cursor->end && !is_blank(*cursor->at)) {
		const char c = *cursor->at++;

		if (c != '"' && c != '\'')
			word[(*length)++] = c;
		else if (!copy_quoted(cursor, c, word, length))
			return false;
	}
	return true;
}

/* What is left up to a remark or a comment, without blanks at its ends. */
static const char *take_reply(struct rr_race *race, struct cursor *cursor)
{
	const char *begin, *last;
	char quote = '\0';

	skip_blanks(cursor);
	begin = last = cursor->at;
	for (; cursor->at < cursor->end; cursor->at++) {
		const char c = *cursor->at;
		const bool first = cursor->at == begin ||
				   is_blank(cursor->at[-1]);

		if (quote == '\0' && first &&
		    (is_next(cursor, "!") || is_next(cursor, "#")))
			break;
		if (quote && c == '\\' && cursor->at + 1 < cursor->end)
			cursor->at++;
		else if (c == '"')
			quote = quote ? '\0' : c;
		if (!is_blank(c))
			last = cursor->at + 1;
	}
	return rr_race_keep(race, begin, (size_t)(last - begin));
}

static const char *take_rest(struct rr_race *race, struct cursor *cursor)
{
	const char *end = cursor->end;

	skip_blanks(cursor);
	while (end > cursor->at && is_blank(end[-1]))
		end--;
	return rr_race_keep(race, cursor->at, (size_t)(end - cursor->at));
}

static bool fail(char *error, size_t size, const struct rr_race *race,
		 int number, const char *what)
{
	snprintf(error, size, "%.200s:%d: %s", race->path, number, what);
	return false;
}

/* Lines whose first word is followed by plain text, apostrophes and all. */
static bool is_text(const char *word)
{
	return strcmp(word, "--") == 0 || strcmp(word, "title") == 0;
}

static bool take_word(struct rr_race *race, struct cursor *cursor,
		      struct rr_line *line, char *error, size_t error_size)
{
	char *word = rr_race_keep(race, cursor->at,
				  (size_t)(cursor->end - cursor->at));
	size_t *length = &line->lengths[line->n_words];

	if (!word)
		return fail(error, error_size, race, line->number,
			    "out of memory");
	if (line->n_words == RR_WORDS_MAX)
		return fail(error, error_size, race, line->number,
			    "expected at most 64 words");
	if (!copy_word(cursor, word, length))
		return fail(error, error_size, race, line->number,
			    "expected a quote to end before the line does");
	word[*length] = '\0';
	line->words[line->n_words++] = word;
	return true;
}

bool rr_line_cut(struct rr_race *race, int number, const char *text,
		 size_t length, struct rr_line *line, char *error,
		 size_t error_size)
{
	struct cursor cursor = { text, text + length };

	*line = (struct rr_line){ .number = number };
	for (skip_blanks(&cursor); cursor.at < cursor.end;
	     skip_blanks(&cursor)) {
		if (line->n_words == 1 && !line->rest) {
			struct cursor copy = cursor;

			line->rest = take_rest(race, &copy);
		}
		if (is_next(&cursor, "#") || (line->n_words == 0 &&
					      *cursor.at == '#'))
			return true;
		if (line->n_words == 1 && is_text(line->words[0]))
			return true;
		if (is_next(&cursor, "!")) {
			cursor.at++;
			line->remark = take_rest(race, &cursor);
			return true;
		}
		if (line->n_words == 1 && is_next(&cursor, "<")) {
			cursor.at++;
			line->words[line->n_words++] = "<";
			line->reply = take_reply(race, &cursor);
		} else if (is_next(&cursor, "=>")) {
			cursor.at += 2;
			line->reply = take_reply(race, &cursor);
		} else if (line->reply) {
			return fail(error, error_size, race, number,
				    "expected the line to end after the reply");
		} else if (!take_word(race, &cursor, line, error, error_size)) {
			return false;
		}
	}
	return true;
}
