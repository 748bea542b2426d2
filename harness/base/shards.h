/* SPDX-License-Identifier: MIT */
/*
 * The results of all shards of a run, read from files and put together. They must
 * be all of them, each once, of one run: made by one version, with the same
 * options, on servers of one version.
 */
#ifndef RR_SHARDS_H
#define RR_SHARDS_H

#include "shard.h"

struct rr_shard_results {
	const char *path; /* the caller's */
	struct rr_cases cases;
	const json_t *note;
	int index, of;
	enum rr_exit code; /* what the shard has exited with */
};

struct rr_shards {
	size_t n;
	struct rr_shard_results *all; /* by their index */
};

/* False: the error says which one is missing, there twice, or differs from which.
 * Release them in any case. */
bool rr_shards_read(struct rr_shards *shards, const char *const *paths, size_t n,
		    struct rr_error *error);
void rr_shards_release(struct rr_shards *shards);

/* Begins the cases of the whole: what is said of all of it. */
void rr_shards_begin(const struct rr_shards *shards, struct rr_cases *whole);

/* The case of that name in a shard; NULL = it has none. */
const struct rr_case *rr_shard_case(const struct rr_shard_results *shard, const char *suite,
				    const char *name);

/* Adds the cases of all shards, each of which is in one, in the order of the whole.
 * False: one is missing, or is there twice. */
bool rr_shards_unite(const struct rr_shards *shards, struct rr_cases *whole,
		     struct rr_error *error);

/* What the whole exits with, where each case is in one shard: skipped ones count
 * only if there are no others. */
enum rr_exit rr_shards_exit(const struct rr_shards *shards);

#endif
