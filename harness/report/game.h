/* SPDX-License-Identifier: MIT */
/*
 * Be the scheduler: a page in which the reader picks who goes next, level after level.
 * What can be picked, and what comes of it, is what a search has found on real
 * servers.
 */
#ifndef RR_GAME_H
#define RR_GAME_H

#include <stdio.h>

#include "base/error.h"
#include "cluster/cluster.h"

enum { RR_GAME_LEVELS_MAX = 64 };

struct rr_game_config {
	const char *levels[RR_GAME_LEVELS_MAX]; /* names; none = all */
	size_t n_levels;
	/* Told before each is searched. May be NULL. */
	void (*progress)(void *context, size_t n, size_t of, const char *name);
	void *context;
};

/* Writes the page; searches on servers of `cluster`. False: the error, which names the
 * level. */
bool rr_game_write(FILE *out, struct rr_cluster *cluster, const struct rr_game_config *config,
		   struct rr_error *error);

#endif
