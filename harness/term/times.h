/* SPDX-License-Identifier: MIT */
/*
 * Times of day in texts: how long a program has waited says when it wrote them, and which of
 * several schedules it was, but nothing of what it did. Where two texts are the same but for
 * such times, they say the same.
 *
 * What counts as one are digits, perhaps with a point, that are within about a day of the time at
 * which programs begin, in seconds or parts of them, and dates as ISO 8601 has them of that day.
 */
#ifndef RR_TIMES_H
#define RR_TIMES_H

#include "terms.h"

/* Is the whole word digits that are a time of day near that one? */
bool rr_is_time(struct rdl_word word, int64_t day_ns);

/* How many digits all those times have in common, from the first one on. */
size_t rr_digits_of_day(int64_t day_ns);

/* The text with "<time>" for each time of day; malloc'd. NULL: there is none in it. */
char *rr_without_times(const char *text, size_t length, int64_t day_ns, size_t *new_length);

/* The same in all texts of a reply. */
/* And without what keys had left, at least 10, in the units in which clients were told. */
uint32_t rr_reply_without_times(struct rr_terms *terms, uint32_t reply, int64_t day_ns);

/* A client was told that a key has so much left, in seconds or milliseconds. */
void rr_terms_note_left(struct rr_terms *terms, long long left);

#endif
