/* SPDX-License-Identifier: MIT */
/*
 * Which schedules are run: of 135 wrong programs the first ten kinds found 109. Two operations
 * are interleaved; others run before, between or after them. Of schedules that would be the same
 * if each operation did what it does alone, one is run, and none that would be serial.
 */
#ifndef RR_SKEPTIC_SCHEDULES_H
#define RR_SKEPTIC_SCHEDULES_H

#include "drive.h"

enum schedule_kind {
	SCHEDULE_LOCKSTEP,     /* a step of each, from `a` on */
	SCHEDULE_FIRST_WRITES, /* all to before their first write; then a, b to their ends */
	SCHEDULE_LAST_WRITE,   /* a to before its last write, b to its end, a */
	SCHEDULE_AFTER_WRITE,  /* a to after its first write, b until it ends or polls, a */
	SCHEDULE_QUIET,        /* a until it has slept for longer than its lease, b, a */
	SCHEDULE_BOTH,         /* a for i commands, b for j, a, b */
	SCHEDULE_RANDOM
};

struct schedule {
	uint8_t kind, a, b;
	uint8_t others; /* 0: before a and b; 1: between them; 2: after */
	size_t i, j;
	uint64_t seed;
};

/* What an operation does in a serial execution, in one where it is the first if it ends there. */
struct profile {
	bool is_known, is_first;
	size_t n_marks; /* of a request: the one that it begins with */
	size_t n_writes, n_commands;
	size_t first_write, last_write; /* of the commands; n_commands = none writes */
	uint32_t *commands;
};

struct schedules {
	size_t n, n_first; /* the first kinds, which are run in any case */
	struct schedule *all;
};

/* `same_as`: of each operation the first one with the same command line. `outsleeps`: a client
 * has slept for longer than a lease of its own. Free schedules->all. */
void schedules_list(struct schedules *schedules, struct drive *drive,
		    const struct profile *profiles, const uint8_t *same_as, bool outsleeps,
		    uint64_t seed);

/* Runs one; or the operations in `order`, one after the other, none before the server's clock has
 * moved by its `begins_ns`. False: drive->error, or the time is up. End the execution in any case. A
 * serial execution that does not end is stuck. */
bool schedule_run(const struct schedule *schedule, struct drive *drive,
		  const struct profile *profiles, struct execution *it);
bool schedule_run_order(struct drive *drive, const uint8_t *order, const int64_t *begins_ns,
			size_t n, struct execution *it);

/* "A stopped before its last write"; malloc'd. */
char *schedule_text(const struct schedule *schedule, const struct drive *drive);

#endif
