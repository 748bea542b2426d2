/* SPDX-License-Identifier: MIT */
/*
 * A shard: one of N parts of a run, each of which is computed somewhere else. Whole
 * cases are dealt out, in the same way everywhere, so that shards need to know nothing
 * of each other. `redrace merge` puts their results together: in their properties they
 * have a note of which shard they are, of what, and which case is whose.
 *
 * Order: parse, deal, note, release.
 */
#ifndef RR_SHARD_H
#define RR_SHARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cases.h"
#include "error.h"

enum { RR_SHARDS_MAX = 1000 };

struct rr_shard {
	int index;         /* from 1 */
	int of;            /* 0 = the whole, in one piece */
	const char *times; /* results of an earlier run (JSON); NULL = there are none */
	json_t *owners;    /* after dealing, the index of each case's shard, by its name */
};

/* "2/3". */
bool rr_shard_parse(struct rr_shard *shard, const char *text, struct rr_error *error);

/*
 * Deals cases out, if this is not the whole. `seconds`: how long each is thought to take
 * that the earlier run does not have, by its name, "SUITE NAME", in the order of the
 * whole; taken over. The longest first, each goes to the shard that has least to do so
 * far. The same names and times make the same deal.
 */
bool rr_shard_deal(struct rr_shard *shard, json_t *seconds, struct rr_error *error);

/* Is it this one's? All are, before they are dealt out. */
bool rr_shard_owns(const struct rr_shard *shard, const char *name);

/* Gives the cases of a shard their note: what it exits with, and `options`, an object of
 * what has to be the same in all shards besides; taken over. */
void rr_shard_note(const struct rr_shard *shard, struct rr_cases *cases, json_t *options,
		   enum rr_exit code);

void rr_shard_release(struct rr_shard *shard);

/*
 * The cases of all shards, read from files, as those of the whole, and what that exits
 * with. False: the error names the shard that is missing, there twice,
 * lacks a case, or differs from another one in the version, the options, the server or
 * the deal. Release the whole if it is true.
 */
bool rr_shards_merge(const char *const *paths, size_t n, struct rr_cases *whole, enum rr_exit *code,
		     struct rr_error *error);

#endif
