/* SPDX-License-Identifier: MIT */
/* A line on stderr that tells how far an exploration is; none if that is no
 * terminal. And whether Ctrl-C was pressed. */
#ifndef RR_EXPLORE_PROGRESS_H
#define RR_EXPLORE_PROGRESS_H

#include <stddef.h>

#include "base/signals.h"

struct rr_explore_progress {
	struct rr_signals *signals;
	const char *name; /* what is explored */
	const char *unit; /* what is counted: "states" */
	unsigned long n;  /* so many at the last look */
	double begun, looked, drawn; /* seconds; 0 = not yet */
};

/* For rr_explore_config, with a struct rr_explore_progress. A search that counts
 * from the beginning again is another one. */
bool rr_explore_progress(void *context, unsigned long n, double share);

/* Takes the line away. */
void rr_explore_progress_clear(void);

/* "12,345 states, 3,200 a second, about 40 % done, 6 s left" of a search that has
 * run for `elapsed` seconds. */
void rr_explore_progress_text(char *text, size_t size, const char *unit,
			      unsigned long n, double share, double elapsed);

#endif
