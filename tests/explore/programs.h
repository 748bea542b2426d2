/* SPDX-License-Identifier: MIT */
/* Small random programs for the search: what it leaves out must not matter. */
#ifndef RR_TEST_PROGRAMS_H
#define RR_TEST_PROGRAMS_H

#include <stdio.h>

#include "../support.h"

#include "driver.h"
#include "search.h"

enum { PROGRAM_CLIENTS = 3, PROGRAM_COMMANDS = 6, PROGRAM_WORDS = 8 };

/* ---- Making (program_text.c) ---- */

struct program_command {
	const char *words[PROGRAM_WORDS]; /* NULL after the last */
};

/* One client's. */
struct program {
	size_t n_commands;
	struct program_command commands[PROGRAM_COMMANDS];
};

/* The clients' programs of a seed, and how many clients there are. */
size_t program_make(struct program *programs, uint64_t seed);

bool program_is(const struct program_command *command, const char *name);

/* A line for each client: "A: SET a 1, GET b". */
void program_print(FILE *file, const struct program *programs, size_t n);

/* ---- Running (programs.c, program_states.c) ---- */

struct programs;

struct programs *programs_open(struct support *support);
void programs_close(struct programs *programs);

/* From now on those of this seed. */
void programs_make(struct programs *programs, uint64_t seed);

/* Their text. The caller frees it. */
char *programs_text(const struct programs *programs);

/* How to search, and what came of it. */
struct programs_run {
	bool all; /* all schedules, not the reduced search's */
	struct rr_budget budget;
	void (*distort)(const struct rr_gate_event *event,
			struct rr_footprint *footprint);
	bool never_wakes, forgets_stuck;
	unsigned long schedules, blocked, stuck;
};

/* Keeps the set of final states: what is stored, what each client was told and
 * who is stuck. Adds to the run's counts. */
void programs_run(struct programs *programs, struct programs_run *run);

/* Did the last two of programs_run() reach the same states? */
bool programs_agree(const struct programs *programs);

#endif
