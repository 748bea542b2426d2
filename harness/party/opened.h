/* SPDX-License-Identifier: MIT */
/*
 * The files that the programs of a check have opened, run, mapped, listed or looked at, also in vain,
 * and whether they are still what they were. What counts is where a path leads to through links, and
 * what is there: nothing, a file with its bytes and permissions, a directory with the names in it if
 * it was listed. Left out are /proc, /sys, /dev, redrace's own directories, and Python's
 * __pycache__, whose files stand for their sources.
 */
#ifndef RR_OPENED_H
#define RR_OPENED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "program_page.h"
#include "term/term.h"

enum { RR_OPENED_WHY = 400 };

struct rr_opened {
	const char *own;        /* a directory of redrace's, which does not count */
	struct rr_intern paths; /* of each its kind, and the path with its NUL */
	struct rr_listed {
		uint32_t path;
		uint64_t names; /* a digest */
	} * listed;             /* directories, as they were when they were noted */
	size_t n_listed;
	char why[RR_OPENED_WHY]; /* nobody knows on what else a program depends; "" = it is known */
};

void rr_opened_release(struct rr_opened *opened);

/* Is it Python's __pycache__, or a file in there whose source is there? */
bool rr_opened_is_of_cache(const char *path);

/* A file that all depends on, whoever opens it. */
void rr_opened_add(struct rr_opened *opened, const char *path);

/* What the processes of a program have looked at, and what they have connected to; "" = nothing.
 * `opened` or `page` NULL: does nothing. */
void rr_opened_note(struct rr_opened *opened, const struct rr_program_page *page,
		    const char *connected);

/* All of them as they are now, a JSON array. NULL, and opened->why: one has changed since that time of
 * day, and so may be another one than programs have seen; or they are not all known. */
json_t *rr_opened_as_json(struct rr_opened *opened, int64_t since_ns);

/* Are those that were written as they were then? False, and the first that is not: its path, a text of
 * the list; NULL = this is not a list of files. */
bool rr_opened_are_same(const json_t *files, const char **changed);

#endif
