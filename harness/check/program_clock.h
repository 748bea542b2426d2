/* SPDX-License-Identifier: MIT */
/* The clock of a program that has loaded the shim (program_page.h): it stands still but
 * for what is added here. Without the shim there is no page, and nothing is done. */
#ifndef RR_PROGRAM_CLOCK_H
#define RR_PROGRAM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "program_page.h"

struct rr_program_clock {
	struct rr_program_page *page; /* NULL: without the shim */
	char path[112];
	int64_t woken_ns; /* when somebody was woken last, of our own clock */
};

/* Makes a page: directory/NUMBER.page. False: errno. Close it in any case. */
bool rr_program_clock_open(struct rr_program_clock *clock,
			   const char *directory, unsigned number,
			   int64_t start_ns);
void rr_program_clock_close(struct rr_program_clock *clock);

/* So much time passes for the program. */
void rr_program_clock_pass(struct rr_program_clock *clock, int64_t ns);

/* How often it was read; and whether any process has loaded the shim. */
uint64_t rr_program_clock_reads(const struct rr_program_clock *clock);
bool rr_program_clock_is_used(const struct rr_program_clock *clock);

/* Does anybody sleep, or wait with a time-out? */
bool rr_program_clock_has_waiter(const struct rr_program_clock *clock);

/* Has anybody been woken who may not have noticed yet? */
bool rr_program_clock_is_waking(const struct rr_program_clock *clock);

/* Lets time pass until the first of those who sleep may go on. False: nobody does. */
bool rr_program_clock_wake(struct rr_program_clock *clock);

#endif
