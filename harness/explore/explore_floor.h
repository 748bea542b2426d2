/* SPDX-License-Identifier: MIT */
/*
 * How fast the explorer is, beside what the machine allows: a schedule takes at
 * least a round trip for each of its commands, and one to look at the count and
 * empty the keys.
 */
#ifndef RR_EXPLORE_FLOOR_H
#define RR_EXPLORE_FLOOR_H

#include "session.h"
#include "world.h"

struct rr_explore_floor_options {
	const char *redis_server;
	long rounds;  /* of which medians are taken, RR_ROUNDS_MAX at most */
	long pings;   /* whose round trips are taken, before and after */
	long limit_s; /* of each search of the table of growth */
};

/* Prints schedules per second of strategies with about seven commands, and the
 * table of growth. Everything runs on one processor. */
enum rr_exit rr_explore_floor(struct rr_session *session,
			      const struct rr_explore_floor_options *options);

/* The table of growth alone: how long whole searches take as clients and
 * increments are added. */
enum rr_exit rr_explore_growth(struct rr_world *world, long limit_s);

#endif
