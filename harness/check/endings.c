/* SPDX-License-Identifier: MIT */
#include "endings.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

/* In a pattern: a word that may be any; and all words from there on. */
#define ANY_WORD "*"
#define ANY_REST "..."

uint32_t rr_endings_put(struct rr_endings *endings, int status, const char *output)
{
	const size_t size = sizeof(status) + strlen(output) + 1;
	char *bytes = rr_malloc(size);
	uint32_t number;

	memcpy(bytes, &status, sizeof(status));
	memcpy(bytes + sizeof(status), output, size - sizeof(status));
	number = rr_intern_put(&endings->all, bytes, size, NULL);
	free(bytes);
	return number;
}

struct rr_ending rr_endings_get(const struct rr_endings *endings, uint32_t number)
{
	struct rr_ending ending = { .status = 0, .output = "" };
	const char *bytes;

	if (number >= endings->all.n)
		return ending;
	bytes = rr_intern_get(&endings->all, number);
	memcpy(&ending.status, bytes, sizeof(ending.status));
	ending.output = bytes + sizeof(ending.status);
	return ending;
}

/* ---- Lines that vary ----------------------------------------------------------------- */

/* The next line of a text, malloc'd; NULL: there is none. */
static char *take_line(const char **text)
{
	const char *line = *text;

	return *line ? rr_strndup(line, rr_take_line(text)) : NULL;
}

/* The next word of a line; empty: there is none. */
static struct rl_word take_word(const char **line)
{
	struct rl_word word;

	*line += strspn(*line, " \t");
	word = (struct rl_word){ *line, strcspn(*line, " \t") };
	*line += word.length;
	return word;
}

