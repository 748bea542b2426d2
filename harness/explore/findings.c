/* SPDX-License-Identifier: MIT */
/* What several jobs have found, put together. */
#include <stdio.h>
#include <stdlib.h>

#include "crew_inside.h"
#include "interleavings.h"

/* One who was told to end says more about the whole than one who has done all
 * that was left to do. */
static enum rr_explored explored(enum rr_explored a, enum rr_explored b)
{
	static const int weight[] = {
		[RR_EXPLORED_ALL] = 0,     [RR_EXPLORED_ROUNDS] = 1,
		[RR_EXPLORED_MOST] = 2,    [RR_EXPLORED_STOPPED] = 3,
		[RR_EXPLORED_FIRST] = 4,
	};

	return weight[a] >= weight[b] ? a : b;
}

/* The part decides where the rest is the same, as if one had done all. */
static bool is_shorter(const struct rr_finding *a, const struct rr_finding *b,
		       unsigned shows)
{
	const int order = rr_explore_compare(&a->result, &b->result,
					     shows);

	if (order)
		return order < 0;
	return a->share.shortest < b->share.shortest;
}

static void take_shortest(struct rr_finding *sum, struct rr_finding *other)
{
	struct rr_explore_result *to = &sum->result;
	struct rr_explore_result *from = &other->result;

	free(to->transcript);
	to->transcript = from->transcript;
	from->transcript = NULL;
	to->shortest_breaks = from->shortest_breaks;
	to->switches = from->switches;
	to->moves = from->moves;
	sum->share.shortest = other->share.shortest;
}

static void add_failures(struct rr_finding *sum, struct rr_finding *other,
			 unsigned shows)
{
	struct rr_explore_result *to = &sum->result;
	const struct rr_explore_result *from = &other->result;

	if (from->transcript && (!to->transcript || is_shorter(other, sum, shows)))
		take_shortest(sum, other);
	to->failing += from->failing;
	to->breaks |= from->breaks;
	for (int i = 0; i < RR_INVARIANTS; i++)
		to->broken[i] += from->broken[i];
}

/* Not counted in one of them: not counted. */
static void add_interleavings(struct rr_explore_result *to,
			      const struct rr_explore_result *from)
{
	if (to->schedules == 0)
		to->interleavings = from->interleavings;
	else if (from->schedules > 0)
		to->interleavings = rr_interleavings_add(to->interleavings,
							 from->interleavings);
	to->failing_interleavings += from->failing_interleavings;
}

void rr_findings_add(struct rr_finding *sum, struct rr_finding *other,
		     unsigned shows)
{
	struct rr_explore_result *to = &sum->result;
	const struct rr_explore_result *from = &other->result;

	if (sum->code == RR_EXIT_OK && other->code != RR_EXIT_OK) {
		sum->code = other->code;
		snprintf(to->error, sizeof(to->error), "%s", from->error);
	}
	add_failures(sum, other, shows);
	to->explored = explored(to->explored, from->explored);
	add_interleavings(to, from);
	to->cut += from->cut;
	to->schedules += from->schedules;
	to->blocked += from->blocked;
	to->commands += from->commands;
	sum->share.n_claimed += other->share.n_claimed;
	if (sum->share.n_parts < other->share.n_parts)
		sum->share.n_parts = other->share.n_parts;
	rr_explore_release(&other->result);
}
