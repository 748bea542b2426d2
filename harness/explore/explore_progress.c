/* SPDX-License-Identifier: MIT */
#include "explore_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* Seconds. Before that the shares say too little. */
#define LOOK_EVERY 0.1
#define DRAW_EVERY 0.2
#define ESTIMATE_AFTER 1.0

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void write_left(char *text, size_t size, double seconds)
{
	if (seconds < 100)
		snprintf(text, size, "%.0f s", seconds);
	else if (seconds < 100 * 60)
		snprintf(text, size, "%.0f min", seconds / 60);
	else if (seconds < 100 * 3600)
		snprintf(text, size, "%.0f h", seconds / 3600);
	else
		snprintf(text, size, "days");
}

void rr_explore_progress_text(char *text, size_t size, const char *unit,
			      unsigned long n, double share, double elapsed)
{
	const double per_second = elapsed > 0 ? (double)n / elapsed : 0;
	char done[RR_GROUPED_SIZE], rate[RR_GROUPED_SIZE], left[32];
	int length = snprintf(text, size, "%s %s, %s a second",
			      rr_grouped(done, (long long)n), unit,
			      rr_grouped(rate, (long long)per_second));

	if (share <= 0 || elapsed < ESTIMATE_AFTER || length < 0 ||
	    (size_t)length >= size)
		return;
	write_left(left, sizeof(left), elapsed * (1 - share) / share);
	snprintf(text + length, size - (size_t)length,
		 ", about %.2g %% done, %s left", 100 * share, left);
}

static void draw(const struct rr_explore_progress *progress, double share)
{
	char text[120];

	rr_explore_progress_text(text, sizeof(text), progress->unit,
				 progress->n, share,
				 progress->looked - progress->begun);
	fprintf(stderr, "\r\033[K%s: %s ", progress->name, text);
}

bool rr_explore_progress(void *context, unsigned long n, double share)
{
	struct rr_explore_progress *progress = context;
	const double time = now();

	if (progress->begun == 0)
		progress->drawn = time;
	if (progress->begun == 0 || n < progress->n)
		progress->begun = time;
	progress->n = n;
	if (time - progress->looked < LOOK_EVERY)
		return true;
	progress->looked = time;
	if (time - progress->drawn >= DRAW_EVERY && isatty(STDERR_FILENO)) {
		draw(progress, share);
		progress->drawn = time;
	}
	rr_signals_wait(progress->signals, 0);
	return !progress->signals->interrupted;
}

void rr_explore_progress_clear(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
