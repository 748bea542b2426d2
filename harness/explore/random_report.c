/* SPDX-License-Identifier: MIT */
#include "random_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"

void rr_random_report_none(const struct rr_explore_config *config,
			   const struct rr_explore_result *result)
{
	char number[RR_GROUPED_SIZE];

	printf("%s: no failure found in %s random schedules%s (--seed %" PRIu64
	       ")\n",
	       config->strategy->name,
	       rr_grouped(number, (long long)result->schedules),
	       result->explored == RR_EXPLORED_STOPPED ? ", interrupted," : "",
	       config->random.seed);
}

/* Rounded so that it is none too good, but for what is lost in calculating. */
static void print_chance(double chance)
{
	const double one_in = ceil((1 - 1e-9) / chance);
	char number[RR_GROUPED_SIZE];

	if (one_in < 1e15)
		printf("1/%s", rr_grouped(number, (long long)one_in));
	else
		printf("%.1e", chance);
}

void rr_random_report_bound(const struct rr_explore_result *result)
{
	const struct rr_random_bound *bound = &result->bound;

	printf("  a failure of depth %d, of %zu actors within %zu steps, shows "
	       "with probability\n  at least ",
	       bound->depth, bound->actors, bound->steps);
	print_chance(bound->once);
	printf(" in each schedule, %.3g in all\n", bound->in_all);
}
