/* SPDX-License-Identifier: MIT */
/*
 * Private to bench/: the shards of a bench, on several machines, meet on the data
 * server. Their keys are under the run's prefix, which all of them know from the
 * run's name.
 *
 * Order: open, then for each run: start, done, left; close. Each meeting has a
 * limit: who does not come in time, or has given up, ends the bench of the others.
 */
#ifndef RR_MEETING_H
#define RR_MEETING_H

#include <jansson.h>

#include "base/machine.h"
#include "base/shard.h"
#include "redislock.h"

struct rr_meeting {
	struct rr_shard shard;
	const char *run; /* its name */
	char prefix[40]; /* of the keys */
	long limit_s;
	struct rl_link *link;
	struct rr_signals *signals;
	long n_points; /* where they have met so far */
	bool has_joined;
	/* Of the last start, in nanoseconds: the server's clock is so far ahead of
	 * ours, known to so much either way; and so long after the time that was
	 * agreed upon we began. */
	int64_t offset_ns, half_width_ns, late_ns;
};

/* The prefix of a run's keys. */
void rr_meeting_prefix(char prefix[32], const char *run);

/* Joins the run. `options`: what has to be the same in all shards. False: there is
 * such a shard already, or it has other options. Close it in any case. */
bool rr_meeting_open(struct rr_meeting *meeting, const struct rl_address *address,
		     const char *options, struct rr_error *error);

/* Waits for all shards. */
bool rr_meeting_point(struct rr_meeting *meeting, struct rr_error *error);

/* The same, and then until the time that they agree upon, on the server's clock. */
bool rr_meeting_start(struct rr_meeting *meeting, struct rr_error *error);

/* Leaves; the last one deletes the keys. With an error the others are told. */
void rr_meeting_close(struct rr_meeting *meeting, bool has_failed);

#endif
