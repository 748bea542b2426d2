/* SPDX-License-Identifier: MIT */
/*
 * The files that programs have opened or mapped, also in vain, and whether they are still what
 * they were. Those that a program has only written do not count, nor does what is no file on a
 * disk (/proc, /sys, /dev). Python's compiled modules stand for their sources.
 */
#ifndef RR_OPENED_H
#define RR_OPENED_H

#include "base/bytes.h"
#include "program_page.h"
#include "scheduler/scheduler.h"

enum { RR_OPENED_WHY = 400 };

struct rr_opened {
	struct rr_intern paths; /* that count */
	struct rr_intern seen;  /* all: how a file was opened first says whether it counts */
	bool are_too_many;
};

void rr_opened_release(struct rr_opened *opened);

/* A file that all depends on, whoever opens it. */
void rr_opened_add(struct rr_opened *opened, const char *path);

/* What the processes of a program have opened until now. */
void rr_opened_note(struct rr_opened *opened, const struct rr_program_page *page);

/* Writes all of them, as they are now. False, and why: one has changed since that time of day,
 * and so is not what programs have read. */
bool rr_opened_write(const struct rr_opened *opened, int64_t since_ns, FILE *out,
		     char why[RR_OPENED_WHY]);

/* Are those that were written as they were then? They are among these then. False, and why not. */
bool rr_opened_are_same(struct rr_opened *opened, struct rr_bytes *bytes, char why[RR_OPENED_WHY]);

#endif
