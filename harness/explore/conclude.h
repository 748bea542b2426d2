/* SPDX-License-Identifier: MIT */
/* A transcript's verdict. */
#ifndef RR_CONCLUDE_H
#define RR_CONCLUDE_H

#include "draw/draw.h"
#include "cluster/cluster.h"

/*
 * Plays a transcript in `cluster` (which is reset) and adds the verdict that comes
 * of it: the caller's to free. NULL and a message: it did not go as it was
 * written, or shows nothing of what it is said to break (bits of strategy.h), or
 * out of memory.
 */
char *rr_conclude(const char *transcript, unsigned breaks,
		  struct rr_cluster *cluster, char *error, size_t size);

/* Plays a transcript with its verdict once more, as a reader would, and draws it.
 * False: it cannot be played. */
bool rr_conclude_draw(FILE *out, const char *transcript,
		      struct rr_cluster *cluster, const struct rr_style *style);

#endif
