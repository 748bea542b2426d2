/* SPDX-License-Identifier: MIT */
/* How far a search is: on a terminal a line that is written over, else one now and
 * then. */
#include <stdio.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/text.h"
#include "parts.h"

/* Seconds between two lines, and between two looks at how the number of open states
 * changes. */
enum { EVERY_ON_TERMINAL = 1, EVERY_ELSEWHERE = 10 };

/* How long it takes until no state is open if it goes on like that; 0: nobody
 * knows. */
static double estimate_left(const struct rr_check_progress *last,
			    unsigned long open, double now)
{
	if (last->open <= open || now <= last->at)
		return 0;
	return (double)open * (now - last->at) / (double)(last->open - open);
}

static void print_progress(const struct rr_check *check, unsigned long states,
			   unsigned long open, double now, bool is_terminal)
{
	const double left = estimate_left(&check->progress, open, now);
	char number[RR_GROUPED_SIZE], number_open[RR_GROUPED_SIZE];

	fprintf(stderr,
		"%s%s states, %s of them not looked at yet, %lu runs of the program, %.0f s",
		is_terminal ? "\r\033[K" : "check: ",
		rr_grouped(number, (long long)states),
		rr_grouped(number_open, (long long)open),
		rr_programs_figures(check->programs).starts,
		now - check->begun);
	if (left > 0)
		fprintf(stderr, ", about %.0f s left", left);
	if (!is_terminal)
		fputc('\n', stderr);
}

void rr_check_show_progress(struct rr_check *check, unsigned long states,
			    double share)
{
	const bool is_terminal = isatty(STDERR_FILENO) == 1;
	const double every = is_terminal ? EVERY_ON_TERMINAL : EVERY_ELSEWHERE;
	const double now = rr_clock_s();
	const unsigned long open =
		(unsigned long)((double)states * (1 - share) + 0.5);

	if (!check->progress.is_shown && check->progress.at == 0)
		check->progress.at = check->begun;
	if (now - check->progress.at < every)
		return;
	print_progress(check, states, open, now, is_terminal);
	check->progress = (struct rr_check_progress){ .at = now,
						      .open = open,
						      .is_shown = true };
}

void rr_check_end_progress(struct rr_check *check)
{
	if (check->progress.is_shown && isatty(STDERR_FILENO) == 1)
		fputs("\r\033[K", stderr);
}
