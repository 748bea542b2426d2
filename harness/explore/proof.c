/* SPDX-License-Identifier: MIT */
/*
 * Scripts that have written nothing, whatever they answer: the server counts
 * changes. Asking costs a round trip before the script and one after it, and few
 * scripts ever answer what could be a refusal. So none is counted until it has
 * done so once; that run ends there and is made again.
 */
#include "search_inside.h"
#include "shapes.h"

static uint64_t hash_of(const struct rr_op *op)
{
	return rr_shapes_hash(&op->words[1]);
}

static bool is_doubtful(const struct rr_search *search, const struct rr_op *op)
{
	const uint64_t hash = hash_of(op);
	size_t i = 0;

	while (i < search->n_doubtful && search->doubtful[i] != hash)
		i++;
	return i < search->n_doubtful || i == RR_DOUBTFUL_MAX;
}

void rr_search_count(struct rr_search *search, const struct rr_op *op)
{
	search->counts = rr_access_is_script(op) && is_doubtful(search, op);
	if (search->counts)
		search->changes = rr_access_changes(search->config.access,
						    op->server);
}

bool rr_search_is_proved(struct rr_search *search,
			 const struct rr_gate_event *event)
{
	const struct rr_op *op = &event->op;

	if (!rr_access_is_script(op) ||
	    !rr_access_may_be_refusal(&event->reply))
		return false;
	if (search->counts)
		return search->changes >= 0 &&
		       rr_access_changes(search->config.access, op->server) ==
			       search->changes;
	search->doubtful[search->n_doubtful++] = hash_of(op);
	search->again = true;
	return false;
}
