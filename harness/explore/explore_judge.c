/* SPDX-License-Identifier: MIT */
/* What a run breaks, and the shortest one of those that break anything. */
#include "explore_inside.h"

#include <stdlib.h>

#include "counterexample.h"
#include "holders.h"
#include "invariants.h"

static int switches_of(const struct rr_search *search)
{
	const size_t n = rr_search_n_moves(search);
	int switches = 0;

	for (size_t i = 1; i < n; i++)
		switches += rr_search_move(search, i).actor !=
			    rr_search_move(search, i - 1).actor;
	return switches;
}

static unsigned long last_part(const struct rr_explorer *explorer)
{
	return rr_search_n_parts(explorer->search) - 1;
}

/* What is worst comes first in the set. */
static int worst(unsigned breaks, unsigned shows)
{
	if (breaks & shows)
		return -1;
	return breaks ? __builtin_ctz(breaks) : RR_INVARIANTS;
}

int rr_explore_compare(const struct rr_explore_result *a,
		       const struct rr_explore_result *b, unsigned shows)
{
	const int order = worst(a->shortest_breaks, shows) -
			  worst(b->shortest_breaks, shows);

	if (order)
		return order;
	if (a->switches != b->switches)
		return a->switches - b->switches;
	return (a->moves > b->moves) - (a->moves < b->moves);
}

static void keep_if_shorter(struct rr_explorer *explorer, unsigned broken,
			    const struct rr_subject_result *run)
{
	struct rr_explore_result *result = explorer->result;
	const int switches = switches_of(explorer->search);
	const size_t moves = rr_search_n_moves(explorer->search);

	const struct rr_explore_result run_alone = {
		.shortest_breaks = broken,
		.switches = switches,
		.moves = moves,
	};

	if (result->transcript &&
	    rr_explore_compare(&run_alone, result, explorer->config->shows) >=
		    0)
		return;
	free(result->transcript);
	result->shortest_breaks = broken;
	result->switches = switches;
	result->moves = moves;
	result->seed = explorer->pct ? rr_pct_seed(explorer->pct) : 0;
	explorer->share->shortest = last_part(explorer);
	result->transcript = rr_counterexample_write(
		explorer->config, rr_subject_gate(explorer->subject), run);
}

/* How many interleavings the last run stands for, as long as it is known of all
 * that were before. */
static void count(struct rr_explorer *explorer, bool fails)
{
	struct rr_explore_result *result = explorer->result;
	uint64_t n = 1;

	if (result->schedules > 1 && !result->interleavings)
		return;
	if (!explorer->config->all)
		n = rr_interleavings_of(explorer->room, explorer->search);
	result->interleavings =
		result->schedules == 1 ?
			n :
			rr_interleavings_add(result->interleavings, n);
	if (fails)
		result->failing_interleavings += n;
}

void rr_explorer_judge(struct rr_explorer *explorer, enum rr_run_end end,
		       const struct rr_subject_result *run)
{
	struct rr_explore_result *result = explorer->result;
	const struct rr_gate *gate = rr_subject_gate(explorer->subject);
	const unsigned broken =
		rr_invariants_broken(explorer->config->strategy, run, end) |
		rr_holders_judge(explorer->config, explorer->access,
				 explorer->search, rr_gate_last_trace(gate));

	result->cut += end == RR_RUN_CUT;
	if (!explorer->pct)
		count(explorer, broken != 0);

	for (int i = 0; i < RR_INVARIANTS; i++)
		result->broken[i] += broken >> i & 1;
	result->breaks |= broken;
	if (!broken)
		return;
	result->failing++;
	if (broken & explorer->config->first_of)
		rr_shards_note_failure(explorer->share->shards,
				       last_part(explorer));
	keep_if_shorter(explorer, broken, run);
}
