/* SPDX-License-Identifier: MIT */
/* What the workers of a matrix and the program share. */
#ifndef RR_MATRIX_INSIDE_H
#define RR_MATRIX_INSIDE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "matrix.h"

enum {
	RR_MATRIX_TEXTS = 64 << 20, /* bytes of all transcripts and drawings;
				     * memory that is not used costs nothing */
	RR_MATRIX_NO_CELL = -1,
};

/* One mapping, inherited by all workers at the same address. */
struct rr_matrix_shared {
	size_t n_orders;
	size_t *orders;        /* cells by their numbers, the longest first */
	atomic_size_t next;    /* the first order that nobody has taken */
	atomic_size_t n_done;
	atomic_bool is_over;   /* all are to end */
	atomic_int at[RR_MATRIX_JOBS_MAX]; /* the cell that a worker is at */
	atomic_ulong states[RR_MATRIX_JOBS_MAX]; /* of that cell, so far */
	atomic_bool has_failed; /* a worker has no servers: */
	enum rr_exit code;
	char error[RR_CLUSTER_ERROR];
	char version[RR_MATRIX_VERSION];
	atomic_size_t n_text;
	char texts[RR_MATRIX_TEXTS];
};

/* The life of a worker, called in a fork: a cluster of its own on its own
 * processor, and one cell after another until none is left. */
_Noreturn void rr_matrix_work(struct rr_matrix *matrix, int worker,
			      pid_t program,
			      const struct rr_cluster_options *servers);

#endif