static bool is_word(struct rl_word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static bool is_like(const char *line, const char *pattern)
{
	struct rl_word expected, word;

	do {
		expected = take_word(&pattern);
		word = take_word(&line);
		if (is_word(expected, ANY_REST))
			return true;
		if (!rr_words_are_same(expected, word) &&
		    (word.length == 0 || !is_word(expected, ANY_WORD)))
			return false;
	} while (expected.length > 0);
	return true;
}

/* NULL: the line does not vary. */
static const struct rr_varying *find_varying(const struct rr_endings *endings, const char *line,
					     size_t number)
{
	for (size_t i = 0; i < endings->n_varying; i++) {
		const struct rr_varying *varying = &endings->varying[i];

		if ((varying->line == 0 || varying->line == number) &&
		    is_like(line, varying->pattern))
			return varying;
	}
	return NULL;
}

/* "took * ms": the words in which they differ may be anything; from where one has more
 * words than the other, all may. */
static char *pattern_of(const char *a, const char *b)
{
	struct rl_word word_a, word_b;
	char *pattern;
	FILE *file = rr_open_text(&pattern);

	for (bool is_first = true;; is_first = false) {
		word_a = take_word(&a);
		word_b = take_word(&b);
		if (word_a.length == 0 && word_b.length == 0)
			break;
		fputs(is_first ? "" : " ", file);
		if (word_a.length == 0 || word_b.length == 0) {
			fputs(ANY_REST, file);
			break;
		}
		if (rr_words_are_same(word_a, word_b))
			fwrite(word_a.text, 1, word_a.length, file);
		else
			fputs(ANY_WORD, file);
	}
	fclose(file);
	return pattern;
}

static bool has_only_blanks(const char *pattern)
{
	return pattern[strspn(pattern, ANY_WORD ANY_REST " ")] == '\0';
}

static void add_varying(struct rr_endings *endings, const char *a, const char *b, size_t number)
{
	struct rr_varying varying = { .pattern = pattern_of(a, b) };

	if (has_only_blanks(varying.pattern))
		varying.line = number;
	rr_array_grow(&endings->varying, endings->n_varying, sizeof(varying));
	endings->varying[endings->n_varying++] = varying;
}

void rr_endings_vary(struct rr_endings *endings, uint32_t a, uint32_t b)
{
	const char *rest_a = rr_endings_get(endings, a).output;
	const char *rest_b = rr_endings_get(endings, b).output;

	for (size_t number = 1; *rest_a || *rest_b; number++) {
		char *line_a = take_line(&rest_a), *line_b = take_line(&rest_b);
		const char *text_a = line_a ? line_a : "", *text_b = line_b ? line_b : "";
		const struct rr_varying *known = find_varying(endings, text_a, number);

		if (strcmp(text_a, text_b) != 0 &&
		    (!known || known != find_varying(endings, text_b, number)))
			add_varying(endings, text_a, text_b, number);
		free(line_a);
		free(line_b);
	}
}

/* ---- Comparing ------------------------------------------------------------------------ */

static bool is_allowed(const struct rr_endings *endings, const char *line)
{
	bool matches = false;

	for (size_t i = 0; i < endings->n_allowed && !matches; i++) {
		regex_t pattern;

		if (regcomp(&pattern, endings->allowed[i], REG_EXTENDED | REG_NOSUB))
			continue;
		matches = regexec(&pattern, line, 0, NULL, 0) == 0;
		regfree(&pattern);
	}
	return matches;
}

/* The next line that counts, without what varies in it; malloc'd, NULL = none is left. */
static char *take_compared(const struct rr_endings *endings, const char **text, size_t *number)
{
	const struct rr_varying *varying;
	char *line;

	while ((line = take_line(text)) && ++*number && is_allowed(endings, line))
		free(line);
	varying = line ? find_varying(endings, line, *number) : NULL;
	if (!varying)
		return line;
	free(line);
	return rr_strdup(varying->pattern);
}

bool rr_endings_differ(const struct rr_endings *endings, uint32_t a, uint32_t b, const char **at_a,
		       const char **at_b)
{
	const struct rr_ending one = rr_endings_get(endings, a), other = rr_endings_get(endings, b);
	const char *rest_one = one.output, *rest_other = other.output;
	size_t number_one = 0, number_other = 0;
	bool is_same = one.status == other.status, is_over = a == b;

	do {
		char *line_one, *line_other;

		*at_a = rest_one;
		*at_b = rest_other;
		line_one = take_compared(endings, &rest_one, &number_one);
		line_other = take_compared(endings, &rest_other, &number_other);
		is_over = is_over || (!line_one && !line_other);
		is_same = is_same && (is_over || (line_one && line_other &&
						  strcmp(line_one, line_other) == 0));
		free(line_one);
		free(line_other);
	} while (is_same && !is_over);
	return !is_same;
}

bool rr_endings_are_same(const struct rr_endings *endings, uint32_t a, uint32_t b)
{
	const char *at_a, *at_b;

	return !rr_endings_differ(endings, a, b, &at_a, &at_b);
}

/* ---- Waiting -------------------------------------------------------------------------- */

void rr_endings_note_serial(struct rr_endings *endings, uint32_t number)
{
	rr_intern_put(&endings->serial, &number, sizeof(number), NULL);
}

void rr_endings_forget_serial(struct rr_endings *endings)
{
	rr_intern_release(&endings->serial);
}

static bool has_line(const struct rr_endings *endings, uint32_t ending, const char *line)
{
	const char *rest = rr_endings_get(endings, ending).output;
	bool has = false;
	size_t number = 0;
	char *next;

	while (!has && (next = take_compared(endings, &rest, &number))) {
		has = strcmp(next, line) == 0;
		free(next);
	}
	return has;
}

static bool is_of_serial_order(const struct rr_endings *endings, const char *line)
{
	for (uint32_t i = 0; i < endings->serial.n; i++) {
		const uint32_t *ending = rr_intern_get(&endings->serial, i);

		if (has_line(endings, *ending, line))
			return true;
	}
	return false;
}

/* Goes on behind the next such line of a text; those before are counted. False: there is
 * none. */
static bool skip_to(const struct rr_endings *endings, const char *line, const char **text,
		    size_t *number, long *n_skipped)
{
	bool is_there = false;
	char *next;

	while (!is_there && (next = take_compared(endings, text, number))) {
		is_there = line && strcmp(next, line) == 0;
		*n_skipped += !is_there;
		free(next);
	}
	return is_there;
}

bool rr_endings_differ_by_waiting(const struct rr_endings *endings, uint32_t waited,
				  uint32_t unwaited)
{
	const struct rr_ending one = rr_endings_get(endings, waited);
	const struct rr_ending other = rr_endings_get(endings, unwaited);
	const char *rest_one = one.output, *rest_other = other.output;
	size_t number_one = 0, number_other = 0;
	long n_about_waiting = 0, n_instead = 0;
	bool good = one.status == other.status;
	char *line;

	while (good && (line = take_compared(endings, &rest_one, &number_one))) {
		if (is_of_serial_order(endings, line))
			good = skip_to(endings, line, &rest_other, &number_other, &n_instead);
		else
			n_about_waiting++;
		free(line);
	}
	skip_to(endings, NULL, &rest_other, &number_other, &n_instead);
	return good && n_instead <= n_about_waiting;
}

/* ---- In a file ----------------------------------------------------------------------- */

/* A string, which a NUL ends; "": it is wrong. */
static const char *take_text(struct rr_bytes *bytes)
{
	size_t length;
	const char *text = rr_bytes_take(bytes, &length);

	bytes->is_wrong |= length == 0 || memchr(text, '\0', length) != text + length - 1;
	return bytes->is_wrong ? "" : text;
}

void rr_endings_write_varying(const struct rr_endings *endings, FILE *out)
{
	rr_bytes_put_number(out, (int64_t)endings->n_varying);
	for (size_t i = 0; i < endings->n_varying; i++) {
		const struct rr_varying *varying = &endings->varying[i];

		rr_bytes_put(out, varying->pattern, strlen(varying->pattern) + 1);
		rr_bytes_put_number(out, (int64_t)varying->line);
	}
}

void rr_endings_read_varying(struct rr_endings *endings, struct rr_bytes *bytes)
{
	const size_t n = rr_bytes_take_count(bytes);

	for (size_t i = 0; i < n && !bytes->is_wrong; i++) {
		struct rr_varying varying = { .pattern = rr_strdup(take_text(bytes)) };

		varying.line = (size_t)rr_bytes_take_number(bytes, 0, INT32_MAX);
		rr_array_grow(&endings->varying, endings->n_varying, sizeof(varying));
		endings->varying[endings->n_varying++] = varying;
	}
}

void rr_ending_write(struct rr_ending ending, FILE *out)
{
	rr_bytes_put_number(out, ending.status);
	rr_bytes_put(out, ending.output, strlen(ending.output) + 1);
}

uint32_t rr_endings_read(struct rr_endings *endings, struct rr_bytes *bytes)
{
	const int status = (int)rr_bytes_take_number(bytes, INT32_MIN, INT32_MAX);

	return rr_endings_put(endings, status, take_text(bytes));
}

void rr_endings_release(struct rr_endings *endings)
{
	for (size_t i = 0; i < endings->n_varying; i++)
		free(endings->varying[i].pattern);
	free(endings->varying);
	rr_intern_release(&endings->serial);
	rr_intern_release(&endings->all);
	*endings = (struct rr_endings){ .varying = NULL };
}
