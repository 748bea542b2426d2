/* SPDX-License-Identifier: MIT */
#include "endings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

/* In a pattern, before one of the letters below. */
#define MARK '\x1a'
#define ANY_TOKEN 'a' /* letters and digits */
#define ANY_SPAN 's'  /* these, and what base64 and times have between them */
#define ANY_WORD 'w'
#define ANY_REST 'r'
#define ITSELF 'x' /* the byte that marks */

enum { KEPT_MIN = 4, TRIES_MAX = 10000 };

static bool is_mark(struct rdl_word at, char letter)
{
	return at.length >= 2 && at.text[0] == MARK && at.text[1] == letter;
}

static bool is_span(char byte)
{
	return byte && (isalnum((unsigned char)byte) || strchr("+/=_-.:", byte));
}

static struct rdl_word part(struct rdl_word text, size_t from, size_t to)
{
	return (struct rdl_word){ text.text + from, to - from };
}

/* The next word of a line; empty: there is none. */
static struct rdl_word take_word(struct rdl_word *line)
{
	struct rdl_word word;
	size_t from = 0, to;

	while (from < line->length && (line->text[from] == ' ' || line->text[from] == '\t'))
		from++;
	to = from;
	while (to < line->length && line->text[to] != ' ' && line->text[to] != '\t')
		to++;
	word = part(*line, from, to);
	*line = part(*line, to, line->length);
	return word;
}

/* Of a word of a pattern: a token with its varying parts, or a mark, or one other byte. */
static size_t unit_length(struct rdl_word word)
{
	size_t n = 0;

	while (n < word.length && (isalnum((unsigned char)word.text[n]) ||
				   is_mark(part(word, n, word.length), ANY_TOKEN)))
		n += word.text[n] == MARK ? 2 : 1;
	return n ? n : word.length && word.text[0] == MARK ? 2 : word.length > 0;
}

static bool is_token(struct rdl_word unit)
{
	return isalnum((unsigned char)unit.text[0]) || is_mark(unit, ANY_TOKEN);
}

static size_t common_end(struct rdl_word a, struct rdl_word b)
{
	size_t n = 0;

	while (n < a.length && n < b.length && a.text[a.length - 1 - n] == b.text[b.length - 1 - n])
		n++;
	return n;
}

/* Two random numbers in hexadecimal may have an end in common by chance, but for such letters. */
static bool has_word_letter(struct rdl_word text)
{
	for (size_t i = 0; i < text.length; i++) {
		if (isalpha((unsigned char)text.text[i]) && !isxdigit((unsigned char)text.text[i]))
			return true;
	}
	return false;
}

static bool is_number(struct rdl_word text)
{
	size_t i = 0;

	if (is_mark(text, ANY_TOKEN))
		return text.length == 2;
	while (i < text.length && isdigit((unsigned char)text.text[i]))
		i++;
	return i > 0 && i == text.length;
}

/* Two tokens that differ. */
static void join_tokens(FILE *out, struct rdl_word a, struct rdl_word b)
{
	const size_t shorter = a.length < b.length ? a.length : b.length;
	size_t start = 0, end, start_of_number, end_of_number;

	while (start < shorter && a.text[start] == b.text[start])
		start++;
	end = common_end(part(a, start, a.length), part(b, start, b.length));
	start_of_number = start;
	end_of_number = end;

	/* A number varies as a whole. */
	while (start_of_number > 0 && isdigit((unsigned char)a.text[start_of_number - 1]))
		start_of_number--;
	while (end_of_number > 0 && isdigit((unsigned char)a.text[a.length - end_of_number]))
		end_of_number--;
	if (is_number(part(a, start_of_number, a.length - end_of_number)) &&
	    is_number(part(b, start_of_number, b.length - end_of_number)) &&
	    (start_of_number == 0 || has_word_letter(part(a, 0, start_of_number))) &&
	    (end_of_number == 0 || has_word_letter(part(a, a.length - end_of_number, a.length)))) {
		start = start_of_number;
		end = end_of_number;
	} else {
		start = start >= KEPT_MIN && has_word_letter(part(a, 0, start)) ? start : 0;
		end = end >= KEPT_MIN && has_word_letter(part(a, a.length - end, a.length)) ? end :
											      0;
	}
	if (start + end >= shorter)
		start = end = 0;
	fwrite(a.text, 1, start, out);
	fprintf(out, "%c%c", MARK, ANY_TOKEN);
	fwrite(a.text + a.length - end, 1, end, out);
}

