/* SPDX-License-Identifier: MIT */
#include "endings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

/* In a pattern: a word that may be any; and all words from there on. */
#define ANY_WORD "*"
#define ANY_REST "..."

/* A line, a word, or a pattern: bytes. */
static bool is_text(struct rl_word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

void rr_endings_allow(struct rr_endings *endings, const char *const *allowed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		rr_array_grow(&endings->allowed, i, sizeof(*endings->allowed));
		if (regcomp(&endings->allowed[endings->n_allowed], allowed[i],
			    REG_EXTENDED | REG_NOSUB) == 0)
			endings->n_allowed++;
	}
}

bool rr_output_matches(const regex_t *pattern, const char *text, size_t length)
{
	regmatch_t whole = { .rm_so = 0, .rm_eo = (regoff_t)length };

	return regexec(pattern, text, 1, &whole, REG_STARTEND) == 0;
}

uint32_t rr_endings_put(struct rr_endings *endings, struct rr_ending ending)
{
	const int statuses[2] = { ending.status, ending.http };
	const size_t size = sizeof(statuses) + ending.length + 1;
	char *bytes = rr_malloc(size);
	uint32_t number;

	memcpy(bytes, statuses, sizeof(statuses));
	memcpy(bytes + sizeof(statuses), ending.output, ending.length);
	bytes[size - 1] = '\0';
	number = rr_intern_put(&endings->all, bytes, size, NULL);
	free(bytes);
	return number;
}

struct rr_ending rr_endings_get(const struct rr_endings *endings, uint32_t number)
{
	int statuses[2];
	const char *bytes;

	if (number >= endings->all.n)
		return (struct rr_ending){ .output = "" };
	bytes = rr_intern_get(&endings->all, number);
	memcpy(statuses, bytes, sizeof(statuses));
	return (struct rr_ending){ .status = statuses[0],
				   .http = statuses[1],
				   .output = bytes + sizeof(statuses),
				   .length = endings->all.values[number].length - sizeof(statuses) -
					     1 };
}

/* ---- Lines that vary ----------------------------------------------------------------- */

/* What is left of an output, and how many lines were taken from it. */
struct rest {
	const char *at, *end;
	size_t number;
	bool is_ended; /* the last one, by a newline */
};

static struct rest rest_of(const struct rr_endings *endings, uint32_t number)
{
	const struct rr_ending ending = rr_endings_get(endings, number);

	return (struct rest){ ending.output, ending.output + ending.length, 0, false };
}

/* False: there is none. */
static bool take_line(struct rest *rest, struct rl_word *line)
{
	const size_t left = (size_t)(rest->end - rest->at);
	const char *newline = left ? memchr(rest->at, '\n', left) : NULL;

	if (left == 0)
		return false;
	line->text = rest->at;
	line->length = newline ? (size_t)(newline - rest->at) : left;
	rest->at += line->length + (newline != NULL);
	rest->is_ended = newline;
	rest->number++;
	return true;
}

/* The next word of a line; empty: there is none. */
static struct rl_word take_word(struct rl_word *line)
{
	struct rl_word word;

	while (line->length > 0 && (*line->text == ' ' || *line->text == '\t')) {
		line->text++;
		line->length--;
	}
	word = (struct rl_word){ line->text, 0 };
	while (word.length < line->length && word.text[word.length] != ' ' &&
	       word.text[word.length] != '\t')
		word.length++;
	line->text += word.length;
	line->length -= word.length;
	return word;
}

static bool is_like(struct rl_word line, struct rl_word pattern)
{
	struct rl_word expected, word;

	do {
		expected = take_word(&pattern);
		word = take_word(&line);
		if (is_text(expected, ANY_REST))
			return true;
		if (!rr_words_are_same(expected, word) &&
		    (word.length == 0 || !is_text(expected, ANY_WORD)))
			return false;
	} while (expected.length > 0);
	return true;
}

