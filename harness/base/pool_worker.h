/* SPDX-License-Identifier: MIT */
/* A worker of a pool, and what it and the program say to each other; for pool.c alone. */
#ifndef RR_POOL_WORKER_H
#define RR_POOL_WORKER_H

#include "pool.h"

/* What a worker tells the program. What the program tells a worker is the
 * number of a job, or the end of the stream. */
enum message_kind {
	READY,    /* it has begun, and can have a job */
	STARTED,  /* the job that it was given */
	PROGRESS, /* `number` units of that job are done */
	RESULT,   /* followed by `size` bytes */
	FAILED,   /* it could not begin: a struct rr_error follows */
};

struct message {
	enum message_kind kind;
	size_t number, size;
};

/* Does jobs until there are none: all that a worker's process does. */
void pool_work(const struct rr_pool *pool, struct rr_pool_worker *worker);

#endif
