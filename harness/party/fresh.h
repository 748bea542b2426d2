/* SPDX-License-Identifier: MIT */
/*
 * A directory of which each run of a program has a copy of its own (--fresh DIR): what is bound there, in
 * a mount namespace of the program (cluster/guardian_process.c), so that every call and every language
 * sees the copy at the directory's own path. Clients that run together share one. The user's directory is
 * only read, once: --setup works on the copy of which all others are made.
 */
#ifndef RR_FRESH_H
#define RR_FRESH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { RR_FRESH_MOST = 64 * 1024 * 1024, RR_FRESH_PATH = 160 };

struct rr_fresh {
	char *directory;              /* a whole path; NULL = there is none */
	char made_of[RR_FRESH_PATH];  /* the copy of which others are made */
	char together[RR_FRESH_PATH]; /* that of clients that run together; "" = none yet */
	const char *base;             /* redrace's directory */
	unsigned n_made;
};

/* Copies it into a directory of redrace's. False: the error, of kind RR_ERROR_USAGE if it is not a
 * directory or is too large. Release it in any case. */
bool rr_fresh_open(struct rr_fresh *fresh, const char *directory, const char *base,
		   struct rr_error *error);
void rr_fresh_release(struct rr_fresh *fresh);

/* Those that are started from now on to run together have a new copy; the last one goes. */
bool rr_fresh_begin_together(struct rr_fresh *fresh, struct rr_error *error);

/* Makes all further copies of the one that the last programs that ran together have left. */
void rr_fresh_keep_last(struct rr_fresh *fresh);

/* Makes a copy at that path, which is not there. */
bool rr_fresh_copy(const struct rr_fresh *fresh, const char *path, struct rr_error *error);

/* Is the file in the directory? Then *rest is what follows the directory in its path. */
bool rr_fresh_has(const struct rr_fresh *fresh, const char *path, const char **rest);

#endif
