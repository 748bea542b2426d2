/* SPDX-License-Identifier: MIT */
/* What happened, written down as a .race file. */
#ifndef RR_TRANSCRIPT_H
#define RR_TRANSCRIPT_H

#include <stdio.h>

#include "base/error.h"
#include "race/race.h"

/* One step as its line, without the newline. */
void rr_transcript_step(FILE *file, const struct rr_race *race,
			const struct rr_step *step);

/* Everything; replies are what steps expect. False: it could not be written. */
bool rr_transcript_write(FILE *file, const struct rr_race *race);

/* Replaces the file at `path`, whole or not at all. Complains by itself. */
enum rr_exit rr_transcript_save(const struct rr_race *race, const char *path);

#endif
