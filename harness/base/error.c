/* SPDX-License-Identifier: MIT */
/* Errors, and what the program's exit says of them. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "secret.h"
#include "text.h"

bool rr_error_set(struct rr_error *error, enum rr_error_kind kind, const char *format, ...)
{
	va_list arguments;

	if (error->kind != RR_ERROR_NONE)
		return false;
	error->kind = kind;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return false;
}

bool rr_error_interrupted(struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_INTERRUPTED, "%s", "");
}

enum rr_going rr_error_going(const struct rr_error *error)
{
	if (error->kind == RR_ERROR_NONE)
		return RR_AGAIN;
	return error->kind == RR_ERROR_INTERRUPTED ? RR_INTERRUPTED : RR_FAILED;
}

bool rr_error_file(struct rr_error *error, const char *verb, const char *path)
{
	return rr_error_set(error, RR_ERROR_FILE, "cannot %s '%s': %s", verb, path,
			    strerror(errno));
}

const char *rr_error_kind_name(enum rr_error_kind kind)
{
	static const char *const names[] = {
		[RR_ERROR_NONE] = "none",         [RR_ERROR_USAGE] = "usage",
		[RR_ERROR_DATA] = "data",         [RR_ERROR_HANGS] = "hangs",
		[RR_ERROR_REDIS] = "redis",       [RR_ERROR_FILE] = "file",
		[RR_ERROR_SKIPPED] = "skipped",   [RR_ERROR_INTERRUPTED] = "interrupted",
		[RR_ERROR_INTERNAL] = "internal",
	};

	return names[kind];
}

/* ---- Exit codes --------------------------------------------------------------- */

/* All there are, the worst last. */
static const enum rr_exit exits[] = {
	RR_EXIT_OK,       RR_EXIT_SKIPPED,     RR_EXIT_SLOW,     RR_EXIT_INCONCLUSIVE,
	RR_EXIT_USAGE,    RR_EXIT_DATA,        RR_EXIT_FILE,     RR_EXIT_REDIS,
	RR_EXIT_INTERNAL, RR_EXIT_INTERRUPTED, RR_EXIT_VIOLATED,
};

enum { N_EXITS = sizeof(exits) / sizeof(exits[0]) };

/* N_EXITS = it is none. */
static size_t exit_rank(long long code)
{
	size_t i = 0;

	while (i < N_EXITS && (long long)exits[i] != code)
		i++;
	return i;
}

bool rr_exit_is_known(long long code)
{
	return exit_rank(code) < N_EXITS;
}

enum rr_exit rr_exit_of(enum rr_error_kind kind)
{
	static const enum rr_exit codes[] = {
		[RR_ERROR_NONE] = RR_EXIT_OK,
		[RR_ERROR_USAGE] = RR_EXIT_USAGE,
		[RR_ERROR_DATA] = RR_EXIT_DATA,
		[RR_ERROR_HANGS] = RR_EXIT_DATA,
		[RR_ERROR_REDIS] = RR_EXIT_REDIS,
		[RR_ERROR_FILE] = RR_EXIT_FILE,
		[RR_ERROR_SKIPPED] = RR_EXIT_SKIPPED,
		[RR_ERROR_INTERRUPTED] = RR_EXIT_INTERRUPTED,
		[RR_ERROR_INTERNAL] = RR_EXIT_INTERNAL,
	};

	return codes[kind];
}

bool rr_error_set_aside(struct rr_error *error, enum rr_error_kind kind)
{
	if (error->kind != kind)
		return false;
	rr_complain(rr_exit_of(kind), "%s", error->text);
	*error = (struct rr_error){ .kind = RR_ERROR_NONE };
	return true;
}

enum rr_exit rr_exit_worse(enum rr_exit a, enum rr_exit b)
{
	return exit_rank(a) > exit_rank(b) ? a : b;
}

void rr_print_message(const char *who, const char *text)
{
	char *hidden = rr_secrets_hide(text);
	char *plain = rr_plain(hidden);

	fprintf(stderr, "%s: %s\n", who, plain);
	free(plain);
	free(hidden);
}

enum rr_exit rr_complain(enum rr_exit code, const char *format, ...)
{
	char message[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	rr_print_message("redrace", message);
	return code;
}

enum rr_exit rr_report_error(const struct rr_error *error)
{
	const enum rr_exit code = rr_exit_of(error->kind);

	if (code == RR_EXIT_OK || code == RR_EXIT_INTERRUPTED)
		return code;
	return rr_complain(code, "%s", error->text);
}

enum rr_exit rr_finish_output(enum rr_exit code)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (!errno) { /* an earlier flush has failed, and one more does for the same reason */
		clearerr(stdout);
		putchar('\n');
		fflush(stdout);
	}
	if (errno == EPIPE) /* its reader has seen enough, as head(1) has */
		return rr_exit_worse(code, RR_EXIT_FILE);
	return rr_exit_worse(code, rr_complain(RR_EXIT_FILE, "cannot write to standard output%s%s",
					       errno ? ": " : "", errno ? strerror(errno) : ""));
}
