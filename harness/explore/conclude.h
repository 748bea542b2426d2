/* SPDX-License-Identifier: MIT */
/* A transcript's verdict. */
#ifndef RR_CONCLUDE_H
#define RR_CONCLUDE_H

#include "world.h"

/*
 * Plays a transcript in `world` (which is reset) and adds the verdict that comes
 * of it: the caller's to free. NULL and a message: it did not go as it was
 * written, or out of memory.
 */
char *rr_conclude(const char *transcript, struct rr_world *world, char *error,
		  size_t size);

#endif
