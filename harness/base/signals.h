/* SPDX-License-Identifier: MIT */
/*
 * Signals as something to wait for: the program's main thread is never
 * interrupted, it asks. Opened first thing, before any fork; workers inherit
 * the mask and so do not die of Ctrl-C before their results are in.
 */
#ifndef RR_SIGNALS_H
#define RR_SIGNALS_H

#include <stdbool.h>

struct rr_signals {
	int fd;
	bool interrupted; /* SIGINT, SIGTERM or SIGHUP has come */
};

bool rr_signals_open(struct rr_signals *signals);
void rr_signals_close(struct rr_signals *signals);

/* Waits for a signal or the end of a child, `timeout_ms` at most. */
void rr_signals_wait(struct rr_signals *signals, int timeout_ms);

#endif
