/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "machine.h"
#include "memory.h"
#include "text.h"

/* Seconds between two lines, and before the first guess of what is left. */
#define EVERY_ON_TERMINAL 0.2
#define EVERY_ELSEWHERE 10.0
#define GUESS_AFTER 1.0

enum { LINE_SIZE = 400, COLUMNS = 80 };

void rr_progress_begin(struct rr_progress *progress)
{
	progress->begun = rr_clock_s();
	progress->is_terminal = isatty(STDERR_FILENO) == 1 && rr_terminal_is_smart();
	if (progress->shown == 0)
		progress->shown = progress->begun;
}

bool rr_progress_is_due(const struct rr_progress *progress)
{
	return progress->begun != 0 &&
	       rr_clock_s() - progress->shown >=
		       (progress->is_terminal ? EVERY_ON_TERMINAL : EVERY_ELSEWHERE);
}

double rr_progress_left(const struct rr_progress *progress, double share)
{
	const double elapsed = rr_clock_s() - progress->begun;

	return share <= 0 || elapsed < GUESS_AFTER ? 0 : elapsed * (1 - share) / share;
}

/* ---- The line ---------------------------------------------------------------- */

void rr_progress_show(struct rr_progress *progress, double left_s, const char *format, ...)
{
	const size_t columns = rr_terminal_size(STDERR_FILENO).ws_col;
	char line[LINE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (left_s >= 100 * 3600)
		rr_add_text(line, sizeof(line), ", days left");
	else if (left_s >= 100 * 60)
		rr_add_text(line, sizeof(line), ", about %.0f h left", left_s / 3600);
	else if (left_s >= 100)
		rr_add_text(line, sizeof(line), ", about %.0f min left", left_s / 60);
	else if (left_s > 0)
		rr_add_text(line, sizeof(line), ", about %.0f s left", left_s);
	progress->shown = rr_clock_s();
	progress->is_visible = progress->is_terminal;
	if (progress->is_terminal) {
		/* A longer one would begin another line, which is not written over. */
		fprintf(stderr, "\r\033[K%.*s",
			(int)rr_plain_fit(line, (columns ? columns : COLUMNS) - 1), line);
		fflush(stderr);
	} else {
		fprintf(stderr, "redrace: %s\n", line);
	}
}

void rr_progress_tell(struct rr_progress *progress, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	line = rr_vasprintf(format, arguments);
	va_end(arguments);
	rr_progress_end(progress);
	rr_print_message("redrace", line);
	free(line);
}

void rr_progress_end(struct rr_progress *progress)
{
	if (progress->is_visible)
		fputs("\r\033[K", stderr);
	progress->is_visible = false;
}

/* ---- When it is to end ------------------------------------------------------- */

void rr_deadline_cut(struct rr_deadline *deadline, const char *phase)
{
	if (deadline->cut)
		return;
	deadline->cut = phase;
	deadline->cut_s = rr_clock_s();
}

bool rr_deadline_tell(const struct rr_deadline *deadline, unsigned long n, double share)
{
	return !deadline->goes_on || deadline->goes_on(deadline->context, n, share);
}

bool rr_deadline_is_over(struct rr_deadline *deadline, const char *phase)
{
	if (!deadline->goes_on || deadline->is_lifted)
		return false;
	if (!deadline->cut && !rr_deadline_tell(deadline, *deadline->n, 1))
		rr_deadline_cut(deadline, phase);
	return deadline->cut != NULL;
}

bool rr_deadline_is_late(const struct rr_deadline *deadline)
{
	return deadline->cut && rr_clock_s() - deadline->cut_s > RR_LATE_S;
}
