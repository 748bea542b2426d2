/* SPDX-License-Identifier: MIT */
/*
 * A shard: one of N parts of a run, each of which is computed somewhere else. What
 * belongs to which shard is dealt out in the same way everywhere, so that shards
 * need to know nothing of each other; `redrace merge` puts their results together
 * (shards.h).
 *
 * A shard's results carry a note: which of how many it is, of what, made by which
 * version with which options, all cases of the whole, and those that are its own.
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
	int index; /* from 1 */
	int of;    /* 0 = the whole, in one piece */
};

/* "2/3". */
bool rr_shard_parse(struct rr_shard *shard, const char *text, struct rr_error *error);

/* ---- Times of an earlier run ----------------------------------------------- */

/* How long cases took. */
struct rr_case_times {
	json_t *seconds; /* by their names; NULL = nothing is known */
	double usual;    /* of a case that is not among them */
	char digest[20]; /* of all of it, "" = nothing is known */
};

/* Those of a file of results. `path` NULL: nothing is known. Release them in any
 * case. */
bool rr_case_times_read(struct rr_case_times *times, const char *path, struct rr_error *error);
void rr_case_times_release(struct rr_case_times *times);

/* ---- Dealing ---------------------------------------------------------------- */

/*
 * Whose each of the cases is: owners[i] is the index of its shard. By their times,
 * the longest first, each goes to the shard that has least to do so far; when
 * nothing is known, in turn. The same names and times make the same deal.
 */
bool rr_shard_deal(const struct rr_shard *shard, const char *const *names, size_t n,
		   const struct rr_case_times *times, int *owners);

/* ---- The note --------------------------------------------------------------- */

/* Gives the cases of a shard their note. `options`: what has to be the same in all
 * shards, taken over. `names` are those of the whole, owners[i] as they were dealt;
 * NULL: each shard has a part of every case. */
void rr_shard_note(struct rr_cases *cases, const struct rr_shard *shard, json_t *options,
		   const char *const *names, size_t n, const int *owners);

/* Adds to the note what the shard has exited with. */
void rr_shard_note_exit(struct rr_cases *cases, enum rr_exit code);

#endif