/* Have two words the same separators between their tokens? If so, they are joined. */
static bool join_units(FILE *out, struct rdl_word a, struct rdl_word b)
{
	const struct rdl_word whole_a = a, whole_b = b;

	for (int writes = 0; writes < 2; writes++) {
		a = whole_a;
		b = whole_b;
		while (a.length > 0 && b.length > 0) {
			const struct rdl_word one = part(a, 0, unit_length(a));
			const struct rdl_word other = part(b, 0, unit_length(b));
			const bool are_same = rr_words_are_same(one, other);

			if (!are_same && !(is_token(one) && is_token(other)))
				return false;
			if (writes && are_same)
				fwrite(one.text, 1, one.length, out);
			else if (writes)
				join_tokens(out, one, other);
			a = part(a, one.length, a.length);
			b = part(b, other.length, b.length);
		}
		if (a.length > 0 || b.length > 0)
			return false;
	}
	return true;
}

static bool is_spanned(struct rdl_word text)
{
	size_t i = 0;

	while (i < text.length &&
	       (is_span(text.text[i]) || is_mark(part(text, i, text.length), ANY_TOKEN) ||
		is_mark(part(text, i, text.length), ANY_SPAN)))
		i += text.text[i] == MARK ? 2 : 1;
	return i == text.length;
}

/* So many bytes at the beginning, or at the end, are units that both have. */
static size_t common_units(struct rdl_word a, struct rdl_word b, size_t *before)
{
	size_t n = 0;

	*before = 0;
	while (n < a.length && n < b.length) {
		const size_t length = unit_length(part(a, n, a.length));

		if (unit_length(part(b, n, b.length)) != length ||
		    memcmp(a.text + n, b.text + n, length) != 0)
			break;
		*before = n;
		n += length;
	}
	return n;
}

/* Is a byte in the same token, or mark, as the one after it? */
static bool goes_on(struct rdl_word word, size_t left)
{
	const char byte = word.text[word.length - left - 1];

	return isalnum((unsigned char)byte) || byte == MARK;
}

/* Separators differ: in the words but for their beginnings and ends. False: in too much. */
static bool join_spans(FILE *out, struct rdl_word a, struct rdl_word b)
{
	size_t before, start = common_units(a, b, &before);
	size_t end = common_end(part(a, start, a.length), part(b, start, b.length));

	/* What varies has something in both words, and ends behind a token. */
	if (start == a.length || start == b.length)
		start = before;
	while (end > 0 && (start + end >= a.length || start + end >= b.length ||
			   (is_token(part(a, a.length - end, a.length)) &&
			    (goes_on(a, end) || goes_on(b, end)))))
		end--;
	if (start + end >= a.length || start + end >= b.length ||
	    !is_spanned(part(a, start, a.length - end)) ||
	    !is_spanned(part(b, start, b.length - end)))
		return false;
	fwrite(a.text, 1, start, out);
	fprintf(out, "%c%c", MARK, ANY_SPAN);
	fwrite(a.text + a.length - end, 1, end, out);
	return true;
}

struct rdl_word rr_varying_of_line(struct rdl_word line)
{
	char *pattern;
	size_t length;
	FILE *out = rr_open_memory(&pattern, &length);

	for (size_t i = 0; i < line.length; i++) {
		fputc(line.text[i], out);
		if (line.text[i] == MARK)
			fputc(ITSELF, out);
	}
	fclose(out);
	return (struct rdl_word){ pattern, length };
}

struct rdl_word rr_varying_join(struct rdl_word a, struct rdl_word b)
{
	char *pattern;
	size_t length;
	FILE *out = rr_open_memory(&pattern, &length);

