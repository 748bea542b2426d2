/* SPDX-License-Identifier: MIT */
/* How far a search is. */
#include "base/machine.h"
#include "base/text.h"
#include "parts.h"

/* How long it takes until no state is open if it goes on like that; 0: nobody
 * knows. */
static double estimate_left(const struct rr_check *check, unsigned long open, double now)
{
	const double last = check->progress.shown;

	if (check->last_open <= open || now <= last)
		return 0;
	return (double)open * (now - last) / (double)(check->last_open - open);
}

void rr_check_show_progress(struct rr_check *check, unsigned long states, double share)
{
	const double now = rr_clock_s();
	const unsigned long open = (unsigned long)((double)states * (1 - share) + 0.5);
	char number[RR_GROUPED_SIZE], number_open[RR_GROUPED_SIZE];

	if (check->progress.begun == 0)
		rr_progress_begin(&check->progress);
	if (!rr_progress_is_due(&check->progress))
		return;
	rr_progress_show(&check->progress, estimate_left(check, open, now),
			 "%s states, %s of them not looked at yet, %lu runs of the program, %.0f s",
			 rr_grouped(number, (long long)states),
			 rr_grouped(number_open, (long long)open),
			 rr_programs_figures(check->programs).starts, now - check->begun);
	check->last_open = open;
}
