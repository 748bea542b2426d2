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
	RR_ERROR_USAGE,       /* the user has to change the call */
	RR_ERROR_DATA,        /* the user's program or file cannot be judged */
	RR_ERROR_HANGS,       /* nor can one that neither waits nor ends */
	RR_ERROR_REDIS,       /* a server cannot be reached or started, or is gone */
	RR_ERROR_FILE,        /* a file cannot be written */
	RR_ERROR_SKIPPED,     /* something is missing here: not run */
	RR_ERROR_INTERRUPTED, /* a signal came; needs no text */
	RR_ERROR_INTERNAL,    /* out of memory, no process, or a defect of ours */
};

/* What a part of a search has come to. */
enum rr_going {
	RR_GO_ON,
	RR_AGAIN,  /* what it took for granted is not so (client/beliefs.h): it begins again */
	RR_FAILED, /* there is an error */
	RR_INTERRUPTED
};

struct rr_error {
	enum rr_error_kind kind;
	char text[RR_ERROR_SIZE]; /* one line: what, where and what to do */
};

/* Sets kind and text; returns false, so that a function can end with it. The first
 * error is kept: one that is set already stays as it is. */
bool rr_error_set(struct rr_error *error, enum rr_error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool rr_error_interrupted(struct rr_error *error);

/* RR_FAILED or RR_INTERRUPTED; RR_AGAIN without an error. */
enum rr_going rr_error_going(const struct rr_error *error);

/* What it is called in JSON: "usage", "data", "hangs", "redis", "file", "skipped", "interrupted",
 * "internal"; "none". */
const char *rr_error_kind_name(enum rr_error_kind kind);

/* Of a file that cannot be "read", as errno says. */
bool rr_error_file(struct rr_error *error, const char *verb, const char *path);

/* ---- Exit codes --------------------------------------------------------------- */

/* What the program's exit says; the same for every subcommand. */
enum rr_exit {
	RR_EXIT_OK = 0,           /* expectations met */
	RR_EXIT_VIOLATED = 1,     /* correctness violated */
	RR_EXIT_INCONCLUSIVE = 2, /* nothing proved either way */
	RR_EXIT_SLOW = 3,         /* slower than allowed */
	RR_EXIT_USAGE = 64,
	RR_EXIT_DATA = 65,  /* the user's program or file cannot be judged */
	RR_EXIT_REDIS = 69, /* Redis cannot be reached or started */
	RR_EXIT_INTERNAL = 70,
	RR_EXIT_FILE = 74, /* a file cannot be written */
	RR_EXIT_SKIPPED = 77,
	RR_EXIT_INTERRUPTED = 130,
};

/* Is it one of these? */
bool rr_exit_is_known(long long code);

/* The exit code that an error of this kind has; RR_EXIT_OK = there is none. */
enum rr_exit rr_exit_of(enum rr_error_kind kind);

/* Prints an error of this kind as a remark and clears it, so that the work goes on.
 * False: there is no error, or it is of another kind. */
bool rr_error_set_aside(struct rr_error *error, enum rr_error_kind kind);

/* The one that counts when there are two: 1, 130, 70, 69, 74, 65, 64, 2, 3, 77, 0. */
enum rr_exit rr_exit_worse(enum rr_exit a, enum rr_exit b);

/* "WHO: TEXT" on stderr, in one line: control characters, a server's too, are
 * escaped, and user and password of a URI are hidden. */
void rr_print_message(const char *who, const char *text);

/* "redrace: MESSAGE" on stderr; returns `code`. */
enum rr_exit rr_complain(enum rr_exit code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the error as a complaint, unless there is none or it is an interruption,
 * which the user knows of; returns its exit code. */
enum rr_exit rr_report_error(const struct rr_error *error);

/* Flushes stdout: `code`, or what is worse of it and RR_EXIT_FILE when not all of it could be
 * written; complains of that, unless its reader has closed the pipe. */
enum rr_exit rr_finish_output(enum rr_exit code);

#endif
