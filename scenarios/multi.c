/* SPDX-License-Identifier: MIT */
/*
 * A transaction without WATCH: GET, and then SET between MULTI and EXEC.
 *
 * 	A> GET counter                     => "41"
 * 	B> GET counter                     => "41"
 * 	A> MULTI, SET counter 42, EXEC     => [OK]
 * 	B> MULTI, SET counter 42, EXEC     => [OK]     A's increment is gone
 *
 * Guarantees: nothing that SET alone would not; a transaction of one command.
 * Does not guarantee the count. What it is computed from must be read before
 * MULTI, for a GET inside answers QUEUED, and nothing protects it there
 * (WA-14).
 */
#include "strategy.h"

static enum rdl_outcome increment(struct rr_client *client)
{
	long long value;
	enum rdl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client);
	/* RACE: the value may be an old one by now (WA-14) */
	return rr_set_in_transaction(client, value + 1);
}

const struct rr_strategy rr_multi = {
	.name = "multi",
	.summary = "GET, MULTI, SET, EXEC",
	.document = "002",
	.group = RR_BROKEN,
	.remedy = "multi-watch",
	.increment = increment,
};
