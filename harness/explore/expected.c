/* SPDX-License-Identifier: MIT */
/* What a search came to, compared with what the strategy's table expects. */
#include "explore.h"

#include <stdio.h>
#include <string.h>

#include "assets.h"
#include "base/memory.h"
#include "base/text.h"

/* The findings are recorded (smallest.findings) of searches with these. */
enum { RECORDED_TTL_MS = 10000, RECORDED_ROUNDS = 2 };

/* The columns of the matrix that these bounds touch, as bits. */
static unsigned hazards_of(const struct rr_explore_config *config)
{
	unsigned hazards = 1U << (config->separate ? RR_PROCESSES : RR_THREADS);

	/* Where a renewer runs, a lease expires only as it does while the work is slow. */
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (config->budget.of[i])
			hazards |= i == RR_EXPIRIES && config->strategy->lock.has_renewer ?
					   1U << RR_SLOW_WORK :
					   rr_budget_rows[i].hazards;
	}
	if (config->work_ms)
		hazards |= 1U << RR_SLOW_WORK;
	if (config->skew_ns)
		hazards |= 1U << RR_SKEW;
	return hazards;
}

static unsigned union_of_breaks(const struct rr_strategy *strategy, unsigned hazards)
{
	unsigned breaks = 0;

	for (int i = 0; i < RR_HAZARDS; i++) {
		if (hazards >> i & 1)
			breaks |= rr_expected_row(strategy)->breaks[i];
	}
	return breaks;
}

unsigned rr_expected_breaks(const struct rr_explore_config *config)
{
	return union_of_breaks(config->strategy, hazards_of(config));
}

const char *rr_smallest_expected(const struct rr_explore_config *config,
				 char text[RR_SMALLEST_SIZE])
{
	char bounds[RR_BOUNDS_SIZE], begin[RR_BOUNDS_SIZE + 60];
	const char *line;

	if (config->ttl_ms != RECORDED_TTL_MS || config->rounds != RECORDED_ROUNDS ||
	    config->stays_away)
		return NULL;
	snprintf(begin, sizeof(begin), "\n%s, %s: ", config->strategy->name,
		 rr_bounds_text(config, bounds));
	line = strstr(rr_asset_smallest_findings, begin);
	if (!line)
		return NULL;
	line += strlen(begin);
	snprintf(text, RR_SMALLEST_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
	if (strcmp(text, RR_NOTHING_FOUND) == 0)
		text[0] = '\0';
	return text;
}

bool rr_is_smallest_expected(const struct rr_explore_config *config,
			     const struct rr_explore_result *result)
{
	char found[RR_SMALLEST_SIZE], expected[RR_SMALLEST_SIZE];

	/* Single schedules have no smallest findings, and those of a part are not all. */
	if (config->all ||
	    (result->explored != RR_EXPLORED_ALL && result->explored != RR_EXPLORED_ROUNDS))
		return true;
	return !rr_smallest_expected(config, expected) ||
	       strcmp(rr_smallest_text(result->smallest, found), expected) == 0;
}

/* Fewer clients than a column of the matrix has may break less than its table says, and never
 * more. Where the findings within these bounds are recorded, they have to be the same. */
enum rr_exit rr_judge_search(const struct rr_explore_config *config,
			     const struct rr_explore_result *result, bool is_safe)
{
	const unsigned without_faults = 1U << RR_THREADS | 1U << RR_PROCESSES;
	const unsigned hazards = hazards_of(config);
	const unsigned expected = union_of_breaks(config->strategy, hazards);
	const bool is_cut = result->explored == RR_EXPLORED_MOST ||
			    result->explored == RR_EXPLORED_MEMORY ||
			    result->explored == RR_EXPLORED_STOPPED;

	if (result->breaks & ~expected || !rr_is_smallest_expected(config, result))
		return RR_EXIT_VIOLATED;
	if (result->failing)
		return is_cut && result->breaks != (expected & ~(unsigned)RR_LOOPS) ?
			       RR_EXIT_INCONCLUSIVE :
			       RR_EXIT_OK;
	if (is_safe)
		return union_of_breaks(config->strategy, hazards & without_faults) ?
			       RR_EXIT_VIOLATED :
			       RR_EXIT_OK;
	return result->explored == RR_EXPLORED_ROUNDS && expected & RR_LOOPS ? RR_EXIT_OK :
									       RR_EXIT_INCONCLUSIVE;
}

/* ---- Bounds in words ------------------------------------------------------------- */

/* "1 crash", "2 crashes"; nothing for 0. */
static void put_number(FILE *out, long n, const char *one, const char *many)
{
	if (n)
		fprintf(out, "%s%ld %s", ftell(out) ? ", " : "", n, n == 1 ? one : many);
}

const char *rr_bounds_text(const struct rr_explore_config *bounds, char text[RR_BOUNDS_SIZE])
{
	FILE *out = rr_open_fixed(text, RR_BOUNDS_SIZE);

	put_number(out, (long)bounds->n_clients, bounds->separate ? "process" : "thread",
		   bounds->separate ? "processes" : "threads");
	put_number(out, bounds->increments > 1 ? bounds->increments : 0, "", "increments each");
	put_number(out, (long)bounds->lock_servers, "lock server", "lock servers");
	for (int i = 0; i < RR_BUDGETS; i++)
		put_number(out, bounds->budget.of[i], rr_budget_rows[i].one,
			   rr_budget_rows[i].many);
	if (bounds->work_ms)
		fprintf(out, ", work of %.1f leases",
			(double)bounds->work_ms / (double)bounds->ttl_ms);
	if (bounds->skew_ns)
		fprintf(out, ", clients' clocks %ld s apart", (long)(bounds->skew_ns / 1000000000));
	fclose(out);
	return text;
}
