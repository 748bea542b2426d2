/* SPDX-License-Identifier: MIT */
/* Plays a race on real servers and keeps a trace of it. */
#ifndef RR_PLAYER_H
#define RR_PLAYER_H

#include "base/error.h"
#include "race/race.h"
#include "cluster/cluster.h"

/* Told of every step: before it, when it may end the race by returning false,
 * and after it. Either may be NULL. */
struct rr_audience {
	bool (*before)(void *context, const struct rr_trace *trace,
		       const struct rr_step *step);
	void (*after)(void *context, const struct rr_trace *trace,
		      const struct rr_event *event);
	void *context;
};

/*
 * Plays `race` in `cluster`, which it resets first. RR_EXIT_OK: it was played, as
 * written or not (trace->as_written; it ends at the first reply that differs).
 * RR_EXIT_SKIPPED: the server lacks what the race needs. Other codes: it could
 * not be played, trace->error says why. The trace is the caller's to free, and
 * must not outlive the race.
 */
enum rr_exit rr_player_play(const struct rr_race *race,
			    struct rr_cluster *cluster,
			    const struct rr_audience *audience,
			    struct rr_trace *trace);

#endif
