/* SPDX-License-Identifier: MIT */
/*
 * A site: all that the project shows, as pages that link to each other. Every race has a
 * page, so has every cell of the matrix that fails; claims lead to their races and back.
 * The pages need no network and no server: they can be opened from a disk, and put anywhere
 * as they are.
 */
#ifndef RR_SITE_H
#define RR_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/option.h"

enum { RR_SITE_NAMES_MAX = 256 };

struct rr_site_config {
	const char *directory; /* made if it is not there; what is there is replaced */
	const char *redis_server;
	int jobs;
	struct rr_chosen_strategies strategies; /* rows of the matrix; none = all */
	size_t n_races;                         /* none = all of ours */
	const char *races[RR_SITE_NAMES_MAX];
	size_t n_results; /* directories of bench; none = the plots of docs/ */
	const char *results[RR_SITE_NAMES_MAX];
	/* Told what is done next. */
	void (*progress)(const char *what);
};

/*
 * Plays, searches and writes all of it; minutes, if nothing is left out. `signals` are open,
 * and closed when servers of this process are started. False: the error, and the pages
 * written so far stay. *as_expected is false when a race did not go as written, a claim
 * or a cell differs.
 */
bool rr_site_write(const struct rr_site_config *config, bool *as_expected, struct rr_error *error);

#endif
