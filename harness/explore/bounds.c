/* SPDX-License-Identifier: MIT */
/* How far a search goes, for programs. */
#include "report.h"

json_t *rr_bounds_as_json(const struct rr_explore_config *config)
{
	const struct rr_budget *budget = &config->budget;

	return json_pack("{s:I, s:I, s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I}",
			 "clients", (json_int_t)config->n_clients, "increments",
			 (json_int_t)config->increments, "separate", (int)config->separate,
			 "crashes", budget->crashes, "expiries", budget->expiries, "pauses",
			 budget->pauses, "lost_replies", budget->lost_replies, "restarts",
			 budget->restarts, "jumps", budget->jumps, "late", budget->late, "rounds",
			 config->rounds, "ttl_ms", (json_int_t)config->ttl_ms, "most",
			 (json_int_t)config->most);
}
