/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include "cluster/cluster.h"

static bool is_skipped(const struct rr_bench_options *options,
		       const struct rr_strategy *strategy)
{
	const char *objection = rr_policy_objection(options->policy, strategy,
						    options->kill_workers);

	if (options->n_redis &&
	    options->n_redis < 1 + strategy->lock.servers)
		rr_complain(RR_EXIT_SKIPPED,
			    "%s skipped: it needs a data server and %zu lock servers, --redis names %zu",
			    strategy->name, strategy->lock.servers,
			    options->n_redis);
	else if (objection)
		rr_complain(RR_EXIT_SKIPPED, "%s skipped: %s", strategy->name,
			    objection);
	else
		return false;
	return true;
}

void rr_cells_choose(struct rr_cells *cells,
		     const struct rr_bench_options *options)
{
	cells->n = 0;
	for (size_t i = 0; i < options->n_strategies; i++) {
		const struct rr_strategy *strategy = options->strategies[i];

		if (is_skipped(options, strategy))
			continue;
		for (size_t t = 0; t < options->n_threads; t++)
			cells->all[cells->n++] = (struct rr_cell){
				strategy, (int)options->threads[t], false
			};
	}
}

bool rr_cells_is_lacking(const struct rr_strategy *strategy,
			 struct rl_link *data, const char *prefix)
{
	char spare[RR_KEY_SIZE];
	const char *missing;

	if (!strategy->lacks)
		return false;
	rr_keys_lock(spare, prefix, 0);
	missing = strategy->lacks(data, spare);
	if (missing)
		rr_complain(RR_EXIT_SKIPPED, "%s skipped: this server has %s",
			    strategy->name, missing);
	return missing != NULL;
}

/* The cells of one strategy follow one another. */
static void drop(struct rr_cells *cells, struct rl_link *data,
		 const char *prefix)
{
	const struct rr_strategy *looked_at = NULL;
	bool is_lacking = false;
	size_t kept = 0;

	for (size_t i = 0; i < cells->n; i++) {
		const struct rr_strategy *strategy = cells->all[i].strategy;

		if (strategy != looked_at)
			is_lacking = rr_cells_is_lacking(strategy, data, prefix);
		looked_at = strategy;
		if (!is_lacking)
			cells->all[kept++] = cells->all[i];
	}
	cells->n = kept;
}

enum rr_exit rr_cells_drop_lacking(struct rr_cells *cells,
				   const struct rr_cluster *cluster,
				   const char *prefix)
{
	struct rl_link *data =
		rl_link_new(&cluster->servers[0].address, RR_TIMEOUT_MS);

	if (!data)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	drop(cells, data, prefix);
	rl_link_free(data);
	return cells->n ? RR_EXIT_OK : RR_EXIT_SKIPPED;
}

void rr_cells_refuse(struct rr_cells *cells, const struct rr_strategy *strategy)
{
	for (size_t i = 0; i < cells->n; i++) {
		if (cells->all[i].strategy == strategy)
			cells->all[i].is_refused = true;
	}
}

/* Fisher and Yates. */
void rr_cells_shuffle(struct rr_cells *cells, struct rr_random *random)
{
	for (size_t i = cells->n; i > 1; i--) {
		const size_t j = rr_random_below(random, i);
		const struct rr_cell other = cells->all[j];

		cells->all[j] = cells->all[i - 1];
		cells->all[i - 1] = other;
	}
}
