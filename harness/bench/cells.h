/* SPDX-License-Identifier: MIT */
/* What a bench runs: each strategy with each number of threads. */
#ifndef RR_CELLS_H
#define RR_CELLS_H

#include "bench_options.h"
#include "base/random.h"

struct rr_cell {
	const struct rr_strategy *strategy;
	int threads;
	bool is_refused; /* by the server, while it ran */
};

struct rr_cells {
	struct rr_cell all[RR_CHOSEN_MAX * RR_SWEEP_MAX];
	size_t n;
};

/* Those that were asked for. Strategies that these servers or this policy do
 * not allow are named and left out. */
void rr_cells_choose(struct rr_cells *cells,
		     const struct rr_bench_options *options);

/* Has the server of `data` no commands for the strategy? Then it is named, on
 * stderr. Keys are below `prefix`. */
bool rr_cells_is_lacking(const struct rr_strategy *strategy,
			 struct rl_link *data, const char *prefix);

/* Leaves out, by name, strategies that the data server has no commands for.
 * RR_EXIT_SKIPPED when no other is left. */
enum rr_exit rr_cells_drop_lacking(struct rr_cells *cells,
				   const struct rr_cluster *cluster,
				   const char *prefix);

/* The server has refused a command of the strategy: no more of it. */
void rr_cells_refuse(struct rr_cells *cells, const struct rr_strategy *strategy);

void rr_cells_shuffle(struct rr_cells *cells, struct rr_random *random);

#endif
