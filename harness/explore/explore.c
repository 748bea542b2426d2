/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/machine.h"
#include "search.h"

bool rr_explore(struct rr_cluster *cluster, const struct rr_explore_config *config,
		struct rr_explore_result *result)
{
	const double begun = rr_clock_s();
	struct rr_search search;
	const bool good = rr_search_open(&search, cluster, config, result) &&
			  rr_search_run(&search,
					config->random.runs ? rr_search_conclude_walks :
							      rr_search_conclude,
					NULL) &&
			  (result->breaks || config->all || rr_search_try_mutants(&search));

	rr_search_release(&search);
	result->seconds = rr_clock_s() - begun;
	return good;
}

void rr_explore_release(struct rr_explore_result *result)
{
	free(result->transcript);
	free(result->data);
	free(result->nearest);
	free(result->unexpected);
	free(result->words);
	result->transcript = result->data = result->nearest = result->unexpected = result->words =
		NULL;
}
