/* SPDX-License-Identifier: MIT */
/*
 * Processes of ours that run a function: forked, reaped, and ended with the
 * program. What they work at, and how they tell what came of it, is their
 * caller's; pool.h is a caller that many need.
 *
 * Order: init, start in any slot that is free, reap now and then, release.
 * Started before any thread exists, by one thread; the processes themselves may
 * have any. A process dies with the program at once, whatever that dies of, and
 * so must not leave anything that only its own end would remove: that is a
 * guardian's work.
 */
#ifndef RR_PROCESSES_H
#define RR_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

#include "error.h"

struct rr_processes {
	int n, n_alive;
	pid_t *pids; /* one for each slot; 0 = none runs there */
};

/* Room for `n` at once. */
void rr_processes_init(struct rr_processes *processes, int n);

/* Ends those that still run by SIGKILL, and waits for them. */
void rr_processes_release(struct rr_processes *processes);

/*
 * Runs `body` in a new process, which is found in `slot` and exits with what it
 * returns; the buffers of stdio are flushed before and not after. It has our
 * signal mask (machine.h: Ctrl-C does not end it) and dies with us.
 */
bool rr_processes_start(struct rr_processes *processes, int slot,
			int (*body)(void *context, int slot), void *context,
			struct rr_error *error);

/* The slot of one that has ended, free from now on, with what it ended by,
 * as of wait(2); -1 = none has. Does not wait. */
int rr_processes_reap(struct rr_processes *processes, int *status);

/* Sends a signal to all that run. */
void rr_processes_signal(const struct rr_processes *processes, int number);

/* "was killed by signal 9 (SIGKILL)", "exited with 70": how one ended, as of wait(2). */
enum { RR_PROCESS_END_SIZE = 64 };
const char *rr_process_end(int status, char text[RR_PROCESS_END_SIZE]);

#endif
