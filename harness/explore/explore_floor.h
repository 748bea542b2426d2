/* SPDX-License-Identifier: MIT */
/*
 * How fast the explorer is, beside what the machine allows: a schedule takes at
 * least a round trip for each of its commands, and one to look at the count and
 * empty the keys.
 */
#ifndef RR_EXPLORE_FLOOR_H
#define RR_EXPLORE_FLOOR_H

#include "crew.h"
#include "session.h"
#include "world.h"

struct rr_explore_floor_options {
	const char *redis_server;
	long rounds;  /* of which medians are taken, RR_ROUNDS_MAX at most */
	long pings;   /* whose round trips are taken, before and after */
	long limit_s; /* of each search of the table of growth */
};

/* Prints schedules per second of strategies with about seven commands, those of
 * several jobs, and the table of growth. All but the other jobs runs on one
 * processor. Before any thread exists and before the caller is pinned. */
enum rr_exit rr_explore_floor(struct rr_session *session,
			      const struct rr_explore_floor_options *options);

enum { RR_EXPLORE_JOBS = 2 };

/* What the crew's RR_EXPLORE_JOBS jobs are worth: their schedules per second
 * beside those of one, medians of three rounds at most. `processors`: that the
 * program may use. */
enum rr_exit rr_explore_jobs(struct rr_world *world, struct rr_crew *crew,
			     int processors, long rounds);

/* The table of growth alone: how long whole searches take as clients and
 * increments are added. */
enum rr_exit rr_explore_growth(struct rr_world *world, long limit_s);

#endif
