/* SPDX-License-Identifier: MIT */
/*
 * Races as text: what the parser reads again as the same race. Comments and
 * blank lines of a file that was read are no part of a race and are not written.
 */
#ifndef RR_WRITE_H
#define RR_WRITE_H

#include <stdio.h>

#include "race.h"

/*
 * Writes the whole file: headings, steps, what documents say, the verdict. What
 * the parser did not make must be sayable, too: titles, notes and remarks without
 * newlines, a pattern for each reply (rr_reply_to_pattern()), times in whole
 * microseconds (others are rounded up). False: it could not be written.
 */
bool rr_race_write(FILE *file, const struct rr_race *race);

/* One step as its line, without the newline. */
void rr_race_write_step(FILE *file, const struct rr_race *race,
			const struct rr_step *step);

/* A duration as races have it, in the largest unit without a fraction: "11s",
 * "1500ms", "3us". */
enum { RR_DURATION_SIZE = 32 };
const char *rr_race_duration_text(char text[RR_DURATION_SIZE], int64_t ns);

#endif
