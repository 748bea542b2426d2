/* SPDX-License-Identifier: MIT */
/* The clock of a program that has loaded the shim (program_page.h): it stands still but
 * for what is added here. Without the shim nobody looks at the page. */
#ifndef RR_PROGRAM_CLOCK_H
#define RR_PROGRAM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "program_page.h"

struct rr_program_clock {
	struct rr_program_page *page;
	size_t size; /* of the page; without room for notes it ends where they begin */
	char path[112];
	int64_t woken_ns; /* really: since when somebody is on his way; 0: nobody */
};

/* Makes a page, a file in `directory`, whose owner removes it. False: errno. Close it in
 * any case. */
bool rr_program_clock_open(struct rr_program_clock *clock, const char *directory, int64_t start_ns,
			   bool holds_day, bool notes_files);

/* So much passes, because redrace says so and not because the program waits. When it was that: in
 * passed_ns. */
int64_t rr_program_clock_tell(struct rr_program_clock *clock, int64_t ns);
void rr_program_clock_close(struct rr_program_clock *clock);

/* Until the first of those may go on who sleep, wait with a time-out or for an alarm; INT64_MAX:
 * there is none. */
int64_t rr_program_clock_left_ns(const struct rr_program_clock *clock);

/* Has anybody been woken who has not gone on yet? Nothing more may be done while he
 * is on his way. */
bool rr_program_clock_is_waking(struct rr_program_clock *clock);

/* Lets time pass until the first of those who sleep may go on, or an alarm is due.
 * False: nobody waits for time. */
bool rr_program_clock_wake(struct rr_program_clock *clock);

/* Of a program that has been computing for long: ends what is due, for a thread that
 * reads the clock again and again moves it, and the short waits for a lock: Python's
 * threads ask for their turn when these end. No time passes. */
void rr_program_clock_wake_busy(struct rr_program_clock *clock);

/* The ticket of the wait of a thread, not 0; 0: it does not wait for time, or not any
 * more. */
uint64_t rr_program_clock_ticket(const struct rr_program_clock *clock, pid_t thread);

#endif
