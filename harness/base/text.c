/* SPDX-License-Identifier: MIT */
/* Texts that users type and read. */
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

const char *rr_grouped(char buffer[RR_GROUPED_SIZE], long long value)
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%lld", value);
	char *to = buffer;

	for (int i = 0; i < length; i++) {
		*to++ = digits[i];
		if (digits[i] != '-' && i < length - 1 && (length - 1 - i) % 3 == 0)
			*to++ = ',';
	}
	*to = '\0';
	return buffer;
}

const char *rr_duration(char buffer[RR_GROUPED_SIZE], uint64_t value_ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)value_ns;
	size_t unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, RR_GROUPED_SIZE, "%.*f %s",
		 value < 9.995 && unit ? 2 :
		 value < 99.95 && unit ? 1 :
					 0,
		 value, units[unit]);
	return buffer;
}

const char *rr_exact_duration(char buffer[RR_GROUPED_SIZE], int64_t ns)
{
	const int64_t us = ns > 0 ? (ns + 999) / 1000 : ns / 1000;

	if (us % 1000000 == 0)
		snprintf(buffer, RR_GROUPED_SIZE, "%" PRId64 "s", us / 1000000);
	else if (us % 1000 == 0)
		snprintf(buffer, RR_GROUPED_SIZE, "%" PRId64 "ms", us / 1000);
	else
		snprintf(buffer, RR_GROUPED_SIZE, "%" PRId64 "us", us);
	return buffer;
}

bool rr_parse_duration(const char *text, bool is_signed, int64_t most_ns, int64_t *ns)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };
	const char *digits = text + (is_signed && (*text == '+' || *text == '-'));
	char *end;
	const long long value = strtoll(text, &end, 10);

	if (!isdigit((unsigned char)*digits) || (!is_signed && value <= 0))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const int64_t most = most_ns / units[i].ns;

		if (strcmp(end, units[i].unit) == 0 && value <= most && value >= -most) {
			*ns = value * units[i].ns;
			return true;
		}
	}
	return false;
}

bool rr_parse_number(const char *text, long min, long max, long *value)
{
	const char *digits = text + (*text == '-');
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	return errno == 0 && isdigit((unsigned char)*digits) && *end == '\0' && *value >= min &&
	       *value <= max;
}

bool rr_has_word(const char *words, const char *between, const char *word)
{
	const size_t length = strlen(word);

	while (words && *words) {
		const size_t n = strcspn(words, between);

		if (n == length && n && memcmp(words, word, n) == 0)
			return true;
		words += n;
		words += strspn(words, between);
	}
	return false;
}

size_t rr_take_line(const char **text)
{
	const size_t length = strcspn(*text, "\n");

	*text += length + ((*text)[length] == '\n');
	return length;
}

bool rr_ends_in(const char *text, const char *suffix)
{
	const size_t length = strlen(text), end = strlen(suffix);

	return length >= end && strcmp(text + length - end, suffix) == 0;
}

/* Interpreters name the error so: "KeyError: 7", "TypeError [CODE]: ...", "(RuntimeError)", or by
 * its name alone. Lines that are indented say where it came from. */
static bool names_error(const char *line, size_t length)
{
	static const char *const signs[] = { "Error:",    "Error [",   "Error)",
					     "Exception", "Interrupt", "panic: " };
	bool names = length >= 5 && memcmp(line + length - 5, "Error", 5) == 0;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		names |= memmem(line, length, signs[i], strlen(signs[i])) != NULL;
	return names && !isspace((unsigned char)line[0]);
}

char *rr_text_of_bytes(const char *bytes, size_t length)
{
	char *text;
	FILE *out = rr_open_text(&text);

	for (size_t i = 0; i < length; i++)
		fprintf(out, bytes[i] ? "%c" : "\\x00", bytes[i]);
	fclose(out);
	return text;
}

char *rr_reason_line(const char *output, size_t length)
{
	const char *line = output, *end = output + length, *reason = "";
	size_t n, n_reason = 0;
	bool is_named = false;

	for (; line < end; line += n + 1) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		n = (size_t)((newline ? newline : end) - line);
		if (n == 0 || (is_named && !names_error(line, n)))
			continue;
		is_named = names_error(line, n);
		reason = line;
		n_reason = n;
	}
	return rr_text_of_bytes(reason, n_reason);
}

/* Letters to change, to add, to take away, or to swap with the next one; for words of up
 * to 63 letters. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { LONGEST = 64 };
	const size_t n = strlen(b);
	size_t rows[3][LONGEST];
	size_t *two_above = rows[0], *above = rows[1], *row = rows[2];

	if (n >= LONGEST)
		return n;
	for (size_t j = 0; j <= n; j++)
		above[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t *const oldest = two_above;

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			row[j] = above[j - 1] + (a[i] != b[j - 1]);
			if (above[j] + 1 < row[j])
				row[j] = above[j] + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			if (i > 0 && j > 1 && a[i] == b[j - 2] && a[i - 1] == b[j - 1] &&
			    two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
		two_above = above;
		above = row;
		row = oldest;
	}
	return above[n];
}

/* The only one that goes on where `name` ends: "slow-work" of "slow". */
static const char *find_longer(const char *name, const char *const names[], size_t n_names)
{
	enum { SHORTEST = 3 };
	const size_t length = strlen(name);
	const char *longer = NULL;

	for (size_t i = 0; i < n_names && length >= SHORTEST; i++) {
		if (strncmp(name, names[i], length) != 0)
			continue;
		if (longer)
			return NULL;
		longer = names[i];
	}
	return longer;
}

const char *rr_nearest(const char *name, const char *const names[], size_t n_names)
{
	const char *nearest = find_longer(name, names, n_names);
	size_t best = nearest ? 0 : (strlen(name) + 1) / 3;

	/* Near for both: a short name is not near to many. */
	for (size_t i = 0; i < n_names; i++) {
		const size_t d = edit_distance(name, names[i]);

		if (d <= best && d <= (strlen(names[i]) + 1) / 3 && (!nearest || d < best)) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}

void rr_add_text(char *text, size_t size, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

const char *rr_list_words(char *list, size_t size, const char *const words[], size_t n)
{
	list[0] = '\0';
	for (size_t i = 0; i < n; i++)
		rr_add_text(list, size, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", words[i]);
	return list;
}
