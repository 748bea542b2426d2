/* SPDX-License-Identifier: MIT */
/* Another program, run to its end: limited in time, called off by signals, and
 * never left behind. */
#ifndef RR_CHILD_H
#define RR_CHILD_H

#include <stddef.h>

#include "error.h"
#include "machine.h"

enum { RR_CHILD_OUTPUT = 8192, RR_CHILD_NOT_FOUND = 127 };

struct rr_child {
	int status;                   /* as of wait(2) */
	char output[RR_CHILD_OUTPUT]; /* the end of what it printed and said */
};

/*
 * Runs `argv` (looked up on PATH, ends in NULL), for
 * `limit_ms` at most. True: it ended, see `child`, whatever its own opinion.
 * RR_ERROR_INTERRUPTED: a signal came; RR_ERROR_INTERNAL: no process, or it took
 * too long.
 */
bool rr_child_run(struct rr_child *child, const char *const argv[], long limit_ms,
		  struct rr_signals *signals, struct rr_error *error);

/* Did it exit with `code`? */
bool rr_child_exited(const struct rr_child *child, int code);

/* The last line of its output that holds anything, without its end, copied; false
 * when there is none. */
bool rr_child_line(const struct rr_child *child, char *line, size_t size);

#endif
