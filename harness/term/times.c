/* SPDX-License-Identifier: MIT */
#include "term.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

#define SECOND_NS INT64_C(1000000000)
#define PLACEHOLDER "<time>"

/* DAY_DIGITS: of the seconds of a day. */
enum { DAY_DIGITS = 5, DATE_SIZE = 11 };

static size_t write_seconds(char start[24], int64_t day_ns)
{
	return (size_t)snprintf(start, 24, "%lld", (long long)(day_ns / SECOND_NS));
}

size_t rr_digits_of_day(int64_t day_ns)
{
	char start[24];

	return write_seconds(start, day_ns) - DAY_DIGITS;
}

bool rr_is_time(struct rdl_word word, int64_t day_ns)
{
	char start[24];
	const size_t seconds = write_seconds(start, day_ns);
	size_t n = 0;

	while (n < word.length && (isdigit((unsigned char)word.text[n]) || word.text[n] == '.'))
		n++;
	return n == word.length && n >= seconds &&
	       memcmp(word.text, start, seconds - DAY_DIGITS) == 0;
}

static bool is_part_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* How many bytes are a number from there on; a point at its end ends a sentence. */
static size_t length_of_number(const char *text, size_t left)
{
	size_t n = 0;

	while (n < left &&
	       (isdigit((unsigned char)text[n]) ||
		(text[n] == '.' && n + 1 < left && isdigit((unsigned char)text[n + 1]))))
		n++;
	return n < left && is_part_of_word(text[n]) ? 0 : n;
}

/* "2030-03-17", "2030-03-17 17:46:40.05", "2030-03-17T17:46:40.050Z". */
static size_t length_of_date(const char *text, size_t left, int64_t day_ns)
{
	const time_t day = (time_t)(day_ns / SECOND_NS);
	const size_t n_date = DATE_SIZE - 1;
	char date[DATE_SIZE];
	struct tm parts;
	size_t n;

	gmtime_r(&day, &parts);
	strftime(date, sizeof(date), "%Y-%m-%d", &parts);
	if (left < n_date || memcmp(text, date, n_date) != 0)
		return 0;
	if (left < n_date + 2 || !strchr(" T", text[n_date]) ||
	    !isdigit((unsigned char)text[n_date + 1]))
		return n_date;
	for (n = n_date + 1; n < left; n++) {
		if (!isdigit((unsigned char)text[n]) && !strchr(":.", text[n]))
			break;
	}
	return n;
}

/* What moves with the clock: times of day, and of `terms`, if given, what keys have had left. */
struct moving {
	int64_t day_ns;
	const struct rr_terms *terms;
};

void rr_terms_note_left(struct rr_terms *terms, long long left)
{
	enum { LEAST = 10, MS = 1000 };
	const long long numbers[] = { left, left / MS, (left + MS / 2) / MS, (left + MS - 1) / MS };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char text[24];

		snprintf(text, sizeof(text), "%lld", numbers[i]);
		if (numbers[i] >= LEAST)
			rr_intern_put(&terms->left, text, strlen(text), NULL);
	}
}

/* How many bytes are a time from there on; 0: it is none. */
static size_t length_of_time(const char *text, size_t left, const struct moving *moving)
{
	const size_t n = length_of_number(text, left);

	const char *point = memchr(text, '.', n);
	const size_t whole = point ? (size_t)(point - text) : n;

	if (n > 0 && moving->terms && rr_intern_find(&moving->terms->left, text, whole) != RR_NO_ID)
		return n;
	if (moving->day_ns == 0)
		return 0;
	return n > 0 && rr_is_time((struct rdl_word){ text, n }, moving->day_ns) ?
		       n :
		       length_of_date(text, left, moving->day_ns);
}

static char *without_times(const char *text, size_t length, const struct moving *moving,
			   size_t *new_length)
{
	char *without = NULL;
	bool changed = false;
	FILE *file = rr_open_memory(&without, new_length);

	for (size_t at = 0; at < length;) {
		const bool begins = at == 0 || !is_part_of_word(text[at - 1]);
		const size_t n = begins ? length_of_time(text + at, length - at, moving) : 0;

		changed |= n > 0;
		if (n > 0)
			fputs(PLACEHOLDER, file);
		else
			fputc(text[at], file);
		at += n > 0 ? n : 1;
	}
	fclose(file);
	if (changed)
		return without;
	free(without);
	return NULL;
}

char *rr_without_times(const char *text, size_t length, int64_t day_ns, size_t *new_length)
{
	const struct moving moving = { .day_ns = day_ns };

	return without_times(text, length, &moving, new_length);
}

static char *map_text(const void *context, const char *text, size_t length, size_t *new_length)
{
	return without_times(text, length, context, new_length);
}

uint32_t rr_reply_without_times(struct rr_terms *terms, uint32_t reply, int64_t day_ns)
{
	const struct moving moving = { day_ns, terms };

	return rr_map_reply(terms, reply, map_text, &moving);
}
