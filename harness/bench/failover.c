/* SPDX-License-Identifier: MIT */
/* Fail-overs of a run: spread over it, each when the one before it is mended. */
#include "client.h"

enum { CALM_PAUSE_MS = 20, FAIL_OVER_PAUSE_MS = 2 };

const struct rl_address *rr_run_address(const struct rr_run *run, size_t i)
{
	const struct rr_formation *formation = run->formation;

	if (i == 0 && formation && formation->kind != RR_TOPOLOGY_ALONE)
		return &formation->address;
	return rr_cluster_address(run->cluster, (int)i);
}

void rr_failover_begin(const struct rr_run *run)
{
	if (run->formation)
		run->formation->tally = (struct rr_formation_tally){ 0 };
}

/* When so much of the run is done that it is the next one's time. */
static bool is_fail_over_due(const struct rr_run *run, const struct rr_board *board)
{
	const struct rr_formation *formation = run->formation;
	const uint64_t next = (uint64_t)formation->tally.kills + 1;

	return formation->phase == RR_FORMATION_WHOLE && next <= (uint64_t)run->fail_overs &&
	       rr_board_done(board) * ((uint64_t)run->fail_overs + 1) >=
		       next * (uint64_t)run->increments;
}

bool rr_failover_turn(const struct rr_run *run, const struct rr_board *board,
		      struct rr_error *error)
{
	if (!run->formation)
		return true;
	if (!rr_formation_turn(run->formation, error))
		return false;
	return !is_fail_over_due(run, board) ||
	       rr_formation_fail_over(run->formation, run->cut_ns, error);
}

int rr_failover_pause_ms(const struct rr_run *run, int most_ms)
{
	if (!run->formation)
		return most_ms;
	return run->formation->phase == RR_FORMATION_WHOLE ? CALM_PAUSE_MS : FAIL_OVER_PAUSE_MS;
}
