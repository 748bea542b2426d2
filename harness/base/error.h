/* SPDX-License-Identifier: MIT */
/*
 * What went wrong, described where it happened. A function that can fail takes a
 * struct rr_error of its caller, sets it and returns false (or NULL); its callers
 * pass it on. Only main prints it, and maps its kind to the program's exit code.
 */
#ifndef RR_ERROR_H
#define RR_ERROR_H

#include <stdbool.h>

enum { RR_ERROR_SIZE = 1024 };

enum rr_error_kind {
	RR_ERROR_NONE,
	RR_ERROR_USAGE,       /* the user has to change the call or a file */
	RR_ERROR_REDIS,       /* a server cannot be reached or started, or is gone */
	RR_ERROR_FILE,        /* a file cannot be written */
	RR_ERROR_SKIPPED,     /* something is missing here: not run */
	RR_ERROR_INTERRUPTED, /* a signal came; needs no text */
	RR_ERROR_INTERNAL,    /* out of memory, no process, or a defect of ours */
};

struct rr_error {
	enum rr_error_kind kind;
	char text[RR_ERROR_SIZE]; /* one line: what, where and what to do */
};

/* Sets kind and text; returns false, so that a function can end with it. The first
 * error is kept: one that is set already stays as it is. */
bool rr_error_set(struct rr_error *error, enum rr_error_kind kind,
		  const char *format, ...) __attribute__((format(printf, 3, 4)));

bool rr_error_no_memory(struct rr_error *error);
bool rr_error_interrupted(struct rr_error *error);

#endif
