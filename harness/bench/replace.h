/* SPDX-License-Identifier: MIT */
/*
 * Workers that kill themselves at the worst moment, and others who go on in
 * their place (--kill-workers). Each worker is one client, and dies with no
 * increment in flight but the one that it has taken from the queue; so its
 * slot on the board tells what is left to do.
 */
#ifndef RR_REPLACE_H
#define RR_REPLACE_H

#include <sys/wait.h>

#include "client.h"

/* In a client that has just taken an item: SIGKILL to its own process, if it is
 * time for one of the run's kills. They are spread evenly over the run. */
void rr_replace_die_if_due(struct rr_runner *runner);

/* In the program: has worker `process`, which ended with `status`, done that? If
 * so, its place at the barrier is free for another rr_worker(). True once for
 * each death. */
bool rr_replace_was_planned(const struct rr_run *run, struct rr_board *board,
			    int process, int status);

#endif
