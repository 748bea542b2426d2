/* SPDX-License-Identifier: MIT */
/* Small random programs for the search: what it leaves out must not matter. */
#ifndef RR_TEST_PROGRAMS_H
#define RR_TEST_PROGRAMS_H

#include "../support.h"

#include "search.h"

struct programs;

struct programs *programs_open(struct support *support);
void programs_close(struct programs *programs);

/* Makes the clients' programs of a seed. */
void programs_make(struct programs *programs, uint64_t seed);

/* Runs all schedules, or the reduced search's, and keeps the set of final states:
 * what is stored, and what each client was told. The number of schedules. */
unsigned long programs_run(struct programs *programs, bool all,
			   bool (*forget)(const struct rr_footprint *a,
					  const struct rr_footprint *b));

/* Did the last two of programs_run() reach the same states? */
bool programs_agree(const struct programs *programs);

#endif
