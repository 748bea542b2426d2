/* SPDX-License-Identifier: MIT */
/* The command line of `redrace explore`. */
#ifndef RR_EXPLORE_OPTIONS_H
#define RR_EXPLORE_OPTIONS_H

#include "explore.h"

enum { RR_EXPLORE_STRATEGIES = 64 };

struct rr_explore_options {
	struct rr_explore_config config; /* but for the strategy */
	size_t n_strategies;
	const struct rr_strategy *strategies[RR_EXPLORE_STRATEGIES];
	bool stats;
	const char *redis_server;
	long seed; /* -1 = none was given */
	const char *save; /* a file, or a folder ending in /; NULL = nowhere */
};

/* Ends the program when they are wrong. */
void rr_explore_options_parse(struct rr_explore_options *options, int argc,
			      char **argv);

#endif