	for (bool is_first = true;; is_first = false) {
		const struct rdl_word one = take_word(&a), other = take_word(&b);

		if (one.length == 0 && other.length == 0)
			break;
		fputs(is_first ? "" : " ", out);
		if (one.length == 0 || other.length == 0 || is_mark(one, ANY_REST) ||
		    is_mark(other, ANY_REST)) {
			fprintf(out, "%c%c", MARK, ANY_REST);
			break;
		}
		if (is_mark(one, ANY_WORD) || is_mark(other, ANY_WORD) ||
		    !(join_units(out, one, other) || join_spans(out, one, other)))
			fprintf(out, "%c%c", MARK, ANY_WORD);
	}
	fclose(out);
	return (struct rdl_word){ pattern, length };
}

/* ---- Matching ------------------------------------------------------------------------- */

/* A word of a pattern and a word of a line. */
static bool matches_word(struct rdl_word pattern, struct rdl_word word, int *n_tries)
{
	bool is_any;
	size_t most = 0;

	while (pattern.length > 0 && pattern.text[0] != MARK) {
		if (word.length == 0 || word.text[0] != pattern.text[0])
			return false;
		pattern = part(pattern, 1, pattern.length);
		word = part(word, 1, word.length);
	}
	if (pattern.length == 0 || ++*n_tries > TRIES_MAX)
		return pattern.length == 0 && word.length == 0;
	if (is_mark(pattern, ITSELF))
		return word.length > 0 && word.text[0] == MARK &&
		       matches_word(part(pattern, 2, pattern.length), part(word, 1, word.length),
				    n_tries);
	is_any = is_mark(pattern, ANY_SPAN);
	while (most < word.length &&
	       (isalnum((unsigned char)word.text[most]) || (is_any && is_span(word.text[most]))))
		most++;
	for (; most > 0; most--) {
		if (matches_word(part(pattern, 2, pattern.length), part(word, most, word.length),
				 n_tries))
			return true;
	}
	return false;
}

bool rr_varying_matches(struct rdl_word pattern, struct rdl_word line)
{
	int n_tries = 0;

	for (;;) {
		const struct rdl_word expected = take_word(&pattern), word = take_word(&line);

		if (is_mark(expected, ANY_REST))
			return true;
		if (expected.length == 0 || word.length == 0)
			return expected.length == word.length;
		if (!is_mark(expected, ANY_WORD) && !matches_word(expected, word, &n_tries))
			return false;
	}
}

/* ---- What a pattern is ------------------------------------------------------------------ */

size_t rr_varying_compared(struct rdl_word pattern)
{
	size_t n = 0;

	for (size_t i = 0; i < pattern.length; i++) {
		const bool is_varying = pattern.text[i] == MARK;

		n += !is_varying || is_mark(part(pattern, i, pattern.length), ITSELF);
		i += is_varying;
	}
	return n;
}

bool rr_varying_is_blank(struct rdl_word pattern)
{
	for (size_t i = 0; i < pattern.length; i++) {
		if (pattern.text[i] == MARK)
			i++;
		else if (isalnum((unsigned char)pattern.text[i]))
			return false;
	}
	return true;
}

char *rr_varying_text(struct rdl_word pattern, size_t most)
{
	const size_t shown = pattern.length < most ? pattern.length : most;
	char *bytes, *text;
	size_t length;
	FILE *out = rr_open_memory(&bytes, &length);

	for (size_t i = 0; i < shown; i++) {
		const struct rdl_word at = part(pattern, i, pattern.length);

		if (at.text[0] != MARK || at.length < 2)
			fputc(at.text[0], out);
		else
			fputs(at.text[1] == ANY_REST ? "..." :
			      at.text[1] == ITSELF   ? "\x1a" :
						       "*",
			      out);
		i += at.text[0] == MARK;
	}
	fputs(shown < pattern.length ? "..." : "", out);
	fclose(out);
	text = rr_text_of_bytes(bytes, length);
	free(bytes);
	return text;
}
