/* SPDX-License-Identifier: MIT */
#include "explore_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

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

void rr_explore_progress_text(char *text, size_t size, unsigned long schedules,
			      double share, double elapsed)
{
	char done[RR_GROUPED_SIZE], rate[RR_GROUPED_SIZE], left[32];
	int length = snprintf(
		text, size, "%s schedules, %s a second",
		rr_grouped(done, (long long)schedules),
		rr_grouped(rate, elapsed > 0 ? (long long)((double)schedules /
							   elapsed) :
					       0));

	if (share <= 0 || elapsed < ESTIMATE_AFTER || length < 0 ||
	    (size_t)length >= size)
		return;
	write_left(left, sizeof(left), elapsed * (1 - share) / share);
	snprintf(text + length, size - (size_t)length,
		 ", about %.2g %% done, %s left", 100 * share, left);
}

static void draw(const struct rr_explore_progress *progress,
		 unsigned long schedules, double share)
{
	char text[120];

	rr_explore_progress_text(text, sizeof(text), schedules, share,
				 progress->looked - progress->begun);
	fprintf(stderr, "\r\033[K%s: %s ", progress->name, text);
}

bool rr_explore_progress(void *context, unsigned long schedules, double share)
{
	struct rr_explore_progress *progress = context;
	const double time = now();

	if (progress->begun == 0)
		progress->begun = progress->drawn = time;
	if (time - progress->looked < LOOK_EVERY)
		return true;
	progress->looked = time;
	if (time - progress->drawn >= DRAW_EVERY && isatty(STDERR_FILENO)) {
		draw(progress, schedules, share);
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
