/* SPDX-License-Identifier: MIT */
/* How far a search has come. */
#include "search_inside.h"

/* How many of the node's candidates are to be run, and how many have been. */
static void count(const struct rr_node *node, double *wanted, double *done)
{
	*wanted = *done = 0;
	for (size_t i = 0; i < node->n_candidates; i++) {
		const struct rr_candidate *candidate = &node->candidates[i];

		*wanted += candidate->wanted && !candidate->asleep;
		*done += candidate->wanted && candidate->done &&
			 !candidate->asleep;
	}
}

double rr_search_share(const struct rr_search *search)
{
	double share = 0, weight = 1;

	for (size_t i = 0; i < search->n_nodes; i++) {
		double wanted, done;

		count(&search->nodes[i], &wanted, &done);
		if (wanted > 0)
			weight /= wanted;
		share += weight * done;
	}
	return share;
}
