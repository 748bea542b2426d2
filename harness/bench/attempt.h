/* SPDX-License-Identifier: MIT */
/* An attempt at one increment of a run: timed, and watched for two inside. */
#ifndef RR_BENCH_ATTEMPT_H
#define RR_BENCH_ATTEMPT_H

#include "client.h"

/*
 * Asks for the lock once, if there is one, and counts if it was granted: then
 * `entered_ns` is the time at which it was our turn. `item` is NULL, or the id
 * of an increment that was put off and has been taken from the queue. An
 * acquire without a known end has counted nothing: RL_LOST, as is an item that
 * is not ours any more; runner->entered tells them apart.
 */
enum rl_outcome rr_runner_attempt(struct rr_runner *runner,
				  struct rr_target *target, const char *item,
				  int64_t *entered_ns);

/* Somebody else was first, or too few lock servers answered in time: nothing
 * has been counted. */
bool rr_runner_was_refused(const struct rr_runner *runner,
			   enum rl_outcome outcome);

#endif
