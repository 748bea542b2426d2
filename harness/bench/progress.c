/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

void rr_progress_init(struct rr_progress *progress, size_t total)
{
	const char *terminal = getenv("TERM");

	progress->visible = isatty(STDERR_FILENO) &&
			    !(terminal && strcmp(terminal, "dumb") == 0);
	progress->index = 0;
	progress->total = total;
}

static void draw(void *context, const struct rr_run *run,
		 const struct rr_board *board, int64_t elapsed_ns)
{
	const struct rr_progress *progress = context;
	const uint64_t done = rr_board_done(board);
	const double elapsed_s = (double)elapsed_ns / 1e9;
	const double rate = elapsed_s > 0 ? (double)done / elapsed_s : 0;
	const uint64_t all = (uint64_t)run->increments;
	char speed[RR_GROUPED_SIZE];

	if (!progress->visible)
		return;
	fprintf(stderr, "\r\033[K%s (%zu of %zu)  %3.0f %%  %s/s",
		run->strategy->name, progress->index, progress->total,
		100.0 * (double)done / (double)all,
		rr_grouped(speed, (long long)rate));
	if (rate > 0)
		fprintf(stderr, "  %.0f s left", (double)(all - done) / rate);
	fflush(stderr);
}

struct rr_watcher rr_progress_watcher(struct rr_progress *progress)
{
	return (struct rr_watcher){ .watch = draw, .context = progress };
}

void rr_progress_clear(const struct rr_progress *progress)
{
	if (progress->visible)
		fprintf(stderr, "\r\033[K");
}
