/* SPDX-License-Identifier: MIT */
/* How large searches get, and how fast the explorer is. */
#ifndef RR_EXPLORE_FLOOR_H
#define RR_EXPLORE_FLOOR_H

#include "cluster/session.h"

struct rr_explore_floor_options {
	const char *redis_server;
	long limit_s; /* of each search */
};

/* Prints a table of whole searches: states, transitions, questions that servers were
 * asked, transitions per second, time. All runs on one processor. Before any thread
 * exists and before the caller is pinned. */
enum rr_exit rr_explore_floor(struct rr_session *session,
			      const struct rr_explore_floor_options *options);

#endif
