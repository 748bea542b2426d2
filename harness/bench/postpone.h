/* SPDX-License-Identifier: MIT */
/* The counting loop of --wait delay-queue (document 001, QF-3). */
#ifndef RR_POSTPONE_H
#define RR_POSTPONE_H

#include "client.h"

/*
 * Does this client's share of the run's increments, or what is left of it. One
 * that is refused goes into the queue that all clients share, and the client
 * goes on; between its own ones, and when it is through, it takes what is due.
 * Ends when all clients are through and the queue is empty, or the board says
 * stop.
 */
void rr_postpone_count(struct rr_runner *runner);

#endif
