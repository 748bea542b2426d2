/* SPDX-License-Identifier: MIT */
/* The machine as the program sees it: its signals, processors, memory and clocks. */
#ifndef RR_MACHINE_H
#define RR_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>

/*
 * Signals as something to wait for: the program's main thread is never
 * interrupted, it asks. Opened first thing, before any fork; workers inherit
 * the mask and so do not die of Ctrl-C before their results are in.
 *
 * Whoever has asked has RR_SIGNAL_END_MS to come to an end, in which it tells
 * what it has found so far; then SIGALRM ends the process, with
 * RR_EXIT_INTERRUPTED, wherever it waits. A program that does not even ask, for it
 * waits for a server that does not answer, gets that SIGALRM of its guardian
 * (cluster/guardian.h). SIGHUP is none of the three where it is ignored, as by
 * nohup(1).
 */
enum { RR_SIGNAL_END_MS = 1500 };

struct rr_signals {
	int fd;
	bool interrupted; /* SIGINT, SIGTERM or SIGHUP has come */
};

/* From now on these three end the process with RR_EXIT_INTERRUPTED at once, unless
 * signals are open: as long as there is nothing to be cleaned up. A write that fails is an
 * error and ends nothing. */
void rr_signals_end_program(void);

bool rr_signals_open(struct rr_signals *signals);
void rr_signals_close(struct rr_signals *signals);

/* Waits for a signal or the end of a child, `timeout_ms` at most. False: interrupted. */
bool rr_signals_wait(struct rr_signals *signals, int timeout_ms);

/* Has one come in this process? Then it is about to be ended. */
bool rr_signals_have_come(void);

/* Nothing ends the process until sigprocmask() brings `before` back, for the moment
 * that replacing a file takes. */
void rr_signals_hold(sigset_t *before);

/* The opposite, for the moment that a write may wait for a reader who never comes: the
 * three end the process at once. */
void rr_signals_let(sigset_t *before);

/* Other settings for the terminal at standard input, until it is restored, which
 * a signal that ends the process does, too. */
bool rr_terminal_change(const struct termios *settings);
void rr_terminal_restore(void);

/* Lines and columns of the terminal at `fd`; 0 = not known. */
struct winsize rr_terminal_size(int fd);

/* Does it understand more than text, by $TERM? */
bool rr_terminal_is_smart(void);

/* ---- Processors: which of them clients and their servers run on -------------- */

/* The processor for a pinned run: the last one this process may use, because
 * the first ones serve the machine's interrupts. */
int rr_placement_cpu(void);

/* The processor of job `n` of several, from 0: the one above, then those before
 * it, and again; of those that this process may use when it is called. */
int rr_placement_nth(int n);

/* Pins the calling thread, and whatever it forks or starts; -1 = leave it. */
void rr_placement_pin(int cpu);

/* Puts the calling thread on its servers' processor, where a round trip costs a
 * quarter. SCHED_BATCH, so that a process that is woken lets the one that woke it
 * go to sleep first. */
void rr_placement_settle(int cpu);

/* Processors this process may use. */
int rr_placement_count(void);

/* Bytes of memory that are free, or can be freed; 0 = not known. */
size_t rr_memory_available(void);

/* ---- Clocks: the program's own time, for limits and figures; never a race's --- */

/* Nanoseconds since 1970, as far as the machine knows. */
int64_t rr_clock_wall_ns(void);

/* The same by the clock that files are written by. */
int64_t rr_clock_files_ns(void);

/* Of the monotonic clock, in nanoseconds and in seconds. */
int64_t rr_clock_ns(void);
double rr_clock_s(void);

int64_t rr_time_ns(struct timespec time);

#endif
