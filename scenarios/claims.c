/* SPDX-License-Identifier: MIT */
#include "claims_tables.h"

#include <string.h>

const struct rr_claim_section rr_claim_sections[] = {
	{ "Lost updates", rr_claims_updates, &rr_n_claims_updates },
	{ "Confused connections", rr_claims_connections, &rr_n_claims_connections },
	{ "A mutex in the client", rr_claims_mutexes, &rr_n_claims_mutexes },
	{ "SETNX with a timestamp", rr_claims_setnx, &rr_n_claims_setnx },
	{ "What is wrong with SETNX and GETSET", rr_claims_getset, &rr_n_claims_getset },
	{ "Locks with a lease", rr_claims_leases, &rr_n_claims_leases },
	{ "Locks by INCR, and by SETNX with EXPIRE", rr_claims_incr, &rr_n_claims_incr },
	{ "When the lock is not got", rr_claims_waiting, &rr_n_claims_waiting },
	{ "A cache that several clients refresh", rr_claims_cache, &rr_n_claims_cache },
	{ "Servers that fail, and Redlock", rr_claims_servers, &rr_n_claims_servers },
	{ "WATCH", rr_claims_watch, &rr_n_claims_watch },
	{ "Lua scripts", rr_claims_scripts, &rr_n_claims_scripts },
	{ "Transactions", rr_claims_transactions, &rr_n_claims_transactions },
	{ "Pipelines, and what it costs", rr_claims_costs, &rr_n_claims_costs },
};
const size_t rr_n_claim_sections = sizeof(rr_claim_sections) / sizeof(rr_claim_sections[0]);

const struct rr_claim *rr_claim_at(size_t index)
{
	for (size_t i = 0; i < rr_n_claim_sections; i++) {
		if (index < *rr_claim_sections[i].n_claims)
			return &rr_claim_sections[i].claims[index];
		index -= *rr_claim_sections[i].n_claims;
	}
	return NULL;
}

const struct rr_claim *rr_claim_find(const char *id)
{
	const struct rr_claim *claim;

	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (strcmp(claim->id, id) == 0)
			return claim;
	}
	return NULL;
}

const char *rr_claim_verdict_name(enum rr_claim_verdict verdict)
{
	static const char *const names[RR_CLAIM_VERDICTS] = {
		[RR_CLAIM_TRUE] = "true",
		[RR_CLAIM_FALSE] = "false",
		[RR_CLAIM_TRUE_IF] = "true if",
		[RR_CLAIM_OUTDATED] = "outdated",
		[RR_CLAIM_INCOMPLETE] = "incomplete",
	};

	return names[verdict];
}