/* NULL: the line does not vary. */
static const struct rr_varying *find_varying(const struct rr_endings *endings, struct rl_word line,
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
 * words than the other, all may. malloc'd. */
static struct rl_word pattern_of(struct rl_word a, struct rl_word b)
{
	struct rl_word word_a, word_b;
	char *pattern;
	size_t length;
	FILE *file = rr_open_memory(&pattern, &length);

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
	return (struct rl_word){ pattern, length };
}

static bool has_only_blanks(struct rl_word pattern)
{
	static const char blanks[] = ANY_WORD ANY_REST " ";
	size_t i = 0;

	while (i < pattern.length && memchr(blanks, pattern.text[i], sizeof(blanks) - 1))
		i++;
	return i == pattern.length;
}

static void add_varying(struct rr_endings *endings, struct rl_word a, struct rl_word b,
			size_t number)
{
	struct rr_varying varying = { .pattern = pattern_of(a, b) };

	if (has_only_blanks(varying.pattern))
		varying.line = number;
	rr_array_grow(&endings->varying, endings->n_varying, sizeof(varying));
	endings->varying[endings->n_varying++] = varying;
}

void rr_endings_vary(struct rr_endings *endings, uint32_t a, uint32_t b)
{
	struct rest rest_a = rest_of(endings, a), rest_b = rest_of(endings, b);

	for (size_t number = 1;; number++) {
		struct rl_word line_a = { "", 0 }, line_b = { "", 0 };
		const bool has_a = take_line(&rest_a, &line_a), has_b = take_line(&rest_b, &line_b);
		const struct rr_varying *known;

		if (!has_a && !has_b)
			break;
		if (rr_words_are_same(line_a, line_b))
			continue;
		known = find_varying(endings, line_a, number);
		if (!known || known != find_varying(endings, line_b, number))
			add_varying(endings, line_a, line_b, number);
	}
}

/* ---- Comparing ------------------------------------------------------------------------ */

static bool is_allowed(const struct rr_endings *endings, struct rl_word line)
{
	size_t i = 0;

	while (i < endings->n_allowed &&
	       !rr_output_matches(&endings->allowed[i], line.text, line.length))
		i++;
	return i < endings->n_allowed;
}

/* The next line that counts, or the pattern of one that varies. False: none is left. */
static bool take_compared(const struct rr_endings *endings, struct rest *rest, struct rl_word *line)
{
	const struct rr_varying *varying;
	bool has;

	do
		has = take_line(rest, line);
	while (has && is_allowed(endings, *line));
	varying = has ? find_varying(endings, *line, rest->number) : NULL;
	if (varying)
		*line = varying->pattern;
	return has;
}

bool rr_endings_differ(const struct rr_endings *endings, uint32_t a, uint32_t b, const char **at_a,
		       const char **at_b)
{
	struct rest one = rest_of(endings, a), other = rest_of(endings, b);
	const struct rr_ending ending_a = rr_endings_get(endings, a);
	const struct rr_ending ending_b = rr_endings_get(endings, b);
	bool has_one, has_other;

	*at_a = one.at;
	*at_b = other.at;
	if (a == b || ending_a.status != ending_b.status || ending_a.http != ending_b.http)
		return a != b;
	do {
		struct rl_word line_one, line_other;

		*at_a = one.at;
		*at_b = other.at;
		has_one = take_compared(endings, &one, &line_one);
		has_other = take_compared(endings, &other, &line_other);
		if (has_one != has_other || (has_one && (!rr_words_are_same(line_one, line_other) ||
							 one.is_ended != other.is_ended)))
			return true;
	} while (has_one);
	return false;
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

/* The lines that count of all endings of serial orders, once each. */
static struct rr_intern lines_of_serial_orders(const struct rr_endings *endings)
{
	struct rr_intern lines = { 0 };

	for (uint32_t i = 0; i < endings->serial.n; i++) {
		const uint32_t *ending = rr_intern_get(&endings->serial, i);
		struct rest rest = rest_of(endings, *ending);
		struct rl_word line;

		while (take_compared(endings, &rest, &line))
			rr_intern_put(&lines, line.text, line.length, NULL);
	}
	return lines;
}

/* Goes on behind the next such line of a text; those before are counted. False: there is
 * none. */
static bool skip_to(const struct rr_endings *endings, const struct rl_word *line, struct rest *rest,
		    long *n_skipped)
{
	struct rl_word next;

	while (take_compared(endings, rest, &next)) {
		if (line && rr_words_are_same(next, *line))
			return true;
		++*n_skipped;
	}
	return false;
}

bool rr_endings_differ_by_waiting(const struct rr_endings *endings, uint32_t waited,
				  uint32_t unwaited)
{
	struct rest one = rest_of(endings, waited), other = rest_of(endings, unwaited);
	struct rr_intern serial = lines_of_serial_orders(endings);
	long n_about_waiting = 0, n_instead = 0;
	bool good = rr_endings_get(endings, waited).status ==
		    rr_endings_get(endings, unwaited).status;
	struct rl_word line;

	while (good && take_compared(endings, &one, &line)) {
		if (rr_intern_find(&serial, line.text, line.length) != RR_NO_ID)
			good = skip_to(endings, &line, &other, &n_instead);
		else
			n_about_waiting++;
	}
	skip_to(endings, NULL, &other, &n_instead);
	rr_intern_release(&serial);
	return good && n_instead <= n_about_waiting;
}

/* ---- In a file ----------------------------------------------------------------------- */

void rr_endings_write_varying(const struct rr_endings *endings, FILE *out)
{
	rr_bytes_put_number(out, (int64_t)endings->n_varying);
	for (size_t i = 0; i < endings->n_varying; i++) {
		const struct rr_varying *varying = &endings->varying[i];

		rr_bytes_put(out, varying->pattern.text, varying->pattern.length);
		rr_bytes_put_number(out, (int64_t)varying->line);
	}
}

void rr_endings_read_varying(struct rr_endings *endings, struct rr_bytes *bytes)
{
	const size_t n = rr_bytes_take_count(bytes);

	for (size_t i = 0; i < n && !bytes->is_wrong; i++) {
		struct rr_varying varying = { .line = 0 };
		const char *pattern = rr_bytes_take(bytes, &varying.pattern.length);

		varying.pattern.text = rr_memdup(pattern, varying.pattern.length);
		varying.line = (size_t)rr_bytes_take_number(bytes, 0, INT32_MAX);
		rr_array_grow(&endings->varying, endings->n_varying, sizeof(varying));
		endings->varying[endings->n_varying++] = varying;
	}
}

void rr_ending_write(struct rr_ending ending, FILE *out)
{
	rr_bytes_put_number(out, ending.status);
	rr_bytes_put_number(out, ending.http);
	rr_bytes_put(out, ending.output, ending.length);
}

uint32_t rr_endings_read(struct rr_endings *endings, struct rr_bytes *bytes)
{
	struct rr_ending ending = { .status = (int)rr_bytes_take_number(bytes, INT32_MIN,
									INT32_MAX) };

	ending.http = (int)rr_bytes_take_number(bytes, 0, INT32_MAX);
	ending.output = rr_bytes_take(bytes, &ending.length);
	return rr_endings_put(endings, ending);
}

void rr_endings_release(struct rr_endings *endings)
{
	for (size_t i = 0; i < endings->n_varying; i++)
		free((char *)endings->varying[i].pattern.text);
	for (size_t i = 0; i < endings->n_allowed; i++)
		regfree(&endings->allowed[i]);
	free(endings->allowed);
	free(endings->varying);
	rr_intern_release(&endings->serial);
	rr_intern_release(&endings->all);
	*endings = (struct rr_endings){ .varying = NULL };
}
